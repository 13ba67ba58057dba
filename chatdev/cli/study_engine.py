"""The options about who does the jobs of a study, and the work itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from chatdev.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatdev.batch.batch_progress import BatchProgress
    from chatdev.batch.ledger import Ledger
    from chatdev.evaluation.study import Study
    from chatdev.evaluation.tasks import Task
    from chatdev.evaluation.variants import Variant

_AT_ONCE = 4  # runs, of each worker

_OPTIONS = (
    click.option("--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True,
                 help="Work in this process, or by workers on the machines of a Ray cluster."),
    click.option("--ray-workers", type=click.IntRange(min=1), metavar="N",
                 help="Worker processes. [default: one a machine, at least two where there are CPUs]"),
    click.option("--ray-address", metavar="HOST:PORT",
                 help="The cluster's head. [default: RAY_ADDRESS, else a cluster of this machine alone]"),
    click.option("--at-once", type=click.IntRange(min=1), metavar="N",
                 help="Runs at a time, of all workers together. [default: 4 a worker; 1 with the local model]"),
)


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--engine` and its like."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def worked(ledger: Ledger, plan: Study, tasks: Sequence[Task], variants: Sequence[Variant], given: dict[str, Any],
           **options: Any) -> BatchProgress:
    """Work through the ledger of a study as the options in `given` say (further `options`: `work_through`)."""
    from chatdev.batch.local import work_with_circuit_breaker
    from chatdev.batch.signals import interruptible

    if given["engine"] == "ray":
        return _on_ray(ledger, plan, tasks, variants, given, **options)
    return interruptible(work_with_circuit_breaker(ledger, plan.work, at_once=_at_once(given, 1), **options))


def refuse_contradictions(given: dict[str, Any]) -> None:
    """Raise ConfigError for options of one engine that are given with another."""
    for name in ("ray_workers", "ray_address"):
        if given["engine"] != "ray" and given[name]:
            raise ConfigError(f"--{name.replace('_', '-')} is of use with --engine ray only; add that, or leave it out")


def _on_ray(ledger: Ledger, plan: Study, tasks: Sequence[Task], variants: Sequence[Variant], given: dict[str, Any],
            **options: Any) -> BatchProgress:
    from chatdev.batch.ray_cluster import joined
    from chatdev.batch.ray_engine import shares_of, work_through_on
    from chatdev.batch.signals import interruptible
    from chatdev.evaluation.premises import premises

    with joined(given["ray_address"], given["ray_workers"]) as cluster, premises(plan, tasks, variants) as check:
        at_once = _at_once(given, cluster.workers)
        part = plan.part(len(shares_of(at_once, cluster.workers)))
        return interruptible(work_through_on(cluster, ledger, part.work, at_once=at_once, check=check, **options))


def _at_once(given: dict[str, Any], workers: int) -> int:
    local = any(model.partition(":")[0] == "local" for model in given["models"])
    return int(given["at_once"] or (1 if local else _AT_ONCE * workers))
