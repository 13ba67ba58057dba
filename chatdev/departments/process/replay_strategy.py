"""Which instance of the pool is run again: the doubtful ones, before they are judged by luck.

An instance that failed once may have had a bad day. Think-on-Process (arXiv 2409.06568, section 3.2) replays instances
by an upper confidence bound (UCT) turned round: what fails often and was tried rarely comes first. The other strategies
are those it is compared with (Figure 10), and two of ours; docs/process.md says what each is worth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import Any

from chatdev.departments.process.pool import PoolEntry
from chatdev.departments.process.process_tree import Instance
from chatdev.errors import ConfigError

EXPLORATION = 1.0
"""C of equation 1."""


def uct_value(entry: PoolEntry, total: int, exploration: float = EXPLORATION) -> float:
    """Equation 1: 1 − Q/N + C·√(ln ΣN / N), where `total` is ΣN, the runs of all entries; infinite for what was never
    run."""
    if not entry.frequency:
        return math.inf
    return 1 - entry.success_rate + exploration * math.sqrt(math.log(max(total, 1)) / entry.frequency)


def choose(strategy: str, entries: Sequence[PoolEntry], chance: Random, exploration: float = EXPLORATION,
           taken: Collection[Instance] = ()) -> PoolEntry:
    """The entry to run again; among equals any, by `chance`.

    - `uct`: the greatest value of equation 1.
    - `uct_sampled`: any, the more likely the greater that value (what the paper's program does).
    - `uct_once`: as `uct`, but none of the instances in `taken`, those of this round, until all were.
    - `frequency`: the one run least often.
    - `failure_rate`: the one that fails most often. It never ends with an instance that always fails.

    Raises ConfigError without entries, or for an unknown strategy.
    """
    if strategy not in STRATEGIES:
        raise ConfigError(f"unknown replay strategy {strategy!r}; there are: {', '.join(STRATEGIES)}")
    if not entries:
        raise ConfigError("no entries were given: there is nothing to replay")
    if strategy == "uct_once":
        entries = [entry for entry in entries if entry.instance not in taken] or entries
    values = STRATEGIES[strategy](entries, exploration)
    best = max(values)
    if strategy == "uct_sampled" and 0 < best < math.inf:
        return chance.choices(entries, values)[0]
    return _choose_best(entries, values, chance)


def plan_replays(strategy: str, entries: Sequence[PoolEntry], count: int, chance: Random,
                 exploration: float = EXPLORATION) -> list[Instance]:
    """The next `count` instances to run again, chosen before any of them has ended: meanwhile each is taken to end as
    it did so far (by `chance`, at its success rate). Raises ConfigError as `choose` does."""
    known = {entry.instance: entry for entry in entries}
    planned: list[Instance] = []
    for _ in range(count):
        taken = planned[-(len(planned) % len(known)):] if len(planned) % len(known or (0,)) else []
        entry = choose(strategy, list(known.values()), chance, exploration, taken)
        success = chance.random() < entry.success_rate
        known[entry.instance] = PoolEntry(entry.instance, entry.frequency + 1, entry.successes + success)
        planned.append(entry.instance)
    return planned


def _choose_best(entries: Sequence[PoolEntry], values: Sequence[float], chance: Random) -> PoolEntry:
    best = max(values)
    return chance.choice([entry for entry, value in zip(entries, values, strict=True) if value == best])


def _uct_values(entries: Sequence[PoolEntry], exploration: float) -> list[float]:
    total = sum(entry.frequency for entry in entries)
    spread = exploration * math.sqrt(math.log(max(total, 1)))  # once for all: pools are large, and replays many
    return [1 - entry.successes / entry.frequency + spread / math.sqrt(entry.frequency) if entry.frequency else math.inf
            for entry in entries]


STRATEGIES: dict[str, Callable[[Sequence[PoolEntry], Any], list[float]]] = {
    "uct": _uct_values,
    "frequency": lambda entries, _: [-entry.frequency for entry in entries],
    "failure_rate": lambda entries, _: [1 - entry.success_rate if entry.frequency else math.inf for entry in entries],
    "uct_sampled": _uct_values,
    "uct_once": _uct_values,
}
"""By name, how much each entry is worth replaying."""
