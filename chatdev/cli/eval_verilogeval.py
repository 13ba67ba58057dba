"""`chatdev eval verilogeval`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.study_options import listed
from chatdev.cli.study_running import Planned, carried_out, only, running_options, study_of


@click.command("verilogeval")
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True, metavar="FOLDER_OR_ARCHIVE",
              help="VerilogEval's repository, its folder dataset_spec-to-rtl, or a .tar.gz of it.")
@click.option("--companies", callback=listed, default="single_verilog,planner1,verilogcoder", show_default=True,
              metavar="A,B,C", help="Names or paths of companies.")
@click.option("--ablations", is_flag=True,
              help="Each company with waveform tracing that may do without it, and the other way round, too.")
@click.option("--problems", callback=listed, metavar="A,B", help="Only these, e.g. Prob001_zero,Prob050_kmap1.")
@click.option("--kinds", callback=listed, metavar="A,B", help="Only problems of these kinds, e.g. fsm.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="So many problems, spread evenly over the kinds; a greater limit takes the same and more.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which problems a limit takes.")
@click.option("--errata/--as-published", default=True, show_default=True,
              help="Take the mended files of three problems that nobody can solve as published.")
@running_options("verilogeval")
@report_outcome
def command(study: str, ledger_url: str, folder: Path | None, **given: Any) -> int:
    """Run companies on the problems of VerilogEval v2 and judge their modules, by our rule and by its script's.

    Agents get the hidden bench's verdict while they work, as in VerilogCoder. Give the same command again to go on
    after any interruption; `chatdev eval report --study verilogeval` shows the results.
    """
    return carried_out(study, ledger_url, folder, given, _planned)


def _planned(folder: Path, given: dict[str, Any]) -> Planned:
    """The variants, the problems and the study. Raises ConfigError."""
    from chatdev.evaluation.selection import Selection
    from chatdev.evaluation.study import Conditions
    from chatdev.evaluation.tracing import with_tracing_ablated
    from chatdev.evaluation.variants import variants
    from chatdev.evaluation.verilogeval import VerilogEval

    data = VerilogEval(given["data"].absolute(), given["errata"])
    found = variants(given["companies"], models=given["models"], sets=given["sets"])
    chosen = only(given["only"], with_tracing_ablated(found) if given["ablations"] else found)
    named = [data.problem(name).name for name in given["problems"]]
    tasks = [task for task in data.tasks() if not named or task.name in named]
    tasks = Selection(given["kinds"], (), False, given["limit"], given["seed"]).of(tasks)
    return Planned(chosen, tasks, study_of(data, folder, Conditions(install="never"), given))
