"""Control groups (cgroup v2): the kernel holds the memory limit of a whole process tree, where we may make a group.

That is so for root and, on most desktops, for everybody; otherwise `watch.py` does it. See cgroups(7) and the
kernel's cgroup-v2 document for the files used here.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatdev.sandbox.base import ProcessLimits

_ENTER = 'echo $$ > "$0" && exec "$@"'
_ATTEMPTS, _PAUSE = 50, 0.02  # until the kernel has cleared away what was killed in a group


@dataclass(frozen=True, slots=True)
class Group:
    """A group for one program."""

    path: Path

    @property
    def enter(self) -> Sequence[str]:
        """The start of a command line that puts what follows it into the group."""
        return "/bin/sh", "-c", _ENTER, str(self.path / "cgroup.procs")

    @property
    def out_of_memory(self) -> bool:
        """Whether the kernel ended something in the group because its memory was used up."""
        counts = dict(line.split() for line in _lines(self.path / "memory.events"))
        return int(counts.get("oom_kill", 0)) > 0


@contextlib.contextmanager
def group(parent: Path, limits: ProcessLimits) -> Iterator[Group]:
    """A new group in `parent`, held to `limits.memory` and `limits.processes`; whoever is left in it at the end is
    killed. Raises OSError when it cannot be made."""
    made = Group(parent / f"chatdev-{secrets.token_hex(6)}")
    made.path.mkdir()
    try:
        (made.path / "memory.max").write_text(str(limits.memory))
        (made.path / "memory.oom.group").write_text("1")  # all or nothing: half a program is none
        with contextlib.suppress(OSError):  # where there is no swap, or no controller for processes
            (made.path / "memory.swap.max").write_text("0")
            (made.path / "pids.max").write_text(str(limits.processes + 16))  # 16: bubblewrap and what starts it
        yield made
    finally:
        _clear(made.path)


@functools.cache
def parent() -> Path | None:
    """The group in which we may make others, or None; found out by making one and running something in it."""
    for candidate in candidates():
        try:
            with group(candidate, ProcessLimits()) as made:
                done = subprocess.run([*made.enter, "true"], capture_output=True, check=False, timeout=10,
                                      stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return candidate
    return None


def candidates(process: Path = Path("/proc/self")) -> list[Path]:
    """Our own group and the one above it, where they hand memory limits down."""
    mount = next((line.split() for line in _lines(process / "mountinfo") if " - cgroup2 " in line), None)
    path = next((line for line in _lines(process / "cgroup") if line.startswith("0::")), None)
    if mount is None or path is None:
        return []
    root, top = mount[3], Path(mount[4])
    own = top / os.path.relpath(path.removeprefix("0::"), root)
    inside = [folder for folder in (own, own.parent) if folder.is_relative_to(top) and ".." not in folder.parts]
    return list(filter(_limits_memory, inside))


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
