"""`chatdev eval`: the commands that measure and compare companies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chatdev.cli import eval_dialogues, eval_judge, eval_plc
from chatdev.cli.department_commands import OpenGroup
from chatdev.cli.outcome import report_outcome
from chatdev.cli.study_options import (
    StudyOptions,
    open_existing_ledger,
    running_options,
    runs_folder,
    split_names,
    study_options,
)
from chatdev.cli.study_run import StudyPlan, run_study, study_of, variants_by_name
from chatdev.runner.sanitize import sanitize
from chatdev.workspace.file_tree import explain_os_errors


@click.group("eval", cls=OpenGroup, table="data_sets")
def command() -> None:
    """Measure companies on data sets, compare them, and report. Needs the extra `eval`."""


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
def verilogeval(options: StudyOptions, **given: Any) -> int:
    """Run companies on the problems of VerilogEval v2 and judge their modules, by our rule and by its script's.

    Agents get the hidden bench's verdict while they work, as in VerilogCoder. After an interruption, give the same
    command again to continue; `chatdev eval report --study verilogeval` shows the results.
    """
    return run_study(options, lambda: _plan_verilogeval(options, given))


def _plan_verilogeval(options: StudyOptions, given: dict[str, Any]) -> StudyPlan:
    """The variants, the problems and the study. Raises ConfigError."""
    from chatdev.evaluation.study import Conditions
    from chatdev.evaluation.tasks import Selection
    from chatdev.evaluation.variants import add_tracing_ablations, variants
    from chatdev.evaluation.verilogeval import VerilogEval

    data = VerilogEval(given["data"].absolute(), given["errata"], given["proofs"])
    data.check()
    found = variants(given["companies"], models=options.models, sets=options.sets)
    chosen = variants_by_name(options.only, add_tracing_ablations(found) if given["ablations"] else found)
    named = [data.problem(name).name for name in given["problems"]]
    tasks = [task for task in data.tasks() if not named or task.name in named]
    tasks = Selection(given["kinds"], (), False, given["limit"], given["seed"]).select(tasks)
    return StudyPlan(chosen, tasks, study_of(data, Conditions(install="never"), options))


@click.command("report")
@study_options
@click.option("--format", "form", type=click.Choice(["table", "csv", "json", "html"]), default="table",
              show_default=True, help="A table for a terminal, a CSV row per run, all as JSON, or a page of plots.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Where to write. [default: standard output; html: report.html in the study's folder]")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
@report_outcome
def report(study: str, ledger_url: str, folder: Path | None, form: str, output: Path | None, seed: int) -> int:
    """Show what a study found so far: means with confidence intervals, differences between variants on the same
    tasks, results by area, failed jobs, and every run."""
    from chatdev.evaluation.reporting.formats import as_csv, as_json, as_text
    from chatdev.evaluation.reporting.page import as_page
    from chatdev.evaluation.reporting.study_results import Results

    runs = runs_folder(folder, study)
    ledger = open_existing_ledger(ledger_url, study)
    try:
        results = Results.read(ledger, seed)
    finally:
        ledger.close()
    if form == "html":
        output = output or runs / "report.html"
        text = as_page(results, runs, output.absolute())
    else:
        text = {"table": as_text, "csv": as_csv, "json": as_json}[form](results)
    if output is None:
        click.echo(sanitize(text) if form == "table" else text, nl=False)
        return 0
    with explain_os_errors("write", output):
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8", errors="replace")
    click.echo(f"written: {output}")
    return 0


for each in (verilogeval, eval_plc.command, report, eval_judge.command, eval_dialogues.command):
    command.add_command(each)
