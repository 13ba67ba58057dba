"""The command line of bubblewrap: what a program sees, as whom it runs, and what it may not do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from chatdev.sandbox.base import BOX, Binding, Job
from chatdev.sandbox.environment import environment, limited

HOME = "/home/user"
SCRATCH = {"/dev/shm": 64 << 20, "/tmp": 256 << 20, HOME: 64 << 20}
"""Folders in memory, and how many bytes of it each may take."""
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts")
"""What programs need of /etc."""

_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl")
_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent",
               "--hostname", "sandbox")
_SYSTEM = ("--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
           "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/sbin", "/sbin",
           "--perms", "0755", "--dir", "/etc",  # or bwrap makes it unreadable to others
           "--proc", "/proc", "--dev", "/dev")


def command_line(job: Job, user: int | None, *options: str) -> list[str]:
    """The whole command line. Binds under /tmp must follow its tmpfs; --setenv must follow --clearenv; only the
    program's own user may enter its folder, so `env` does."""
    variables = environment(job, HOME) | {"PWD": BOX}
    bwrap = shutil.which("bwrap") or "bwrap"
    return [
        bwrap, *_NAMESPACES, *options, *_identity(user), *(() if job.network else ("--unshare-net",)),
        *_SYSTEM, *_if_there(SETTINGS), *_if_there(_NETWORK if job.network else ()), "--remount-ro", "/dev",
        *_scratch(), *_bound(job.bindings), "--bind", str(job.folder.resolve()), BOX,
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


def _if_there(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        yield from ("--ro-bind-try", path, path)


def _scratch() -> Iterator[str]:
    for folder, size in SCRATCH.items():
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
