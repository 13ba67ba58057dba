"""Resources of running processes by /proc: memory, and deleted files that are still open. Without /proc they are
unknown."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_TAKEN = re.compile(r"^(?:RssAnon|RssShmem|VmSwap|VmPTE):\s+(\d+) kB$", re.MULTILINE)
_SHARES = re.compile(r"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_TABLES = re.compile(r"^VmPTE:\s+(\d+) kB$", re.MULTILINE)
_THREADS = re.compile(r"^Threads:\s+(\d+)$", re.MULTILINE)
_DELETED = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) .* \(deleted\)$", re.MULTILINE)
_BLOCK = 512  # bytes, the unit of st_blocks
_TASK = 32 << 10  # bytes that the kernel keeps of each thread: its stack there, and what it knows of it
_CROWD, _LAST = 64, 19  # processes; the lowest priority
_SECONDS = 1.0  # how long what a sleeping process shares with others is taken to be as it was


def process_tree(root: int) -> list[int]:
    """The process `root` and all its descendants that /proc tells of (they change while one looks)."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting.extend(_children(pid))
    return found


def make_way(pids: Sequence[int]) -> None:
    """Lower the priority of a crowd of processes, so that the one that measures them gets the processor in time."""
    if len(pids) > _CROWD:
        for pid in pids:
            with contextlib.suppress(OSError):  # it has ended
                os.setpriority(os.PRIO_PROCESS, pid, _LAST)


@dataclass(slots=True)
class _Share:
    """What was found to be one process's own part of the memory that it shares with others."""

    status: str
    size: int
    until: float


class MemoryOfProcesses:
    """Bytes that processes take, in memory and swap, with what the kernel keeps to run them; files that they map are
    not counted, because the kernel can take that memory back."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._shares: dict[int, _Share] = {}

    def measure(self, pids: Iterable[int]) -> int:
        """Their sum, or any number above the limit once it is more.

        What they share is counted once for each of them, unless that makes more than the limit: then it is divided
        among them, which takes the kernel longer to find out (and is asked again only of those that have run since).
        """
        statuses = {pid: _read(pid, "status") for pid in pids}
        total = sum(map(_footprint, statuses.values()))
        if total <= self._limit:
            return total
        total = 0
        for pid, status in statuses.items():
            total += self._share(pid, status)
            if total > self._limit:  # nobody asks how much too much it is
                break
        return total

    def _share(self, pid: int, status: str) -> int:
        now, known = time.monotonic(), self._shares.get(pid)
        if known is None or known.status != status or "\nState:\tR" in status or now > known.until:
            known = _Share(status, _share_of(pid, status), now + _SECONDS)
            self._shares[pid] = known
        return known.size


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
        with os.scandir(f"/proc/{pid}/task") as threads:
            names = [thread.name for thread in threads]
    except OSError:  # it has ended
        return
    for name in names:
        yield from map(int, _read(pid, f"task/{name}/children").split())


def _open_files(pid: int, device: int) -> dict[int, int] | None:
    """Sizes of the deleted files by inode; None of a process that hides them."""
    try:
        with os.scandir(f"/proc/{pid}/fd") as entries:
            descriptors = list(entries)
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
    return "NoNewPrivs:\t1" in status and _TAKEN.search(status) is not None


def _read(pid: int, name: str) -> str:
    """A file of a process; empty when it has ended, or hides itself. (Read as it is: half the time of `open`.)"""
    try:
        descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return b"".join(iter(lambda: os.read(descriptor, 1 << 16), b"")).decode(errors="replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _share_of(pid: int, status: str) -> int:
    """Its part of what several share; all of it where that part is hidden, or the process has ended meanwhile."""
    shares = _read(pid, "smaps_rollup")
    if "Pss_Anon" not in shares:  # or the kernel is older than that
        return _footprint(status)
    return _kilobytes(_SHARES.findall(shares) + _TABLES.findall(status)) + _of_threads(status)


def _footprint(status: str) -> int:
    return _kilobytes(_TAKEN.findall(status)) + _of_threads(status)


def _of_threads(status: str) -> int:
    return _TASK * sum(map(int, _THREADS.findall(status)))


def _kilobytes(numbers: Iterable[str]) -> int:
    return 1024 * sum(map(int, numbers))
