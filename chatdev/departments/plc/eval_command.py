"""`chatdev eval plc`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import StudyOptions, running_options, split_names
from chatdev.cli.study_run import StudyPlan, run_study, study_of, variants_by_name
from chatdev.errors import MissingProgram


@click.command("plc")
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True, multiple=True,
              metavar="FILE_OR_FOLDER",
              help="A file of the Agents4PLC benchmark, a folder of them, or a folder of tasks of your own; may be "
                   "given several times.")
@click.option("--companies", callback=split_names, default="single_plc,single_plc_drafts,agents4plc", show_default=True,
              metavar="A,B,C", help="Names or paths of companies.")
@click.option("--ablations", is_flag=True,
              help="Also each company without retrieval, hints on syntax, example program, or advice by patches.")
@click.option("--tasks", callback=split_names, metavar="A,B", help="Only these, e.g. v1-E-3,v1-M-5.")
@click.option("--kinds", callback=split_names, metavar="A,B",
              help="Only tasks of these kinds: names of files, e.g. easy, or own.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="This many tasks, spread evenly over the kinds; a greater limit adds more.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which tasks a limit takes.")
@click.option("--give-properties", is_flag=True,
              help="Give companies the properties that they are judged by, as their input `properties`.")
@running_options("plc")
@report_outcome
def command(options: StudyOptions, **given: Any) -> int:
    """Run companies on tasks for programmable logic controllers and judge their Structured Text by formal verification.

    Companies read the requirement and the interface, not the properties that they are judged by. After an
    interruption, give the same command again to continue; `chatdev eval report --study plc` shows the results.
    """
    return run_study(options, lambda: _plan(options, given))


def _plan(options: StudyOptions, given: dict[str, Any]) -> StudyPlan:
    """The variants, the tasks and the study. Raises ConfigError, and MissingProgram before anything is paid."""
    if find_spec("z3") is None:
        raise MissingProgram("judging Structured Text needs z3: pip install 'chatdev-chain[plc]'")
    from chatdev.departments.plc.agents4plc import Agents4Plc, add_help_ablations
    from chatdev.evaluation.study import Conditions
    from chatdev.evaluation.tasks import Selection
    from chatdev.evaluation.variants import variants

    data = Agents4Plc(tuple(path.absolute() for path in given["data"]), given["give_properties"])
    found = variants(given["companies"], models=options.models, sets=options.sets)
    chosen = variants_by_name(options.only, add_help_ablations(found) if given["ablations"] else found)
    named = [data.task(name).name for name in given["tasks"]]
    tasks = [task for task in data.tasks() if not named or task.name in named]
    tasks = Selection(given["kinds"], (), False, given["limit"], given["seed"]).select(tasks)
    return StudyPlan(chosen, tasks, study_of(data, Conditions(install="never"), options))
