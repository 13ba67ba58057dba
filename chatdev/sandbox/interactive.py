"""A program at the user's own terminal or on the user's own streams, until it ends or we are asked to end."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from chatdev.errors import SandboxError
from chatdev.sandbox.base import Execution

_PIECE = 1 << 14  # bytes
_MOMENT = 2.0  # seconds
_C0 = rb"[\x00-\x17\x19\x1c-\x1f\x7f]*"  # control characters, which act in the middle of a sequence
_STRING_BEGINS = re.compile(rb"\x1b" + _C0 + rb"[\]P_^X]|\xc2[\x90\x98\x9d\x9e\x9f]")
_STRING_ENDS = re.compile(rb"[\x07\x18\x1a]|\x1b\\|\xc2\x9c|(?=\x1b[^\\])", re.DOTALL)
_PARAMETERS = rb"[\x00-\x17\x19\x1c-\x3f\x7f]{0,256}"
_BEGINNING = re.compile(rb"(?:\x1b" + _C0 + rb"(?:\[" + _PARAMETERS + rb")?|\xc2(?:\x9b" + _PARAMETERS + rb")?)\Z")
_WINDOW = re.compile(rb"(?:\x1b" + _C0 + rb"\[|\xc2\x9b)" + _PARAMETERS + rb"t")


def run_interactively(command: Sequence[str], *, env: Mapping[str, str], cwd: Path | None = None,
                      pass_fds: Sequence[int] = ()) -> Execution:
    """Run `command` with the user's standard streams until it ends; nothing is captured and no time limit holds.
    Whatever ends the call ends the program.

    At a terminal the program gets a pseudo-terminal of its own: it can neither push characters into the user's
    shell (TIOCSTI) nor change its settings, and Ctrl-C reaches the program, not us.
    """
    started = time.monotonic()
    try:
        run = _run_at_terminal if sys.stdin is not None and sys.stdin.isatty() else _run_on_streams
        status = run(command, env, cwd, pass_fds)
    except OSError as error:
        raise SandboxError(f"cannot start {command[0]}: {error}") from error
    return Execution(exit_status=status if status >= 0 else None, signal=-status if status < 0 else None,
                     stdout="", stderr="", seconds=time.monotonic() - started)


def _run_at_terminal(command: Sequence[str], env: Mapping[str, str], cwd: Path | None, pass_fds: Sequence[int]) -> int:
    for descriptor in pass_fds:
        os.set_inheritable(descriptor, True)
    directory = [f"--chdir={cwd}"] if cwd else []
    variables = [f"{name}={value}" for name, value in env.items()]
    child, terminal = pty.fork()
    if child == 0:
        os.execv("/usr/bin/env", ["/usr/bin/env", "-i", *directory, *variables, *command])
    try:
        with _raw_terminal():
            _copy(terminal)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        raise
    finally:
        os.close(terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status


@contextlib.contextmanager
def _raw_terminal() -> Iterator[None]:
    """Meanwhile every key goes to the program."""
    try:
        before = termios.tcgetattr(0)
        tty.setraw(0)
    except termios.error:  # a terminal that hung up just now
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(0, termios.TCSAFLUSH, before)


def _copy(terminal: int) -> None:
    """Hand through what the program writes and what the user types, until the program has closed its terminal."""
    open_ones, screen = [terminal, 0], ScreenFilter()
    while True:
        ready, _, _ = select.select(open_ones, [], [])
        if terminal in ready:
            if not (data := _read(terminal)):
                return
            _write(1, screen.keep(data))
        if 0 in ready:
            if data := _read(0):
                _write(terminal, data)
            else:
                open_ones.remove(0)


def _read(descriptor: int) -> bytes:
    """Next piece of output; empty at the end, which Linux reports of a terminal as an error."""
    try:
        return os.read(descriptor, _PIECE)
    except OSError:
        return b""


def _write(descriptor: int, data: bytes) -> None:
    """Write all of it; what a terminal that hung up does not take is lost."""
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(descriptor, data):]


class ScreenFilter:
    """Lets through what a program draws on the screen, and nothing that acts beyond it.

    Left out are the strings that set the title and the clipboard, make links, and send files or keys through (OSC, DCS,
    APC, PM, SOS; ECMA-48 §8.3), and the window's own sequences (CSI … t), which have the terminal type its title.
    """

    def __init__(self) -> None:
        self._held = b""
        """The end of what came, which may begin a sequence."""
        self._inside = False
        """Whether a string has begun, and not ended."""

    def keep(self, data: bytes) -> bytes:
        """What the terminal may have of the next piece, and of what was held."""
        data, kept = self._held + data, b""
        self._held = b""
        while data:
            if self._inside:
                end = _STRING_ENDS.search(data)
                self._inside = end is None
                data = data[end.end():] if end else data[-1:] if data[-1:] in (b"\x1b", b"\xc2") else b""
                if end is None:
                    self._held = data
                    break
            elif begin := _STRING_BEGINS.search(data):
                self._inside = True
                kept, data = kept + data[:begin.start()], data[begin.end():]
            else:
                held = _BEGINNING.search(data)
                self._held = data[held.start():] if held else b""
                kept, data = kept + data[:len(data) - len(self._held)], b""
        return _WINDOW.sub(b"", kept)


def _run_on_streams(command: Sequence[str], env: Mapping[str, str], cwd: Path | None, pass_fds: Sequence[int]) -> int:
    with _own_terminal(1) as out, _own_terminal(2) as err:
        child = subprocess.Popen(command, env=dict(env), cwd=cwd, start_new_session=True, pass_fds=pass_fds, stdout=out,
                                 stderr=err)
        return _wait(child)


@contextlib.contextmanager
def _own_terminal(stream: int) -> Iterator[int | None]:
    """Where a program writes that is meant for one of our streams: the stream itself, or, where that is the user's
    terminal, a terminal of its own whose output goes there."""
    if not os.isatty(stream):
        yield None
        return
    ours, theirs = pty.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST  # the user's terminal does that
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    copying = threading.Thread(target=_copy_output, args=(ours, stream), daemon=True)
    copying.start()
    try:
        yield theirs
    finally:
        os.close(theirs)
        copying.join(_MOMENT)  # what is left is read by then, unless a child of the program lives on
        with contextlib.suppress(OSError):
            os.close(ours)


def _copy_output(terminal: int, stream: int) -> None:
    screen = ScreenFilter()
    while data := _read(terminal):
        _write(stream, screen.keep(data))


def _wait(child: subprocess.Popen[bytes]) -> int:
    try:
        return child.wait()
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
