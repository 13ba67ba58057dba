"""Control groups: the kernel holds the memory limit of a whole process tree, its own memory for it included, where we
may make a group.

That is so for root and, on most desktops, for everybody; otherwise `watch.py` does it. See cgroups(7) and the
kernel's documents on cgroup v2 and v1 for the files used here.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatdev.sandbox.base import ProcessLimits

_ENTER = 'echo $$ > "$0" && exec "$@"'
_ATTEMPTS, _PAUSE = 50, 0.02  # until the kernel has cleared away what was killed in a group
_NAME, _OLD = "chatdev-", 3600.0  # prefix of our groups; seconds after which an empty one counts as abandoned
_OF_CONNECTIONS = 8  # version 1 counts what TCP and UDP hold apart: this part of the limit comes on top of it


@dataclass(frozen=True, slots=True)
class Version:
    """What a version of control groups calls the same things."""

    mount: str
    """Part of the line of a mounted hierarchy in /proc/self/mountinfo."""
    controllers: str
    """The second field of its line in /proc/self/cgroup."""
    events: str
    """The file that counts what was ended for want of memory."""

    def settings(self, limits: ProcessLimits) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Values by control file: required ones, and optional ones (no swap, no controller of processes)."""
        memory = str(limits.memory)
        if self is V1:
            return ({"memory.limit_in_bytes": memory},
                    {"memory.memsw.limit_in_bytes": memory,
                     "memory.kmem.tcp.limit_in_bytes": str(limits.memory // _OF_CONNECTIONS)})
        return ({"memory.max": memory, "memory.oom.group": "1"},  # all or nothing: half a program is none
                {"memory.swap.max": "0", "pids.max": str(limits.processes + 16)})  # 16: bubblewrap and what starts it


V2 = Version(" - cgroup2 ", "", "memory.events")
V1 = Version(" - cgroup ", "memory", "memory.oom_control")


@dataclass(frozen=True, slots=True)
class Group:
    """A group: one for a program, or one in which others are made."""

    path: Path
    version: Version = V2

    @property
    def enter(self) -> Sequence[str]:
        """The start of a command line that puts what follows it into the group."""
        return "/bin/sh", "-c", _ENTER, str(self.path / "cgroup.procs")

    @property
    def out_of_memory(self) -> bool:
        """Whether the kernel ended something in the group because its memory was used up."""
        counts = dict(line.split() for line in _lines(self.path / self.version.events))
        return int(counts.get("oom_kill", 0)) > 0


@contextlib.contextmanager
def group(parent: Group, limits: ProcessLimits) -> Iterator[Group]:
    """A new group in `parent`, held to `limits.memory` and `limits.processes`; whoever is left in it at the end is
    killed. Raises OSError when it cannot be made."""
    made = Group(parent.path / f"{_NAME}{secrets.token_hex(6)}", parent.version)
    made.path.mkdir()
    try:
        needed, wished = parent.version.settings(limits)
        for name, value in needed.items():
            (made.path / name).write_text(value)
        for name, value in wished.items():
            with contextlib.suppress(OSError):
                (made.path / name).write_text(value)
        yield made
    finally:
        _clear(made.path)


@functools.cache
def parent() -> Group | None:
    """The group in which we may make others, or None; found out by making one and running something in it."""
    for candidate in candidates():
        try:
            with group(candidate, ProcessLimits()) as made:
                done = subprocess.run([*made.enter, "true"], capture_output=True, check=False, timeout=10,
                                      stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            remove_old(candidate)
            return candidate
    return None


def remove_old(parent: Group) -> None:
    """Remove groups that were left behind by a chatdev that was killed. One with processes in it stays: the kernel
    removes none of these."""
    for left in parent.path.glob(f"{_NAME}*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _OLD:
                left.rmdir()


def candidates(process: Path = Path("/proc/self")) -> list[Group]:
    """Our own group and, in version 2, the one above it, where they hand memory limits down."""
    second = [Group(path, V2) for path in _own_and_above(process, V2) if _limits_memory(path)]
    return second + [Group(path, V1) for path in _own_and_above(process, V1)[:1]]


def _own_and_above(process: Path, version: Version) -> list[Path]:
    """Our own group of a version and the one above it, as far as they can be seen here."""
    mount, path = _find_mount(process, version), _find_group(process, version)
    if mount is None or path is None:
        return []
    root, top = mount
    own = top / os.path.relpath(path, root)
    return [folder for folder in (own, own.parent) if folder.is_relative_to(top) and ".." not in folder.parts]


def _find_mount(process: Path, version: Version) -> tuple[str, Path] | None:
    """Which group a mounted hierarchy shows as its top, and where it is mounted."""
    for line in _lines(process / "mountinfo"):
        words = line.split()
        if version.mount in line and version.controllers in ("", *words[-1].split(",")):
            return words[3], Path(words[4])
    return None


def _find_group(process: Path, version: Version) -> str | None:
    """The name of our own group."""
    for line in _lines(process / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if version.controllers in controllers.split(","):
            return path
    return None


def _limits_memory(group: Path) -> bool:
    """Whether groups in this one may have a memory limit."""
    return "memory" in " ".join(_lines(group / "cgroup.subtree_control")).split()


def _clear(path: Path) -> None:
    with contextlib.suppress(OSError):
        (path / "cgroup.kill").write_text("1")
    for _ in range(_ATTEMPTS):
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(_PAUSE)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
