"""The rows of a study, read from its ledger: which fields are metrics, their means and paired differences, with
bootstrap confidence intervals (Efron: Bootstrap methods, Ann. Statist. 1979)."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from statistics import fmean
from typing import Any

from chatdev.batch.ledger import Ledger, LedgerEntry
from chatdev.department import departments, explain_absence, load
from chatdev.errors import ConfigError, MissingProgram
from chatdev.evaluation.variants import names_side_by_side
from chatdev.safe_text import is_amount

FIELD = "measures"
"""The field of a row that names its column set; a row without it is of software."""
_OF_OLD = "software"  # rows that name none


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """The fields of one kind of rows. `metrics` lie between 0 and 1, and `main` of them is drawn over the tokens;
    `further` ones stand in long reports only, `published` ones are by somebody else's definition, and `per` is what
    the tokens of all runs are divided by."""

    about: str
    metrics: tuple[str, ...]
    main: str
    compared: tuple[str, ...]
    statistics: tuple[str, ...] = ("seconds", "tokens", "cost")
    further: tuple[str, ...] = ()
    further_statistics: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    per: str = ""
    divided: tuple[tuple[str, str], ...] = ()
    """Fields of rows by which a metric is divided, beside the area."""

    @property
    def all_fields(self) -> tuple[str, ...]:
        """All fields that have a mean."""
        return (*self.metrics, *self.further, *self.published, *self.statistics, *self.further_statistics)


def columns_of(rows: Iterable[Mapping[str, Any]]) -> ColumnSet:
    """The columns that the rows of a study have in common."""
    name = next((row.get(FIELD) for row in rows), None)
    return _column_set(_OF_OLD if name is None else str(name))


@functools.cache
def _column_set(name: str) -> ColumnSet:
    """The columns of this name. Raises ConfigError, and MissingProgram where they cannot be imported."""
    department = departments().get(name)
    if department is None or not department.columns:
        raise ConfigError(f"no installed department says which columns a study has that measures {name!r:.60}; install "
                          f"the package that the study was made with{explain_absence()}")
    found = load(department.columns, f"the columns of the department {name!r}")
    if not isinstance(found, ColumnSet):
        raise ConfigError(f"the columns of the department {name!r}: {department.columns} is no ColumnSet, but "
                          f"{type(found).__name__}")
    return found


@dataclass(frozen=True, slots=True)
class Floor:
    """A program that only refuses: the share of checks that it passes, and what it gets for them."""

    passed: float
    acceptance: float


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job without a row."""

    key: str
    variant: str
    problem: str
    tries: int


