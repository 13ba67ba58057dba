"""Untrusted programs in bubblewrap: no network, no secrets, nothing of the host but /usr, read-only.

`Bubblewrap` runs a job, `why_not` says whether it can here, and `command_line` says what a program sees, as whom it
runs, and what it may not do.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from chatdev.errors import SandboxError
from chatdev.isolation.seccomp import system_call_filter
from chatdev.sandbox import watch
from chatdev.sandbox.base import (
    BOX,
    HOME,
    SCRATCH,
    SETTINGS,
    SPARE_USERS,
    Binding,
    Execution,
    ProcessLimits,
    SandboxJob,
    hand_over,
    prlimit_command,
    signal_from_status,
    spare_user,
    variables_of,
)
from chatdev.sandbox.children import Children, run_interactively
from chatdev.sandbox.watch import Group

NEEDED = {"bwrap": "bubblewrap", "prlimit": "util-linux", "setpriv": "util-linux"}
"""The programs it takes, each with its Debian package."""
_ONE_TOO_MANY = ("prlimit", "--nproc=1", "--", "sh", "-c", "(:)")  # a second process, which the kernel should refuse
_HOSTS = Path(__file__).with_name("hosts")  # a service may listen at `localhost`, which is then a name like any other
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl")
_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent",
               "--hostname", "sandbox")
_SYSTEM = ("--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
           "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/sbin", "/sbin",
           "--perms", "0755", "--dir", "/etc",  # or bwrap makes it unreadable to others
           "--proc", "/proc", "--dev", "/dev")


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

    def run(self, job: SandboxJob) -> Execution:
        """Run `job`; `exit_status` is None when a signal ended it. Raises SandboxError when bwrap cannot start."""
        user = spare_user() if is_root() else None  # apart, so that their processes count apart
        if user is not None:
            hand_over(job.folder, user)
        with _filter() as (options, descriptors):
            if job.interactive:
                with _group(job.limits) as group:
                    command = [*(group.enter if group else ()), *command_line(job, user, *options)]
                    return run_interactively(command, env={}, pass_fds=descriptors)
            return self._run(job, user, options, descriptors)

    def _run(self, job: SandboxJob, user: int | None, options: Sequence[str], descriptors: Sequence[int]) -> Execution:
        with _group(job.limits) as group, _pipe() as (reader, writer):
            enter = group.enter if group else ()
            command = [*enter, *command_line(job, user, *options, "--json-status-fd", str(writer))]
            execution = self._children.run(command, job, env={}, pass_fds=(*descriptors, writer),
                                           out_of_memory=(lambda: group.out_of_memory) if group else None)
            if group and group.out_of_memory:
                execution = dataclasses.replace(execution, exit_status=None, signal=int(signal.SIGKILL),
                                                exceeded="memory")
            started = b"exit-code" in _read_now(reader)
        # a program may kill bwrap, and itself with it: its own group
        if not started and execution.signal is None and execution.exceeded != "command":
            raise SandboxError(f"bubblewrap could not start {job.argv[0]}: {execution.stderr.strip() or 'no reason'}")
        return signal_from_status(execution)

    def stop_all(self) -> None:
        """Kill whatever is still running, and run nothing any more; safe from any thread."""
        self._children.stop_all()


@functools.cache
def why_not() -> str | None:
    """None when bubblewrap works here, else the reason and what to do; found by running it, once."""
    if missing := [program for program in NEEDED if not shutil.which(program)]:
        packages = " ".join(sorted({NEEDED[program] for program in missing}))
        return f"{' and '.join(missing)} not found; install it: apt-get install {packages}"
    if is_root():
        return None
    reason = _probe(user=None)
    if reason is None and _probe(user=None, argv=_ONE_TOO_MANY) is not None:
        return None
    if reason is None:
        return ("bubblewrap works here, but the kernel does not limit root's processes, and root may not become "
                "somebody else: start chatdev as an ordinary user, or in a container that has all rights (docker: "
                "--privileged)")
    return (f"bubblewrap is installed but does not work here ({reason}). It needs bubblewrap 0.8 or newer and "
            "unprivileged user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu 24.04 also "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container, allow them (for docker: "
            "`--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
            "--security-opt systempaths=unconfined`)")


@functools.cache
def is_root() -> bool:
    """Whether we are root with the right to make namespaces (root in a container may not have it)."""
    return os.geteuid() == 0 and _probe(user=SPARE_USERS[0]) is None


def _probe(user: int | None, argv: Sequence[str] = ("true",)) -> str | None:
    """None when `argv` runs and ends well, else what it or bwrap says."""
    job = SandboxJob(argv=argv, folder=Path("/usr/share"))
    try:
        with _filter() as (options, descriptors):
            done = subprocess.run(command_line(job, user, *options), env={}, capture_output=True, timeout=20,
                                  check=False, stdin=subprocess.DEVNULL, pass_fds=descriptors)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else done.stderr.decode(errors="replace").strip() or f"exit {done.returncode}"


@contextlib.contextmanager
def _group(limits: ProcessLimits) -> Iterator[Group | None]:
    """A control group for the program, where we may make one; None where the kernel has no more of them, too."""
    parent, made = watch.parent(), None
    with contextlib.ExitStack() as stack:
        if parent is not None:
            with contextlib.suppress(OSError):
                made = stack.enter_context(watch.group(parent, limits))
        yield made


@contextlib.contextmanager
def _filter() -> Iterator[tuple[Sequence[str], Sequence[int]]]:
    """Options and descriptors by which bwrap gets the filter of system calls; none where there is no filter."""
    calls = system_call_filter()
    if calls is None:
        yield (), ()
        return
    with _pipe(calls) as (reader, _):
        yield ("--seccomp", str(reader)), (reader,)


@contextlib.contextmanager
def _pipe(content: bytes | None = None) -> Iterator[tuple[int, int]]:
    """A pipe, reader and writer; holding `content` (which must be less than a pipe takes) and nothing else."""
    reader, writer = os.pipe()
    try:
        if content is not None:
            os.write(writer, content)
            os.close(writer)
        yield reader, writer
    finally:
        os.close(reader)
        if content is None:
            os.close(writer)


def _read_now(reader: int) -> bytes:
    """What already lies in the pipe."""
    os.set_blocking(reader, False)
    try:
        return os.read(reader, 1 << 16)
    except BlockingIOError:
        return b""


def command_line(job: SandboxJob, user: int | None, *options: str) -> list[str]:
    """The whole command line. Binds under /tmp must follow its tmpfs; --setenv must follow --clearenv; only the
    program's own user may enter its folder, so `env` does."""
    variables = variables_of(job, HOME) | {"PWD": BOX}
    bwrap = shutil.which("bwrap") or "bwrap"
    return [
        bwrap, *_NAMESPACES, *options, *_identity(user), *(() if job.network else ("--unshare-net",)),
        *_SYSTEM, *_bind_if_there(SETTINGS),
        *(_bind_if_there(_NETWORK) if job.network else ("--ro-bind", str(_HOSTS), "/etc/hosts")),
        "--remount-ro", "/dev", *_scratch(), *_bind_options(job.bindings), "--bind", str(job.folder.resolve()), BOX,
        "--remount-ro", "/", "--chdir", "/",
        "--clearenv", *(word for name, value in variables.items() for word in ("--setenv", name, value)),
        "--", *_drop(user), "env", f"--chdir={BOX}", *prlimit_command(job.limits, count_processes=True), *job.argv,
    ]


def _identity(user: int | None) -> Sequence[str]:
    if user is None:
        return ("--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL")
    return ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")  # for setpriv, which ends them


def _drop(user: int | None) -> Sequence[str]:
    if user is None:
        return ()
    return ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", "--inh-caps=-all")


def _bind_if_there(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        yield from ("--ro-bind-try", path, path)


def _scratch() -> Iterator[str]:
    for folder, size in SCRATCH.items():
        yield from ("--perms", "1777", "--size", str(size), "--tmpfs", folder)


def _bind_options(bindings: Sequence[Binding]) -> Iterator[str]:
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
