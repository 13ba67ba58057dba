"""How many replays does each strategy need until every instance was replayed once? (Think-on-Process, Figure 10)

Pools of 100 instances: for half the true rate of success comes from Beta(2, 9), for half from Beta(6, 4); how often an
instance was seen comes from one of four distributions, with what success from a binomial one. The paper gives neither
its 100 pairs of N and Q nor the outcomes of its replays, so this shows the order of the strategies and what it hangs
on, not the paper's number.

    python -m benchmarks.process.replay [--pools 100]

With another number of pools, nothing is written down.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from random import Random
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, SizedStudy, machine, markdown_table, marks
from chatdev.departments.process.pool import PoolEntry, choose
from chatdev.departments.process.process_tree import Instance

POOLS, INSTANCES, MOST = 100, 100, 3000
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
    """The median of replays with its interval (None: the pool was not seen whole), and the mean number seen."""
    needed = sorted(run[-1] if len(run) == INSTANCES else math.inf for run in runs)
    rank = median_rank(len(runs))
    return {"median": _finite(statistics.median(needed)),
            "interval": [_finite(needed[rank]), _finite(needed[-1 - rank])], "least": _finite(needed[0]),
            "whole": sum(len(run) == INSTANCES for run in runs),
            "seen": {str(at): statistics.mean(sum(first <= at for first in run) for run in runs)
                     for at in (*SEEN_AT, MOST)}}


def median_rank(count: int) -> int:
    """How many of `count` sorted values lie below a 95 % interval of their median, and as many above it: so few that
    fewer of `count` fair coins show heads in at most one case of 40. It supposes nothing of the distribution, so
    pools that were not seen whole count as greatest ones. 0 of fewer than 6, where no interval is that sure."""
    below = rank = 0
    while (below := below + math.comb(count, rank)) * 40 <= 2 ** count:
        rank += 1
    return max(rank - 1, 0)


def _finite(value: float) -> float | None:
    return value if value < math.inf else None


def told(results: Mapping[str, Any]) -> str:
    """The tables for the page."""
    rows = results["rows"]
    needed = markdown_table(["how often instances were seen before", *STRATEGIES], [
        [name, *(_needed(rows[name][label]) for label in STRATEGIES)] for name in rows])
    first = next(iter(rows))
    seen = markdown_table(["strategy", *(f"after {at}" for at in (*SEEN_AT, MOST))], [
        [label, *(f"{count:.0f}" for count in rows[first][label]["seen"].values())] for label in STRATEGIES])
    return (f"Replays until all {INSTANCES} instances were replayed: the median of {results['pools']} pools, with its "
            f"95 % interval (– where most pools were not seen whole in {MOST} replays, with the mean number seen then):"
            f"\n\n{needed}\n\nInstances seen ({first}, mean):\n\n{seen}\n\n{results['date']}; {results['machine']}; "
            f"seeds 0 to {results['pools'] - 1} for pools, 1000 more for replays.")


def _needed(row: Mapping[str, Any]) -> str:
    if row["median"] is None:
        return f"– ({row['seen'][str(MOST)]:.0f} seen)"
    least, most = row["interval"]
    return f"{row['median']:.0f} [{least:.0f}, {f'over {MOST}' if most is None else f'{most:.0f}'}]"


STUDY = SizedStudy(told, RESULTS_FOLDER / "process_replay.json", DOCS / "process.md", marks("replay", "process.replay"),
                   "pools", POOLS, study)

if __name__ == "__main__":
    STUDY.main(__doc__)
