"""Julian Date Converter: one calendar into the other, over a leap day that only the old one has."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the first example", Case(["1752-09-02"], "1752-09-13 Wednesday"))
    yield tried(program, "a leap day that only the Julian calendar has",
                Case(["1700-02-29"], "1700-03-11 Thursday"), Case(["1900-02-29"], "1900-03-13 Tuesday"))
    yield tried(program, "the turn of a year", Case(["1917-12-25"], "1918-01-07 Monday"))
    yield tried(program, "the distance between the calendars changes with the century",
                Case(["1582-10-05"], "1582-10-15 Friday"), Case(["0325-03-21"], "0325-03-22 Sunday"))
    yield tried(program, "the first and the last day",
                Case(["0200-01-01"], "0199-12-31 Tuesday"), Case(["3000-12-31"], "3001-01-21 Wednesday"))
    yield tried(program, "days that the Julian calendar does not have",
                *map(_refused, ("1701-02-29", "1752-04-31", "1752-13-01", "1752-00-10")))
    yield tried(program, "years and forms beyond what is taken",
                *map(_refused, ("0199-12-31", "3001-01-01", "1752-09-2", "yesterday")))


def _refused(text: str) -> Case:
    return Case([text], "no such Julian date", status=1)