@dataclass(frozen=True)
class Results:
    """What there is of a study; `variants` in the order in which they were entered. `seed` is that of the bootstrap."""

    study: str
    rows: Sequence[Mapping[str, Any]]
    failed: Sequence[FailedJob]
    variants: Sequence[str]
    unfinished: int = 0
    seed: int = 0

    @classmethod
    def read(cls, ledger: Ledger, seed: int = 0) -> Results:
        """What the ledger has. Raises ConfigError when there is no such study in it."""
        rows: list[Mapping[str, Any]] = []
        failed: list[FailedJob] = []
        variants: dict[str, None] = {}
        unfinished = 0
        for entry in ledger.entries():
            name = _variant_name(entry)
            variants[name] = None
            if entry.state == "done":
                rows.append(_row(entry))
            elif entry.state == "failed":
                failed.append(FailedJob(entry.key, name, entry.problem, entry.tries))
            else:
                unfinished += 1
        if not variants:
            raise ConfigError(f"there is no study {ledger.batch!r} in this ledger; begin it with `chatdev eval srdd "
                              f"--study {ledger.batch}`, or give another --study or --ledger")
        return cls(ledger.batch, rows, failed, list(variants), unfinished, seed)._with_short_names()

    def _with_short_names(self) -> Results:
        """The same without the model in the variants' names where all have one model."""
        shown = names_side_by_side(self.variants)
        rows = [{**row, "variant": shown.get(str(row.get("variant")), row.get("variant"))} for row in self.rows]
        failed = [replace(job, variant=shown[job.variant]) for job in self.failed]
        return replace(self, rows=rows, failed=failed, variants=list(shown.values()))

    @cached_property
    def columns(self) -> ColumnSet:
        """What is shown of the rows."""
        return columns_of(self.rows)

    def estimates(self, variant: str, part: str | None = None, metrics: Iterable[str] | None = None,
                  by: str = "area") -> dict[str, MeanEstimate]:
        """The mean of each metric (None: every one) of a variant over tasks, of which one that was run several times
        has the mean of its runs: over all tasks, or those whose field `by` is `part`."""
        rows = [row for row in self._rows_of(variant) if part in (None, row.get(by))]
        return {metric: estimate(list(_by_task(rows, metric).values()), self.seed)
                for metric in (self.columns.all_fields if metrics is None else metrics)}

    def tokens_per(self, variant: str) -> float | None:
        """The tokens of all runs of a variant for each that `columns.per` is true of; None where that is none."""
        rows = self._rows_of(variant)
        good = sum(float(row.get(self.columns.per) or 0) for row in rows)
        return sum(row["tokens"] for row in rows) / good if good else None

    @property
    def divisions(self) -> list[tuple[str, str]]:
        """By which fields of the rows which metrics are divided, where there is more than one part."""
        found = [("area", metric) for metric in self.columns.compared]
        found += [(field, metric) for field, metric in self.columns.divided]
        return [(field, metric) for field, metric in found if len(self.distinct(field)) > 1]

    @cached_property
    def floor(self) -> Floor | None:
        """What a program that only refuses would get; None where no refusals were counted."""
        tried = {row["task"]: row for row in sorted(self.rows, key=lambda row: row.get("checks") or 0)
                 if row.get("checks") and row.get("refusals") is not None}  # the longest list of a task's checks
        if not tried:
            return None
        only = [row["refusals"] == row["checks"] for row in tried.values()]
        return Floor(fmean(row["refusals"] / row["checks"] for row in tried.values()), fmean(only))

    @cached_property
    def areas(self) -> list[str]:
        """The areas of the tasks that were measured."""
        return self.distinct("area")

    @cached_property
    def differences(self) -> list[Difference]:
        """Every two variants compared, the later one against the earlier one."""
        return [difference((one, other), metric, (_by_task(self._rows_of(one), metric),
                                                  _by_task(self._rows_of(other), metric)), self.seed)
                for other, one in combinations(self.variants, 2) for metric in self.columns.compared]

    def distinct(self, name: str) -> list[str]:
        """The different values of a field, sorted."""
        return sorted({str(row[name]) for row in self.rows if row.get(name)})

    def count(self, variant: str) -> int:
        """How many runs of a variant were measured."""
        return len(self._rows_of(variant))

    def count_tasks(self, variant: str) -> int:
        """On how many tasks those were."""
        return len({row["task"] for row in self._rows_of(variant)})

    def _rows_of(self, variant: str) -> list[Mapping[str, Any]]:
        return self._rows_by_variant.get(variant, [])

    @cached_property
    def _rows_by_variant(self) -> dict[str, list[Mapping[str, Any]]]:
        found: dict[str, list[Mapping[str, Any]]] = {}
        for row in self.rows:
            found.setdefault(str(row.get("variant")), []).append(row)
        return found


def _by_task(rows: Iterable[Mapping[str, Any]], metric: str) -> dict[str, float]:
    """The mean of a metric's values by task."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if (value := _value(row, metric)) is not None:
            found.setdefault(str(row.get("task")), []).append(value)
    return {task: fmean(values) for task, values in found.items()}


def _value(row: Mapping[str, Any], metric: str) -> float | None:
    """A value of a row; `solved`, which earlier versions did not store, is whether every check was passed."""
    if metric == "solved" and metric not in row and row.get("acceptance") is not None:
        return float(row["acceptance"] == 1)
    value: float | None = row.get(metric)
    return value


def _variant_name(entry: LedgerEntry) -> str:
    variant = entry.spec.get("variant")
    return str((variant if isinstance(variant, Mapping) else {}).get("name", entry.key.partition("/")[0]))


def _row(entry: LedgerEntry) -> Mapping[str, Any]:
    """The row of a job that is done. Raises ConfigError where it measures something else than numbers."""
    row = {"job": entry.key, **entry.result}
    for name in columns_of([row]).all_fields:
        if not isinstance(row.get(name), bool | None) and not is_amount(row[name]):
            raise ConfigError(f"the ledger has no number in {name} of {entry.key} ({row[name]!r:.60}); it is damaged, "
                              "or no ledger of a study")
    return row


# Means and paired differences with bootstrap confidence intervals (Efron: Bootstrap methods, Ann. Statist. 1979).

RESAMPLES = 4000
LEVEL = 0.95
_AT_A_TIME = 250  # resamples in memory together


FEWEST = 6
"""Tasks below which no difference is called clear."""


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
        """Whether 0 lies outside the interval, and that says something: of few tasks, or of equal values, resampling
        knows no spread."""
        if self.low is None or self.high is None or self.n < FEWEST or self.low == self.high:
            return False
        return not self.low <= 0 <= self.high


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
