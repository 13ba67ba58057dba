"""Watching what a running program takes of memory and disk, for limits that the kernel does not hold itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from chatdev.sandbox import folder as folders
from chatdev.sandbox import processes
from chatdev.sandbox.base import Exceeded, Limits

_MEMORY_PAUSE, _DISK_PAUSE = 0.05, 0.2  # seconds between two looks, at least
_SHARE = 4  # a look that took t seconds is not repeated before 4 t: a fifth of one core at most


class Watch:
    """Watches the process `root`, its descendants and the folder they write to."""

    def __init__(self, root: int, folder: Path, limits: Limits) -> None:
        self._root, self._folder, self._limits = root, folder, limits
        self._memory = _Look(lambda: self._memory_used() > limits.memory, _MEMORY_PAUSE)
        self._disk = _Look(lambda: self._disk_used() > limits.disk, _DISK_PAUSE)

    def exceeded(self, written: int) -> Exceeded | None:
        """Which limit the program has gone over, having written `written` bytes; looks no more often than it should."""
        if written > self._limits.written:
            return "output"
        if self._memory.due():
            return "memory"
        return "disk" if self._disk.due() else None

    def left_behind(self) -> Exceeded | None:
        """Whether what the ended program leaves in its folder is more than it may."""
        return "disk" if folders.used(self._folder, self._limits.disk) > self._limits.disk else None

    def _memory_used(self) -> int:
        return processes.memory(processes.tree(self._root), self._limits.memory)

    def _disk_used(self) -> int:
        try:
            device = self._folder.stat().st_dev
        except OSError:
            return 0
        nameless = processes.nameless_files(processes.tree(self._root), device, self._limits.disk)
        return nameless + folders.used(self._folder, self._limits.disk)


class _Look:
    """A question that is asked now and then."""

    def __init__(self, question: Callable[[], bool], pause: float) -> None:
        self._question, self._pause = question, pause
        self._next = time.monotonic() + pause

    def due(self) -> bool:
        """The answer, or False when it is too early to ask again."""
        started = time.monotonic()
        if started < self._next:
            return False
        answer = self._question()
        ended = time.monotonic()
        self._next = ended + max(self._pause, _SHARE * (ended - started))
        return answer
