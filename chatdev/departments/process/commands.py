"""`chatdev process`: the commands that look at processes and at the pool of their instances, without any model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import read_text_file, write_file
from chatdev.departments.process import run_commands
from chatdev.departments.process.event_log import LogChoice
from chatdev.departments.process.log_commands import (
    Mined,
    Source,
    Sources,
    import_log,
    log_data,
    log_options,
    mined_options,
    source_options,
    sources_options,
    summary,
    variants_table,
)
from chatdev.departments.process.log_files import is_log
from chatdev.departments.process.model_commands import diff, read_model, show_conformance
from chatdev.departments.process.process_tree import describe
from chatdev.departments.process.run_commands import (
    company_option,
    entries_table,
    entry_data,
    json_option,
    json_text,
    least_option,
    load_process_company,
    noise_option,
    opened_pool,
    pool_name_options,
    pool_options,
)
from chatdev.errors import ConfigError
from chatdev.safe_text import escape_json, sanitize

if TYPE_CHECKING:
    from chatdev.departments.process.pool import InstanceOutcome
    from chatdev.departments.process.process_company import ProcessCompany
    from chatdev.departments.process.process_tree import Instance, ProcessTree


_MOST_READ = 30
"""Activities of a model that is read without trouble."""
_IMPORTED = "imported"  # before the names of runs that were elsewhere


def _picture_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--svg` and `--png`."""
    for kind in ("png", "svg"):
        function = click.option(f"--{kind}", type=click.Path(path_type=Path), metavar="FILE",
                                help=f"Draw it, with how often each part was run ({kind.upper()}).")(function)
    return function


