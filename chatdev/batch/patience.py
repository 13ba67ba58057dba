"""The end of patience with a batch in which everything fails."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chatdev.batch.attempt import Failure, Work
from chatdev.batch.ledger import Ledger
from chatdev.batch.local import work_through
from chatdev.batch.progress import Progress

FAILURES = 8
"""Failed attempts in a row, beside those that were under way at once, that are no accident any more."""


async def patiently(ledger: Ledger, work: Work, *, at_once: int, stop: asyncio.Event | None = None,
                    **options: Any) -> Progress:
    """`work_through` until attempt after attempt fails: a wrong key, or a server that died midway, must not use up the
    tries of a thousand jobs. The `problem` of what is returned is then why the last one failed."""
    patience = _Patience(work, FAILURES + at_once, stop or asyncio.Event())
    ended = await work_through(ledger, patience, at_once=at_once, stop=patience.stop, **options)
    return replace(ended, problem=patience.problem)


class _Patience:
    """Work that sets `stop` after so many failures in a row."""

    def __init__(self, work: Work, most: int, stop: asyncio.Event) -> None:
        self.stop = stop
        self.problem = ""
        self._work = work
        self._most = most
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
