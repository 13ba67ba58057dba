"""A post that is always manned: when the worker at it dies, another one takes its place."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from chatdev.batch.books import Books
from chatdev.batch.ledger import Ledger
from chatdev.batch.progress import Progress
from chatdev.batch.ray_cluster import ActorDied, Cluster
from chatdev.batch.ray_worker import Errand, Worker
from chatdev.errors import ConfigError

_GRACE = 20.0  # seconds in which a worker gives its jobs back
_ROOM = 20.0  # seconds after which a worker that waits for a free CPU is worth a word
_CALM = 600.0  # seconds after which a worker did not die of what it had to do when it was started
_MOST_STARTS = 5  # in a row of workers that die without a job


class Post:
    """One worker of a batch, on a cluster. `on_trouble` hears when it dies, and an empty text when its place is taken.
    """

    def __init__(self, cluster: Cluster, ledger: Ledger, errand: Errand, books: Books,
                 on_trouble: Callable[[str], None]) -> None:
        self._cluster, self._ledger, self._errand, self._books = cluster, ledger, errand, books
        self._on_trouble = on_trouble
        self._actor: Any = None
        self._started = 0.0
        self._up = self._stopped = False

    async def keep(self, share: int) -> Progress | None:
        """What a worker of `share` jobs at once says at its end; None when it was stopped and died. Raises what keeps
        it from working. Cancelling gives back what is unfinished.

        When one dies soon and again, the next one gets half as many jobs at once: a job that kills its workers must
        end up alone with them, and not take all others along."""
        soon = idle = 0
        while not self._stopped:
            try:
                return await self._shift(max(1, share >> max(0, soon - 1)))
            except _Died as death:
                if self._stopped:
                    break
                soon = soon + 1 if time.monotonic() - self._started < _CALM else 0
                idle = 0 if death.jobs else idle + 1
                if idle == _MOST_STARTS:
                    raise ConfigError(f"no worker stays alive: {death}; every machine of the cluster needs the same "
                                      "Python, Ray and chatdev") from death
                self._on_trouble(f"{death}; another one takes its place")
            await asyncio.sleep(2 ** idle - 1)
        return None

    def stop(self) -> None:
        """Let it begin no further job."""
        self._stopped = True
        if self._up:
            self._actor.stop.remote()
        elif self._actor is not None:
            self._cluster.kill(self._actor)

    @property
    def waits(self) -> bool:
        """Whether its worker has been waiting for a machine for long."""
        return self._actor is not None and not self._up and time.monotonic() - self._started > _ROOM

    async def _shift(self, at_once: int) -> Progress:
        """One worker, from its start to its end. Raises _Died."""
        actor = self._actor = self._cluster.start(Worker, self._errand, at_once, here=self._ledger.is_file)
        self._started, name = time.monotonic(), ""
        try:
            name = await self._cluster.answer(actor.name.remote())
            self._up = True
            self._on_trouble("")
            ended = await self._end(actor.run.remote())
        except ActorDied as death:
            who = f"the worker {name}" if name else "a new worker"
            raise _Died(f"{who} died ({death})", await self._buried(actor, name)) from death
        except BaseException:
            await self._buried(actor, name)
            raise
        await self._buried(actor, name)
        return ended

    async def _end(self, running: Any) -> Progress:
        try:
            ended: Progress = await self._cluster.answer(running)
        except asyncio.CancelledError:
            await self._cluster.cancel(running, _GRACE)
            raise
        return ended

    async def _buried(self, actor: Any, name: str) -> int:
        """See to it that a worker holds no jobs any more; how many it had."""
        self._up = False
        self._cluster.kill(actor)
        return await self._books.surely(partial(self._ledger.release, name)) if name else 0


class _Died(Exception):
    """A worker died; `jobs` is how many it had under way."""

    def __init__(self, text: str, jobs: int) -> None:
        super().__init__(text)
        self.jobs = jobs
