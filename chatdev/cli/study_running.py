"""What every command that runs a study has: its options, and the way from variants and tasks to an exit code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from chatdev.cli.outcome import show_error
from chatdev.cli.study_engine import engine_options, refuse_contradictions, worked
from chatdev.cli.study_options import folder_of, opened, study_options
from chatdev.engine.amounts import count_noun
from chatdev.errors import BudgetExhausted, ConfigError
from chatdev.runner.sanitize import sanitize
from chatdev.sandbox.base import SANDBOXES

if TYPE_CHECKING:
    from chatdev.batch.ledger import Ledger
    from chatdev.evaluation.study import Conditions, DataSet, Study
    from chatdev.evaluation.tasks import Task
    from chatdev.evaluation.variants import Variant

_VARIANTS = (
    click.option("--only", multiple=True, metavar="PATTERN",
                 help="Take only variants of such a name, e.g. 'chatdev without*'."),
    click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Change a field of every company's YAML."),
    click.option("--model", "models", multiple=True, help="Model of all companies; several are compared."),
    click.option("--base-url", help="An OpenAI-compatible endpoint."),
    click.option("--sandbox", type=click.Choice(SANDBOXES), help="Where programs run. [default: bubblewrap]"),
)
_LIMITS = (
    click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD",
                 help="Begin no run once the study cost this."),
    click.option("--max-tokens", type=click.IntRange(min=1), metavar="N",
                 help="Begin no run once it took so many tokens."),
    click.option("--requests-per-minute", type=click.FloatRange(min=0, min_open=True), metavar="N",
                 help="The provider's limit, kept by all runs together."),
    click.option("--tokens-per-minute", type=click.FloatRange(min=0, min_open=True), metavar="N", help="Likewise."),
    click.option("--retry-failed", is_flag=True, help="Try the jobs again that failed for good."),
    click.option("--quiet", is_flag=True, help="No progress bar."),
)


class Planned(NamedTuple):
    """What a study consists of."""

    variants: Sequence[Variant]
    tasks: Sequence[Task]
    study: Study


def running_options(study: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options about variants, the ledger (`study` is the default name), the engine and limits."""
    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(_LIMITS):
            command = option(command)
        command = study_options(engine_options(command), study)
        for option in reversed(_VARIANTS):
            command = option(command)
        return command

    return add


def study_of(data: DataSet, folder: Path, conditions: Conditions, given: dict[str, Any]) -> Study:
    """The study that the options describe."""
    from chatdev.evaluation.study import Study
    from chatdev.llm.rate import RateLimit

    rate = RateLimit(given["requests_per_minute"], given["tokens_per_minute"])
    return Study(data, folder, conditions, given["base_url"], given["sandbox"], given.get("embedder_url"), rate)


def only(patterns: Sequence[str], found: Sequence[Variant]) -> list[Variant]:
    """The variants whose names match one of the patterns, or all. Raises ConfigError for one that matches none."""
    for pattern in patterns:
        if not any(fnmatchcase(variant.name, pattern) for variant in found):
            raise ConfigError(f"--only {pattern!r} matches no variant; there are: {', '.join(v.name for v in found)}")
    return [v for v in found if not patterns or any(fnmatchcase(v.name, pattern) for pattern in patterns)]


def carried_out(study: str, ledger_url: str, folder: Path | None, given: dict[str, Any],
                plan: Callable[[Path, dict[str, Any]], Planned]) -> int:
    """Plan the study, enter what is new of it, and work until it is done; the exit code. `plan` raises ConfigError."""
    from chatdev.batch.attempt import Allowance

    refuse_contradictions(given)
    runs = folder_of(folder, study)
    ledger = opened(ledger_url, study)
    try:
        planned = plan(runs, given)
        planned.study.check(planned.tasks, planned.variants, Allowance(given["max_cost"]))
        jobs = list(planned.study.jobs(planned.tasks, planned.variants))
        click.echo(f"{count_noun(len(jobs), 'job')}: {count_noun(len(planned.tasks), 'task')} × "
                   f"{', '.join(v.name for v in planned.variants)}")
        new = planned.study.enter(ledger, jobs)
        again = ledger.retry_failed() if given["retry_failed"] else 0
        click.echo(f"study {study}: {count_noun(new, 'new job')}, {ledger.counts()['done']} done, {again} tried again")
        return _work(ledger, planned, given)
    finally:
        ledger.close()


def _work(ledger: Ledger, planned: Planned, given: dict[str, Any]) -> int:
    """Work through the ledger, show how far it is, and say how it ended; the exit code."""
    from chatdev.batch.attempt import Allowance
    from chatdev.cli.study_progress import StudyProgress
    from chatdev.evaluation.report.results import Results
    from chatdev.evaluation.report.text import as_text

    with StudyProgress(quiet=given["quiet"]) as show:
        ended = worked(ledger, planned.study, planned.tasks, planned.variants, given, on_change=show,
                       allowance=Allowance(given["max_cost"], given["max_tokens"]))
    click.echo(f"\n{sanitize(as_text(Results.read(ledger)))}")
    if ended.problem:
        show_error(f"stopped, for attempt after attempt failed, at last: {ended.problem}\nmend that, and give the "
                   "same command again with --retry-failed; what is finished is kept")
        return 1
    if ended.status == "stopped":
        raise BudgetExhausted(f"{ended.reason}; what is finished is kept, and the same command with a greater budget "
                              "goes on")
    return 1 if ended.counts["failed"] else 0
