"""How many replays does each strategy need until every instance was replayed once? (Think-on-Process, Figure 10)

Pools of 100 instances: for half the true rate of success comes from Beta(2, 9), for half from Beta(6, 4); how often an
instance was seen comes from one of four distributions, with what success from a binomial one. The paper gives neither
its 100 pairs of N and Q nor the outcomes of its replays, so this shows the order of the strategies and what it hangs
on, not the paper's number.

    python -m benchmarks.process.replay [--pools 10]

With another number of pools, nothing is written down.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from random import Random
from typing import Any

from benchmarks.study import RESULTS_FOLDER, ROOT, SizedStudy, machine, markdown_table
from chatdev.process.pool_statistics import PoolEntry
from chatdev.process.process_tree import Instance
from chatdev.process.replay_strategy import choose

RESULTS = RESULTS_FOLDER / "process_replay.json"
PAGE = ROOT / "docs" / "process.md"
BEGIN, END = "<!-- replay: written by python -m benchmarks.process.replay -->", "<!-- end of replay -->"
POOLS, INSTANCES, MOST = 10, 100, 3000
SEEN_AT = (100, 197, 500)
"""Curves are told at these replays; 197 is what the paper needs."""
STRATEGIES: dict[str, tuple[str, float]] = {
    "failure rate": ("failure_rate", 1), "frequency": ("frequency", 1), "UCT, C = 1": ("uct", 1),
    "UCT, C = 3": ("uct", 3), "UCT drawn, C = 3": ("uct_sampled", 3), "UCT once a round": ("uct_once", 1),
}
FREQUENCIES: dict[str, Callable[[Random], int]] = {
    "uniform 1 to 5": lambda chance: chance.randint(1, 5),
    "geometric, 1/3": lambda chance: 1 + int(math.log(1 - chance.random()) / math.log(2 / 3)),
    "uniform 1 to 30": lambda chance: chance.randint(1, 30),
    "Zipf 1.8, at most 60": lambda chance: _zipf(chance),
    "1 or 2, replays always succeed": lambda chance: chance.randint(1, 2),
}


def _zipf(chance: Random) -> int:
    return chance.choices(range(1, 61), [rank ** -1.8 for rank in range(1, 61)])[0]


def study(pools: int) -> dict[str, Any]:
    """For each distribution and strategy: replays until all were seen, in each pool, and how many were seen when."""
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "pools": pools,
            "rows": {name: {label: _summary([replay_all(name, label, seed) for seed in range(pools)])
                            for label in STRATEGIES} for name in FREQUENCIES}}


def replay_all(frequencies: str, label: str, seed: int) -> list[int]:
    """At which replay each instance was seen for the first time; shorter than the pool if the replays did not do."""
    chance = Random(seed)
    rates, pool = [], []
    for number in range(INSTANCES):
        rates.append(chance.betavariate(2, 9) if number < INSTANCES // 2 else chance.betavariate(6, 4))
        frequency = FREQUENCIES[frequencies](chance)
        pool.append(PoolEntry((str(number),), frequency, sum(chance.random() < rates[-1] for _ in range(frequency))))
    return _replay(pool, rates, label, Random(1000 + seed), sure="always succeed" in frequencies)


def _replay(pool: list[PoolEntry], rates: list[float], label: str, chance: Random, sure: bool) -> list[int]:
    strategy, exploration = STRATEGIES[label]
    seen: set[Instance] = set()
    firsts = []
    for count in range(1, MOST + 1):
        entry = choose(strategy, pool, chance, exploration, seen)
        if entry.instance not in seen:
            seen.add(entry.instance)
            firsts.append(count)
            if len(seen) == len(pool):
                break
        number = int(entry.instance[0])
        won = sure or chance.random() < rates[number]
        pool[number] = PoolEntry(entry.instance, entry.frequency + 1, entry.successes + won)
    return firsts


def _summary(runs: list[list[int]]) -> dict[str, Any]:
    """The median of replays (None: most pools were not seen whole), and the mean number seen."""
    needed = statistics.median(run[-1] if len(run) == INSTANCES else math.inf for run in runs)
    return {"median": needed if needed < math.inf else None, "least": min((run[-1] for run in runs
                                                                         if len(run) == INSTANCES), default=None),
            "whole": sum(len(run) == INSTANCES for run in runs),
            "seen": {str(at): statistics.mean(sum(first <= at for first in run) for run in runs)
                     for at in (*SEEN_AT, MOST)}}


def told(results: Mapping[str, Any]) -> str:
    """The tables for the page."""
    rows = results["rows"]
    needed = markdown_table(["how often instances were seen before", *STRATEGIES], [
        [name, *(_needed(rows[name][label]) for label in STRATEGIES)] for name in rows])
    first = next(iter(rows))
    seen = markdown_table(["strategy", *(f"after {at}" for at in (*SEEN_AT, MOST))], [
        [label, *(f"{count:.0f}" for count in rows[first][label]["seen"].values())] for label in STRATEGIES])
    return (f"Replays until all {INSTANCES} instances were replayed (median of {results['pools']} pools; – where most "
            f"pools were not seen whole in {MOST} replays, with the mean number seen then):\n\n{needed}\n\n"
            f"Instances seen ({first}, mean):\n\n{seen}\n\n{results['date']}; {results['machine']}; seeds 0 to "
            f"{results['pools'] - 1} for pools, 1000 more for replays.")


def _needed(row: Mapping[str, Any]) -> str:
    return f"– ({row['seen'][str(MOST)]:.0f} seen)" if row["median"] is None else f"{row['median']:.0f}"


if __name__ == "__main__":
    SizedStudy("pools", POOLS, study, told, RESULTS, PAGE, (BEGIN, END)).main(__doc__)
