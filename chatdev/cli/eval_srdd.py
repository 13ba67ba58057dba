"""`chatdev eval srdd`."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chatdev.cli.outcome import reported, show_error
from chatdev.cli.study_engine import engine_options, refuse_contradictions, worked
from chatdev.cli.study_options import folder_of, listed, opened, study_options
from chatdev.engine.wording import counted
from chatdev.errors import BudgetExhausted, ConfigError
from chatdev.runner.harmless import harmless
from chatdev.sandbox.choose import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatdev.batch.ledger import Ledger
    from chatdev.evaluation.study import Study
    from chatdev.evaluation.tasks import Task
    from chatdev.evaluation.variants import Variant


@click.command("srdd")
@click.option("--companies", callback=listed, default="single,pipeline,chatdev", show_default=True, metavar="A,B,C",
              help="Names or paths of companies.")
@click.option("--ablations", is_flag=True, help="The paper's ablations of each company whose agents talk, too.")
@click.option("--only", multiple=True, metavar="PATTERN",
              help="Take only variants of such a name, e.g. 'chatdev without*'.")
@click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Change a field of every company's YAML.")
@click.option("--model", "models", multiple=True, help="Model of all companies; several are compared.")
@click.option("--base-url", help="An OpenAI-compatible endpoint.")
@click.option("--data", type=click.Path(path_type=Path, exists=True), metavar="CSV_OR_FOLDER",
              help="Tasks of your own: YAML files as in srdd/tasks, or a CSV file as the published SRDD. "
                   "[default: the bundled tasks]")
@click.option("--areas", callback=listed, metavar="A,B", help="Only tasks of these areas.")
@click.option("--categories", callback=listed, metavar="A,B", help="Only tasks of these categories.")
@click.option("--only-with-acceptance", is_flag=True, help="Only tasks that have a hidden acceptance test.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="So many tasks, spread evenly over areas and categories; a greater limit takes the same and more.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which tasks a limit takes.")
@click.option("--embedder", default="lexical", show_default=True, metavar="lexical|minilm|endpoint:MODEL",
              help="What consistency is measured with.")
@click.option("--embedder-url", metavar="URL", help="Endpoint of the embedder. [default: OPENAI_BASE_URL]")
@click.option("--sandbox", type=click.Choice(NAMES), help="Where programs run. [default: bubblewrap]")
@click.option("--install", type=click.Choice(["auto", "never"]), default="auto", show_default=True,
              help="Whether packages that programs import are installed, in the sandbox.")
@click.option("--runtime", metavar="NAME", help="A set of packages that programs always find, e.g. `top`.")
@study_options
@engine_options
@click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD", help="Begin no run once the study cost this.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Begin no run once it took so many tokens.")
@click.option("--requests-per-minute", type=click.FloatRange(min=0, min_open=True), metavar="N",
              help="The provider's limit, kept by all runs together.")
@click.option("--tokens-per-minute", type=click.FloatRange(min=0, min_open=True), metavar="N", help="Likewise.")
@click.option("--retry-failed", is_flag=True, help="Try the jobs again that failed for good.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
@reported
def command(study: str, ledger_url: str, folder: Path | None, **given: Any) -> int:
    """Run companies on software requirements and measure what they make.

    Give the same command again to go on after any interruption; finished runs are kept. `chatdev eval report` shows
    the results.
    """
    refuse_contradictions(given)
    runs = folder_of(folder, study)
    ledger = opened(ledger_url, study)
    try:
        chosen, tasks, plan = _planned(runs, given)
        jobs = list(plan.jobs(tasks, chosen))
        click.echo(f"{counted(len(jobs), 'job')}: {counted(len(tasks), 'task')} × {', '.join(v.name for v in chosen)}")
        new = plan.enter(ledger, jobs)
        again = ledger.retry_failed() if given["retry_failed"] else 0
        click.echo(f"study {study}: {counted(new, 'new job')}, {ledger.counts()['done']} done, {again} tried again")
        return _work(ledger, plan, tasks, chosen, given)
    finally:
        ledger.close()


def _planned(folder: Path, given: dict[str, Any]) -> tuple[list[Variant], Sequence[Task], Study]:
    """The variants, the tasks and the study; everything that can be checked before is."""
    from chatdev.batch.spent import Allowance
    from chatdev.evaluation.selection import Selection
    from chatdev.evaluation.srdd import Srdd
    from chatdev.evaluation.study import Conditions, Study
    from chatdev.evaluation.variants import variants
    from chatdev.llm.rate import RateLimit

    data = Srdd(given["data"].absolute(), given["data"].stem) if given["data"] else Srdd()
    conditions = Conditions(given["embedder"], given["install"], given["runtime"])
    rate = RateLimit(given["requests_per_minute"], given["tokens_per_minute"])
    plan = Study(data, folder, conditions, given["base_url"], given["sandbox"], given["embedder_url"], rate)
    chosen = _only(given["only"], variants(given["companies"], models=given["models"], sets=given["sets"],
                                           ablations=given["ablations"]))
    tasks = Selection(given["areas"], given["categories"], given["only_with_acceptance"], given["limit"],
                      given["seed"]).of(data.tasks())
    data.refuse_broken_tests(tasks)
    plan.check(tasks, chosen, Allowance(given["max_cost"]))
    return chosen, tasks, plan


def _only(patterns: Sequence[str], found: list[Variant]) -> list[Variant]:
    """The variants whose names match one of the patterns, or all."""
    for pattern in patterns:
        if not any(fnmatchcase(variant.name, pattern) for variant in found):
            raise ConfigError(f"--only {pattern!r} matches no variant; there are: {', '.join(v.name for v in found)}")
    return [v for v in found if not patterns or any(fnmatchcase(v.name, pattern) for pattern in patterns)]


def _work(ledger: Ledger, plan: Study, tasks: Sequence[Task], chosen: Sequence[Variant], given: dict[str, Any]) -> int:
    """Work through the ledger, show how far it is, and say how it ended; the exit code."""
    from chatdev.batch.spent import Allowance
    from chatdev.cli.study_progress import StudyProgress
    from chatdev.evaluation.report.results import Results
    from chatdev.evaluation.report.text import as_text

    with StudyProgress(quiet=given["quiet"]) as show:
        ended = worked(ledger, plan, tasks, chosen, given, on_change=show,
                       allowance=Allowance(given["max_cost"], given["max_tokens"]))
    click.echo(f"\n{harmless(as_text(Results.read(ledger)))}")
    if ended.problem:
        show_error(f"stopped, for attempt after attempt failed, at last: {ended.problem}\nmend that, and give the "
                   "same command again with --retry-failed; what is finished is kept")
        return 1
    if ended.status == "stopped":
        raise BudgetExhausted(f"{ended.reason}; what is finished is kept, and the same command with a greater budget "
                              "goes on")
    return 1 if ended.counts["failed"] else 0
