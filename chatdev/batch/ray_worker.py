"""What runs in every process of a cluster: the local engine, on the ledger that all share."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from chatdev.batch.attempt import Work, new_worker
from chatdev.batch.ledger import Ledger
from chatdev.batch.patience import patiently
from chatdev.batch.progress import Progress
from chatdev.batch.spent import Allowance


@dataclass(frozen=True, slots=True)
class Errand:
    """What every worker of a batch is told; it must be picklable. `check` is called before the first job and raises
    ConfigError and the like when none could be done there; relative paths and `.env` are those of `folder`, where
    there is such a one."""

    reopen: Callable[[], Ledger]
    work: Work
    allowance: Allowance
    check: Callable[[], None] | None
    folder: Path


class Worker:
    """One worker, at most `at_once` jobs at a time; a Ray actor."""

    def __init__(self, errand: Errand, at_once: int) -> None:
        self._errand, self._at_once = errand, at_once
        self._name = new_worker()
        self._stop = asyncio.Event()

    async def name(self) -> str:
        """Under which it claims jobs."""
        return self._name

    async def run(self) -> Progress:
        """Work until no job is left or it may begin no more. Cancelling gives back what is unfinished."""
        errand = self._errand
        with suppress(OSError):
            os.chdir(errand.folder)
        if errand.check:
            await asyncio.to_thread(errand.check)
        ledger = await asyncio.to_thread(errand.reopen)
        try:
            return await patiently(ledger, errand.work, at_once=self._at_once, worker=self._name, stop=self._stop,
                                   allowance=errand.allowance)
        finally:
            ledger.close()

    async def stop(self) -> None:
        """Begin no further job."""
        self._stop.set()
