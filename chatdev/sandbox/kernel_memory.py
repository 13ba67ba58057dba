"""Kernel memory of a sandbox that no process shows: folders in memory, and data in sockets that was sent and not yet
received. Pipes are not counted: the kernel allows a user 64 MiB."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from chatdev.sandbox.base import SCRATCH

_ENTRY = 1024  # bytes of a file, folder or link in memory, beside its content
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SOCKET = 256 << 10  # bytes that a socket may hold: the usual default; programs may set no other (isolation/seccomp.py)
_CONNECTION = 1 << 20  # bytes that an unread connection soon holds; it may be far more
_OVERHEAD = 2  # memory of unread data, as a multiple of its size


def kernel_memory(pids: Iterable[int], limit: int) -> int:
    """Bytes that are held for the sandbox in which the latest of these processes run; 0 without a sandbox. What lies
    in connections is that of the whole machine, unless that makes more than `limit`."""
    for pid in reversed(list(pids)):
        try:
            scratch = sum(_scratch_used(pid)) if _is_apart(pid, "mnt") else 0
            return scratch + (_sockets_hold(pid, limit - scratch) if _is_apart(pid, "net") else 0)
        except OSError:  # it has ended
            continue
    return 0


def _is_apart(pid: int, namespace: str) -> bool:
    """Whether a process has a namespace of its own."""
    return Path(f"/proc/{pid}/ns/{namespace}").readlink() != Path(f"/proc/self/ns/{namespace}").readlink()


def _scratch_used(pid: int) -> Iterator[int]:
    for folder in SCRATCH:
        found = os.statvfs(f"/proc/{pid}/root{folder}")
        yield (found.f_blocks - found.f_bfree) * found.f_frsize + (found.f_files - found.f_ffree) * _ENTRY


def _sockets_hold(pid: int, limit: int) -> int:
    """At most: what a socket may hold for each, and what lies in connections, which may be far more."""
    folder = Path(f"/proc/{pid}/net")
    lines = (line.partition(":") for line in _lines(folder / "sockstat"))
    counts = {kind: dict(zip(*[iter(words.split())] * 2, strict=False)) for kind, _, words in lines}
    sockets = int(counts.get("sockets", {}).get("used", 0)) * _SOCKET
    expected = int(counts.get("TCP", {}).get("inuse", 0)) * _CONNECTION
    held = int(counts.get("TCP", {}).get("mem", 0)) * _PAGE
    if held > expected and sockets + held > limit:  # then it is worth the look, which takes long
        queues = [line for table in folder.glob("tcp*") for line in _lines(table)[1:]]
        held = min(held, _OVERHEAD * sum(map(_bytes_waiting, queues)))
    return sockets + max(expected, held)


def _bytes_waiting(line: str) -> int:
    """Bytes that a line of /proc/net/tcp says are waiting, to be sent and to be read."""
    sent, _, received = line.split()[4].partition(":")
    return int(sent, 16) + int(received, 16)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()
