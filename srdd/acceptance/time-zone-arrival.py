"""Time Zone Arrival: local times over offsets, half hours and ends of months."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _trip("2024-03-09 22:15", "-5 7:40 +1", "2024-03-10 11:55"))
    yield tried(program, "a leap day and the end of a year",
                _trip("2024-02-28 23:30", "+1 1:00 +1", "2024-02-29 00:30"),
                _trip("2023-02-28 23:30", "+1 1:00 +1", "2023-03-01 00:30"),
                _trip("2024-12-31 20:00", "+0 5:05 +0", "2025-01-01 01:05"))
    yield tried(program, "arriving the day before", _trip("2025-01-01 08:00", "+14 9:30 -11", "2024-12-31 16:30"))
    yield tried(program, "offsets of half hours", _trip("2025-06-01 12:00", "+5.5 3:10 -3.5", "2025-06-01 06:10"),
                _trip("2025-06-01 12:00", "-0.5 0:00 +0.5", "2025-06-01 13:00"))
    yield tried(program, "flights of more than a day", _trip("2025-06-01 12:00", "+1 36:05 +2", "2025-06-03 01:05"))
    yield tried(program, "offsets out of range are refused", *(
        _refused("2025-06-01 12:00", rest) for rest in ("-12.5 1:00 +1", "+1 1:00 +14.5", "+15 1:00 +1")))
    yield tried(program, "what is malformed is refused", _refused("2023-02-29 10:00", "+1 1:00 +1"),
                _refused("2025-06-01 24:10", "+1 1:00 +1"), *(
                    _refused("2025-06-01 12:00", rest)
                    for rest in ("+1 7:60 +1", "+1 soon +1", "+5.3 1:00 +1", "east 1:00 +1")))


def _trip(departure: str, rest: str, arrival: str) -> Case:
    return Case([departure, *rest.split()], arrival)


def _refused(departure: str, rest: str) -> Case:
    return Case([departure, *rest.split()], "invalid trip", status=1)
