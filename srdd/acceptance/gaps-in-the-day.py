"""Gaps in the Day: free stretches between appointments in any order."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example",
                _day("30 09:30-11:00 09:00-09:45 16:40-18:00", "08:00-09:00 60, 11:00-16:40 340"))
    yield tried(program, "a day without appointments", _day("60", "08:00-17:00 540"))
    yield tried(program, "the least length counts as useful",
                _day("30 08:30-10:00 10:29-16:30", "08:00-08:30 30, 16:30-17:00 30"))
    yield tried(program, "an appointment inside another", _day("5 09:00-12:00 10:00-10:30 12:05-17:00 11:00-11:30",
                                                               "08:00-09:00 60, 12:00-12:05 5"))
    yield tried(program, "appointments outside the day",
                _day("10 06:00-07:00 18:00-19:00 07:30-08:10", "08:10-17:00 530"))
    yield tried(program, "no gap is left", *(_day(text, "none", status=None) for text in (
        "30 07:00-18:00", "15 08:10-16:50", "1 12:00-17:00 08:00-12:00")), refusal=True)
    yield tried(program, "times that do not go are refused", *(Case(text.split(), "bad time", status=2) for text in (
        "08:00 17:00 30 9am-10am", "08:00 25:00 30", "17:00 08:00 30", "08:00 17:00 30 11:00-10:00",
        "08:00 17:00 30 10:00-10:60")))


def _day(rest: str, prints: str, status: int | None = 0) -> Case:
    return Case(["08:00", "17:00", *rest.split()], prints.replace(", ", "\n"), status)
