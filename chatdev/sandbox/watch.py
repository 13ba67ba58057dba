"""Watching what a running program takes of memory and disk, for limits that the kernel does not hold itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from chatdev.sandbox.base import Exceeded, ProcessLimits
from chatdev.sandbox.job_folder import disk_usage
from chatdev.sandbox.kernel_memory import kernel_memory
from chatdev.sandbox.processes import MemoryOfProcesses, make_way, process_tree, size_of_nameless_files

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
