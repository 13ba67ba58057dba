"""The line at the bottom of a terminal: where the run is and what it has cost so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Never, TextIO

from tqdm import tqdm

from chatdev.events import Event, ModelCalled, PhaseStarted, Uttered
from chatdev.runner.report import money
from chatdev.runner.result import Usage


class Progress:
    """Kept by tqdm as a status line; nothing at all when the stream is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._usage = Usage()
        self._phase = ""
        self._round = 0
        self._bar: tqdm[Never] | None = None
        self._over = threading.Event()

    def start(self) -> None:
        """Show the line, and keep its clock going while a model thinks."""
        if not self._stream.isatty():
            return
        self._started = time.monotonic()
        self._bar = tqdm(bar_format="{desc}", file=self._stream, leave=False, dynamic_ncols=True)
        threading.Thread(target=self._tick, daemon=True).start()

    def stop(self) -> None:
        """Take the line away."""
        self._over.set()
        if self._bar is not None:
            self._bar.close()

    def update(self, event: Event) -> None:
        """Note where the run is."""
        self._usage.add(event)
        if isinstance(event, PhaseStarted):
            self._phase, self._round = event.place, 0
        elif isinstance(event, Uttered):
            self._round = event.round
        if isinstance(event, PhaseStarted | Uttered | ModelCalled):
            self._draw()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Clear the line while something else is printed."""
        if self._bar is None:
            yield
            return
        with self._bar.external_write_mode(file=self._stream):
            yield

    def _tick(self) -> None:
        while not self._over.wait(1.0):
            self._draw()

    def _draw(self) -> None:
        if self._bar is None:
            return
        usage, seconds = self._usage, int(time.monotonic() - self._started)
        tokens = usage.prompt_tokens + usage.completion_tokens
        self._bar.set_description_str(
            f"{self._phase} · round {self._round} · {usage.calls} calls · {tokens} tokens · {money(usage.cost)} · "
            f"{seconds // 60}:{seconds % 60:02d}")
