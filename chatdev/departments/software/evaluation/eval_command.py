"""`chatdev eval srdd`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import StudyOptions, running_options, split_names
from chatdev.cli.study_run import StudyPlan, run_study, study_of, variants_by_name
from chatdev.errors import ConfigError

if TYPE_CHECKING:
    from chatdev.batch.ledger import Ledger
    from chatdev.departments.software.evaluation.srdd import EasyTier, Srdd

_TIERS: dict[str, dict[str, Any]] = {"easy": {"easy": "sealed-2"}, "acceptance": {"only_with_acceptance": True}}
"""What each tier stands for, by option."""


@click.command("srdd")
@click.option("--companies", callback=split_names, default="single,pipeline,chatdev", show_default=True,
              metavar="A,B,C", help="Names or paths of companies.")
@click.option("--ablations", is_flag=True, help="Also the paper's ablations of each company whose agents talk.")
@click.option("--data", type=click.Path(path_type=Path, exists=True), metavar="CSV_OR_FOLDER",
              help="Tasks of your own: YAML files as in srdd/tasks, or a CSV file as the published SRDD. "
                   "[default: the bundled tasks]")
@click.option("--tier", type=click.Choice([*_TIERS]),
              help="What a model is measured by: `easy` tasks, a set that nobody tunes with (--easy sealed-2), or all "
                   "tasks with an `acceptance` test. The last line is one to send back.")
@click.option("--easy", "easy", type=click.Choice(["tuning", "sealed-1", "sealed-2"]),
              help="A set of the easy tasks (srdd/easy) instead, which small models solve in part.")
@click.option("--areas", callback=split_names, metavar="A,B", help="Only tasks of these areas.")
@click.option("--categories", callback=split_names, metavar="A,B", help="Only tasks of these categories.")
@click.option("--only-with-acceptance", is_flag=True, help="Only tasks that have a hidden acceptance test.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="This many tasks, spread evenly over areas and categories; a greater limit adds more.")
@click.option("--skip", type=click.IntRange(min=0), default=0, metavar="N",
              help="Leave out the first N tasks in this order, which somebody has seen already.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which tasks a limit takes.")
@click.option("--embedder", default="lexical", show_default=True, metavar="lexical|minilm|endpoint:MODEL",
              help="What consistency is measured with.")
@click.option("--embedder-url", metavar="URL", help="Endpoint of the embedder. [default: OPENAI_BASE_URL]")
@click.option("--install", type=click.Choice(["auto", "never"]), default="auto", show_default=True,
              help="Whether packages that programs import are installed, in the sandbox.")
@click.option("--runtime", metavar="NAME", help="A set of packages that programs always find, e.g. `top`.")
@running_options("srdd")
@report_outcome
def command(options: StudyOptions, **given: Any) -> int:
    """Run companies on software requirements and measure what they make.

    After an interruption, give the same command again to continue; finished runs are kept. `chatdev eval report`
    shows the results.
    """
    tier = given.pop("tier")
    if tier is None:
        return run_study(options, lambda: _plan_srdd(options, given))
    return run_study(options, lambda: _plan_srdd(options, _with_tier(given, tier)),
                     lambda ledger: _report_with_score(ledger, tier))


def _with_tier(given: dict[str, Any], tier: str) -> dict[str, Any]:
    """The options with those that the tier stands for. Raises ConfigError where they name other tasks."""
    if named := [name for name in ("easy", "data") if given[name]]:
        raise ConfigError(f"--tier says which tasks are taken, and so does --{named[0]}; give one of them")
    return {**given, **_TIERS[tier]}


def _report_with_score(ledger: Ledger, tier: str) -> str:
    """The table of results, and the line to send back."""
    from datetime import datetime

    from chatdev.evaluation.reporting.formats import as_text, score_lines
    from chatdev.evaluation.reporting.study_results import Results

    results = Results.read(ledger)
    lines = score_lines(results, tier, datetime.now().astimezone().date())
    return "\n".join([as_text(results), "To send back (docs/models.md says where to):", *lines] if lines else
                     [as_text(results)])


def _plan_srdd(options: StudyOptions, given: dict[str, Any]) -> StudyPlan:
    """The variants, the tasks and the study; everything that can be checked before is."""
    from chatdev.evaluation.study import Conditions
    from chatdev.evaluation.tasks import Selection
    from chatdev.evaluation.variants import variants

    data = _data_of(given)
    found = variants(given["companies"], models=options.models, sets=options.sets, ablations=given["ablations"])
    chosen = variants_by_name(options.only, found)
    tasks = Selection(given["areas"], given["categories"], given["only_with_acceptance"], given["limit"],
                      given["seed"], given["skip"]).select(data.tasks())
    data.check(tasks)
    conditions = Conditions(given["embedder"], given["install"], given["runtime"])
    return StudyPlan(chosen, tasks, study_of(data, conditions, options, given["embedder_url"]))


def _data_of(given: dict[str, Any]) -> Srdd | EasyTier:
    """The data set that the options name. Raises ConfigError when they name two."""
    from chatdev.departments.software.evaluation.srdd import EasyTier, Srdd

    if given["easy"] and given["data"]:
        raise ConfigError("--easy takes tasks of ours and --data takes yours; give one of them")
    if given["easy"]:
        return EasyTier.bundled(given["easy"])
    return Srdd(given["data"].absolute(), given["data"].stem) if given["data"] else Srdd()
