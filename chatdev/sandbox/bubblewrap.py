"""Untrusted programs in bubblewrap: no network, no secrets, nothing of the host but /usr, read-only."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from chatdev.errors import SandboxError
from chatdev.sandbox.base import Binding, Execution, Job
from chatdev.sandbox.children import Children
from chatdev.sandbox.environment import environment, limited
from chatdev.sandbox.terminal import run_interactively

BOX = "/box"
"""Where the program sees `job.folder`."""
HOME = "/home/user"

_NEEDED = {"bwrap": "bubblewrap", "prlimit": "util-linux", "setpriv": "util-linux"}
_SPARE_USERS = range(65000, 65534)  # reserved in Debian's policy, so nobody's; inside the 65536 ids of a container
_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent",
               "--hostname", "sandbox")
_SYSTEM = ("--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
           "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/sbin", "/sbin",
           "--perms", "0755", "--dir", "/etc",  # or bwrap makes it unreadable to others
           "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache",
           "--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--ro-bind-try", "/etc/fonts", "/etc/fonts",
           "--proc", "/proc", "--dev", "/dev")
_NETWORK = tuple(word for path in ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl")
                 for word in ("--ro-bind-try", path, path))
_SCRATCH = {"/dev/shm": 64 << 20, "/tmp": 256 << 20, HOME: 64 << 20}  # bytes of memory each may take


class Bubblewrap:
    """`Sandbox` by bubblewrap. Killing bwrap ends the program's pid namespace, hence its whole process tree.

    bwrap and the namespace's first process stay in one process group (no `--new-session`: `Children` starts a session
    anyway), so that a kill reaches both, however early it comes.

    As root the program becomes one of the spare users, because the kernel does not limit root's processes; for
    that `job.folder`, a throwaway copy, is handed over to it. Otherwise a user namespace does the same.
    """

    name = "bubblewrap"

    def __init__(self) -> None:
        self._children = Children()

    def run(self, job: Job) -> Execution:
        """Run `job`; `exit_status` is None when a signal ended it. Raises SandboxError when bwrap cannot start."""
        user = random.choice(_SPARE_USERS) if _root_works() else None  # apart, so that their processes count apart
        if user is not None:
            _hand_over(job.folder, user)
        if job.interactive:
            return run_interactively(_command(job, user), env={})
        with _status_pipe() as (reader, writer):
            command = _command(job, user, "--json-status-fd", str(writer))
            execution = self._children.run(command, job, env={}, pass_fds=(writer,))
            started = b"exit-code" in _read_now(reader)
        if not started and not execution.timed_out:
            raise SandboxError(f"bubblewrap could not start {job.argv[0]}: {execution.stderr.strip() or 'no reason'}")
        return _with_signal(execution)

    def stop_all(self) -> None:
        """Kill whatever is still running; safe from any thread."""
        self._children.stop_all()


@functools.cache
def available() -> str | None:
    """None when bubblewrap works here, else the reason with its mend; found by running it, once."""
    if missing := [program for program in _NEEDED if not shutil.which(program)]:
        packages = " ".join(sorted({_NEEDED[program] for program in missing}))
        return f"{' and '.join(missing)} not found; install it: apt-get install {packages}"
    if _root_works():
        return None
    reason = _probe(user=None)
    if reason is None:
        return None
    return (f"bubblewrap is installed but does not work here ({reason}). It needs bubblewrap 0.8 or newer and "
            "unprivileged user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu 24.04 also "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container, allow them (for docker: "
            "`--security-opt seccomp=unconfined --security-opt apparmor=unconfined`)")


@functools.cache
def _root_works() -> bool:
    """Whether we are root with the right to make namespaces (root in a container may not have it)."""
    return os.geteuid() == 0 and _probe(user=_SPARE_USERS[0]) is None


def _probe(user: int | None) -> str | None:
    """None when `true` runs, else what bwrap says."""
    job = Job(argv=["true"], folder=Path("/usr/share"))
    try:
        done = subprocess.run(_command(job, user), env={}, capture_output=True, timeout=20,
                              check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else done.stderr.decode(errors="replace").strip() or f"exit {done.returncode}"


def _command(job: Job, user: int | None, *options: str) -> list[str]:
    """The whole command line. Binds under /tmp must follow its tmpfs; --setenv must follow --clearenv; only the
    program's own user may enter its folder, so `env` does."""
    variables = environment(job, HOME) | {"PWD": BOX}
    bwrap = shutil.which("bwrap") or "bwrap"
    return [
        bwrap, *_NAMESPACES, *options, *_identity(user), *(_NETWORK if job.network else ("--unshare-net",)),
        *_SYSTEM, "--remount-ro", "/dev", *_scratch(), *_bound(job.bindings), "--bind", str(job.folder.resolve()), BOX,
        "--remount-ro", "/", "--chdir", "/",
        "--clearenv", *(word for name, value in variables.items() for word in ("--setenv", name, value)),
        "--", *_drop(user), "env", f"--chdir={BOX}", *limited(job.limits, count_processes=True), *job.argv,
    ]


def _identity(user: int | None) -> Sequence[str]:
    if user is None:
        return ("--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL")
    return ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")  # for setpriv, which ends them


def _drop(user: int | None) -> Sequence[str]:
    if user is None:
        return ()
    return ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", "--inh-caps=-all")


def _scratch() -> Iterator[str]:
    for folder, size in _SCRATCH.items():
        yield from ("--perms", "1777", "--size", str(size), "--tmpfs", folder)


def _bound(bindings: Sequence[Binding]) -> Iterator[str]:
    """Read-only binds; the folders above them are made first, or bwrap makes them unreadable to others."""
    for binding in bindings:
        source = str(binding.source.absolute())
        target = binding.target or source
        if target.startswith("/usr/"):
            continue  # already there
        for parent in reversed(PurePosixPath(target).parents):
            if str(parent) not in ("/", "/tmp", "/home", HOME):
                yield from ("--perms", "0755", "--dir", str(parent))
        yield from ("--ro-bind", source, target)


def _hand_over(folder: Path, user: int) -> None:
    """Give the throwaway copy to the user the program will run as."""
    try:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)
    except OSError as error:
        raise SandboxError(f"cannot hand {folder} over to the program: {error}") from error


@contextlib.contextmanager
def _status_pipe() -> Iterator[tuple[int, int]]:
    """A pipe on which bwrap reports that the program started and ended (the program itself does not inherit it)."""
    reader, writer = os.pipe()
    try:
        yield reader, writer
    finally:
        os.close(reader)
        os.close(writer)


def _read_now(reader: int) -> bytes:
    """What already lies in the pipe."""
    os.set_blocking(reader, False)
    try:
        return os.read(reader, 1 << 16)
    except BlockingIOError:
        return b""


def _with_signal(execution: Execution) -> Execution:
    """bwrap turns death by signal n into exit status 128 + n; turn it back."""
    number = (execution.exit_status or 0) - 128
    if number in set(signal.Signals):
        return dataclasses.replace(execution, exit_status=None, signal=number)
    return execution
