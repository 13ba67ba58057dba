"""The rows of a study, read from its ledger, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from chatdev.batch.ledger import Ledger, LedgerEntry
from chatdev.errors import ConfigError
from chatdev.evaluation.measures import Measures, measures_of
from chatdev.evaluation.report.statistics import Difference, Estimate, difference, estimate


@dataclass(frozen=True, slots=True)
class Failed:
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
    failed: Sequence[Failed]
    variants: Sequence[str]
    unfinished: int = 0
    seed: int = 0

    @classmethod
    def read(cls, ledger: Ledger, seed: int = 0) -> Results:
        """What the ledger has. Raises ConfigError when there is no such study in it."""
        rows: list[Mapping[str, Any]] = []
        failed: list[Failed] = []
        variants: dict[str, None] = {}
        unfinished = 0
        for entry in ledger.entries():
            name = _variant(entry)
            variants[name] = None
            if entry.state == "done":
                rows.append({"job": entry.key, **entry.result})
            elif entry.state == "failed":
                failed.append(Failed(entry.key, name, entry.problem, entry.tries))
            else:
                unfinished += 1
        if not variants:
            raise ConfigError(f"there is no study {ledger.batch!r} in this ledger; begin it with `chatdev eval srdd "
                              f"--study {ledger.batch}`, or give another --study or --ledger")
        return cls(ledger.batch, rows, failed, list(variants), unfinished, seed)

    @cached_property
    def measures(self) -> Measures:
        """What is shown of the rows."""
        return measures_of(self.rows)

    def estimates(self, variant: str, area: str | None = None,
                  metrics: Iterable[str] | None = None) -> dict[str, Estimate]:
        """The mean of each metric (None: every one) of a variant, in one area or in all."""
        rows = [row for row in self._of(variant) if area in (None, row.get("area"))]
        return {metric: estimate([row[metric] for row in rows if row.get(metric) is not None], self.seed)
                for metric in (self.measures.every if metrics is None else metrics)}

    def tokens_per(self, variant: str) -> float | None:
        """The tokens of all runs of a variant for each that `measures.per` is true of; None where that is none."""
        rows = self._of(variant)
        good = sum(float(row.get(self.measures.per) or 0) for row in rows)
        return sum(row["tokens"] for row in rows) / good if good else None

    @cached_property
    def areas(self) -> list[str]:
        """The areas of the tasks that were measured."""
        return sorted({row["area"] for row in self.rows if row.get("area")})

    @cached_property
    def differences(self) -> list[Difference]:
        """Every two variants compared, the later one against the earlier one."""
        return [difference((one, other), metric, (self._by_task(one, metric), self._by_task(other, metric)), self.seed)
                for other, one in combinations(self.variants, 2) for metric in self.measures.compared]

    def distinct(self, name: str) -> list[str]:
        """The different values of a field, sorted."""
        return sorted({str(row[name]) for row in self.rows if row.get(name)})

    def count(self, variant: str) -> int:
        """How many runs of a variant were measured."""
        return len(self._of(variant))

    def _of(self, variant: str) -> list[Mapping[str, Any]]:
        return self._grouped.get(variant, [])

    @cached_property
    def _grouped(self) -> dict[str, list[Mapping[str, Any]]]:
        found: dict[str, list[Mapping[str, Any]]] = {}
        for row in self.rows:
            found.setdefault(str(row.get("variant")), []).append(row)
        return found

    def _by_task(self, variant: str, metric: str) -> dict[str, float]:
        return {row["task"]: row[metric] for row in self._of(variant) if row.get(metric) is not None}


def _variant(entry: LedgerEntry) -> str:
    return str(entry.spec.get("variant", {}).get("name", entry.key.partition("/")[0]))
