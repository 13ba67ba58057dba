"""A batch on a Ray cluster (one that is there, or one of this machine alone): the cluster, and its workers."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatdev.batch.attempt import Allowance, Work, worker_name
from chatdev.batch.database import RetryingExecutor
from chatdev.batch.ledger import Ledger
from chatdev.batch.local import BatchProgress, Tally, only_listening, work_with_circuit_breaker
from chatdev.errors import ConfigError, MissingProgram

if TYPE_CHECKING:
    from chatdev.batch.ledger import Ledger


_FEWEST = 2  # default number of workers, if there is room for them
_STORE = 80 * 2**20  # bytes for objects that are shared; we share none, and Ray takes no less
_CONNECT_SECONDS = 5.0  # seconds in which the head of a cluster must answer; Ray itself would wait for minutes
_SETTINGS = {
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # Ray prints a page for every worker that dies; we say it in a line
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # leave it to the model which GPU it uses
}
_DETAIL = re.compile(r"Worker exit detail: (.+?)\.(?:\s|$)")


class ActorDied(Exception):
    """The process of an actor has died, or never began."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster that this process belongs to, and how many workers are to be on it."""

    workers: int
    node: str

    def start(self, worker: type, *arguments: Any, here: bool) -> Any:
        """An actor of this class, somewhere or `here`, on this machine; its methods are called as `actor.do.remote()`
        and give a reference. It waits for a free CPU, of a machine that may yet have to join."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        place = NodeAffinitySchedulingStrategy(self.node, soft=False) if here else "SPREAD"
        return ray.remote(worker).options(num_cpus=1, scheduling_strategy=place).remote(*arguments)

    def kill(self, actor: Any) -> None:
        """End an actor's process, if it has one."""
        import ray

        ray.kill(actor)

    async def answer(self, reference: Any) -> Any:
        """What a method of an actor returns. Raises what it raises, and ActorDied."""
        from ray.exceptions import RayError, RayTaskError

        try:
            return await reference
        except RayError as error:
            if isinstance(error, RayTaskError) and not isinstance(error.cause, RayError):
                raise error.cause from error
            raise ActorDied(_short_reason(error)) from error

    async def cancel(self, reference: Any, seconds: float) -> None:
        """Cancel a method of an actor, and let it clear up."""
        import ray

        ray.cancel(reference)
        with suppress(ActorDied, TimeoutError):
            async with asyncio.timeout(seconds):
                await self.answer(reference)

    def refuse_file(self, ledger: Ledger) -> None:
        """Raise ConfigError for a ledger that is a file when there are several machines."""
        machines = sorted({node["NodeManagerAddress"] for node in _nodes()})
        if ledger.is_file and len(machines) > 1:
            raise ConfigError(f"a SQLite file is no ledger for several machines ({', '.join(machines)}); give the "
                              "address of a database that all of them reach: --ledger postgresql://user@host/name")


@contextmanager
def joined(address: str | None = None, workers: int | None = None) -> Iterator[Cluster]:
    """The cluster whose head is at `address` (HOST:PORT; default: RAY_ADDRESS), for `workers` workers (default: one a
    machine). Without an address one is started, on this machine alone, and ended with the block.

    Raises MissingProgram without Ray, ConfigError when there is no cluster at the address.
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise MissingProgram(f"`--engine ray` needs {error.name}: pip install 'chatdev-chain[eval,ray]'") from error
    address = address or os.environ.get("RAY_ADDRESS")
    options: dict[str, Any] = {"address": address}
    if address:
        _refuse_silent_address(address)
    else:
        options = {"address": "local", "num_cpus": workers or _FEWEST, "include_dashboard": False,
                   "object_store_memory": _STORE}
    try:
        ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        fix = ("everyone in a cluster needs the same Ray, and its token (RAY_AUTH_MODE=token)" if address else
                "Ray says more in /tmp/ray/session_latest/logs")
        raise ConfigError(f"there is no way into the Ray cluster {address or 'of this machine'}: "
                          f"{_root_cause(error)}; {fix}") from error
    try:
        yield Cluster(workers or _default_workers(_nodes()), ray.get_runtime_context().get_node_id())
    finally:
        ray.shutdown()


def _default_workers(nodes: list[dict[str, Any]]) -> int:
    """One worker a machine, or a few more on few machines, as long as there are CPUs for them."""
    cpus = int(sum(node["Resources"].get("CPU", 0) for node in nodes))
    return max(1, min(cpus, max(_FEWEST, len(nodes))))


def _nodes() -> list[dict[str, Any]]:
    import ray

    return [node for node in ray.nodes()  # type: ignore[no-untyped-call]  # Ray gives it no types
            if node["Alive"]]


def _refuse_silent_address(address: str) -> None:
    """Raise ConfigError if no server answers at an address."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdigit():
        raise ConfigError(f"{address!r} is no address of a Ray cluster; give that of its head, e.g. 10.0.0.1:6379, and "
                          "the command on a machine of the cluster")
    try:
        socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ConfigError(f"nobody answers at {address} ({error}); start the cluster with `ray start --head --port="
                          f"{port}`, or leave the address out for a cluster of this machine alone") from error


def _root_cause(error: BaseException) -> BaseException:
    """The error from which it all came."""
    return _root_cause(error.__cause__) if error.__cause__ else error


def _short_reason(error: Exception) -> str:
    """The sentence that says why, of the page that Ray writes."""
    text = str(error).strip() or type(error).__name__
    if "creation task" in text.splitlines()[0]:  # an error in Python, with its traceback
        return text.splitlines()[-1].strip()
    detail = _DETAIL.search(text)
    return detail[1] if detail else text.splitlines()[0].rstrip(".")


# Works through a ledger with workers on the machines of a Ray cluster.

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


# A worker on a cluster, which runs the local engine on the shared ledger, and its supervisor, which restarts it.

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
