"""Means and paired differences with bootstrap confidence intervals (Efron: Bootstrap methods, Ann. Statist. 1979)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chatdev.errors import MissingProgram

RESAMPLES = 4000
LEVEL = 0.95
_AT_A_TIME = 250  # resamples in memory together


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """The mean of `n` values and the ends of its confidence interval; None without values, the ends None when there
    are fewer than two."""

    mean: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def is_clear(self) -> bool:
        """Whether 0 lies outside the interval."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Difference:
    """What `variant` has more than `against` in a metric, over the tasks that both were measured on; on so many of
    them it was `better`, `equal` and `worse`."""

    variant: str
    against: str
    metric: str
    estimate: MeanEstimate
    better: int
    equal: int
    worse: int


def estimate(values: Sequence[float], seed: int = 0) -> MeanEstimate:
    """The mean with its percentile bootstrap interval of level 0.95; the same values and seed give the same interval.
    Raises MissingProgram without numpy."""
    if len(values) < 2:
        return MeanEstimate(values[0] if values else None, None, None, len(values))
    try:
        import numpy as np
    except ImportError as error:
        raise MissingProgram("reports need numpy: pip install 'chatdev-chain[eval]'") from error
    draw, known = np.random.default_rng(seed), np.asarray(values, dtype=float)
    means = np.concatenate([known[draw.integers(0, len(known), (_AT_A_TIME, len(known)))].mean(axis=1)
                            for _ in range(RESAMPLES // _AT_A_TIME)])
    low, high = np.quantile(means, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return MeanEstimate(float(known.mean()), float(low), float(high), len(known))


def difference(names: tuple[str, str], metric: str, values: tuple[Mapping[str, float], Mapping[str, float]],
               seed: int = 0) -> Difference:
    """The difference between two variants (`names`), paired by task: `values` are by task, and tasks that only one of
    them has are left out. Tasks are resampled, not runs, so that easy and hard ones do not blur the comparison."""
    one, other = values
    pairs = [one[task] - other[task] for task in one if task in other]
    return Difference(*names, metric, estimate(pairs, seed), sum(pair > 0 for pair in pairs),
                      sum(pair == 0 for pair in pairs), sum(pair < 0 for pair in pairs))
