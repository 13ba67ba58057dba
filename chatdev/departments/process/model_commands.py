"""`chatdev process`: the commands that look at models that are given, as files or as what is mined of a pool or a log,
and at two of them side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from chatdev.cli.shared_options import read_text_file, write_file
from chatdev.departments.process.conformance import count_visits, find_difference, measure_quality
from chatdev.departments.process.log_commands import Mined, Sources, mined_options, sources_options
from chatdev.departments.process.log_files import is_log
from chatdev.departments.process.process_tree import Instance, ProcessTree, normalise, parse_tree
from chatdev.departments.process.run_commands import json_option, json_text
from chatdev.departments.process.tree_automaton import TreeAutomaton
from chatdev.safe_text import sanitize

_MOST_SHOWN = 10
Log = Mapping[Instance, int]


@dataclass(frozen=True, slots=True)
class Given:
    """A model that was given, and the log or pool that it was mined of, if it was."""

    name: str
    model: ProcessTree
    log: Log | None = None


def read_model(given: str) -> ProcessTree:
    """The model of a BPMN file, of a file with the text of a tree, or of that text. Raises ConfigError."""
    path = Path(given)
    if path.suffix.lower() in (".bpmn", ".xml"):
        from chatdev.departments.process.bpmn import read_bpmn

        return read_bpmn(path)
    if given.rstrip().endswith((")", "'", '"', "tau")):
        return normalise(parse_tree(given, "the process tree"))
    return normalise(parse_tree(read_text_file(path, "the process tree"), given))


def show_conformance(file: str, log: Log, log_name: str, as_json: bool, files: Mapping[str, Path | None]) -> int:
    """How well the instances of a log or pool fit a model, and where those deviate that do not; 1 if any does."""
    model = read_model(file)
    quality, automaton = measure_quality(model, log), TreeAutomaton(model)
    found = [(instance, count, place) for instance, count in sorted(log.items(), key=lambda one: -one[1])
             if (place := _find_deviation(automaton, instance)) is not None]
    rows = [{"cases": count, "instance": instance, "place": place, "allowed": _next_phases(automaton, instance, place)}
            for instance, count, place in found]
    draw(model, Path(file).stem, log, files)
    if as_json:
        click.echo(json_text({**quality._asdict(), "f_score": quality.f_score, "cases": sum(log.values()),
                              "variants": len(log), "deviating": rows}))
    else:
        click.echo(sanitize("\n".join([
            f"{log_name}: {sum(log.values()):,} cases, {len(log):,} variants",
            f"fitness {quality.fitness:.3f}, precision {quality.precision:.3f}, F {quality.f_score:.3f}",
            *_tell_deviations(rows)])))
    return 1 if rows else 0


def _tell_deviations(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    lines = [f"{sum(row['cases'] for row in rows):,} cases in {len(rows):,} variants deviate:"]
    for row in rows[:_MOST_SHOWN]:
        lines += [f"  {row['cases']:,} × {' → '.join(row['instance']) or '(nothing)'}",
                  f"      {_tell_deviation(row['instance'], row['place'], row['allowed'])}"]
    if len(rows) > _MOST_SHOWN:
        lines.append(f"  … and {len(rows) - _MOST_SHOWN:,} more variants: --json")
    return lines


def _find_deviation(automaton: TreeAutomaton, instance: Instance) -> int | None:
    """The place of the first phase that the model does not allow, the length if it does not allow the end; None where
    it allows all."""
    state = automaton.start
    for place, name in enumerate(instance):
        state = automaton.step(state, name)
        if not state:
            return place
    return None if automaton.may_end(state) else len(instance)


def _next_phases(automaton: TreeAutomaton, instance: Instance, place: int) -> list[str]:
    return sorted(automaton.next_phases(automaton.run(instance[:place])))


def _tell_deviation(instance: Instance, place: int, allowed: Sequence[str]) -> str:
    where = f"after {' → '.join(instance[max(place - 2, 0):place])}" if place else "at the begin"
    what = f'"{instance[place]}" is not allowed' if place < len(instance) else "the end is not allowed"
    shown = ", ".join(map(repr, allowed[:6])) + (", …" if len(allowed) > 6 else "")
    return f"{where}: {what}" + (f"; allowed: {shown}" if allowed else "; nothing more is allowed")


def draw(model: ProcessTree, name: str, log: Log, files: Mapping[str, Path | None]) -> None:
    """Write the pictures that are wanted, with counts. Raises MissingProgram, WorkspaceError."""
    from chatdev.departments.process.chart import draw_flow, draw_picture

    for kind in ("svg", "png"):
        if file := files.get(kind):
            write_file(file, draw_picture(draw_flow(model, count_visits(model, log)), kind, name))


@click.command("diff")
@click.argument("one")
@click.argument("other")
@sources_options
@mined_options
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE",
              help="Draw both, and mark what only one of them has (SVG).")
@click.option("--png", type=click.Path(path_type=Path), metavar="FILE",
              help="Draw both, and mark what only one of them has (PNG).")
@json_option
def diff(one: str, other: str, sources: Sources, mined: Mined, as_json: bool, **files: Path | None) -> int:
    """Compare two models; exit code 1 where they do not allow the same. `chatdev process compare A B` is the same.

    Each is a BPMN file, a process tree (as `mine` prints it, or a file of that), an event log, or the name of a pool,
    which is then mined.
    """
    first, second = (_open(given, sources, mined) for given in (one, other))
    data = _compare(first, second)
    _draw_both(first, second, files)
    if as_json:
        click.echo(json_text(data))
    else:
        click.echo(sanitize("\n".join(_tell_comparison(data, (first.name, second.name)))))
    return 0 if data["same"] else 1


def _draw_both(one: Given, other: Given, files: Mapping[str, Path | None]) -> None:
    """Write the pictures that are wanted. Raises MissingProgram, WorkspaceError."""
    from chatdev.departments.process.comparison_chart import draw_comparison

    for kind in ("svg", "png"):
        if file := files[kind]:
            write_file(file, draw_comparison((one.name, one.model), (other.name, other.model), kind))


def _open(given: str, sources: Sources, mined: Mined) -> Given:
    from chatdev.departments.process.inductive_miner import mine

    given = given.strip()  # a tree has a space in front, so that `->` is no option
    path = Path(given)
    if not is_log(path) and (path.is_file() or path.suffix.lower() == ".bpmn" or given.endswith((")", "'", "tau"))):
        return Given(path.name if path.is_file() else given, read_model(given))
    source = sources.find(path if is_log(path) else None, given)
    log = mined.instances(source)
    return Given(path.name, mine(log, mined.noise), log)


def _compare(one: Given, other: Given) -> dict[str, Any]:
    """What both have in common, and what not."""
    shortest = find_difference(one.model, other.model)
    sides = one, other
    names = [_names_of(side.model) for side in sides]
    counts = [_count_cases(side.log or {}) for side in sides]
    return {
        "same": shortest is None,
        "only": None if shortest is None else {
            "model": one.name if _find_deviation(TreeAutomaton(one.model), shortest) is None else other.name,
            "instance": shortest},
        "activities_only": [sorted(names[0] - names[1]), sorted(names[1] - names[0])],
        "quality": [_quality_row(model, side.name, side.log) for side in sides if side.log is not None
                    for model in sides],
        "shares": _list_shares(counts[0], counts[1]) if all(counts) else [],
    }


def _names_of(model: ProcessTree) -> set[str]:
    return {node.name for node in model.walk() if node.operator == "phase"}


def _quality_row(model: Given, name: str, log: Log) -> dict[str, Any]:
    quality = measure_quality(model.model, log)
    return {"model": model.name, "log": name, **quality._asdict(), "f_score": quality.f_score}


def _count_cases(log: Log) -> dict[str, float]:
    """The share of the cases that have each activity."""
    total = sum(log.values())
    found: dict[str, float] = {}
    for instance, count in log.items():
        for name in set(instance):
            found[name] = found.get(name, 0) + count / total
    return found


def _list_shares(one: Mapping[str, float], other: Mapping[str, float]) -> list[dict[str, Any]]:
    """Shares of cases that have an activity, those first that differ most."""
    return sorted(({"activity": name, "shares": [round(one.get(name, 0), 4), round(other.get(name, 0), 4)]}
                   for name in {*one, *other}),
                  key=lambda row: (-abs(row["shares"][0] - row["shares"][1]), row["activity"]))


def _tell_comparison(data: Mapping[str, Any], names: tuple[str, str]) -> list[str]:
    lines = ["both allow the same"]
    if only := data["only"]:
        lines = [f"they differ; only {only['model']} allows: {' → '.join(only['instance']) or '(nothing)'}"]
    lines += [f"activities only in {name}: {', '.join(found)}"
              for name, found in zip(names, data["activities_only"], strict=True) if found]
    lines += [f"{row['model']} on {row['log']}: fitness {row['fitness']:.3f}, precision {row['precision']:.3f}, "
              f"F {row['f_score']:.3f}" for row in data["quality"]]
    shown = [row for row in data["shares"] if abs(row["shares"][0] - row["shares"][1]) >= 0.005][:_MOST_SHOWN]
    if shown:
        lines.append(f"share of cases with an activity ({names[0]}, {names[1]}), where it differs most:")
    lines += [f"  {row['activity']}: {row['shares'][0]:.1%}, {row['shares'][1]:.1%}" for row in shown]
    return lines
