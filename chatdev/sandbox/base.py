"""The seam between tools and the place where untrusted programs run: a job, its limits, how it ended, and the sandbox
that runs it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

BOX = "/box"
"""Path of the job's folder inside the sandbox."""
HOME = "/home/user"
"""Its home, in memory."""
SCRATCH = {"/dev/shm": 64 << 20, "/tmp": 256 << 20, HOME: 64 << 20}
"""Folders in memory, and how many bytes of it each may take."""
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts")
"""Files of /etc that programs need."""
Exceeded = Literal["memory", "disk", "output", "command"]
"""Which of `ProcessLimits.memory`, `disk` and `written` ended a program; `command`: it was not started, because its
command line is too long, has too many words, or holds what no command line can hold."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits of one program: sizes in bytes, times in seconds.

    The kernel refuses more than `address_space`, `file_size`, `processes` and `open_files`; a program that goes over
    `memory`, `disk` or `written` is ended (`Execution.exceeded`).
    """

    seconds: float = 10.0
    cpu: int | None = None  # seconds of the processor, of one process; SIGXCPU ends it
    memory: int = 2 << 30  # all its processes together
    address_space: int | None = None  # of one process; None: as `memory`. Some runtimes reserve much and use little
    file_size: int = 50 << 20
    disk: int = 512 << 20  # the job's folder, what was there before included; an entry takes at least 4 KiB
    processes: int = 256
    open_files: int = 256
    output: int = 64 << 10  # kept of each stream: half from the head, half from the tail
    written: int = 100 << 20  # to both streams together


@dataclass(frozen=True, slots=True)
class Binding:
    """A folder or file of the host that the program sees read-only at `target` (default: the same path)."""

    source: Path
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Execution:
    """How a program ended. `exit_status` is None when a signal ended it, also one of ours: `timed_out` says that its
    time was up, `exceeded` that it took more than it may."""

    exit_status: int | None
    signal: int | None
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False
    truncated: bool = False
    exceeded: Exceeded | None = None


def lines_of(text: str) -> list[str]:
    """The lines that are compared: without blanks at their ends, and without empty ones at the end of all."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


def printed_lines(stdout: str, stderr: str, status: int | None) -> list[str]:
    """What counts as printed: what comes with a status other than 0 may stand on either stream, all else must stand on
    standard output."""
    return lines_of(stdout) if status == 0 else lines_of(stdout) + lines_of(stderr)


@dataclass(frozen=True, slots=True)
class SandboxJob:
    """One program to run. `folder` is bound writable as the working directory; nothing else of the host is."""

    argv: Sequence[str]
    folder: Path
    limits: ProcessLimits = ProcessLimits()
    env: Mapping[str, str] = field(default_factory=dict)
    bindings: Sequence[Binding] = ()
    stdin: str | None = None  # None: /dev/null
    interactive: bool = False  # True: the user's own terminal (chatdev play)
    network: bool = False


class Sandbox(Protocol):
    """A place to run untrusted programs."""

    name: str

    def run(self, job: SandboxJob) -> Execution:
        """Run `job` to its end or its limits; blocking. Raises SandboxError when it cannot be started."""
        ...

    def stop_all(self) -> None:
        """Kill whatever is still running, and run nothing any more; safe from any thread."""
        ...


def signal_from_status(execution: Execution) -> Execution:
    """bwrap and docker turn death by signal n into exit status 128 + n; turn it back."""
    number = (execution.exit_status or 0) - 128
    if number in set(signal.Signals):
        return replace(execution, exit_status=None, signal=number)
    return execution


def variables_of(job: SandboxJob, home: str) -> dict[str, str]:
    """The environment variables of a job, none of them ours: a fixed minimum, the terminal's kind for interactive jobs,
    and `job.env`."""
    variables = {
        "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "USER": "user", "LANG": "C.UTF-8", "TERM": "dumb",
        "TMPDIR": "/tmp", "XDG_CACHE_HOME": f"{home}/.cache", "PYTHONDONTWRITEBYTECODE": "1",
    }
    if job.interactive:
        size = shutil.get_terminal_size()
        variables |= {"TERM": os.environ.get("TERM", "dumb"), "COLUMNS": str(size.columns), "LINES": str(size.lines)}
    return variables | dict(job.env)


def prlimit_command(limits: ProcessLimits, *, count_processes: bool) -> list[str]:
    """The start of a command line that lowers the kernel's limits for what follows it.

    `count_processes` only where the user id is the program's own: the kernel counts all processes of a user.
    """
    space = limits.memory if limits.address_space is None else limits.address_space
    options = [f"--as={space}", f"--fsize={limits.file_size}", f"--nofile={limits.open_files}", "--core=0"]
    if limits.cpu is not None:
        options.append(f"--cpu={limits.cpu}:{limits.cpu + 1}")  # the first limit sends SIGXCPU, the second SIGKILL
    if count_processes:
        options.append(f"--nproc={limits.processes}")
    return ["prlimit", *options, "--"]
