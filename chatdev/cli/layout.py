"""What a run draws on a terminal: the texts of models and tools, and the live line at the bottom."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, Self, TextIO

import click

from chatdev.engine.budget import count_noun, money
from chatdev.events import Event, ModelCalled, PhaseStarted, Uttered
from chatdev.runner.report import RunUsage

INDENT = "    "
CODE_LINES = 8  # of one code block, unless everything is shown
TEXT_LINES = 30  # of one utterance, likewise
_WIDEST = 100  # columns; longer lines are hard to read
_FENCE = re.compile(r"\s*(```|~~~)")


def width() -> int:
    """Columns to write in."""
    return min(_WIDEST, shutil.get_terminal_size().columns)


def first_line(text: str, beside: int = 20) -> str:
    """The first line that says something, with the next one where it only announces that; cut to what the terminal has
    beside `beside` columns."""
    said = islice((line.strip() for line in text.splitlines() if line.strip()), 2)
    line = next(said, "")
    if line.endswith(":"):
        line = f"{line} {next(said, '')}"
    return textwrap.shorten(line, max(20, width() - beside), placeholder=" …")


def layout_text(text: str, *, everything: bool) -> Iterator[str]:
    """The lines of a text: wrapped, indented, code dimmed, and cut unless `everything` is wanted."""
    lines = _lines(text.strip("\n"), everything=everything)
    if everything:
        yield from lines
        return
    yield from islice(lines, TEXT_LINES)
    if more := sum(1 for _ in lines):
        yield _more(more)


def _lines(text: str, *, everything: bool) -> Iterator[str]:
    in_code, shown = False, 0
    most = sys.maxsize if everything else CODE_LINES
    for line in text.split("\n"):
        if _FENCE.match(line):
            yield from _rest_of_code(shown - most)
            in_code, shown = not in_code, 0
            yield _dim(line)
        elif in_code:
            shown += 1
            if shown <= most:
                yield _dim(line)
        else:
            yield from _wrap(line)
    yield from _rest_of_code(shown - most)


def _rest_of_code(lines: int) -> Iterator[str]:
    """Note on the number of lines of a code block that are not shown; empty if all are."""
    if lines > 0:
        yield _more(lines)


def _wrap(line: str) -> list[str]:
    hanging = INDENT + " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line.strip(), width(), initial_indent=hanging, subsequent_indent=hanging,
                         break_on_hyphens=False) or [""]


def _dim(line: str) -> str:
    return click.style(INDENT + line, dim=True)


def _more(count: int) -> str:
    return _dim(f"… {count_noun(count, 'more line')}")


_CLEAR = "\r\x1b[K"
_TICK = 1.0  # seconds between updates of the clock


class LiveLine:
    """Phase, round, calls, tokens, cost and time on one line of a terminal; on anything else it writes nothing."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._started = time.monotonic()
        self._usage = RunUsage()
        self._phase = ""
        self._round = 0
        self.hidden = False
        """True while the last line of the terminal belongs to something else."""

    def follow(self, event: Event) -> None:
        """Take in what an event says."""
        match event:
            case PhaseStarted():
                self._phase, self._round = event.phase, 0
            case Uttered():
                self._round = event.round
            case ModelCalled():
                self._usage.add(event)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Clear the line while something else is written."""
        with self._lock:
            self._clear()
            yield
            self._draw()

    def __enter__(self) -> Self:
        if self._live:
            self._ticker.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        if self._live:
            self._ticker.join()
        self._clear()

    def _tick(self) -> None:
        while not self._over.wait(_TICK):
            with self._lock:
                self._draw()

    def _clear(self) -> None:
        if not self.hidden:
            self._write(_CLEAR)

    def _draw(self) -> None:
        if not self.hidden:
            columns = shutil.get_terminal_size().columns
            self._write(f"{_CLEAR}{self._text()[:columns - 1]}")

    def _text(self) -> str:
        usage = self._usage
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        where = [self._phase or "starting", *([f"round {self._round}"] if self._round else [])]
        tokens = usage.prompt_tokens + usage.completion_tokens
        return " · ".join([*where, count_noun(usage.calls, "call"), f"{tokens} tokens", money(usage.cost),
                           f"{minutes}:{seconds:02}"])

    def _write(self, text: str) -> None:
        if self._live:
            self._stream.write(text)
            self._stream.flush()
