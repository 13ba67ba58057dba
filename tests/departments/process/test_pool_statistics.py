"""Equations 1 to 5 by hand, the filter, and what each strategy replays."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest

from benchmarks.process import replay
from benchmarks.process.pools import PHASES
from chatdev.departments.process.pool import (
    MOST_LEARNT,
    STRATEGIES,
    PoolEntry,
    choose,
    choose_best,
    count_instances,
    filter_entries,
    measure_diversity,
    plan_replays,
    uct_value,
)
from chatdev.errors import ConfigError

GOOD, DOUBTFUL, BAD = PoolEntry(("a",), 10, 9), PoolEntry(("b",), 2, 1), PoolEntry(("c",), 8, 0)
NEW = PoolEntry(("d",), 0, 0)
POOL = [GOOD, DOUBTFUL, BAD]


def test_the_rate_of_success_and_the_filter() -> None:
    assert [entry.success_rate for entry in (*POOL, NEW)] == [0.9, 0.5, 0, 0]
    assert filter_entries([*POOL, NEW]) == [GOOD, DOUBTFUL]
    assert filter_entries([*POOL, NEW], 0) == POOL
    assert filter_entries([PoolEntry(("a",), 10, 3)]) == [PoolEntry(("a",), 10, 3)]
    assert count_instances([*POOL, NEW]) == {("a",): 10, ("b",): 2, ("c",): 8}
    with pytest.raises(ConfigError, match="3 successes in 2 runs"):
        PoolEntry(("a",), 2, 3)


def test_the_confidence_bound_is_equation_1() -> None:
    assert uct_value(DOUBTFUL, 20) == pytest.approx(0.5 + math.sqrt(math.log(20) / 2))
    assert uct_value(BAD, 20, 3) == pytest.approx(1 + 3 * math.sqrt(math.log(20) / 8))
    assert uct_value(NEW, 20) == math.inf
    assert uct_value(PoolEntry(("a",), 1, 1), 1) == 0


@pytest.mark.parametrize(("strategy", "entry"), [
    ("uct", DOUBTFUL), ("uct_once", DOUBTFUL), ("frequency", DOUBTFUL), ("failure_rate", BAD)])
def test_a_strategy_replays_what_it_is_for(strategy: str, entry: PoolEntry) -> None:
    assert choose(strategy, POOL, Random(0)) == entry
    assert choose(strategy, [*POOL, NEW], Random(0)) == NEW


def test_ties_are_broken_by_chance_and_the_same_seed_chooses_the_same() -> None:
    twins = [PoolEntry((name,), 3, 1) for name in "abcde"]
    for strategy in STRATEGIES:
        found = Counter(choose(strategy, twins, Random(seed)).instance for seed in range(60))
        assert len(found) == 5
        assert choose(strategy, twins, Random(7)) == choose(strategy, twins, Random(7))


def test_what_is_drawn_is_drawn_by_its_value() -> None:
    chance = Random(1)
    found = Counter(choose("uct_sampled", POOL, chance).instance for _ in range(600))
    assert found[DOUBTFUL.instance] > found[BAD.instance] > found[GOOD.instance] > 50
    assert choose("uct_sampled", [*POOL, NEW], chance) == NEW
    assert choose("uct_sampled", [PoolEntry(("a",), 1, 1)], chance).instance == ("a",)


def test_once_a_round_replays_all_before_any_again() -> None:
    taken: list[tuple[str, ...]] = []
    for _ in POOL:
        taken.append(choose("uct_once", POOL, Random(0), taken=taken).instance)
    assert sorted(taken) == [("a",), ("b",), ("c",)]
    assert choose("uct_once", POOL, Random(0), taken=taken) == DOUBTFUL


def test_no_entries_and_unknown_strategies_are_refused() -> None:
    with pytest.raises(ConfigError, match="no entries were given"):
        choose("uct", [], Random(0))
    with pytest.raises(ConfigError, match="uct_once"):
        choose("best", POOL, Random(0))


REVIEW = PHASES.index("CodeReviewComment")


@pytest.mark.parametrize(("instance", "mean"), [
    (PHASES, 0.0),
    ((PHASES[1], PHASES[0], *PHASES[2:]), 0.133),
    (PHASES[:-1], 0.074),
    ((*PHASES[:REVIEW + 3], *PHASES[REVIEW:]), 0.036),
    (("Coding", "TestModification"), 0.929),
])
def test_diversity_has_the_values_worked_by_hand(instance: tuple[str, ...], mean: float) -> None:
    assert measure_diversity(instance, PHASES).mean == pytest.approx(mean, abs=5e-4)


def test_diversity_of_nothing_is_none() -> None:
    assert measure_diversity((), ()).mean == 0
    assert measure_diversity((), ("a",)) == (1, 0)


def test_strategies_end_as_in_the_figure() -> None:
    ends = {label: replay.replay_all("1 or 2, replays always succeed", label, 0)
            for label in ("frequency", "UCT, C = 1", "UCT once a round")}
    assert [len(ends[label]) for label in ends] == [100, 100, 100]
    assert ends["UCT once a round"][-1] == 100
    assert ends["frequency"][-1] < ends["UCT, C = 1"][-1]


def test_the_interval_of_a_median_has_the_ranks_of_the_table() -> None:
    """A median lies between the 40th and the 61st of 100 values, as the sign test's tables have it."""
    assert [replay.median_rank(count) for count in (3, 5, 6, 10, 20, 100)] == [0, 0, 0, 1, 5, 39]
    chance = Random(4)
    held = 0
    for _ in range(400):
        values = sorted(chance.expovariate(1) for _ in range(100))
        held += values[39] <= math.log(2) <= values[60]
    assert held >= 0.94 * 400


def entry(name: str, frequency: int, successes: int) -> PoolEntry:
    return PoolEntry((name,), frequency, successes)


def test_one_learns_from_what_succeeded_twice_the_best_first() -> None:
    lucky, proved, mixed, poor = entry("a", 1, 1), entry("b", 5, 5), entry("c", 4, 2), entry("d", 9, 2)
    assert choose_best([lucky, mixed, poor, proved]) == [proved, mixed]
    assert choose_best([lucky, poor]) == [lucky]  # nothing better is known
    assert choose_best([entry("a", 3, 0)]) == choose_best([]) == []


def test_one_learns_from_few() -> None:
    entries = [entry(str(n), 4, 2 + n % 3) for n in range(40)]
    best = choose_best(entries)
    assert len(best) == MOST_LEARNT
    assert all(one.successes == 4 for one in best)
    assert best == choose_best(entries[::-1])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_replays_are_planned_before_any_has_ended(strategy: str) -> None:
    planned = plan_replays(strategy, POOL, 9, Random(1))
    assert len(planned) == 9
    assert set(planned) <= {one.instance for one in POOL}
    assert planned == plan_replays(strategy, POOL, 9, Random(1))
    if strategy == "uct_once":
        assert [set(planned[n:n + 3]) for n in (0, 3, 6)] == [{("a",), ("b",), ("c",)}] * 3
    assert plan_replays(strategy, [GOOD], 2, Random(1)) == [GOOD.instance] * 2
    with pytest.raises(ConfigError, match="no entries were given"):
        plan_replays(strategy, [], 1, Random(1))
