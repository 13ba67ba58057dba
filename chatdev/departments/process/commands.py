"""`chatdev process`: the commands that look at processes and at the pool of their instances, without any model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import read_text_file, write_file
from chatdev.departments.process import run_commands
from chatdev.departments.process.run_commands import (
    company_option,
    entries_table,
    entry_data,
    json_option,
    json_text,
    least_option,
    load_process_company,
    opened_pool,
    pool_name_options,
    pool_options,
)
from chatdev.errors import ConfigError
from chatdev.safe_text import escape_json, sanitize

if TYPE_CHECKING:
    from chatdev.departments.process.pool import InstanceOutcome
    from chatdev.departments.process.process_company import ProcessCompany
    from chatdev.departments.process.process_tree import ProcessTree


_IMPORTED = "imported"  # before the names of runs that were elsewhere


@click.group("process")
def command() -> None:
    """Develop software by proposed processes, and learn from those that worked (Think-on-Process)."""


@command.command("check")
@click.argument("process")
@company_option
@json_option
@report_outcome
def check(process: str, company: str, as_json: bool) -> int:
    """Check whether PROCESS (such as "DemandAnalysis → LanguageChoose → Coding") can be run: its phases exist, and each
    finds what it reads. Exit code 1 where it cannot."""
    from chatdev.departments.process.pool import format_instance

    found = load_process_company(company)
    instance = found.read(process)
    faults = found.check(instance)
    if as_json:
        problems = [{"kind": fault.kind, "phase": fault.phase, "missing": fault.missing, "problem": fault.describe()}
                    for fault in faults]
        click.echo(json_text({"instance": instance, "ok": not faults, "problems": problems}))
    else:
        lines = [fault.describe() for fault in faults] or [f"OK: {format_instance(instance)}"]
        click.echo("\n".join(map(sanitize, lines)))
    return 1 if faults else 0


@command.command("filter")
@pool_options
@least_option
@click.option("--all", "shows_all", is_flag=True, help="Also the instances that do not pass.")
@json_option
def filter_pool(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], least: float, shows_all: bool,
                as_json: bool) -> int:
    """Show the instances of the pool that succeed often enough (equation 2 of the paper)."""
    from chatdev.departments.process.pool import count_outcomes, filter_entries

    entries = count_outcomes(outcomes)
    shown = entries if shows_all else filter_entries(entries, least)
    if as_json:
        click.echo(json_text([entry_data(entry) for entry in shown]))
    else:
        click.echo(sanitize(entries_table(shown, company.default)))
        click.echo(f"{len(filter_entries(entries, least))} of {len(entries)} instances succeed in at least {least:.0%} "
                   f"of their runs; {len(outcomes)} outcomes")
    return 0


@command.command("mine")
@pool_options
@least_option
@click.option("--noise", type=click.FloatRange(0, 1), default=0.0, show_default=True,
              help="Leave out what is rarer than this beside its alternatives.")
@click.option("--bpmn", type=click.Path(path_type=Path), metavar="FILE", help="Write the model as BPMN 2.0.")
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE", help="Draw it (needs graphviz).")
@click.option("--png", type=click.Path(path_type=Path), metavar="FILE", help="Draw it (needs graphviz).")
@json_option
def mine_model(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], least: float, noise: float,
               as_json: bool, **files: Path | None) -> int:
    """Mine the process model of the best instances that succeed often enough (docs/process.md)."""
    from chatdev.departments.process.conformance import measure_quality
    from chatdev.departments.process.pool import choose_best, count_instances, count_outcomes
    from chatdev.departments.process.process_tree import measure_size, to_plain

    model = _mine(outcomes, least, noise)
    quality = measure_quality(model, count_instances(choose_best(count_outcomes(outcomes), least)))
    _write_model(model, company.config.company, files)
    if as_json:
        click.echo(json_text({"model": to_plain(model), **quality._asdict(), **measure_size(model)._asdict()}))
        return 0
    size = measure_size(model)
    click.echo(f"{sanitize(str(model))}\nfitness {quality.fitness:.2f}, precision {quality.precision:.2f}; "
               f"{size.phases} phases, {size.exclusive_gateways} exclusive and {size.parallel_gateways} parallel "
               "gateways")
    return 0


@command.command("describe")
@pool_options
@least_option
@click.option("--seed", default="0", show_default=True, help="Which examples are drawn, with --json.")
@json_option
def describe_model(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], least: float, seed: str,
                   as_json: bool) -> int:
    """Put the process model into words, as the model that proposes processes reads it.

    With --json: with examples, as `chatdev run --company top --input experience=FILE` takes it.
    """
    from chatdev.departments.process.pool import choose_best, count_outcomes
    from chatdev.departments.process.process_company import gather_experience
    from chatdev.departments.process.process_tree import describe

    model = _mine(outcomes, least)
    if as_json:
        found = gather_experience(count_outcomes(outcomes), company.default, "a pool", chance=Random(seed),
                                  choose=lambda entries: choose_best(entries, least))
        click.echo(escape_json(found.to_json()) if found else "", nl=False)
    else:
        click.echo(sanitize(describe(model, company.default)), nl=False)
    return 0


@command.command("strategies")
@pool_options
@click.option("--count", type=click.IntRange(min=1), default=5, show_default=True, metavar="N", help="So many replays.")
@click.option("--seed", type=int, default=0, show_default=True, help="For ties, and what is drawn.")
def compare_strategies(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], count: int, seed: int) -> int:
    """Show which instances each strategy would replay next (figure 10 of the paper)."""
    from chatdev.departments.process.pool import STRATEGIES, format_instance, plan_replays

    entries = company.list_replayable(outcomes)
    for strategy in STRATEGIES:
        click.echo(f"{strategy}:")
        for instance in plan_replays(strategy, entries, count, Random(seed)):
            click.echo(sanitize(f"  {format_instance(instance)}"))
    return 0


@command.command("report")
@pool_options
@least_option
@click.option("--output", type=click.Path(path_type=Path), default=Path("process.html"), show_default=True,
              metavar="FILE", help="The page to write.")
def report(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], least: float, output: Path) -> int:
    """Write a page about the pool: its instances, temperatures, replays, success rates, the model before and after the
    filter, and what the text of the model did."""
    from chatdev.departments.process.development.process_page import write_page

    write_file(output, write_page(company, outcomes, least))
    click.echo(f"wrote {output}")
    return 0


@command.command("export")
@pool_options
def export_pool(company: ProcessCompany, outcomes: Sequence[InstanceOutcome]) -> int:
    """Print all outcomes of the pool as JSON, which `import` reads."""
    from chatdev.departments.process.pool import export_outcomes

    click.echo(escape_json(export_outcomes(outcomes, company.default)))
    return 0


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@company_option
@pool_name_options
@report_outcome
def import_pool(file: Path, company: str, pool_name: str, ledger_url: str) -> int:
    """Add the outcomes of an exported pool (FILE, or - for standard input) to a pool."""
    text = read_text_file(file, "the exported pool")
    with opened_pool(load_process_company(company), ledger_url, pool_name) as pool:
        click.echo(f"pool {pool.name}: {pool.load(text, str(file), _IMPORTED)} new outcomes")
    return 0


for _command in run_commands.COMMANDS:
    command.add_command(_command)


def _mine(outcomes: Sequence[InstanceOutcome], least: float, noise: float = 0.0) -> ProcessTree:
    """The model. Raises ConfigError where no instance succeeds often enough."""
    from chatdev.departments.process.pool import count_outcomes
    from chatdev.departments.process.process_company import mine_pool

    model = mine_pool(count_outcomes(outcomes), least, noise)
    if model is None:
        raise ConfigError(f"no instance of the pool succeeds in at least {least:.0%} of its runs ({len(outcomes)} "
                          "outcomes), so there is nothing to mine; develop more (`chatdev process develop`), or lower "
                          "--least")
    return model


def _write_model(model: ProcessTree, name: str, files: dict[str, Path | None]) -> None:
    """Write the drawings that are wanted. Raises MissingProgram without graphviz, WorkspaceError."""
    from chatdev.departments.process.process_tree import draw_flow, draw_picture, write_bpmn

    graph = draw_flow(model)
    if file := files["bpmn"]:
        write_file(file, write_bpmn(graph, name))
    if file := files["svg"]:
        write_file(file, draw_picture(graph, "svg", name))
    if file := files["png"]:
        write_file(file, draw_picture(graph, "png", name))
