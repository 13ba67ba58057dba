"""A Ray cluster to put workers on: one that is there, or one of this machine alone for as long as it is needed."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
