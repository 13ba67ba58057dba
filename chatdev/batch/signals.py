"""Ctrl-C, and SIGTERM, by which clusters and service managers end a process."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


def run_interruptible(work: Coroutine[Any, Any, T]) -> T:
    """The value of `work`, in an event loop of its own. Ctrl-C and SIGTERM cancel it; when it has cleared up they raise
    KeyboardInterrupt. For the main thread of a process."""
    async def through() -> T:
        with cancel_on_sigterm():
            return await work

    try:
        return asyncio.run(through())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


@contextmanager
def cancel_on_sigterm() -> Iterator[None]:
    """Meanwhile SIGTERM cancels the current task, as Ctrl-C does. For the main thread of a process."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
