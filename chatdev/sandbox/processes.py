"""What the processes of a program take, read from /proc (where there is none, nothing is known of them)."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

_PROC = Path("/proc")
_KEPT = re.compile(r"^(?:VmRSS|VmSwap|VmPTE):\s+(\d+) kB$", re.MULTILINE)
_SHARES = re.compile(r"^(?:Pss|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_DELETED = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) .* \(deleted\)$", re.MULTILINE)
_BLOCK = 512  # bytes, the unit of st_blocks


def tree(root: int) -> list[int]:
    """The process `root` and all its descendants that /proc tells of (they change while one looks)."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting.extend(_children(pid))
    return found


def memory(pids: Iterable[int], limit: int) -> int:
    """Bytes that the processes take, in memory and swap. What they share is counted once for each of them, unless
    that makes more than `limit`: then it is divided among them, which takes the kernel longer to find out."""
    kept = {pid: _kept(pid) for pid in pids}
    if sum(kept.values()) <= limit:
        return sum(kept.values())
    return sum(_sum(_SHARES, _read(pid, "smaps_rollup")) or _kept(pid) for pid in kept)  # hidden, or ended meanwhile


def nameless_files(pids: Iterable[int], device: int, limit: int) -> int:
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
    return "NoNewPrivs:\t1" in status and _KEPT.search(status) is not None


def _read(pid: int, name: str) -> str:
    try:
        return (_PROC / str(pid) / name).read_text(errors="replace")
    except OSError:  # it has ended, or hides itself
        return ""


def _kept(pid: int) -> int:
    return _sum(_KEPT, _read(pid, "status"))


def _sum(pattern: re.Pattern[str], text: str) -> int:
    return 1024 * sum(map(int, pattern.findall(text)))
