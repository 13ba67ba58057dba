"""Limits of memory and disk for a whole process tree: held by the kernel in a control group where we may make one, and
watched from here otherwise.

We may for root and, on most desktops, for everybody. See cgroups(7) and the kernel's documents on cgroup v2 and v1
for the files used here.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import secrets
import stat
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatdev.sandbox.base import SCRATCH, Exceeded, ProcessLimits, disk_usage

_MEMORY_PAUSE, _DISK_PAUSE = 0.05, 0.2  # seconds between two looks, at least
_HURRY = 0.01  # the same where memory runs short
_SHARE = 4  # a look that took t seconds is not repeated before 4 t: a fifth of one core at most
_NEAR = 0.5  # of the limit: from there on one look follows the other
_SUDDEN = 0.25  # of what is left to the limit: when the machine's own free memory falls by that, a look is due


class Watch:
    """Watches the process `root`, its descendants and the folder they write to. Where the kernel holds the memory
    limit, `out_of_memory` says whether it had to end something."""

    def __init__(self, root: int, folder: Path, limits: ProcessLimits,
                 out_of_memory: Callable[[], bool] | None = None) -> None:
        self._root, self._folder, self._limits = root, folder, limits
        self._memory = _Look(out_of_memory, _MEMORY_PAUSE) if out_of_memory else _MemoryLook(root, limits.memory)
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


class _MemoryLook:
    """Whether a process tree takes more memory than it may: asked the sooner, the less is left. Between two looks,
    which take long where processes are many, the machine's free memory says at little cost whether one is due."""

    def __init__(self, root: int, limit: int) -> None:
        self._root, self._limit = root, limit
        self._processes = MemoryOfProcesses(limit)
        self._available, self._used = _available(), 0
        self._soonest = self._latest = time.monotonic()

    def answer(self) -> bool:
        """The answer, or False when it is too early to ask again."""
        started = time.monotonic()
        if started < self._soonest or (started < self._latest and not self._is_falling()):
            return False
        self._available = _available()
        tree = process_tree(self._root)
        make_way(tree)
        processes = self._processes.measure(tree)
        self._used = processes + kernel_memory(tree, self._limit - processes)
        ended = time.monotonic()
        near = self._used > _NEAR * self._limit
        self._soonest = ended + _HURRY
        self._latest = ended + (_HURRY if near else max(_MEMORY_PAUSE, _SHARE * (ended - started)))
        return self._used > self._limit

    def _is_falling(self) -> bool:
        self._soonest = time.monotonic() + _HURRY
        return self._available - _available() > _SUDDEN * (self._limit - self._used)


def _available() -> int:
    """Bytes of memory that the machine has left; 0 where it does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), 0)


# What processes take, by /proc: memory, and deleted files that are still open. Without /proc it is unknown.

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


# Kernel memory that no process shows: folders in memory, and data in sockets that is not yet received. Pipes are not
# counted: the kernel allows a user 64 MiB.

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


# Control groups: the kernel holds the memory limit of a whole process tree, its own memory for it included, where
# we may make a group.

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
        counts = dict(line.split() for line in _readable_lines(self.path / self.version.events))
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
    for line in _readable_lines(process / "mountinfo"):
        words = line.split()
        if version.mount in line and version.controllers in ("", *words[-1].split(",")):
            return words[3], Path(words[4])
    return None


def _find_group(process: Path, version: Version) -> str | None:
    """The name of our own group."""
    for line in _readable_lines(process / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if version.controllers in controllers.split(","):
            return path
    return None


def _limits_memory(group: Path) -> bool:
    """Whether groups in this one may have a memory limit."""
    return "memory" in " ".join(_readable_lines(group / "cgroup.subtree_control")).split()


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


def _readable_lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
