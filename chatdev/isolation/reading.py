"""Reading beside the event loop: in a thread that stops when its caller is cancelled or its time is up.

Readers check from time to time whether they should stop (`look_up`); the wait for the child does so ten times a second,
so that a hanging parser delays no caller.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")
LOOK = 0.1
"""Seconds between two looks while a reader waits."""


class ReadingStopped(BaseException):
    """The caller was cancelled; a BaseException, so that no reader takes it for a fault of the text."""


class ReadingTooSlow(BaseException):
    """It took longer than it may."""


class _Reading:
    """One thing that is read: whether it is still wanted, and how long it may take."""

    def __init__(self, seconds: float | None) -> None:
        self.stopped = False
        self._until = None if seconds is None else time.monotonic() + seconds

    def look_up(self) -> None:
        """Raise ReadingStopped or ReadingTooSlow."""
        if self.stopped:
            raise ReadingStopped
        if self._until is not None and time.monotonic() > self._until:
            raise ReadingTooSlow

    def wait(self, seconds: float) -> None:
        """Extend the deadline by `seconds`, in which others had the child."""
        if self._until is not None:
            self._until += seconds


_current: ContextVar[_Reading | None] = ContextVar("reading", default=None)


def look_up() -> None:
    """Raise ReadingStopped where what is read here is no longer wanted, ReadingTooSlow where it took too long."""
    if reading := _current.get():
        reading.look_up()


@contextmanager
def hold_lock(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock; the wait for it ends with the reading, and does not count."""
    reading, began = _current.get(), time.monotonic()
    while not lock.acquire(timeout=LOOK):
        if reading and reading.stopped:
            raise ReadingStopped
    if reading:
        reading.wait(time.monotonic() - began)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def stop_at_end() -> Iterator[None]:
    """Stop readers in threads started inside at the end of the block."""
    reading = _Reading(None)
    token = _current.set(reading)
    try:
        yield
    finally:
        reading.stopped = True
        _current.reset(token)


async def read_beside(seconds: float | None, function: Callable[..., T], *args: Any, **options: Any) -> T:
    """Result of the function in a thread. Cancellation tells the thread to stop and does not wait for it, nor does the
    end of the process. Raises TimeoutError after `seconds` (None: no limit), not counting the time that others had the
    child."""
    loop, reading, context = asyncio.get_running_loop(), _Reading(seconds), copy_context()
    future: asyncio.Future[T] = loop.create_future()
    context.run(_current.set, reading)

    def work() -> None:
        try:
            result, error = context.run(function, *args, **options), None
        except BaseException as caught:  # noqa: BLE001 - it is raised where it is waited for
            result, error = None, TimeoutError() if isinstance(caught, ReadingTooSlow) else caught
        with suppress(RuntimeError):  # the loop may be at its end by now
            loop.call_soon_threadsafe(_settle, future, result, error)

    threading.Thread(target=work, name="chatdev-reader", daemon=True).start()
    try:
        return await future
    finally:
        reading.stopped = True


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:  # of all errors it takes but this one
        future.set_exception(RuntimeError(error) if isinstance(error, StopIteration) else error)
