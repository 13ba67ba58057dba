"""`chatdev eval`: the commands that measure and compare companies."""

from __future__ import annotations

from pathlib import Path

import click

from chatdev.cli import eval_dialogues, eval_judge
from chatdev.cli.department_commands import OpenGroup
from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import open_existing_ledger, runs_folder, study_options
from chatdev.safe_text import sanitize
from chatdev.workspace.file_tree import explain_os_errors


@click.group("eval", cls=OpenGroup, table="data_sets")
def command() -> None:
    """Measure companies on data sets, compare them, and report. Needs the extra `eval`."""




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


for each in (report, eval_judge.command, eval_dialogues.command):
    command.add_command(each)
