"""`chatdev eval simulink`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import click

from chatdev.batch.ledger import Ledger
from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import StudyOptions, running_options, split_names
from chatdev.cli.study_run import StudyPlan, run_study, study_of, variants_by_name
from chatdev.departments.simulink.evaluation import SimulinkModels, add_review_ablations, compare_with_paper
from chatdev.errors import MissingProgram
from chatdev.evaluation.reporting.formats import as_text
from chatdev.evaluation.reporting.study_results import Results
from chatdev.evaluation.study import Conditions
from chatdev.evaluation.tasks import Selection
from chatdev.evaluation.variants import variants


@click.command("simulink")
@click.option("--companies", callback=split_names, default="single_simulink,simugen", show_default=True,
              metavar="A,B,C", help="Names or paths of companies.")
@click.option("--ablations", is_flag=True, help="Also each company without its reviewer, its locator, and both.")
@click.option("--input", "given_as", type=click.Choice(["picture", "description", "list"]), default="picture",
              show_default=True, help="What companies get of a model: its picture with an explanation (the model of "
                                      "language must see pictures), a description, or its blocks and connections.")
@click.option("--half", type=click.Choice(["open", "unseen", "all"]), default="open", show_default=True,
              help="Which models of ours; unseen ones are judged once, at the end of all work on a company.")
@click.option("--tasks", callback=split_names, metavar="A,B", help="Only these, e.g. pump_relay,rc_ladder.")
@click.option("--kinds", callback=split_names, metavar="A,B", help="Only models of these domains, e.g. electrical.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="This many models, spread evenly over the domains; a greater limit adds more.")
@click.option("--smallest", type=click.IntRange(min=1), metavar="N", help="Only the N with the fewest blocks.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which models a limit takes.")
@running_options("simulink")
@report_outcome
def command(options: StudyOptions, **given: Any) -> int:
    """Let companies build models of Simulink from pictures, descriptions or lists, and judge how near they come.

    No MATLAB is needed. After an interruption, give the same command again to continue; `chatdev eval report --study
    simulink` shows the results.
    """
    return run_study(options, lambda: _plan(options, given), _tell)


def _tell(ledger: Ledger) -> str:
    results = Results.read(ledger)
    return f"{as_text(results)}\n{compare_with_paper(results)}"


def _plan(options: StudyOptions, given: dict[str, Any]) -> StudyPlan:
    """The variants, the models and the study. Raises ConfigError, and MissingProgram before anything is paid."""
    if given["given_as"] == "picture" and find_spec("resvg_py") is None:
        raise MissingProgram("pictures need resvg; pip install 'chatdev-chain[simulink]', or take --input description")
    data = SimulinkModels(given["given_as"], given["half"])
    found = variants(given["companies"], models=options.models, sets=options.sets)
    chosen = variants_by_name(options.only, [*add_review_ablations(found)] if given["ablations"] else found)
    named = [data.model(name).name for name in given["tasks"]]
    tasks = [task for task in data.tasks() if not named or task.name in named]
    tasks = sorted(tasks, key=lambda task: len(data.model(task.name).diagram.blocks))[:given["smallest"]]
    tasks = Selection(given["kinds"], (), False, given["limit"], given["seed"]).select(tasks)
    return StudyPlan(chosen, tasks, study_of(data, Conditions(install="never"), options))
