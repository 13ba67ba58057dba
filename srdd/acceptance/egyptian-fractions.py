"""Egyptian Fractions: greedy sums of unit fractions, also where they outgrow every float."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program

_LONG = "1/25 + 1/757 + 1/763309 + 1/873960180913 + 1/1527612795642093418846225"


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", Case(["7/15"], "1/3 + 1/8 + 1/120"))
    yield tried(program, "other fractions", Case(["2/3"], "1/2 + 1/6"), Case(["19/20"], "1/2 + 1/3 + 1/9 + 1/180"))
    yield tried(program, "the input is reduced first", Case(["4/8"], "1/2"), Case(["21/45"], "1/3 + 1/8 + 1/120"))
    yield tried(program, "a unit fraction stays one", Case(["1/97"], "1/97"))
    yield tried(program, "sums that need large numbers stay exact", Case(["5/121"], _LONG))
    yield tried(program, "fractions out of range are refused", *map(_refused, ("5/3", "7/7", "0/5")))
    yield tried(program, "what is no fraction is refused", *map(_refused, ("3/0", "a/b", "0.5", "1/2/3")))


def _refused(text: str) -> Case:
    return Case([text], "error: give a fraction between 0 and 1", status=1)
