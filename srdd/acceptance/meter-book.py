"""Meter Book: units and means between readings, also past the end of the counter."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _book("2025-01-01 99950, 2025-01-11 00030", "2025-01-11 80 8.00"))
    yield tried(program, "several readings, over the end of a year and a leap February",
                _book("2023-12-30 00100, 2024-01-02 00200, 2024-02-28 00257, 2024-03-01 01257",
                      "2024-01-02 100 33.33, 2024-02-28 57 1.00, 2024-03-01 1000 500.00"))
    yield tried(program, "nothing used", _book("2025-05-01 04711, 2025-05-02 04711", "2025-05-02 0 0.00"))
    yield tried(program, "means are rounded with halves upward",
                _book("2025-03-01 00010, 2025-03-09 00011, 2025-03-17 00016, 2025-04-18 00037",
                      "2025-03-09 1 0.13, 2025-03-17 5 0.63, 2025-04-18 21 0.66"))
    yield tried(program, "the counter may pass its end often",
                _book("2025-03-01 50000, 2025-03-02 49999, 2025-03-04 49998", "2025-03-02 99999 99999.00, "
                      "2025-03-04 99999 49999.50"))
    yield tried(program, "one reading says nothing yet", _book("2025-03-01 00010", ""))
    yield tried(program, "a date that is not later stops everything",
                _book("2025-03-01 00010, 2025-03-05 00020, 2025-03-05 00030", "bad date in line 3", status=1),
                _book("2025-03-01 00010, 2024-12-31 00020, 2025-03-05 00030", "bad date in line 2", status=1))


def _book(readings: str, prints: str, status: int = 0) -> Case:
    return Case(["meter.txt"], prints.replace(", ", "\n"), status, {"meter.txt": readings.replace(", ", "\n") + "\n"})
