"""Means and paired differences: intervals that hold what they promise, and the same ones every time."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.evaluation.reporting.study_results import MeanEstimate, difference, estimate

VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@given(VALUES, st.integers(0, 1000))
def test_the_interval_holds_the_mean_and_lies_within_the_values(values: list[float], seed: int) -> None:
    found = estimate(values, seed)
    assert found.mean is not None
    assert found.low is not None
    assert found.high is not None
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert found.low - 1e-9 <= found.mean <= found.high + 1e-9 or len(set(values)) > 1
    assert found == estimate(values, seed)


def test_few_values_have_no_interval() -> None:
    assert estimate([]) == MeanEstimate(None, None, None, 0)
    assert estimate([0.5]) == MeanEstimate(0.5, None, None, 1)
    assert estimate([1.0, 1.0]) == MeanEstimate(1.0, 1.0, 1.0, 2)
    assert not estimate([0.5]).is_clear


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    draw = random.Random(4)
    held = 0
    for seed in range(200):
        found = estimate([float(draw.random() < 0.6) for _ in range(40)], seed)
        held += found.low is not None and found.high is not None and found.low <= 0.6 <= found.high
    assert 0.88 <= held / 200 <= 0.99


def test_pairing_sees_what_unpaired_intervals_hide() -> None:
    draw = random.Random(1)
    hard = {f"task {n}": draw.random() for n in range(30)}
    easier = {task: value + 0.05 + draw.random() / 100 for task, value in hard.items()}
    one, other = (estimate(list(values.values())) for values in (easier, hard))
    assert one.low is not None
    assert other.high is not None
    assert one.low < other.high
    found = difference(("new", "old"), "quality", (easier, hard))
    assert found.estimate.is_clear
    assert (found.better, found.equal, found.worse) == (30, 0, 0)
    assert found.estimate.mean == pytest.approx(0.055, abs=0.005)


def test_only_tasks_of_both_are_compared() -> None:
    found = difference(("a", "b"), "quality", ({"x": 1.0, "y": 0.5, "z": 0.0}, {"y": 0.5, "z": 1.0, "w": 0.0}))
    assert (found.estimate.n, found.estimate.mean) == (2, -0.5)
    assert (found.better, found.equal, found.worse) == (0, 1, 1)
    assert difference(("a", "b"), "quality", ({"x": 1.0}, {"y": 1.0})).estimate.n == 0
