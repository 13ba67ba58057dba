"""Progress of a batch: counts, running means of the results, spending, and expected end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from chatdev.batch.attempt import Expense
from chatdev.batch.ledger import Ledger, State

Status = Literal["running", "finished", "stopped"]


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """A batch at one moment, over all its workers. `means` of the numbers in the results that this worker made or
    found; `seconds_left` by the pace of this session, None before its first job has ended. `status` `finished`: nothing
    is left to do; `stopped`: no further job was begun, for `reason`; `problem` when the reason was that attempt after
    attempt failed. `trouble`: what the batch waits for: the database, a worker.
    """

    counts: Mapping[State, int]
    means: Mapping[str, float] = field(default_factory=dict)
    spent: Expense = field(default_factory=Expense)
    seconds_left: float | None = None
    status: Status = "running"
    reason: str = ""
    problem: str = ""
    trouble: str = ""

    @property
    def total(self) -> int:
        """All jobs."""
        return sum(self.counts.values())

    @property
    def finished_jobs(self) -> int:
        """The jobs that are done or have failed."""
        return self.counts["done"] + self.counts["failed"]


def only_listening(listener: Callable[[BatchProgress], None] | None) -> Callable[[BatchProgress], None]:
    """`listener` without what it raises: it only shows how far the batch is, and the jobs are paid for."""
    def listen(progress: BatchProgress) -> None:
        if listener:
            with suppress(Exception):
                listener(progress)

    return listen


class Tally:
    """Keeps count of a batch as this worker sees it; `refresh` asks the ledger, for what other workers do too."""

    def __init__(self) -> None:
        self.counts: dict[State, int] = {"open": 0, "running": 0, "done": 0, "failed": 0}
        self.spent = Expense()
        self._sums: dict[str, tuple[float, int]] = {}
        self._began, self._finished_before = time.monotonic(), 0

    def start_session(self, ledger: Ledger) -> None:
        """See what there is before this session's first job."""
        self.recount(ledger)
        self._began, self._finished_before = time.monotonic(), self._finished_jobs

    def recount(self, ledger: Ledger) -> None:
        """`refresh`, and take the means of all results anew."""
        sums: dict[str, tuple[float, int]] = {}
        for entry in ledger.entries("done"):
            _add_to_sums(entry.result, sums)
        self._sums = sums
        self.refresh(ledger)

    def refresh(self, ledger: Ledger) -> None:
        """Count again what the ledger has."""
        self.counts, self.spent = ledger.counts(), ledger.expense()

    def count_claim(self) -> None:
        """Count a job that this worker has claimed."""
        self._move("open", "running")

    def count_result(self, result: Mapping[str, Any]) -> None:
        """Count a result of this worker."""
        self._move("running", "done")
        self.spent += Expense.of(result)
        _add_to_sums(result, self._sums)

    def count_failure(self, spent: Expense, *, again: bool) -> None:
        """Count a failed attempt of this worker; `again`: the job is open once more."""
        self._move("running", "open" if again else "failed")
        self.spent += spent

    def snapshot(self, **more: Any) -> BatchProgress:
        """The batch as it is now."""
        means = {name: total / count for name, (total, count) in self._sums.items()}
        return BatchProgress(dict(self.counts), means, self.spent, self._seconds_left(), **more)

    @property
    def _finished_jobs(self) -> int:
        return self.counts["done"] + self.counts["failed"]

    def _move(self, before: State, after: State) -> None:
        self.counts[before] -= 1
        self.counts[after] += 1

    def _seconds_left(self) -> float | None:
        done = self._finished_jobs - self._finished_before
        left = self.counts["open"] + self.counts["running"]
        return (time.monotonic() - self._began) / done * left if done > 0 else None


def _add_to_sums(result: Mapping[str, Any], sums: dict[str, tuple[float, int]]) -> None:
    for name, value in result.items():
        if isinstance(value, int | float):  # a bool counts as 0 or 1, so that its mean is a rate
            total, count = sums.get(name, (0.0, 0))
            sums[name] = (total + value, count + 1)
