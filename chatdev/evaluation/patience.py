"""The end of patience with a study in which everything fails."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from chatdev.batch.attempt import Failure, Work
from chatdev.batch.ledger import Ledger
from chatdev.batch.local import work_through
from chatdev.batch.progress import Progress
from chatdev.batch.signals import cancelled_by_sigterm

FAILURES = 8
"""Failed attempts in a row, beside those that were under way at once, that are no accident any more."""


class Patience:
    """Work that sets `stop` when attempt after attempt fails: a wrong key, or a server that died midway, must not use
    up the tries of a thousand jobs. `problem` is why the last one failed then."""

    def __init__(self, work: Work, at_once: int) -> None:
        self.stop = asyncio.Event()
        self.problem = ""
        self._work = work
        self._most = FAILURES + at_once
        self._failures = 0

    async def __call__(self, spec: Mapping[str, Any]) -> Mapping[str, Any]:
        """Do a job; raises what the work raises."""
        try:
            result = await self._work(spec)
        except Exception as error:
            self._failures += 1
            if self._failures >= self._most and not self.stop.is_set():
                self.problem = Failure.of(error).problem
                self.stop.set()
            raise
        self._failures = 0
        return result


def worked(ledger: Ledger, patience: Patience, **options: Any) -> Progress:
    """Work through a ledger with patience, in an event loop of its own (options: `work_through`). Ctrl-C and SIGTERM
    give back what is unfinished and raise KeyboardInterrupt."""
    async def through() -> Progress:
        with cancelled_by_sigterm():
            return await work_through(ledger, patience, stop=patience.stop, **options)

    try:
        return asyncio.run(through())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
