"""The local engine: works through a ledger in one process, many jobs at once on one event loop.

Several processes, on one machine or many, may work through the same ledger. Whatever happens to one of them, each job
is done once in the results: what it finished is written before anything else, what it gives up is done by others.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

from chatdev.batch.attempt import Failure, Work, new_worker
from chatdev.batch.books import Books
from chatdev.batch.ledger import Claim, Ledger, plain
from chatdev.batch.progress import Progress, Tally
from chatdev.batch.spent import Allowance
from chatdev.errors import ConfigError

_LONGEST_POLL = 5.0  # seconds between two looks at the ledger while others have the last jobs


async def work_through(ledger: Ledger, work: Work, *, at_once: int, worker: str = "",
                       on_change: Callable[[Progress], None] | None = None, allowance: Allowance | None = None,
                       stop: asyncio.Event | None = None) -> Progress:
    """Do the jobs of the ledger, at most `at_once` at a time, until none is left, the `allowance` of the whole batch is
    spent or `stop` is set; in the last two cases the jobs under way are finished.

    `on_change` hears of every change. Waits for the last jobs of other workers, for they may die. An error that no
    retry mends (a ConfigError, a MissingModel, …) fails its job at once; after others the job is tried again, last of
    all, as often as the ledger allows. Cancelling gives back what is unfinished. Raises WorkspaceError when the
    database could not be used for ten minutes.
    """
    if at_once < 1:
        raise ConfigError(f"{at_once} jobs at once would be none at all; give 1 or more")
    engine = _Engine(ledger, work, at_once, worker or new_worker(), on_change, allowance or Allowance(), stop)
    return await engine.run()


class _Engine:
    """One session."""

    def __init__(self, ledger: Ledger, work: Work, at_once: int, worker: str,
                 on_change: Callable[[Progress], None] | None, allowance: Allowance,
                 stop: asyncio.Event | None) -> None:
        self._ledger, self._work, self._at_once, self._worker = ledger, work, at_once, worker
        self._on_change, self._allowance, self._stop = on_change, allowance, stop
        self._books = Books(self._tell_trouble)
        self._tally = Tally()
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way: dict[tuple[str, int], tuple[Claim, asyncio.Task[None]]] = {}  # until the work has returned
        self._errors: list[BaseException] = []  # what ends the session
        self._woken = asyncio.Event()
        self._renewed = time.time()
        self._poll = min(_LONGEST_POLL, ledger.lease / 4)

    async def run(self) -> Progress:
        """Work until the end."""
        await self._books.do(partial(self._tally.begin, self._ledger))
        self._tell()
        self._start(self._renew_regularly())
        try:
            return await self._through()
        finally:
            unfinished = [claim for claim, _ in self._under_way.values()]
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if unfinished:
                await self._books.surely(partial(self._ledger.give_back, *unfinished))
            self._books.close()

    async def _through(self) -> Progress:
        while True:
            self._woken.clear()
            if self._errors:
                raise self._errors[0]
            reason = self._enough()
            jobs = len(self._tasks) - 1  # one task renews the leases
            if not reason and jobs < self._at_once and await self._begin_one():
                continue
            if not jobs:
                await self._refresh()
                reason, left = self._enough(), self._tally.counts["open"] + self._tally.counts["running"]
                if reason or not left:
                    return self._tell(status="stopped" if left else "finished", reason=reason if left else "")
            with suppress(TimeoutError):
                async with asyncio.timeout(self._poll):
                    await self._woken.wait()

    def _enough(self) -> str:
        """Why no further job may be begun; empty as long as one may."""
        if self._stop and self._stop.is_set():
            return "it was asked to stop"
        return self._allowance.reached(self._tally.spent)

    async def _begin_one(self) -> bool:
        """Claim a job and begin it; False when there is none."""
        if time.time() > self._renewed + self._ledger.lease / 2:  # the machine slept: do not take our own jobs for lost
            await self._renew()
        claim = await self._books.surely(partial(self._ledger.claim, self._worker), self._unclaim)
        if claim is None:
            return False
        self._abandon(claim.key, claim.number - 1)  # it may have been ours
        self._under_way[claim.key, claim.number] = claim, self._start(self._attempt(claim))
        if self._tally.counts["open"] > 0:
            self._tally.begun()
        else:  # it was another worker's
            await self._refresh()
        self._tell()
        return True

    async def _attempt(self, claim: Claim) -> None:
        """One attempt at a job; how it ended is in the ledger before anybody hears of it."""
        ledger, started = self._ledger, time.monotonic()
        outcome = await self._outcome(claim)
        self._under_way.pop((claim.key, claim.number), None)
        if isinstance(outcome, Failure):
            if await self._books.surely(partial(ledger.fail, claim, outcome.problem, final=outcome.final,
                                                spent=outcome.spent)):
                self._tally.failed(outcome.spent, again=not outcome.final and claim.tries < ledger.most_tries)
        elif await self._books.surely(partial(ledger.finish, claim, outcome, time.monotonic() - started)):
            self._tally.done(outcome)
        self._tell()

    async def _outcome(self, claim: Claim) -> dict[str, Any] | Failure:
        try:
            return plain(await self._work(claim.spec), "the result")
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task and task.cancelling():
                raise
            return Failure.of(error)  # something in the work was cancelled, and not by us
        except Exception as error:  # noqa: BLE001 - whatever a job raises, the ledger tells it
            return Failure.of(error)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self._errors.append(error)
        self._woken.set()

    async def _renew_regularly(self) -> None:
        while True:
            await asyncio.sleep(self._ledger.lease / 3)
            await self._renew()
            await self._refresh()

    async def _renew(self) -> None:
        """Keep our jobs; those that somebody else has now are not worth going on with."""
        claims = [claim for claim, _ in self._under_way.values()]
        lost = await self._books.do(partial(self._ledger.renew, *claims))
        self._renewed = time.time()
        for claim in lost:
            self._abandon(claim.key, claim.number)

    def _abandon(self, key: str, number: int) -> None:
        """Break off the work of a claim that is not ours any more."""
        if found := self._under_way.pop((key, number), None):
            found[1].cancel()

    def _unclaim(self, claim: Claim | None) -> None:
        if claim:
            self._ledger.give_back(claim)

    async def _refresh(self) -> None:
        await self._books.do(partial(self._tally.refresh, self._ledger))

    def _tell_trouble(self, trouble: str) -> None:
        if self._on_change:
            self._on_change(self._tally.seen(trouble=trouble))

    def _tell(self, **more: str) -> Progress:
        progress = self._tally.seen(**more)
        if self._on_change:
            self._on_change(progress)
        return progress
