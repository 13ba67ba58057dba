"""How a command ends for a person: an exit code, for errors a short text, and the same for a signal."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from types import FrameType
from typing import Any, ParamSpec

import click

from chatdev.errors import ChatDevError
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
