"""The local engine: works through a ledger in one process, many jobs at once on one event loop; its progress.

Several processes, on one machine or many, may work through the same ledger. Whatever happens to one of them, each job
is done once in the results: what it finished is written before anything else, what it gives up is done by others.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from chatdev.batch.attempt import SHARED_BUDGET, Allowance, AttemptStopped, Expense, Failure, Work, worker_name
from chatdev.batch.database import RetryingExecutor
from chatdev.batch.ledger import JobClaim, Ledger, State, plain_json
from chatdev.engine.budget import Budget, Spending
from chatdev.errors import ConfigError

BREAKER_FAILURES = 8
"""Failed attempts in a row, beside those that were under way at once, that are no accident any more."""

_LONGEST_POLL = 5.0  # seconds between two looks at the ledger while others have the last jobs


async def work_through(ledger: Ledger, work: Work, *, at_once: int, worker: str = "",
                       on_change: Callable[[BatchProgress], None] | None = None, allowance: Allowance | None = None,
                       stop: asyncio.Event | None = None) -> BatchProgress:
    """Do the jobs of the ledger, at most `at_once` at a time, until none is left, the `allowance` of the whole batch is
    spent or `stop` is set; in the last two cases the jobs under way are finished, unless they stop by themselves
    because `SHARED_BUDGET` has no more room for their calls.

    `on_change` is called at every change; what it raises ends nothing. Waits for the last jobs of other workers,
    because they may die. An error that no retry fixes (a ConfigError, a MissingModel, …) fails its job at once; after
    others the job is tried again, last of all, as often as the ledger allows. Cancelling gives back what is unfinished.
    Raises WorkspaceError when the database could not be used for ten minutes.
    """
    if at_once < 1:
        raise ConfigError(f"{at_once} jobs at once would be none at all; give 1 or more")
    engine = _LocalEngine(ledger, work, at_once, worker or worker_name(), on_change, allowance or Allowance(), stop)
    return await engine.run()


async def work_with_circuit_breaker(ledger: Ledger, work: Work, *, at_once: int, stop: asyncio.Event | None = None,
                                    **options: Any) -> BatchProgress:
    """`work_through` until attempt after attempt fails: a wrong key, or a server that died midway, must not use up the
    tries of a thousand jobs. The `problem` of what is returned is then why the last one failed."""
    breaker = _CircuitBreaker(work, BREAKER_FAILURES + at_once, stop or asyncio.Event())
    ended = await work_through(ledger, breaker, at_once=at_once, stop=breaker.stop, **options)
    return replace(ended, problem=breaker.problem)


class _LocalEngine:
    """One session."""

    def __init__(self, ledger: Ledger, work: Work, at_once: int, worker: str,
                 on_change: Callable[[BatchProgress], None] | None, allowance: Allowance,
                 stop: asyncio.Event | None) -> None:
        self._ledger, self._work, self._at_once, self._worker = ledger, work, at_once, worker
        self._on_change, self._allowance, self._stop = only_listening(on_change), allowance, stop
        self._database = RetryingExecutor(self._report_trouble)
        self._tally = Tally()
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way: dict[tuple[str, int], tuple[JobClaim, asyncio.Task[None]]] = {}  # until the work has returned
        self._errors: list[BaseException] = []  # what ends the session
        self._budget: Budget | None = None  # of the calls of all jobs under way
        self._counted = Expense()  # what of the ledger's expense the budget has
        self._no_more = ""  # why a job was stopped
        self._wake = asyncio.Event()
        self._renewed = time.time()
        self._poll = min(_LONGEST_POLL, ledger.lease / 4)

    async def run(self) -> BatchProgress:
        """Work until the end."""
        await self._database.run(partial(self._tally.start_session, self._ledger))
        self._counted = self._tally.spent
        self._budget = self._allowance.budget(self._counted, self._at_once)
        self._report()
        self._create_task(self._renew_regularly())
        try:
            return await self._work_until_end()
        finally:
            unfinished = [claim for claim, _ in self._under_way.values()]
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if unfinished:
                await self._database.run_shielded(partial(self._ledger.give_back, *unfinished))
            await self._database.close()

    async def _work_until_end(self) -> BatchProgress:
        while True:
            self._wake.clear()
            if self._errors:
                raise self._errors[0]
            jobs = len(self._tasks) - 1  # one task renews the leases
            if not self._stop_reason() and jobs < self._at_once and await self._start_job():
                continue
            if not jobs and (last := await self._last_progress()):
                return last
            with suppress(TimeoutError):
                async with asyncio.timeout(self._poll):
                    await self._wake.wait()

    async def _last_progress(self) -> BatchProgress | None:
        """How the session ended; None while others have jobs, for they may die."""
        await self._refresh()
        reason, left = self._stop_reason(), self._tally.counts["open"] + self._tally.counts["running"]
        if not left:
            return self._report(status="finished")
        return self._report(status="stopped", reason=reason) if reason else None

    def _stop_reason(self) -> str:
        """Reason to begin no further job; empty while one may begin."""
        if self._stop and self._stop.is_set():
            return "it was asked to stop"
        return self._no_more or self._allowance.stop_reason(self._tally.spent)

    async def _start_job(self) -> bool:
        """Claim a job and begin it; False when there is none."""
        if time.time() > self._renewed + self._ledger.lease / 2:  # the machine slept: do not take our own jobs for lost
            await self._renew()
        claim = await self._database.run_shielded(partial(self._ledger.claim, self._worker), self._unclaim)
        if claim is None:
            return False
        self._abandon(claim.key, claim.number - 1)  # it may have been ours
        self._under_way[claim.key, claim.number] = claim, self._create_task(self._attempt(claim))
        if self._tally.counts["open"] > 0:
            self._tally.count_claim()
        else:  # it was another worker's
            await self._refresh()
        self._report()
        return True

    async def _attempt(self, claim: JobClaim) -> None:
        """One attempt at a job; how it ended is written to the ledger before it is reported."""
        ledger, started = self._ledger, time.monotonic()
        outcome = await self._outcome(claim)
        self._under_way.pop((claim.key, claim.number), None)
        ended = EndedJob(claim.key, time.monotonic() - started, outcome)
        if isinstance(outcome, Failure) and outcome.stopped:
            self._no_more = self._no_more or outcome.problem
            if await self._database.run_shielded(partial(ledger.pause, claim, outcome.problem, outcome.spent)):
                self._counted += outcome.spent
                self._tally.count_failure(outcome.spent, again=True)
        elif isinstance(outcome, Failure):
            if await self._database.run_shielded(partial(ledger.fail, claim, outcome.problem, final=outcome.final,
                                                         spent=outcome.spent)):
                self._counted += outcome.spent
                self._tally.count_failure(outcome.spent, again=not outcome.final and claim.tries < ledger.most_tries)
        elif await self._database.run_shielded(partial(ledger.finish, claim, outcome, ended.seconds)):
            self._counted += Expense.of(outcome)
            self._tally.count_result(outcome)
        self._report(ended=ended)

    async def _outcome(self, claim: JobClaim) -> dict[str, Any] | Failure:
        SHARED_BUDGET.set(self._budget)
        try:
            return plain_json(await self._work(claim.spec), "the result")
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task and task.cancelling():
                raise
            return Failure.of(error)  # something in the work was cancelled, and not by us
        except Exception as error:  # noqa: BLE001 - whatever a job raises, the ledger records it
            return Failure.of(error)

    def _create_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_end)
        return task

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self._errors.append(error)
        self._wake.set()

    async def _renew_regularly(self) -> None:
        while True:
            await asyncio.sleep(self._ledger.lease / 3)
            await self._renew()
            await self._refresh()

    async def _renew(self) -> None:
        """Keep our jobs; those that somebody else has now are not worth going on with."""
        claims = [claim for claim, _ in self._under_way.values()]
        lost = await self._database.run(partial(self._ledger.renew, *claims))
        self._renewed = time.time()
        for claim in lost:
            self._abandon(claim.key, claim.number)

    def _abandon(self, key: str, number: int) -> None:
        """Break off the work of a claim that is not ours any more."""
        if found := self._under_way.pop((key, number), None):
            found[1].cancel()

    def _unclaim(self, claim: JobClaim | None) -> None:
        if claim:
            self._ledger.give_back(claim)

    async def _refresh(self) -> None:
        await self._database.run(partial(self._tally.refresh, self._ledger))
        if self._budget and self._allowance.workers == 1:
            others, self._counted = self._tally.spent - self._counted, self._tally.spent
            self._budget.count(Spending(0, others.tokens, others.cost))

    def _report_trouble(self, trouble: str) -> None:
        self._on_change(self._tally.snapshot(trouble=trouble))

    def _report(self, **more: Any) -> BatchProgress:
        progress = self._tally.snapshot(**more)
        self._on_change(progress)
        return progress


class _CircuitBreaker:
    """Work that sets `stop` after `most` failures in a row."""

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
        except AttemptStopped:
            raise
        except Exception as error:
            self._failures += 1
            if self._failures >= self._most and not self.stop.is_set():
                self.problem = Failure.of(error).problem
                self.stop.set()
            raise
        self._failures = 0
        return result


# Progress of a batch: counts, running means of the results, spending, expected end.

Status = Literal["running", "finished", "stopped"]


@dataclass(frozen=True, slots=True)
class EndedJob:
    """An attempt at a job that this worker has just ended."""

    key: str
    seconds: float
    outcome: Mapping[str, Any] | Failure


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """A batch at one moment, over all its workers. `means` of the numbers in the results that this worker made or
    found; `seconds_left` by the pace of this session, None before its first job has ended. `status` `finished`: nothing
    is left to do; `stopped`: no further job was begun, for `reason`; `problem` when the reason was that attempt after
    attempt failed. `trouble`: what the batch waits for: the database, a worker. `ended`: the attempt of which this
    tells, if it tells of one.
    """

    counts: Mapping[State, int]
    means: Mapping[str, float] = field(default_factory=dict)
    spent: Expense = field(default_factory=Expense)
    seconds_left: float | None = None
    status: Status = "running"
    reason: str = ""
    problem: str = ""
    trouble: str = ""
    ended: EndedJob | None = None

    @property
    def total(self) -> int:
        """All jobs."""
        return sum(self.counts.values())

    @property
    def finished_jobs(self) -> int:
        """The jobs that are done or have failed."""
        return self.counts["done"] + self.counts["failed"]


def only_listening(listener: Callable[[BatchProgress], None] | None) -> Callable[[BatchProgress], None]:
    """`listener` without what it raises: it only shows how far the batch is, and the jobs are paid for."""
    def listen(progress: BatchProgress) -> None:
        if listener:
            with suppress(Exception):
                listener(progress)

    return listen


class Tally:
    """Keeps count of a batch as this worker sees it; `refresh` asks the ledger, for what other workers do too."""

    def __init__(self) -> None:
        self.counts: dict[State, int] = {"open": 0, "running": 0, "done": 0, "failed": 0}
        self.spent = Expense()
        self._sums: dict[str, tuple[float, int]] = {}
        self._began, self._finished_before = time.monotonic(), 0

    def start_session(self, ledger: Ledger) -> None:
        """See what there is before this session's first job."""
        self.recount(ledger)
        self._began, self._finished_before = time.monotonic(), self._finished_jobs

    def recount(self, ledger: Ledger) -> None:
        """`refresh`, and take the means of all results anew."""
        sums: dict[str, tuple[float, int]] = {}
        for entry in ledger.entries("done"):
            _add_to_sums(entry.result, sums)
        self._sums = sums
        self.refresh(ledger)

    def refresh(self, ledger: Ledger) -> None:
        """Count again what the ledger has."""
        self.counts, self.spent = ledger.counts(), ledger.expense()

    def count_claim(self) -> None:
        """Count a job that this worker has claimed."""
        self._move("open", "running")

    def count_result(self, result: Mapping[str, Any]) -> None:
        """Count a result of this worker."""
        self._move("running", "done")
        self.spent += Expense.of(result)
        _add_to_sums(result, self._sums)

    def count_failure(self, spent: Expense, *, again: bool) -> None:
        """Count a failed attempt of this worker; `again`: the job is open once more."""
        self._move("running", "open" if again else "failed")
        self.spent += spent

    def snapshot(self, **more: Any) -> BatchProgress:
        """The batch as it is now."""
        means = {name: total / count for name, (total, count) in self._sums.items()}
        return BatchProgress(dict(self.counts), means, self.spent, self._seconds_left(), **more)

    @property
    def _finished_jobs(self) -> int:
        return self.counts["done"] + self.counts["failed"]

    def _move(self, before: State, after: State) -> None:
        self.counts[before] -= 1
        self.counts[after] += 1

    def _seconds_left(self) -> float | None:
        done = self._finished_jobs - self._finished_before
        left = self.counts["open"] + self.counts["running"]
        return (time.monotonic() - self._began) / done * left if done > 0 else None


def _add_to_sums(result: Mapping[str, Any], sums: dict[str, tuple[float, int]]) -> None:
    for name, value in result.items():
        if isinstance(value, int | float):  # a bool counts as 0 or 1, so that its mean is a rate
            total, count = sums.get(name, (0.0, 0))
            sums[name] = (total + value, count + 1)
