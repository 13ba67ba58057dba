"""The seam between tools and the place where untrusted programs run: a job, its limits, how it ended, the sandbox that
runs it, and the folder of a job, whatever the program did to it."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from chatdev.errors import SandboxError

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


# The folder of a job: handed over to the user that its program runs as, measured, taken back and removed, whatever
# the program did to it.

SPARE_USERS = range(65000, 65534)
"""User id reserved in Debian's policy and therefore unused; inside the 65536 ids of a container."""
_DEEPEST = 64  # levels; what hides deeper counts as too much
_LEAST = 4096  # bytes of an entry, so that empty files count, too
_BLOCK = 512  # bytes, the unit of st_blocks
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def spare_user() -> int:
    """The user that a program of root's runs as: any of `SPARE_USERS`, so that the processes of two programs count
    apart."""
    return random.choice(SPARE_USERS)


def hand_over(folder: Path, user: int) -> None:
    """Give the throwaway copy to the user the program will run as."""
    if _give(folder, user, user):
        return
    done = subprocess.run(["chown", "-hR", f"{user}:{user}", "--", str(folder)], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SandboxError(f"cannot hand {folder} over to the program: {done.stderr.decode(errors='replace').strip()}")


def disk_usage(folder: Path, limit: int) -> int:
    """Bytes that everything below `folder` takes on the disk; any number above `limit` once it is more.

    Links are not followed, and a folder that may not be read is read all the same where it is ours.
    """
    try:
        descriptor = os.open(folder, _FOLDER & ~os.O_NOFOLLOW)
    except OSError:
        return 0
    try:
        return _usage(descriptor, limit, 0)
    finally:
        os.close(descriptor)


def remove_folder(folder: Path) -> None:
    """Remove `folder` with all that is in it: unreadable folders, any depth, links (not what they lead to).

    shutil.rmtree gives up on folders that may not be written and on very deep ones, and what cleans up behind
    tempfile.TemporaryDirectory in Python 3.11 follows links.
    """
    with contextlib.suppress(OSError, RecursionError):  # the usual one, without a process
        shutil.rmtree(folder)
        return
    for command in (("/bin/rm", "-rf"), ("/bin/chmod", "-R", "u+rwx"), ("/bin/rm", "-rf")):
        subprocess.run([*command, "--", str(folder)], capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if not os.path.lexists(folder):
            return


def take_back(folder: Path) -> None:
    """Make `folder` with all that is in it ours again, where a sandbox handed it over to a program's user (as root);
    that ends the rights of set-user-id files, too. Raises OSError."""
    if os.geteuid() == 0 and not _give(folder, os.geteuid(), os.getegid()):
        subprocess.run(["chown", "-hR", f"{os.geteuid()}:{os.getegid()}", "--", str(folder)], capture_output=True,
                       check=False, stdin=subprocess.DEVNULL)


def _give(folder: Path, user: int, group: int) -> bool:
    """Whether the usual folder was given away without a process: one that is not deeper than Python follows."""
    try:
        for path, folders, files, descriptor in os.fwalk(folder, onerror=_raise):
            if path.count(os.sep) > _DEEPEST:
                return False
            os.chown(descriptor, user, group)
            for name in (*folders, *files):
                os.chown(name, user, group, dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return False
    return True


def _raise(error: OSError) -> None:
    raise error


def _usage(folder: int, limit: int, depth: int) -> int:
    if depth > _DEEPEST:
        return limit + 1
    total = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # it has gone meanwhile
                found = entry.stat(follow_symlinks=False)
                total += max(_LEAST, found.st_blocks * _BLOCK)
                if stat.S_ISDIR(found.st_mode):
                    total += _usage_below(folder, entry.name, limit - total, depth)
            if total > limit:
                break
    return total


def _usage_below(folder: int, name: str, limit: int, depth: int) -> int:
    with _open_folder(folder, name) as below:
        return _usage(below, limit, depth + 1)


@contextlib.contextmanager
def _open_folder(folder: int, name: str) -> Iterator[int]:
    """A descriptor of the folder `name` in `folder`, which is readable meanwhile if it is ours."""
    try:
        descriptor = os.open(name, _FOLDER, dir_fd=folder)
    except PermissionError:
        with _open_unreadable(folder, name) as itself:
            yield itself
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _open_unreadable(folder: int, name: str) -> Iterator[int]:
    """The same for an unreadable folder. By way of a descriptor, because the program may swap the folder for a link to
    something of the user's just then."""
    path_only = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    itself = Path(f"/proc/self/fd/{path_only}")
    mode = stat.S_IMODE(os.fstat(path_only).st_mode)
    try:
        itself.chmod(mode | stat.S_IRWXU)
        descriptor = os.open(itself, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
            itself.chmod(mode)
    finally:
        os.close(path_only)
