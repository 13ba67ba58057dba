"""Standard output and standard error, whose failures never stop a run: what cannot be written is dropped, and
what cannot be written yet waits.

A thread of its own writes, so that a run goes on at a terminal that somebody has stopped (Ctrl-S) and behind a slow
pipe. A stream whose device fails (a full disk, a terminal that hung up, a reader that went away) takes everything from
then on, and the first error is kept.
"""

from __future__ import annotations

import errno
import os
import select
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import Any, TextIO

from chatdev.cli.outcome import show_error
from chatdev.errors import WorkspaceError

_MOST_WAITING = 16 << 20  # bytes; then writers wait
_MOMENT = 0.1  # seconds; what others write to the same terminal shall come after what was written before
_PATIENCE = 1.0  # seconds between two attempts at a device that takes nothing now


class OutputThread:
    """Writes what it is given to descriptors, in order."""

    def __init__(self) -> None:
        self.failures: dict[int, OSError] = {}
        """The first error of each descriptor that takes nothing any more."""
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._bytes = 0
        self._stuck = False
        self._change = threading.Condition()
        threading.Thread(target=self._work, name="chatdev-output", daemon=True).start()

    def add(self, descriptor: int, data: bytes) -> None:
        """Have it written; waits only while very much is waiting already."""
        with self._change:
            self._change.wait_for(lambda: self._bytes < _MOST_WAITING)
            if descriptor not in self.failures:
                self._waiting.append((descriptor, data))
                self._bytes += len(data)
                self._change.notify_all()

    def drain(self) -> None:
        """Wait until everything is written."""
        with self._change:
            self._change.wait_for(lambda: not self._bytes)

    def catch_up(self) -> None:
        """Wait a moment until everything is written; not again while it cannot be."""
        with self._change:
            if not self._stuck:
                self._stuck = not self._change.wait_for(lambda: not self._bytes, _MOMENT)

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._waiting)
                descriptor, data = self._waiting.popleft()
            failure = None if descriptor in self.failures else _write(descriptor, data)
            with self._change:
                if failure:
                    self.failures[descriptor] = failure
                self._bytes -= len(data)
                self._stuck = self._stuck and self._bytes > 0
                self._change.notify_all()


def _write(descriptor: int, data: bytes) -> OSError | None:
    """Write all of it; the error that prevents that."""
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(descriptor, left):]
        except BlockingIOError:  # somebody else made the terminal or pipe so
            select.select([], [descriptor], [], _PATIENCE)
        except OSError as error:
            return error
    return None


class LastingStream(FileIO):
    """A descriptor of ours that is written by an `OutputThread`."""

    def __init__(self, descriptor: int, thread: OutputThread) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._thread = thread

    def write(self, data: Any, /) -> int:
        """Take all of it."""
        taken = bytes(data)
        self._thread.add(self.fileno(), taken)
        return len(taken)


class LastingText(TextIOWrapper):
    """A text stream over a `LastingStream`; `flush` waits a moment, so that prompts and programs come after it."""

    def __init__(self, descriptor: int, thread: OutputThread, encoding: str) -> None:
        super().__init__(BufferedWriter(LastingStream(descriptor, thread)), encoding, errors="replace",
                         line_buffering=True)
        self._thread = thread

    def flush(self) -> None:
        """Have it written, if that takes but a moment."""
        super().flush()
        self._thread.catch_up()


_recorded = False  # see `output_is_recorded`


def output_is_recorded() -> None:
    """Say that what is printed stands in a folder or file, too: a command whose output fails has still succeeded."""
    global _recorded
    _recorded = True


def open_closed_streams() -> None:
    """Let what was closed of the standard streams when we were started lead to nowhere, before some file of a run takes
    its place."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(nowhere := os.open(os.devnull, os.O_RDWR), descriptor)
            if nowhere != descriptor:
                os.close(nowhere)


@contextmanager
def lasting_output() -> Iterator[None]:
    """Meanwhile `sys.stdout` and `sys.stderr` last. At the end everything is written, and `SystemExit` tells the truth:
    for a command that only prints, output that could not be written is a failure."""
    before = sys.stdin, sys.stdout, sys.stderr
    thread = OutputThread()
    sys.stdin = before[0] or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout, sys.stderr = _lasting(before[1], 1, thread), _lasting(before[2], 2, thread)
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    try:
        yield
    except SystemExit as end:
        raise SystemExit(_settle(thread, end.code)) from None
    finally:
        _drain(thread)
        sys.stdin, sys.stdout, sys.stderr = before


def _lasting(stream: TextIO | None, descriptor: int, thread: OutputThread) -> TextIO:
    """A stream like the one that Python opened (None: it was closed); a character that it does not know is shown as
    `?`. One without a descriptor (somebody reads what we write) stays."""
    encoding = "utf-8"
    if stream is not None:
        try:
            descriptor = stream.fileno()
        except (OSError, ValueError):
            return stream
        stream.flush()
        encoding = stream.encoding
    return LastingText(descriptor, thread, encoding)


def _drain(thread: OutputThread) -> None:
    """Wait until everything is written, or until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        sys.stdout.flush()
        sys.stderr.flush()
        thread.drain()


def _settle(thread: OutputThread, status: int | str | None) -> int | str | None:
    """The exit status, now that everything is written as far as it can be."""
    _drain(thread)
    with suppress(OSError, ValueError):  # a stream without a descriptor
        return _judge(thread.failures.get(sys.stdout.fileno()), status)
    return status


def _judge(failure: OSError | None, status: int | str | None) -> int | str | None:
    """The exit status of a command whose output failed so. A reader that went away wanted no more."""
    if failure is None or failure.errno == errno.EPIPE:
        return status
    rest = "what was done is kept" if _recorded else "send it somewhere else"
    show_error(f"the output could not be written: {failure.strerror}; {rest}")
    return status if _recorded or status else WorkspaceError.exit_status