class _Commands(click.Group):
    """`compare` of two models is `diff`; with options alone it develops tasks."""

    def resolve_command(self, ctx: click.Context,
                        args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant, its name, and what it is given."""
        args = [f" {arg}" if arg.startswith("->") else arg for arg in args]  # a tree, and no option
        if args[0] == "compare" and args[1:] and not args[1].startswith("-"):
            args = ["diff", *args[1:]]
        return super().resolve_command(ctx, args)


@click.group("process", cls=_Commands)
def command() -> None:
    """Develop software by proposed processes, and learn from those that worked (Think-on-Process)."""


@command.command("check")
@click.argument("process", required=False)
@click.option("--bpmn", metavar="FILE", help="A model (BPMN, or a process tree) that the pool or the log is checked "
                                             "against.")
@click.option("--log", "file", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
              help="With --bpmn: an event log in the place of a pool.")
@sources_options
@mined_options
@_picture_options
@json_option
def check(process: str | None, bpmn: str | None, file: Path | None, sources: Sources, mined: Mined, as_json: bool,
          **files: Path | None) -> int:
    """Check whether PROCESS (such as "DemandAnalysis → LanguageChoose → Coding") can be run: its phases exist, and each
    finds what it reads. With --bpmn: whether the instances of a pool, or the cases of a log, follow a model; its
    fitness and precision, and where each variant deviates. Exit code 1 where one cannot, or does not."""
    if (process is None) == (bpmn is None):
        raise ConfigError("give a process (such as \"Coding → Manual\"), or a model with --bpmn FILE; one of the two")
    if bpmn is not None:
        source = sources.find(file)
        return show_conformance(bpmn, mined.instances(source), source.name, as_json, files)
    return _check_process(str(process), sources.company, as_json)


def _check_process(process: str, company: str, as_json: bool) -> int:
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
@source_options
@least_option
@click.option("--all", "shows_all", is_flag=True, help="Also the instances that do not pass; every variant of a log.")
@json_option
def filter_pool(source: Source, least: float, shows_all: bool, as_json: bool) -> int:
    """Show the instances of the pool that succeed often enough (equation 2 of the paper); of a log its variants, the
    most frequent first, and where its cases wait."""
    from chatdev.departments.process.pool import count_outcomes, filter_entries

    if source.log:
        if as_json:
            click.echo(json_text(log_data(source.log, shows_all=shows_all)))
        else:
            click.echo(sanitize(f"{summary(source.log)}\n\n{variants_table(source.log, shows_all=shows_all)}"))
        return 0
    entries = count_outcomes(source.outcomes)
    shown = entries if shows_all else filter_entries(entries, least)
    if as_json:
        click.echo(json_text([entry_data(entry) for entry in shown]))
    else:
        click.echo(sanitize(entries_table(shown, source.order)))
        click.echo(f"{len(filter_entries(entries, least))} of {len(entries)} instances succeed in at least {least:.0%} "
                   f"of their runs; {len(source.outcomes)} outcomes")
    return 0


@command.command("mine")
@source_options
@mined_options
@click.option("--bpmn", type=click.Path(path_type=Path), metavar="FILE", help="Write the model as BPMN 2.0.")
@click.option("--executable", is_flag=True, help="With --bpmn: engines can run it; a variable called as its gateway "
                                                 "says which way is taken.")
@_picture_options
@json_option
def mine_model(source: Source, mined: Mined, executable: bool, as_json: bool, **files: Path | None) -> int:
    """Mine the process model of the best instances that succeed often enough, or of an event log (docs/process.md).

    The tree is written in the signs of process mining: -> one after the other, X one of them, + side by side, *
    repeated (the first is done, then any of the others and the first again), tau nothing.
    """
    from chatdev.departments.process.conformance import measure_quality
    from chatdev.departments.process.inductive_miner import mine
    from chatdev.departments.process.process_tree import measure_size, to_plain

    instances = mined.instances(source)
    model = mine(instances, mined.noise)
    quality = measure_quality(model, instances)
    _write_model(model, source.name, instances, files, executable=executable)
    size = measure_size(model)
    left_out = sorted({*source.log.activities} - {name for one in instances for name in one}) if source.log else []
    if as_json:
        click.echo(json_text({"model": to_plain(model), **quality._asdict(), **size._asdict(), "left_out": left_out}))
        return 0
    if source.log:
        click.echo(sanitize(summary(source.log)))
    if left_out:
        click.echo(sanitize(f"left out: {len(left_out)} activities ({', '.join(left_out[:3])}"
                            f"{', …' if len(left_out) > 3 else ''})"))
    click.echo(f"{sanitize(str(model))}\nfitness {quality.fitness:.2f}, precision {quality.precision:.2f}; "
               f"{size.phases} phases, {size.exclusive_gateways} exclusive and {size.parallel_gateways} parallel "
               "gateways")
    if size.phases > _MOST_READ:
        click.echo(f"{size.phases} activities make a large chart; --keep {0.8 * mined.keep:.2g} leaves out those that "
                   "are rare, --top N variants that are")
    return 0


@command.command("describe")
@source_options
@mined_options
@click.option("--bpmn", "model", metavar="FILE", help="A model (BPMN, or a process tree) in the place of a mined one.")
@click.option("--seed", default="0", show_default=True, help="Which examples are drawn, with --json.")
@json_option
def describe_model(source: Source, mined: Mined, model: str | None, seed: str, as_json: bool) -> int:
    """Put the process model into words, as the model that proposes processes reads it.

    With --json: with examples, as `chatdev run --company top --input experience=FILE` takes it.
    """
    from chatdev.departments.process.inductive_miner import mine
    from chatdev.departments.process.pool import count_outcomes
    from chatdev.departments.process.process_company import gather_experience
    if model:
        text = describe(read_model(model))
        click.echo(json_text({"text": text}) if as_json else sanitize(text), nl=as_json)
        return 0
    instances = mined.instances(source)
    if as_json and not source.log:
        found = gather_experience(count_outcomes(source.outcomes), source.order, "a pool", chance=Random(seed),
                                  choose=mined.choose, noise=mined.noise)
        click.echo(escape_json(found.to_json()) if found else "", nl=False)
        return 0
    text = describe(mine(instances, mined.noise), source.order)
    click.echo(json_text({"text": text}) if as_json else sanitize(text), nl=as_json)
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
@noise_option
@click.option("--output", type=click.Path(path_type=Path), default=Path("process.html"), show_default=True,
              metavar="FILE", help="The page to write.")
def report(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], least: float, noise: float,
           output: Path) -> int:
    """Write a page about the pool: its instances, temperatures, replays, success rates, the model before and after the
    filter, and what the text of the model did."""
    from chatdev.departments.process.development.process_page import write_page

    write_file(output, write_page(company, outcomes, least, noise))
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
@log_options
@click.option("--replace", is_flag=True, help="Take a log in the place of one of this name.")
@click.pass_context
@report_outcome
def import_pool(context: click.Context, file: Path, company: str, pool_name: str, ledger_url: str, choice: LogChoice,
                replace: bool) -> int:
    """Add the outcomes of an exported pool (FILE, or - for standard input) to a pool, or keep an event log (.xes, .csv,
    .jsonocel, .xmlocel, .sqlite, also .gz) as a pool of its own, called as the file unless --pool names it."""
    if is_log(file):
        if context.get_parameter_source("pool_name") == ParameterSource.DEFAULT:
            pool_name = re.sub(r"[^A-Za-z0-9.-]+", "-", file.name.split(".")[0]).strip("-.") or "log"
        log = import_log(file, choice, ledger_url, pool_name, replace=replace)
        click.echo(sanitize(f"{summary(log)}\nkept as the pool {pool_name}: chatdev process mine --pool {pool_name}"))
        return 0
    text = read_text_file(file, "the exported pool")
    with opened_pool(load_process_company(company), ledger_url, pool_name) as pool:
        click.echo(f"pool {pool.name}: {pool.load(text, str(file), _IMPORTED)} new outcomes")
    return 0


for _command in (*run_commands.COMMANDS, diff):
    command.add_command(_command)


def _write_model(model: ProcessTree, name: str, instances: Mapping[Instance, int], files: Mapping[str, Path | None],
                 *, executable: bool = False) -> None:
    """Write the drawings that are wanted, with counts of the instances. Raises ConfigError, MissingProgram,
    WorkspaceError."""
    from chatdev.departments.process.bpmn import write_bpmn
    from chatdev.departments.process.chart import draw_flow, draw_picture
    from chatdev.departments.process.conformance import count_visits

    if executable and not files["bpmn"]:
        raise ConfigError("--executable says how the BPMN file is written; name one: --bpmn FILE")
    if not any(files.values()):
        return
    graph = draw_flow(model, count_visits(model, instances))
    if file := files.get("bpmn"):
        write_file(file, write_bpmn(graph, name, executable=executable))
    if file := files["svg"]:
        write_file(file, draw_picture(graph, "svg", name))
    if file := files["png"]:
        write_file(file, draw_picture(graph, "png", name))
