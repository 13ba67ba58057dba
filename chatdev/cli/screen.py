"""What a run is printed on, a terminal, a file or a pipe: its width, texts of models laid out for it, figures in the
words of persons, and the live line."""

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
from typing import TYPE_CHECKING, Any, Self

import click

from chatdev.engine.budget import count_noun
from chatdev.runner.story import RunStory, StepStory

if TYPE_CHECKING:
    from rich.console import Console as Screen
    from rich.live import Live
    from rich.text import Text


def open_screen() -> Screen:
    """Standard output as `rich` writes on it: nothing is taken for markup, and colours are for terminals, and for
    nobody who says NO_COLOR."""
    from rich.console import Console as Screen  # takes a tenth of a second

    plain = bool(os.environ.get("NO_COLOR")) or not sys.stdout.isatty()
    return Screen(file=sys.stdout, width=columns(), color_system=None if plain else "auto", markup=False, emoji=False,
                  highlight=False, legacy_windows=False)


def line_of(*parts: tuple[str, str]) -> Text:
    """A line of pieces, each with its style."""
    from rich.text import Text

    return Text.assemble(*parts)


# Figures.


def format_seconds(seconds: float) -> str:
    """A time as a person says it: `0.3 s`, `14 s`, `2 min 5 s`, `1 h 3 min`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def format_tokens(tokens: int) -> str:
    """`830 tokens`, `6.3k tokens`, `1.2M tokens`."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if tokens >= size:
            return f"{tokens / size:.1f}{letter} tokens"
    return count_noun(tokens, "token")


def format_cost(cost: float | None) -> str:
    """US dollars, at least two digits of them; unknown is not zero."""
    if cost is None:
        return "cost unknown"
    if not cost:
        return "$0"
    return f"${cost:.2f}" if cost >= 0.1 else f"${cost:.4f}" if cost >= 0.0001 else "<$0.0001"


# Texts of models and tools on a terminal.

INDENT = "    "
CODE_LINES = 8  # of one code block, unless everything is shown
TEXT_LINES = 30  # of one utterance, likewise
_WIDEST = 100  # columns; longer lines of words are hard to read
_FENCE = re.compile(r"\s*(```|~~~)\s*([\w+#.-]*)")
_LONGEST_CODE = 20_000  # characters that are coloured
_SHOWN_CODE = 300  # characters of a line of code, unless everything is shown


def columns() -> int:
    """Columns of the terminal; of a file or a pipe, as many as a person likes to read."""
    return max(8, shutil.get_terminal_size((_WIDEST, 24)).columns)


def width() -> int:
    """Columns to write words in."""
    return min(_WIDEST, shutil.get_terminal_size().columns)


def wrap_words(text: str, beside: int, most: int | None = None) -> list[str]:
    """The lines of words, `most` of them, where `beside` columns are taken; one line in a file or a pipe, which nothing
    cuts."""
    if not sys.stdout.isatty():
        return [" ".join(text.split())]
    return textwrap.wrap(text, max(16, columns() - beside), max_lines=most, placeholder=" …", break_on_hyphens=False)


def first_line(text: str, beside: int = 20) -> str:
    """The first line that says something, with the next one where it only announces that; cut to what the terminal has
    beside `beside` columns."""
    said = islice((line.strip() for line in text.splitlines() if line.strip()), 2)
    line = next(said, "")
    if line.endswith(":"):
        line = f"{line} {next(said, '')}"
    return textwrap.shorten(line, max(12, columns() - beside), placeholder=" …")


def layout_text(text: str, *, everything: bool, colour: bool = False) -> Iterator[Text]:
    """The lines of a text: wrapped, indented, code coloured or dimmed, and cut unless `everything` is wanted."""
    lines = _lines(text.strip("\n"), everything=everything, colour=colour)
    if everything:
        yield from lines
        return
    yield from islice(lines, TEXT_LINES)
    if more := sum(1 for _ in lines):
        yield _more(more)


def _lines(text: str, *, everything: bool, colour: bool) -> Iterator[Text]:
    code: list[str] | None = None
    language = ""
    for line in text.split("\n"):
        if fence := _FENCE.match(line):
            if code is None:
                code, language = [], fence[2]
            else:
                yield from _code(code, language, everything=everything, colour=colour)
                code = None
        elif code is not None:
            code.append(line)
        else:
            yield from map(_plain, _wrap(line))
    if code is not None:
        yield from _code(code, language, everything=everything, colour=colour)


def _code(lines: list[str], language: str, *, everything: bool, colour: bool) -> Iterator[Text]:
    """A block of code, coloured where that is possible, without its fences."""
    shown = lines if everything else [line[:_SHOWN_CODE] for line in lines[:CODE_LINES]]
    text = "\n".join(shown)
    if colour and len(text) <= _LONGEST_CODE:
        from rich.syntax import Syntax

        coloured = Syntax(text, language or "text", theme="ansi_dark").highlight(text)
        coloured.rstrip()
        yield from (_plain("").append(f"{INDENT}│ ", "dim").append_text(line) for line in coloured.split("\n"))
    else:
        yield from (line_of((f"{INDENT}│ {line}", "dim")) for line in shown)
    if len(lines) > len(shown):
        yield _more(len(lines) - len(shown))


