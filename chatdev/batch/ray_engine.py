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
from functools import partial
from pathlib import Path

from chatdev.batch.attempt import Work
from chatdev.batch.books import Books
from chatdev.batch.ledger import Ledger
from chatdev.batch.progress import Progress, Tally
from chatdev.batch.ray_cluster import Cluster
from chatdev.batch.ray_post import Post
from chatdev.batch.ray_worker import Errand
from chatdev.batch.spent import Allowance
from chatdev.errors import ConfigError

_LOOK = 1.0  # seconds between two looks at the ledger, or ten times as long as a look takes


async def work_through_on(cluster: Cluster, ledger: Ledger, work: Work, *, at_once: int,
                          on_change: Callable[[Progress], None] | None = None, allowance: Allowance | None = None,
                          check: Callable[[], None] | None = None) -> Progress:
    """As `patiently`, by the workers of a cluster, at most `at_once` jobs at a time in all of them together.

    `work` and `check` must be picklable; `check` is called by each worker before its first job and raises what keeps it
    from working there. A worker that cannot work, or whose attempts all fail, is told as `trouble` and costs the others
    nothing; what it said is raised, or the `problem` returned, when no other is left. One that dies is replaced. Raises
    ConfigError for a SQLite file on several machines.
    """
    if at_once < 1:
        raise ConfigError(f"{at_once} jobs at once would be none at all; give 1 or more")
    cluster.refuse_file(ledger)
    errand = Errand(ledger.reopen, work, allowance or Allowance(), check, Path.cwd())
    return await _Engine(cluster, ledger, errand, on_change).run(parts(at_once, cluster.workers))


def parts(at_once: int, workers: int) -> list[int]:
    """So many jobs at once, spread over at most so many workers: what each gets."""
    workers = min(at_once, workers)
    return [at_once // workers + (number < at_once % workers) for number in range(workers)]


class _Engine:
    """One session."""

    def __init__(self, cluster: Cluster, ledger: Ledger, errand: Errand,
                 on_change: Callable[[Progress], None] | None) -> None:
        self._cluster, self._ledger, self._errand, self._on_change = cluster, ledger, errand, on_change
        self._books = Books(self._hear)
        self._tally = Tally()
        self._posts: dict[asyncio.Task[Progress | None], Post] = {}
        self._errors: list[BaseException] = []  # of workers that cannot work
        self._reason = ""  # why no further job is begun
        self._problem = ""  # of a worker whose attempts all failed
        self._trouble = ""
        self._pause = _LOOK

    async def run(self, shares: list[int]) -> Progress:
        """Work until the end."""
        await self._books.do(partial(self._tally.begin, self._ledger))
        try:
            for share in shares:
                post = Post(self._cluster, self._ledger, self._errand, self._books, self._hear)
                self._posts[asyncio.create_task(post.keep(share))] = post
            while await self._look() and self._posts:
                await self._wait()
        finally:
            for task in self._posts:
                task.cancel()
            await asyncio.gather(*self._posts, return_exceptions=True)
            self._books.close()
        if self._left and (self._reason or self._problem):
            return self._tell(status="stopped", reason=self._reason or self._problem, problem=self._problem)
        if self._left and self._errors:
            raise self._errors[0]
        return self._tell(status="finished", trouble="")

    async def _look(self) -> bool:
        """See how far the batch is, and whether its budget is spent; False when nothing is left to do."""
        began = time.monotonic()
        await self._books.do(partial(self._tally.recount, self._ledger))
        self._pause = max(_LOOK, 10 * (time.monotonic() - began))
        if reason := self._errand.allowance.reached(self._tally.spent):
            self._stop(reason)
        self._tell()
        return self._left > 0

    async def _wait(self) -> None:
        """Until a worker comes to its end, or it is time for the next look."""
        ended, _ = await asyncio.wait(self._posts, timeout=self._pause, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            del self._posts[task]
            if error := task.exception():
                self._errors.append(error)
                self._hear(f"a worker can do nothing: {error}")
            elif (last := task.result()) and last.problem:
                self._problem = last.problem
                self._hear(f"a worker gives up, for attempt after attempt failed, at last: {last.problem}")
            elif last and last.status == "stopped":
                self._stop(last.reason)

    def _stop(self, reason: str) -> None:
        """Let what is under way be finished, and begin nothing more."""
        if not self._reason:
            self._reason = reason
            for post in self._posts.values():
                post.stop()

    @property
    def _left(self) -> int:
        return self._tally.counts["open"] + self._tally.counts["running"]

    def _hear(self, trouble: str) -> None:
        self._trouble = trouble
        self._tell()

    def _tell(self, **more: str) -> Progress:
        waiting = sum(post.waits for post in self._posts.values())
        room = f"{waiting} of {len(self._posts)} workers wait for a machine with a free CPU" if waiting else ""
        progress = self._tally.seen(**{"trouble": self._trouble or room, **more})
        if self._on_change:
            self._on_change(progress)
        return progress
