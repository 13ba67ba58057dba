"""Watching what a running program takes of memory and disk, for limits that the kernel does not hold itself.

What the processes take is read from /proc; where there is none, nothing is known of them.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from chatdev.sandbox.base import Exceeded, ProcessLimits
from chatdev.sandbox.job_folder import disk_usage

_MEMORY_PAUSE, _DISK_PAUSE = 0.05, 0.2  # seconds between two looks, at least
_SHARE = 4  # a look that took t seconds is not repeated before 4 t: a fifth of one core at most
_PROC = Path("/proc")
_RESIDENT = re.compile(r"^(?:VmRSS|VmSwap|VmPTE):\s+(\d+) kB$", re.MULTILINE)
_SHARES = re.compile(r"^(?:Pss|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_DELETED = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) .* \(deleted\)$", re.MULTILINE)
_BLOCK = 512  # bytes, the unit of st_blocks


class Watch:
    """Watches the process `root`, its descendants and the folder they write to."""

    def __init__(self, root: int, folder: Path, limits: ProcessLimits) -> None:
        self._root, self._folder, self._limits = root, folder, limits
        self._memory = _Look(lambda: self._memory_used() > limits.memory, _MEMORY_PAUSE)
        self._disk = _Look(lambda: self._disk_used() > limits.disk, _DISK_PAUSE)

    def exceeded_limit(self, written: int) -> Exceeded | None:
        """Which limit the program has gone over, having written `written` bytes; looks no more often than it should."""
        if written > self._limits.written:
            return "output"
        if self._memory.answer():
            return "memory"
        return "disk" if self._disk.answer() else None

    def limit_exceeded_at_the_end(self) -> Exceeded | None:
        """Whether what the ended program leaves in its folder is more than it may."""
        return "disk" if disk_usage(self._folder, self._limits.disk) > self._limits.disk else None

    def _memory_used(self) -> int:
        return memory_of(process_tree(self._root), self._limits.memory)

    def _disk_used(self) -> int:
        try:
            device = self._folder.stat().st_dev
        except OSError:
            return 0
        nameless = size_of_nameless_files(process_tree(self._root), device, self._limits.disk)
        return nameless + disk_usage(self._folder, self._limits.disk)


class _Look:
    """A question that is asked now and then."""

    def __init__(self, question: Callable[[], bool], pause: float) -> None:
        self._question, self._pause = question, pause
        self._next = time.monotonic() + pause

    def answer(self) -> bool:
        """The answer, or False when it is too early to ask again."""
        started = time.monotonic()
        if started < self._next:
            return False
        answer = self._question()
        ended = time.monotonic()
        self._next = ended + max(self._pause, _SHARE * (ended - started))
        return answer


def process_tree(root: int) -> list[int]:
    """The process `root` and all its descendants that /proc tells of (they change while one looks)."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting.extend(_children(pid))
    return found


def memory_of(pids: Iterable[int], limit: int) -> int:
    """Bytes that the processes take, in memory and swap. What they share is counted once for each of them, unless
    that makes more than `limit`: then it is divided among them, which takes the kernel longer to find out."""
    resident = {pid: _resident_bytes(pid) for pid in pids}
    if sum(resident.values()) <= limit:
        return sum(resident.values())
    return sum(_share_of(pid) for pid in resident)


def size_of_nameless_files(pids: Iterable[int], device: int, limit: int) -> int:
    """Bytes of the files on `device` that are deleted and yet open or mapped in one of the processes; any number above
    `limit` if one of them hides its files."""
    sizes: dict[int, int] = {}
    for pid in pids:
        opened = _open_files(pid, device)
        if opened is None:
            return limit + 1
        sizes |= opened
        for start, end, major, minor, inode in _DELETED.findall(_read(pid, "maps")):
            if os.makedev(int(major, 16), int(minor, 16)) == device:
                sizes.setdefault(int(inode), int(end, 16) - int(start, 16))
    return sum(sizes.values())


def _children(pid: int) -> Iterator[int]:
    try:
        threads = list((_PROC / str(pid) / "task").iterdir())
    except OSError:  # it has ended
        return
    for thread in threads:
        try:
            yield from map(int, (thread / "children").read_text().split())
        except OSError:
            continue


def _open_files(pid: int, device: int) -> dict[int, int] | None:
    """Sizes of the deleted files by inode; None of a process that hides them."""
    try:
        descriptors = list((_PROC / str(pid) / "fd").iterdir())
    except OSError:
        return None if _hides(pid) else {}
    sizes = {}
    for descriptor in descriptors:
        try:
            found = descriptor.stat()
        except OSError:
            continue
        if found.st_nlink == 0 and found.st_dev == device and stat.S_ISREG(found.st_mode):
            sizes[found.st_ino] = found.st_blocks * _BLOCK
    return sizes


def _hides(pid: int) -> bool:
    """Whether a process that we may not look into is alive and made itself so (by PR_SET_DUMPABLE, or a program file
    that it may not read): one that may get no new rights has no other reason."""
    status = _read(pid, "status")
    return "NoNewPrivs:\t1" in status and _RESIDENT.search(status) is not None


def _read(pid: int, name: str) -> str:
    try:
        return (_PROC / str(pid) / name).read_text(errors="replace")
    except OSError:  # it has ended, or hides itself
        return ""


def _share_of(pid: int) -> int:
    """Its part of what several share; all of it where that part is hidden, or the process has ended meanwhile."""
    return _sum(_SHARES, _read(pid, "smaps_rollup")) or _resident_bytes(pid)


def _resident_bytes(pid: int) -> int:
    return _sum(_RESIDENT, _read(pid, "status"))


def _sum(pattern: re.Pattern[str], text: str) -> int:
    return 1024 * sum(map(int, pattern.findall(text)))