def _wrap(line: str) -> list[str]:
    hanging = INDENT + " " * min(len(line) - len(line.lstrip()), width() // 2)
    return textwrap.wrap(line.strip(), width(), initial_indent=hanging, subsequent_indent=hanging,
                         break_on_hyphens=False) or [""]


def _plain(text: str) -> Text:
    return line_of((text, ""))


def _more(count: int) -> Text:
    return line_of((f"{INDENT}… {count_noun(count, 'more line')}", "dim"))


# The live line.

_TICK = 1.0  # seconds between looks at the clock
_SILENCE = 20.0  # seconds without a line after which one says what is under way, where nothing is a terminal


class LiveLine:
    """What is under way, who works on it, seconds, calls, tokens and cost: on the last line of a terminal, or, where
    nothing is one, on a line of its own after each `_SILENCE`."""

    def __init__(self, story: RunStory) -> None:
        self.lock = threading.RLock()
        self.hidden = False
        """True while the last line of the terminal belongs to something else."""
        self._story = story
        self._started = self._spoke = time.monotonic()
        self._over = threading.Event()
        self._live: Live | None = None
        self._ticker = threading.Thread(target=self._tick, name="chatdev-live", daemon=True)
        self._depth = 0

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            if os.environ.get("TERM") != "dumb":
                self._live = self._open_live()
                self._live.start()
        elif not sys.stdout.isatty():
            self._ticker.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        if self._ticker.is_alive():
            self._ticker.join()
        if self._live:
            self._live.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Meanwhile the line is gone, and nothing is written by it."""
        with self.lock:
            self._depth += 1
            if self._live and self._depth == 1 and self._live.is_started:
                self._live.stop()
        try:
            yield
        finally:
            with self.lock:
                self._depth -= 1
                self._spoke = time.monotonic()
                self.draw()

    def draw(self) -> None:
        """Bring the line back, where nothing else has its place."""
        with self.lock:
            if self._live and not (self._depth or self.hidden or self._live.is_started or self._over.is_set()):
                self._live.start()

    def _open_live(self) -> Live:
        from rich.console import Console as Screen
        from rich.live import Live

        class Steady(Screen):
            """Hides no cursor: who is killed could not bring it back."""

            def show_cursor(self, show: bool = True) -> bool:
                return False

        screen = Steady(file=sys.stderr, color_system=None if os.environ.get("NO_COLOR") else "auto", markup=False,
                        emoji=False, highlight=False)
        return Live(get_renderable=self._renderable, console=screen, transient=True, refresh_per_second=4,
                    redirect_stdout=False, redirect_stderr=False)

    def _renderable(self) -> Text:
        from rich.text import Text

        frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
        frame = frames[int(time.monotonic() * 4) % len(frames)]
        text = Text.assemble((f"{frame} ", "cyan"), self.text(), no_wrap=True, overflow="ellipsis")
        text.truncate(max(1, columns() - 1), overflow="ellipsis")
        return text

    def _tick(self) -> None:
        while not self._over.wait(_TICK):
            with self.lock:
                if time.monotonic() - self._spoke >= _SILENCE and not self._depth:
                    self._spoke = time.monotonic()
                    click.echo(f"  … {self.text()}", err=True)

    @property
    def _between(self) -> str:
        """What is done where no step is under way."""
        return f"after {self._story.steps[-1].title}" if self._story.steps else "starting"

    def text(self) -> str:
        """The line: `Coding · Programmer, round 2 · 14 s · 3 calls · 6.3k tokens · $0.0020`."""
        now, usage = time.monotonic(), self._story.usage
        steps = list(self._story.open.values())
        since = steps[0].begun if steps and steps[0].begun else self._started
        more = f" (+{len(steps) - 1})" if len(steps) > 1 else ""
        parts = [f"{steps[0].title}{more}", _speaker_of(steps[0])] if steps else [self._between]
        parts.append(format_seconds(int(now - since)).replace(".0", ""))
        if usage.calls:
            parts += [count_noun(usage.calls, "call"), format_tokens(usage.tokens)]
            parts += [format_cost(usage.cost)] if usage.cost != 0 else []
        return " · ".join(parts)


def _speaker_of(step: StepStory) -> str:
    """Whose turn it is: after an instruction the assistant's, after a response the instructor's, where it speaks."""
    if step.waits:
        return "waits for a person"
    if step.kind == "tool":
        return step.assistant
    newest = step.newest
    speaks = step.instructor if newest and newest.utterance == "response" and step.said else step.assistant
    number = newest.round + (newest.utterance == "response") if newest else 0
    return f"{speaks}, round {number}" if number > 1 else speaks


def can_ask_person() -> bool:
    """Whether there is a person to ask: at a terminal that shows the question and takes the answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()
