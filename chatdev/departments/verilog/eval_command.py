"""`chatdev eval verilogeval`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import StudyOptions, running_options, split_names
from chatdev.cli.study_run import StudyPlan, run_study, study_of, variants_by_name


@click.command("verilogeval")
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True, metavar="FOLDER_OR_ARCHIVE",
              help="VerilogEval's repository, its folder dataset_spec-to-rtl, or a .tar.gz of it.")
@click.option("--companies", callback=split_names, default="single_verilog,planner1,verilogcoder", show_default=True,
              metavar="A,B,C", help="Names or paths of companies.")
@click.option("--ablations", is_flag=True,
              help="Also each company without waveform tracing or, if it has none, with it.")
@click.option("--problems", callback=split_names, metavar="A,B", help="Only these, e.g. Prob001_zero,Prob050_kmap1.")
@click.option("--kinds", callback=split_names, metavar="A,B", help="Only problems of these kinds, e.g. fsm.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="This many problems, spread evenly over the kinds; a greater limit adds more.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which problems a limit takes.")
@click.option("--errata/--as-published", default=True, show_default=True,
              help="Take the corrected files of three problems that nobody can solve as published.")
@click.option("--proofs", is_flag=True, help="Also ask Yosys whether each module is equivalent to the reference.")
@running_options("verilogeval")
@report_outcome
def command(options: StudyOptions, **given: Any) -> int:
    """Run companies on the problems of VerilogEval v2 and judge their modules, by our rule and by its script's.

    Agents get the hidden bench's verdict while they work, as in VerilogCoder. After an interruption, give the same
    command again to continue; `chatdev eval report --study verilogeval` shows the results.
    """
    return run_study(options, lambda: _plan(options, given))


def _plan(options: StudyOptions, given: dict[str, Any]) -> StudyPlan:
    """The variants, the problems and the study. Raises ConfigError."""
    from chatdev.departments.verilog.verilogeval import VerilogEval, add_tracing_ablations
    from chatdev.evaluation.study import Conditions
    from chatdev.evaluation.tasks import Selection
    from chatdev.evaluation.variants import variants

    data = VerilogEval(given["data"].absolute(), given["errata"], given["proofs"])
    data.check()
    found = variants(given["companies"], models=options.models, sets=options.sets)
    chosen = variants_by_name(options.only, add_tracing_ablations(found) if given["ablations"] else found)
    named = [data.problem(name).name for name in given["problems"]]
    tasks = [task for task in data.tasks() if not named or task.name in named]
    tasks = Selection(given["kinds"], (), False, given["limit"], given["seed"]).select(tasks)
    return StudyPlan(chosen, tasks, study_of(data, Conditions(install="never"), options))
