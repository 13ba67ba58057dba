"""A page about a pool, as one HTML file that needs nothing beside it: counterparts of the paper's figures 9 to 13, and
their plots."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from chatdev.departments.process.chart import draw_flow, draw_picture
from chatdev.departments.process.conformance import count_visits, measure_quality
from chatdev.departments.process.inductive_miner import mine
from chatdev.departments.process.pool import (
    STRATEGIES,
    InstanceOutcome,
    PoolEntry,
    choose,
    choose_best,
    count_instances,
    count_outcomes,
    filter_entries,
    format_instance,
    measure_diversity,
)
from chatdev.departments.process.process_company import ProcessCompany
from chatdev.departments.process.process_tree import Instance, describe, measure_size
from chatdev.evaluation.plots import COLOURS, INK, drawing
from chatdev.evaluation.reporting import formats
from chatdev.evaluation.reporting.formats import format_interval
from chatdev.evaluation.reporting.study_results import estimate

MOST = 25
"""Instances that are listed."""
_ALL = "all"


def write_page(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], least: float,
               noise: float = 0.0) -> str:
    """The page; `noise` is left out of its models. Raises MissingProgram without matplotlib."""
    folders = [Path(__file__).parent, Path(formats.__file__).parent]
    environment = Environment(loader=FileSystemLoader(folders), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    entries, default = count_outcomes(outcomes), company.default
    legal = [entry for entry in entries if not company.check(entry.instance)]
    good, groups = filter_entries(entries, least), _group_by_text(outcomes)
    failures = _count_failures(outcomes)
    return environment.get_template("process_page.j2").render(
        company=company.config.company, outcomes=len(outcomes), least=least, most=MOST, good=good,
        rate=_mean(one.success for one in outcomes if one.counts),
        entries=[_entry_row(entry, default, failures) for entry in entries],
        stages=[_stage_row(name, found, default) for name, found in _by_stage(outcomes).items()],
        temperatures=draw_temperatures(outcomes, default),
        replays=draw_replays(legal), simulations=SIMULATIONS,
        rates=draw_rates(entries, least),
        models=[*_model("All instances that could be run", legal, default, noise, with_text=False),
                *_model("Those to learn from", choose_best(entries, least), default, noise,
                        with_text=True)],
        groups=list(groups), areas=_area_rows(outcomes, groups), compared=len(groups) > 1)


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return fmean(known) if known else 0.0


def _entry_row(entry: PoolEntry, default: Instance, failures: Mapping[Instance, Counter[str]]) -> dict[str, Any]:
    why = failures.get(entry.instance, Counter())
    return {"text": format_instance(entry.instance) or "(none)", "frequency": entry.frequency,
            "successes": entry.successes, "rate": entry.success_rate,
            "diversity": measure_diversity(entry.instance, default).mean,
            "failures": ", ".join(f"{kind} {count}" for kind, count in sorted(why.items()))}


def _count_failures(outcomes: Iterable[InstanceOutcome]) -> dict[Instance, Counter[str]]:
    found: dict[Instance, Counter[str]] = {}
    for one in outcomes:
        if one.failure:
            found.setdefault(one.instance, Counter())[one.failure] += 1
    return found


def _by_stage(outcomes: Iterable[InstanceOutcome]) -> dict[str, list[InstanceOutcome]]:
    """By the first part of what names a run; outcomes that name none come from elsewhere."""
    found: dict[str, list[InstanceOutcome]] = {}
    for one in outcomes:
        found.setdefault(one.run.partition("/")[0] or "elsewhere", []).append(one)
    return found


def _stage_row(name: str, outcomes: Sequence[InstanceOutcome], default: Instance) -> dict[str, Any]:
    run = [one for one in outcomes if one.was_run]
    return {"name": name, "count": len(outcomes),
            "refused": sum(one.counts and not one.was_run for one in outcomes),
            "success": format_interval(estimate([float(one.success) for one in run]), 2),
            "starts": format_interval(estimate([float(bool(one.starts)) for one in run]), 2),
            "diversity": f"{fmean(measure_diversity(one.instance, default).mean for one in outcomes):.2f}"}


def _model(title: str, entries: Sequence[PoolEntry], default: Instance, noise: float, *, with_text: bool
           ) -> list[dict[str, Any]]:
    if not entries:
        return []
    instances = count_instances(entries)
    model = mine(instances, noise)
    chart = draw_flow(model, count_visits(model, instances))
    return [{"title": title, "size": measure_size(model), "quality": measure_quality(model, instances),
             "picture": base64.b64encode(draw_picture(chart, "svg")).decode("ascii"),
             "text": describe(model, default) if with_text else ""}]


def _group_by_text(outcomes: Iterable[InstanceOutcome]) -> dict[str, list[InstanceOutcome]]:
    """What was developed with the text of a model and without, where that was compared; else all together."""
    run = [one for one in outcomes if one.was_run]
    compared: dict[str, list[InstanceOutcome]] = {}
    for one in run:
        _, said, group = one.run.partition("/")[0].partition(": ")
        if said:
            compared.setdefault(group, []).append(one)
    return compared or {_ALL: run}


def _area_rows(outcomes: Iterable[InstanceOutcome],
               groups: Mapping[str, Sequence[InstanceOutcome]]) -> dict[str, list[str]]:
    areas = sorted({one.area for one in outcomes})
    return {area: [_success_cell([one for one in found if one.area == area]) for found in groups.values()]
            for area in areas}


def _success_cell(outcomes: Sequence[InstanceOutcome]) -> str:
    count = f" ({len(outcomes)})" if outcomes else ""
    return format_interval(estimate([float(one.success) for one in outcomes]), 2) + count


# The plots of a pool's page, in the style of all plots.

SIMULATIONS = 9
"""Of which the medians are drawn; odd, so that they are numbers of instances."""
_MOST_INSTANCES = 60  # of the pool, in simulated replays
_REPLAYS = 4  # times as many replays as instances
_BINS = 10


def draw_temperatures(outcomes: Sequence[InstanceOutcome], default: Instance) -> str:
    """By the temperature of proposals: the share that could be run, their diversity, and the share that succeeded;
    empty where there are fewer than two temperatures."""
    temperatures = sorted({one.temperature for one in outcomes if one.temperature is not None})
    if len(temperatures) < 2:
        return ""
    lines: dict[str, dict[float, float]] = {}
    for temperature in temperatures:
        for name, value in _at_temperature([one for one in outcomes if one.temperature == temperature], default):
            lines.setdefault(name, {})[temperature] = value
    with drawing((8, 3), for_page=True) as (_, (panel,), svg):
        for colour, (name, values) in zip(COLOURS, lines.items(), strict=False):
            panel.plot(list(values), list(values.values()), "o-", color=colour, label=name)
        panel.set_xlabel("temperature")
        panel.set_ylim(-0.02, 1.02)
        panel.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        return svg()


def _at_temperature(outcomes: Sequence[InstanceOutcome], default: Instance) -> Iterator[tuple[str, float]]:
    """What is drawn of one temperature, by its line; there is no success where nothing could be run."""
    run = [one for one in outcomes if one.was_run]
    legal = [one for one in outcomes if one.was_run or not one.counts]
    yield "can be run", len(legal) / len(outcomes)
    if legal:
        yield "diversity", fmean(measure_diversity(one.instance, default).mean for one in legal)
    if run:
        yield "success", fmean(one.success for one in run)


def draw_replays(entries: Sequence[PoolEntry]) -> str:
    """Instances that each strategy has covered by number of replays (simulated); empty without any."""
    shown = list(entries[:_MOST_INSTANCES])
    if not shown:
        return ""
    count = _REPLAYS * len(shown)
    with drawing((8, 3.2), for_page=True) as (_, (panel,), svg):
        for colour, strategy in zip(COLOURS, STRATEGIES, strict=False):
            runs = [_simulate(strategy, shown, count, Random(seed)) for seed in range(SIMULATIONS)]
            panel.plot(range(1, count + 1), [median(seen) for seen in zip(*runs, strict=True)], color=colour,
                       label=strategy)
        panel.axhline(len(shown), color=INK, linewidth=0.8, alpha=0.4)
        panel.set_xlabel("replays")
        panel.set_ylabel("instances replayed")
        panel.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        return svg()


def _simulate(strategy: str, entries: Sequence[PoolEntry], count: int, chance: Random) -> list[int]:
    """How many instances were replayed after each replay."""
    known = {entry.instance: entry for entry in entries}
    seen: set[Instance] = set()
    counts, taken = [], list[Instance]()
    for _ in range(count):
        entry = choose(strategy, list(known.values()), chance, taken=taken)
        success = chance.random() < entry.success_rate
        known[entry.instance] = PoolEntry(entry.instance, entry.frequency + 1, entry.successes + success)
        seen.add(entry.instance)
        taken = [*taken, entry.instance][-len(known) + 1:] if len(known) > 1 else []
        counts.append(len(seen))
    return counts


def draw_rates(entries: Sequence[PoolEntry], least: float) -> str:
    """How many instances succeed how often, and how many runs those had; the filter as a line. Empty without any."""
    if not entries:
        return ""
    instances, runs = [0] * _BINS, [0] * _BINS
    for entry in entries:
        place = min(int(entry.success_rate * _BINS), _BINS - 1)
        instances[place] += 1
        runs[place] += entry.frequency
    with drawing((8, 2.6), 2, for_page=True) as (_, panels, svg):
        for panel, title, values in zip(panels, ("Instances", "Runs"), (instances, runs), strict=True):
            panel.bar([(n + 0.5) / _BINS for n in range(_BINS)], values, 0.9 / _BINS, color=COLOURS[0])
            panel.axvline(least, color=COLOURS[1], linewidth=1.5)
            panel.set_title(title)
            panel.set_xlabel("success rate")
        return svg()
