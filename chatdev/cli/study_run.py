"""Running a study, from its variants and tasks to an exit code, by the engine that was asked for; its progress: a line
for each job, and a bar."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import click
from tqdm import tqdm

from chatdev.cli.outcome import heed_signals, output_is_recorded, show_error
from chatdev.cli.people import ask_for_consent
from chatdev.cli.screen import format_cost, format_seconds
from chatdev.cli.shared_options import StudyOptions, open_ledger
from chatdev.engine.budget import count_noun, money
from chatdev.errors import BudgetExhausted, ConfigError
from chatdev.safe_text import sanitize, shorten

if TYPE_CHECKING:
    from chatdev.batch.attempt import Allowance
    from chatdev.batch.ledger import Ledger
    from chatdev.batch.local import BatchProgress, EndedJob
    from chatdev.evaluation.study import Conditions, DataSet, Study
    from chatdev.evaluation.tasks import Task
    from chatdev.evaluation.variants import Variant


class StudyPlan(NamedTuple):
    """What a study consists of."""

    variants: Sequence[Variant]
    tasks: Sequence[Task]
    study: Study

    def jobs_at_once(self, options: StudyOptions, workers: int) -> int:
        """Number of runs at a time, over all workers."""
        return options.jobs_at_once(workers, local=self.study.asks_local_model(self.variants))


def study_of(data: DataSet, conditions: Conditions, options: StudyOptions, embedder_url: str | None = None) -> Study:
    """The study that the options describe."""
    from chatdev.evaluation.study import Study
    from chatdev.llm.base import RateLimit

    rate = RateLimit(options.requests_per_minute, options.tokens_per_minute)
    return Study(data, options.runs, conditions, options.base_url, options.sandbox, embedder_url, rate,
                 trust=options.trust, provider=options.provider)


def variants_by_name(patterns: Sequence[str], found: Sequence[Variant]) -> list[Variant]:
    """The variants whose names, with the model or without, match one of the patterns, or all. Raises ConfigError for
    one that matches none."""
    for pattern in patterns:
        if not any(_matches(variant, pattern) for variant in found):
            raise ConfigError(f"--only {pattern!r} matches no variant; there are: {_names(found)}")
    return [v for v in found if not patterns or any(_matches(v, pattern) for pattern in patterns)]


def _names(found: Sequence[Variant]) -> str:
    from chatdev.evaluation.variants import names_side_by_side

    return ", ".join(names_side_by_side(variant.name for variant in found).values())


def _matches(variant: Variant, pattern: str) -> bool:
    return fnmatchcase(variant.name, pattern) or fnmatchcase(variant.short_name, pattern)


def run_study(options: StudyOptions, make_plan: Callable[[], StudyPlan],
              tell: Callable[[Ledger], str] = lambda ledger: _report(ledger)) -> int:
    """Plan the study, enter what is new of it, work until it is done, and `tell` what came of it; the exit code.
    `make_plan` raises ConfigError."""
    from chatdev.batch.attempt import Allowance

    options.check()
    if options.dry_run:
        return _show_estimate(make_plan(), options)
    ledger = open_ledger(options.ledger_url, options.study)
    try:
        plan = ask_for_consent(lambda: _checked_plan(make_plan, Allowance(options.max_cost)))
        jobs = list(plan.study.jobs(plan.tasks, plan.variants, options.repeats))
        often = f" × {count_noun(options.repeats, 'repeat')}" if options.repeats > 1 else ""
        click.echo(f"{count_noun(len(jobs), 'job')}: {count_noun(len(plan.tasks), 'task')} × "
                   f"{_names(plan.variants)}{often}")
        new = plan.study.enter(ledger, jobs)
        again = ledger.retry_failed() if options.retry_failed else 0
        click.echo(f"study {options.study}: {count_noun(new, 'new job')}, {ledger.counts()['done']} done, "
                   f"{again} tried again")
        return _work(ledger, plan, options, tell)
    finally:
        ledger.close()


def _show_estimate(plan: StudyPlan, options: StudyOptions) -> int:
    """Print what the study takes if every run is a typical one, by variant."""
    from chatdev.config.preview import Load
    from chatdev.runner.options import RunOptions
    from chatdev.runner.rehearsal import rehearse

    runs = len(plan.tasks) * options.repeats
    total = Load()
    click.echo(f"{count_noun(runs * len(plan.variants), 'run')}: {count_noun(len(plan.tasks), 'task')} × "
               f"{count_noun(len(plan.variants), 'variant')} × {count_noun(options.repeats, 'repeat')}\n")
    width = max(len(variant.name) for variant in plan.variants)
    for variant in plan.variants:
        company, task = variant.load(), plan.tasks[0]
        inputs = {name: data for name, data in plan.study.data.inputs(task).items() if name in company.config.inputs}
        one = asyncio.run(rehearse(company, task.description, RunOptions(
            inputs=inputs, model=variant.model, provider=options.provider, base_url=options.base_url))).load
        total += one * runs
        part = one * runs
        click.echo(sanitize(f"  {variant.name:{width}}  {part.calls:7} calls"
                            f"{part.prompt_tokens + part.completion_tokens:12} tokens  {money(part.cost)}"))
    click.echo(f"\n{total.calls} calls, {total.prompt_tokens + total.completion_tokens} tokens, {money(total.cost)}\n"
               "if every check passes at once; failing programs may take several times as much")
    return 0


def _checked_plan(make_plan: Callable[[], StudyPlan], allowance: Allowance) -> StudyPlan:
    """The checked plan with the user's consent, for which workers cannot ask."""
    plan = make_plan()
    plan.study.check(plan.tasks, plan.variants, allowance)
    return plan._replace(study=plan.study.with_consent(plan.variants))


