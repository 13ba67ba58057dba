"""A program at the user's own terminal or on the user's own streams, until it ends or we are asked to end."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from chatdev.errors import SandboxError
from chatdev.sandbox.base import Execution

_PIECE = 1 << 14  # bytes


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
    open_ones = [terminal, 0]
    while True:
        ready, _, _ = select.select(open_ones, [], [])
        if terminal in ready:
            if not (data := _read(terminal)):
                return
            _write(1, data)
        if 0 in ready:
            if data := _read(0):
                _write(terminal, data)
            else:
                open_ones.remove(0)


def _read(descriptor: int) -> bytes:
    """What comes next; nothing at the end, which Linux tells of a terminal by an error."""
    try:
        return os.read(descriptor, _PIECE)
    except OSError:
        return b""


def _write(descriptor: int, data: bytes) -> None:
    """Write all of it; what a terminal that hung up does not take is lost."""
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(descriptor, data):]


def _run_on_streams(command: Sequence[str], env: Mapping[str, str], cwd: Path | None, pass_fds: Sequence[int]) -> int:
    child = subprocess.Popen(command, env=dict(env), cwd=cwd, start_new_session=True, pass_fds=pass_fds)
    try:
        return child.wait()
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
