"""Works through a ledger with workers on the machines of a Ray cluster.

Each worker is a Ray actor that runs the local engine on the ledger, with its part of the jobs at once. So what a death
costs is the same as for workers that are started by hand: leases, claims and results are the ledger's. This process
only keeps the workers alive and looks at the ledger. Ray's own retries are not used: it would bring a worker back, but
not tell that it died, and its jobs would wait for the end of their leases; we give them to others at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from chatdev.batch.attempt import Allowance, Work
from chatdev.batch.batch_progress import BatchProgress, Tally, only_listening
from chatdev.batch.database import RetryingExecutor
from chatdev.batch.ledger import Ledger
from chatdev.batch.ray_cluster import Cluster
from chatdev.batch.ray_worker import WorkerSetup, WorkerSupervisor
from chatdev.errors import ConfigError

_RECOUNT_SECONDS = 1.0  # seconds between two looks at the ledger, or ten times as long as a look takes


async def work_through_on(cluster: Cluster, ledger: Ledger, work: Work, *, at_once: int,
                          on_change: Callable[[BatchProgress], None] | None = None, allowance: Allowance | None = None,
                          check: Callable[[], None] | None = None) -> BatchProgress:
    """As `work_with_circuit_breaker`, by a cluster's workers, at most `at_once` jobs at a time in all of them.

    `work` and `check` must be picklable; `check` is called by each worker before its first job and raises what keeps it
    from working there. A worker that cannot work, or whose attempts all fail, is reported as `trouble`, and the
    others go on; when no other is left, its error is raised, or its `problem` returned. A worker that dies is
    replaced. Raises ConfigError for a SQLite file on several machines.
    """
    if at_once < 1:
        raise ConfigError(f"{at_once} jobs at once would be none at all; give 1 or more")
    cluster.refuse_file(ledger)
    shares = shares_of(at_once, cluster.workers)
    allowance = replace(allowance or Allowance(), workers=len(shares))
    setup = WorkerSetup(ledger.reopen, work, allowance, check, Path.cwd())
    return await _RayEngine(cluster, ledger, setup, on_change).run(shares)


def shares_of(at_once: int, workers: int) -> list[int]:
    """Jobs at a time for each worker: `at_once` spread over at most `workers`."""
    workers = min(at_once, workers)
    return [at_once // workers + (number < at_once % workers) for number in range(workers)]


class _RayEngine:
    """One session."""

    def __init__(self, cluster: Cluster, ledger: Ledger, setup: WorkerSetup,
                 on_change: Callable[[BatchProgress], None] | None) -> None:
        self._cluster, self._ledger, self._setup = cluster, ledger, setup
        self._on_change = only_listening(on_change)
        self._database = RetryingExecutor(self._report_trouble)
        self._tally = Tally()
        self._supervisors: dict[asyncio.Task[BatchProgress | None], WorkerSupervisor] = {}
        self._errors: list[BaseException] = []  # of workers that cannot work
        self._reason = ""  # why no further job is begun
        self._problem = ""  # of a worker whose attempts all failed
        self._trouble = ""
        self._pause = _RECOUNT_SECONDS

    async def run(self, shares: list[int]) -> BatchProgress:
        """Work until the end."""
        await self._database.run(partial(self._tally.start_session, self._ledger))
        try:
            for share in shares:
                supervisor = WorkerSupervisor(self._cluster, self._ledger, self._setup, self._database,
                                              self._report_trouble)
                self._supervisors[asyncio.create_task(supervisor.run(share))] = supervisor
            while await self._recount() and self._supervisors:
                await self._wait()
        finally:
            for task in self._supervisors:
                task.cancel()
            await asyncio.gather(*self._supervisors, return_exceptions=True)
            await self._database.close()
        return self._result()

    def _result(self) -> BatchProgress:
        """The last progress. Raises what kept the workers from working, when all of them failed by it."""
        if not self._jobs_left:
            return self._report(status="finished", trouble="")
        if reason := self._reason or self._problem:
            return self._report(status="stopped", reason=reason, problem=self._problem)
        if self._errors:
            raise self._errors[0]
        return self._report(status="finished", trouble="")

    async def _recount(self) -> bool:
        """Read how far the batch is, and whether its budget is used up; False when nothing is left to do."""
        began = time.monotonic()
        await self._database.run(partial(self._tally.recount, self._ledger))
        self._pause = max(_RECOUNT_SECONDS, 10 * (time.monotonic() - began))
        if reason := self._setup.allowance.stop_reason(self._tally.spent):
            self._stop(reason)
        self._report()
        return self._jobs_left > 0

    async def _wait(self) -> None:
        """Until a worker comes to its end, or it is time for the next look."""
        ended, _ = await asyncio.wait(self._supervisors, timeout=self._pause, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            del self._supervisors[task]
            if error := task.exception():
                self._errors.append(error)
                self._report_trouble(f"a worker can do nothing: {error}")
            elif (last := task.result()) and last.problem:
                self._problem = last.problem
                self._report_trouble(f"a worker gives up, for attempt after attempt failed, at last: {last.problem}")
            elif last and last.status == "stopped":
                self._stop(last.reason)

    def _stop(self, reason: str) -> None:
        """Let what is under way be finished, and begin nothing more."""
        if not self._reason:
            self._reason = reason
            for supervisor in self._supervisors.values():
                supervisor.stop()

    @property
    def _jobs_left(self) -> int:
        return self._tally.counts["open"] + self._tally.counts["running"]

    def _report_trouble(self, trouble: str) -> None:
        self._trouble = trouble
        self._report()

    def _report(self, **more: str) -> BatchProgress:
        waiting = sum(supervisor.is_waiting for supervisor in self._supervisors.values())
        no_room = f"{waiting} of {len(self._supervisors)} workers wait for a machine with a free CPU" if waiting else ""
        progress = self._tally.snapshot(**{"trouble": self._trouble or no_room, **more})
        self._on_change(progress)
        return progress
