"""A worker on a cluster, which runs the local engine on the shared ledger, and its supervisor, which restarts it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from chatdev.batch.attempt import Allowance, Work, worker_name
from chatdev.batch.batch_progress import BatchProgress
from chatdev.batch.database import RetryingExecutor
from chatdev.batch.ledger import Ledger
from chatdev.batch.local import work_with_circuit_breaker
from chatdev.batch.ray_cluster import ActorDied, Cluster
from chatdev.errors import ConfigError

_GRACE = 20.0  # seconds in which a worker gives its jobs back
_LONG_WAIT = 20.0  # seconds after which a worker that waits for a free CPU is worth a word
_STABLE = 600.0  # seconds after which a worker did not die of what it had to do when it was started
_MAX_IDLE_STARTS = 5  # in a row of workers that die without a job


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What every worker of a batch needs; it must be picklable. `check` is called before the first job and raises
    ConfigError and the like when the worker's machine could do none; relative paths and `.env` are those of `folder`,
    where it exists."""

    reopen: Callable[[], Ledger]
    work: Work
    allowance: Allowance
    check: Callable[[], None] | None
    folder: Path


class Worker:
    """One worker, at most `at_once` jobs at a time; a Ray actor."""

    def __init__(self, setup: WorkerSetup, at_once: int) -> None:
        self._setup, self._at_once = setup, at_once
        self._name = worker_name()
        self._stop = asyncio.Event()

    async def name(self) -> str:
        """Under which it claims jobs."""
        return self._name

    async def run(self) -> BatchProgress:
        """Work until no job is left or it may begin no more. Cancelling gives back what is unfinished."""
        setup = self._setup
        with suppress(OSError):
            os.chdir(setup.folder)
        if setup.check:
            await asyncio.to_thread(setup.check)
        ledger = await asyncio.to_thread(setup.reopen)
        try:
            return await work_with_circuit_breaker(ledger, setup.work, at_once=self._at_once, stop=self._stop,
                                                   worker=self._name, allowance=setup.allowance)
        finally:
            ledger.close()

    async def stop(self) -> None:
        """Begin no further job."""
        self._stop.set()


class WorkerSupervisor:
    """Keeps one worker of a batch running on a cluster: when it dies, another one is started.

    `on_trouble` is called with a text when it dies, and with an empty one when the next one works.
    """

    def __init__(self, cluster: Cluster, ledger: Ledger, setup: WorkerSetup, database: RetryingExecutor,
                 on_trouble: Callable[[str], None]) -> None:
        self._cluster, self._ledger, self._setup, self._database = cluster, ledger, setup, database
        self._on_trouble = on_trouble
        self._actor: Any = None
        self._started = 0.0
        self._is_running = self._stopped = False

    async def run(self, share: int) -> BatchProgress | None:
        """The last progress of a worker of `share` jobs at once; None when it was stopped and died. Raises what keeps
        it from working. Cancelling gives back what is unfinished.

        When one dies soon and again, the next one gets half as many jobs at once: a job that kills its workers must
        end up alone with them, and not take all others along."""
        soon = idle = 0
        while not self._stopped:
            try:
                return await self._run_worker(max(1, share >> max(0, soon - 1)))
            except _Died as death:
                if self._stopped:
                    break
                soon = soon + 1 if time.monotonic() - self._started < _STABLE else 0
                idle = 0 if death.jobs else idle + 1
                if idle == _MAX_IDLE_STARTS:
                    raise ConfigError(f"no worker stays alive: {death}; every machine of the cluster needs the same "
                                      "Python, Ray, chatdev and packages of departments") from death
                self._on_trouble(f"{death}; another one takes its place")
            await asyncio.sleep(2 ** idle - 1)
        return None

    def stop(self) -> None:
        """Let it begin no further job."""
        self._stopped = True
        if self._is_running:
            self._actor.stop.remote()
        elif self._actor is not None:
            self._cluster.kill(self._actor)

    @property
    def is_waiting(self) -> bool:
        """Whether its worker has been waiting for a machine for long."""
        return self._actor is not None and not self._is_running and time.monotonic() - self._started > _LONG_WAIT

    async def _run_worker(self, at_once: int) -> BatchProgress:
        """One worker, from its start to its end. Raises _Died."""
        actor = self._actor = self._cluster.start(Worker, self._setup, at_once, here=self._ledger.is_file)
        self._started, name = time.monotonic(), ""
        try:
            name = await self._cluster.answer(actor.name.remote())
            self._is_running = True
            self._on_trouble("")
            ended = await self._wait_for_end(actor.run.remote())
        except ActorDied as death:
            who = f"the worker {name}" if name else "a new worker"
            raise _Died(f"{who} died ({death})", await self._release_jobs(actor, name)) from death
        except BaseException:
            await self._release_jobs(actor, name)
            raise
        await self._release_jobs(actor, name)
        return ended

    async def _wait_for_end(self, running: Any) -> BatchProgress:
        try:
            ended: BatchProgress = await self._cluster.answer(running)
        except asyncio.CancelledError:
            await self._cluster.cancel(running, _GRACE)
            raise
        return ended

    async def _release_jobs(self, actor: Any, name: str) -> int:
        """End a worker and let others have its jobs; how many it had."""
        self._is_running = False
        self._cluster.kill(actor)
        return await self._database.run_shielded(partial(self._ledger.release, name)) if name else 0


class _Died(Exception):
    """A worker died; `jobs` is how many it had under way."""

    def __init__(self, text: str, jobs: int) -> None:
        super().__init__(text)
        self.jobs = jobs
