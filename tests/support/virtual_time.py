"""An event loop whose clock jumps to the next timer instead of waiting for it: hours of waiting in no time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jumping(selectors.DefaultSelector):
    """Never waits; remembers for how long it should have."""

    skipped = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.skipped += timeout or 0.0
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self, selector: _Jumping) -> None:
        self._jumping = selector
        super().__init__(selector)

    def time(self) -> float:
        return self._jumping.skipped


def run(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` for what waits only for timers, not for sockets or threads."""
    with asyncio.Runner(loop_factory=lambda: _Loop(_Jumping())) as runner:
        return runner.run(main)
