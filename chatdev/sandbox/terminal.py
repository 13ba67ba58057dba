"""Handing the user's terminal to a program (`chatdev play`)."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from chatdev.errors import SandboxError
from chatdev.sandbox.base import Execution


def run_interactively(command: Sequence[str], *, env: Mapping[str, str], cwd: Path | None = None,
                      pass_fds: Sequence[int] = ()) -> Execution:
    """Run `command` with the user's standard streams until it ends; nothing is captured and no time limit holds.

    At a terminal the program gets a pseudo-terminal of its own: it can neither push characters into the user's
    shell (TIOCSTI) nor change its settings, and Ctrl-C reaches the program, not us.
    """
    started = time.monotonic()
    try:
        run = _at_terminal if sys.stdin.isatty() else _on_streams
        status = run(command, env, cwd, pass_fds)
    except OSError as error:
        raise SandboxError(f"cannot start {command[0]}: {error}") from error
    return Execution(exit_status=status if status >= 0 else None, signal=-status if status < 0 else None,
                     stdout="", stderr="", seconds=time.monotonic() - started)


def _at_terminal(command: Sequence[str], env: Mapping[str, str], cwd: Path | None, pass_fds: Sequence[int]) -> int:
    for descriptor in pass_fds:
        os.set_inheritable(descriptor, True)
    directory = [f"--chdir={cwd}"] if cwd else []
    variables = [f"{name}={value}" for name, value in env.items()]
    return os.waitstatus_to_exitcode(pty.spawn(["/usr/bin/env", "-i", *directory, *variables, *command]))


def _on_streams(command: Sequence[str], env: Mapping[str, str], cwd: Path | None, pass_fds: Sequence[int]) -> int:
    child = subprocess.Popen(command, env=dict(env), cwd=cwd, start_new_session=True, pass_fds=pass_fds)
    try:
        return child.wait()
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