def _report(ledger: Ledger) -> str:
    """The table of the study's results."""
    from chatdev.evaluation.reporting.formats import as_text
    from chatdev.evaluation.reporting.study_results import Results

    return as_text(Results.read(ledger))


def _work(ledger: Ledger, plan: StudyPlan, options: StudyOptions, tell: Callable[[Ledger], str]) -> int:
    """Work through the ledger, show how far it is, and say how it ended; the exit code."""
    from chatdev.batch.attempt import Allowance

    output_is_recorded()
    work = _work_on_ray if options.engine == "ray" else _work_here
    allowance = Allowance(options.max_cost, options.max_tokens)
    with StudyProgress(quiet=options.quiet) as show:
        ended = work(ledger, plan, options, on_change=show, allowance=allowance)
    click.echo(f"\n{sanitize(tell(ledger))}")
    if ended.problem:
        show_error(f"stopped, because attempt after attempt failed; the last one: {ended.problem}\nfix that, and give "
                   "the same command again with --retry-failed; finished runs are kept")
        return 1
    if ended.status == "stopped":
        raise BudgetExhausted(f"{ended.reason}; finished runs are kept, and the same command with a greater budget "
                              "continues")
    if reason := allowance.exceeded_reason(ended.spent):
        raise BudgetExhausted(f"every run is done, but {reason}")
    return 1 if ended.counts["failed"] else 0


def _work_here(ledger: Ledger, plan: StudyPlan, options: StudyOptions, **more: Any) -> BatchProgress:
    from chatdev.batch.local import work_with_circuit_breaker

    work = work_with_circuit_breaker(ledger, plan.study.work, at_once=plan.jobs_at_once(options, 1), **more)
    return asyncio.run(work)


def _work_on_ray(ledger: Ledger, plan: StudyPlan, options: StudyOptions, **more: Any) -> BatchProgress:
    from chatdev.batch.ray_cluster import joined, shares_of, work_through_on
    from chatdev.evaluation.study import preflight

    with (joined(options.ray_address, options.ray_workers) as cluster,
          preflight(plan.study, plan.tasks, plan.variants) as check, heed_signals()):  # Ray has handlers of its own
        at_once = plan.jobs_at_once(options, cluster.workers)
        part = plan.study.part(len(shares_of(at_once, cluster.workers)))
        return asyncio.run(work_through_on(cluster, ledger, part.work, at_once=at_once, check=check, **more))


# The progress: a line for each job, and a bar with jobs, the time that is left, live means.

_MEANS = {"quality": "quality", "acceptance": "accepted"}


class StudyProgress:
    """Follows the progress of a batch on standard error: a line for each job that ended and, where that is a terminal,
    a bar."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._bar = tqdm(desc="study", unit="job", disable=quiet or not sys.stderr.isatty(), dynamic_ncols=True,
                         bar_format="{desc} {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{postfix}")
        self._trouble = ""

    def __call__(self, progress: BatchProgress) -> None:
        """Show how far it is now."""
        if progress.trouble and progress.trouble != self._trouble:
            self._bar.write(f"trouble: {sanitize(progress.trouble)}", file=sys.stderr)
        self._trouble = progress.trouble
        if progress.ended and not self._quiet:
            self._bar.write(sanitize(job_line(progress.ended, progress)), file=sys.stderr)
        self._bar.total, self._bar.n = progress.total, progress.finished_jobs
        self._bar.set_postfix_str(summary(progress), refresh=False)
        self._bar.refresh()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self._bar.close()


def job_line(ended: EndedJob, progress: BatchProgress) -> str:
    """`3/10  plain/srdd/Todo  done in 12 s  quality 0.410  $0.0021`, or why the attempt failed."""
    from chatdev.batch.attempt import Expense, Failure

    outcome = ended.outcome
    head = f"{progress.finished_jobs}/{progress.total}  {ended.key}"
    if isinstance(outcome, Failure):
        problem = shorten(" ".join(outcome.problem.split()), 200)
        return f"{head}  failed after {format_seconds(ended.seconds)}: {problem}"
    cost = Expense.of(outcome).cost
    means = [f"{name} {value:.3f}" for key, name in _MEANS.items() if isinstance(value := outcome.get(key), float)]
    return "  ".join([head, f"done in {format_seconds(ended.seconds)}", *means, *([format_cost(cost)] if cost else [])])


def summary(progress: BatchProgress) -> str:
    """What stands behind the bar."""
    parts = [f"{progress.counts['running']} running"]
    if progress.counts["failed"]:
        parts.append(f"{progress.counts['failed']} failed")
    parts += [f"{name} {progress.means[key]:.3f}" for key, name in _MEANS.items() if key in progress.means]
    parts.append(f"{progress.spent.tokens} tokens, {money(progress.spent.cost)}")
    if progress.seconds_left is not None:
        parts.append(f"{_clock(progress.seconds_left)} left")
    return " · ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
