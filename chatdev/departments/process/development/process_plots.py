"""The plots of a pool's page, in the style of all plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from statistics import fmean, median

from chatdev.departments.process.pool import InstanceOutcome, PoolEntry, measure_diversity
from chatdev.departments.process.process_tree import Instance
from chatdev.departments.process.replay_strategy import STRATEGIES, choose
from chatdev.evaluation.plots import COLOURS, INK, drawing

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
