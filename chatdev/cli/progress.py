"""The live line at the bottom of the terminal: where the run is and what it took so far."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self, TextIO

from chatdev.engine.wording import counted, money
from chatdev.events import Event, ModelCalled, PhaseStarted, Uttered
from chatdev.runner.result import RunUsage

_CLEAR = "\r\x1b[K"
_TICK = 1.0  # seconds between updates of the clock


class Progress:
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
    def aside(self) -> Iterator[None]:
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
        return " · ".join([*where, counted(usage.calls, "call"), f"{tokens} tokens", money(usage.cost),
                           f"{minutes}:{seconds:02}"])

    def _write(self, text: str) -> None:
        if self._live:
            self._stream.write(text)
            self._stream.flush()
