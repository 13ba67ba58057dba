"""How a command ends for a person: an exit code, for errors a short text, the same for a signal, and for a standard
output or error that fails. That never stops a run: what cannot be written is dropped, what cannot be yet waits.

A thread of its own writes, so that a run goes on at a terminal that somebody has stopped (Ctrl-S) and behind a slow
pipe. A stream whose device fails (a full disk, a terminal that hung up, a reader that went away) takes everything from
then on, and the first error is kept.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from io import BufferedWriter, FileIO, TextIOWrapper
from types import FrameType
from typing import Any, ParamSpec, TextIO

import click

from chatdev.errors import ChatDevError, WorkspaceError
from chatdev.safe_text import sanitize
from chatdev.sandbox.children import kill_all_children

P = ParamSpec("P")

BUG = 70
_NO_NAME = (errno.ENAMETOOLONG, errno.ELOOP)
"""What is wrong with a path that was typed, wherever it is looked at first."""


def report_outcome(command: Callable[P, int]) -> Callable[P, None]:
    """Turn what a command returns or raises into an exit code and, for errors, a short text; with `--debug` also where
    it comes from."""
    @debug_option
    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            status = command(*args, **kwargs)
        except ChatDevError as error:
            status = _show_failure(error, str(error), error.exit_status)
        except KeyboardInterrupt as error:
            status = _show_failure(error, "stopped", interrupted_status())
        except (click.ClickException, click.exceptions.Exit):
            raise  # click's own business
        except Exception as error:  # noqa: BLE001 - a person gets a sentence; --debug shows everything
            if isinstance(error, OSError) and error.errno in _NO_NAME:
                status = _show_failure(error, f"{str(error.filename)[:100]}: {error.strerror}; check the path", 2)
            else:
                text = f"{type(error).__name__}: {error}; this is an error in chatdev: `--debug` shows where"
                status = _show_failure(error, text, BUG)
        sys.exit(status)

    return run


def _show_failure(error: BaseException, text: str, status: int) -> int:
    """Say what went wrong, with `--debug` also where; returns `status`."""
    show_error(text)
    if wants_debug():
        click.echo(sanitize("".join(traceback.format_exception(error))), err=True)
    return status


def show_error(text: str) -> None:
    """Print an error for a person. It may have come before anybody looked at the environment, and name a key in it."""
    with suppress(ChatDevError):
        from chatdev.config.settings import environ  # brings half of the library; an error may come before it

        environ()
    click.echo(f"{click.style('error:', fg='red', bold=True)} {sanitize(text)}", err=True)


_DEBUG = "chatdev.debug"


def _note_debug(context: click.Context, _: click.Parameter, given: bool) -> None:
    context.meta[_DEBUG] = given or context.meta.get(_DEBUG, False)


debug_option = click.option("--debug", is_flag=True, expose_value=False, callback=_note_debug,
                            help="Show where an error comes from (a traceback).")


def wants_debug() -> bool:
    """Whether the command line asks for tracebacks."""
    return bool(click.get_current_context().meta.get(_DEBUG))


# Ctrl-C, SIGTERM and SIGHUP cancel a command, which is cleared up and can be resumed. A second one ends it at once.

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SAME = 0.3  # seconds: shell and kernel may both tell of a closed terminal, which is one signal
_WAKE = signal.SIGURG  # sent by no other program, and ignored by default


class _Signals:
    """What came meanwhile."""

    first: signal.Signals | None = None
    passed_on = False  # to what heeds Ctrl-C


_came = _Signals()


def interrupted_status() -> int:
    """What a command exits with that a signal ended: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""
    return 128 + (_came.first or signal.SIGINT)


@contextmanager
def heed_signals() -> Iterator[None]:
    """Meanwhile SIGTERM and SIGHUP do what Ctrl-C does, unless they were ignored when we were started (`nohup`). For
    the main thread of a process, before it starts others."""
    global _came
    _came = _Signals()
    handlers: dict[signal.Signals, Any] = {number: signal.getsignal(number) for number in _ENDING}
    if handlers[signal.SIGINT] is signal.SIG_IGN:  # in the background of a script; asyncio must have its handler
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if handlers[number] is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    handlers[_WAKE] = signal.signal(_WAKE, lambda number, frame: None)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_end_at_the_second, args=[reader, _came], name="chatdev-signals", daemon=True).start()
    try:
        yield
    except KeyboardInterrupt:
        _came.first = _came.first or signal.SIGINT
        raise
    finally:
        signal.set_wakeup_fd(before)
        os.close(writer)
        if _came.first is None:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        else:  # the process is at its end, and no further signal is to change how
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C would do now: cancel the work of an event loop, or raise KeyboardInterrupt. Only the first signal
    does."""
    if _came.passed_on or _came.first not in (None, number):
        return
    _came.first, _came.passed_on = signal.Signals(number), True
    interrupt = signal.getsignal(signal.SIGINT)
    if callable(interrupt):
        interrupt(signal.SIGINT, frame)


def _end_at_the_second(reader: int, came: _Signals) -> None:
    """Read the numbers of signals as they come, whatever the main thread waits for."""
    first_at = time.monotonic()
    came_before = False
    while numbers := os.read(reader, 64):
        for number in filter(_ENDING.__contains__, numbers):
            if not came_before:
                came_before, first_at = True, time.monotonic()
                came.first = came.first or signal.Signals(number)
                threading.Thread(target=_wake_main_thread, name="chatdev-wake", daemon=True).start()
            elif time.monotonic() - first_at > _SAME:
                kill_all_children()
                os._exit(128 + number)
    os.close(reader)


def _wake_main_thread() -> None:
    """A signal that another thread was given (as when the process was just stopped and continued) is handled only when
    the main thread comes back from what it waits for. Said thrice, as it may just be about to wait."""
    for _ in range(3):
        signal.pthread_kill(threading.main_thread().ident or 0, _WAKE)
        time.sleep(_SAME / 3)


# Standard output and standard error, whose failures never stop a run: what cannot be written is dropped, and what
# cannot be written yet waits.

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
