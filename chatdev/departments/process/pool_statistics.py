"""What a pool of instances says: how often each was tried, with what success, and how different they are.

Equations and words are those of Think-on-Process (arXiv 2409.06568, sections 3.2 and 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from chatdev.departments.process.process_tree import Instance
from chatdev.errors import ConfigError

LEAST_SUCCESS = 0.30
"""The share of successes from which an instance is worth learning from (section 4.2)."""
MOST_LEARNT = 8
"""Of so many instances at most a model is mined."""
_DOUBT = 3  # runs that an instance must have before its own rate of success counts as much as the pool's


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """An instance of the pool: it was run `frequency` times (N), `successes` (Q) of them well."""

    instance: Instance
    frequency: int
    successes: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.frequency:
            raise ConfigError(f"there cannot be {self.successes} successes in {self.frequency} runs of "
                              f"{' → '.join(self.instance)!r:.200}")

    @property
    def success_rate(self) -> float:
        """Equation 2: Q/N; 0 before the first run."""
        return self.successes / self.frequency if self.frequency else 0.0


def filter_entries(entries: Iterable[PoolEntry], least: float = LEAST_SUCCESS) -> list[PoolEntry]:
    """The entries that were run and succeeded often enough, in their order."""
    return [entry for entry in entries if entry.frequency and entry.success_rate >= least]


def choose_best(entries: Iterable[PoolEntry], least: float = LEAST_SUCCESS) -> list[PoolEntry]:
    """The entries to learn from: among those that succeed often enough and succeeded twice (once, where none did so
    twice), the best by their success rate, drawn towards that of the pool as far as they were run rarely.

    The paper mines all that pass its filter. In a growing pool most of these passed by luck, and a model of many
    instances allows nearly everything; docs/process.md shows what that costs.
    """
    known = list(entries)
    runs = sum(entry.frequency for entry in known)
    common = sum(entry.successes for entry in known) / runs if runs else 0.0
    good = [entry for entry in filter_entries(known, least) if entry.successes]
    confirmed = [entry for entry in good if entry.successes > 1] or good
    best_first = sorted(confirmed, key=lambda entry: (
        -(entry.successes + _DOUBT * common) / (entry.frequency + _DOUBT), -entry.frequency, entry.instance))
    return best_first[:MOST_LEARNT]


def count_instances(entries: Iterable[PoolEntry]) -> dict[Instance, int]:
    """What the miner mines: how often each instance was run."""
    return {entry.instance: entry.frequency for entry in entries if entry.frequency}


class Diversity(NamedTuple):
    """How far an instance is from the default one, from 0 (the same) to 1 (nothing in common)."""

    phases: float
    """Equation 3: which phases there are."""
    orders: float
    """Equation 4: which phase directly follows which."""

    @property
    def mean(self) -> float:
        """Equation 5."""
        return (self.phases + self.orders) / 2


def measure_diversity(instance: Sequence[str], default: Sequence[str]) -> Diversity:
    """Two Jaccard distances: of the sets of phases, and of the sets of orders. The paper does not say what an order is;
    here it is a pair of phases of which one directly follows the other. Sets hardly see that phases are repeated."""
    return Diversity(_distance(set(instance), set(default)), _distance(set(pairwise(instance)), set(pairwise(default))))


def _distance(one: set[object], other: set[object]) -> float:
    return 1 - len(one & other) / len(one | other) if one | other else 0.0
