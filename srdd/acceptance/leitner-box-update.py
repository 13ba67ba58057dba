"""Leitner Box Update: cards climb and fall in the order of the answers."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program

_BOXES = "card,box\nParis,2\nOslo,5\nNew York,1\nBern,4\n"


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "a right answer moves a card up",
                _case("Paris,right\n", "Paris,3\nOslo,5\nNew York,1\nBern,4"))
    yield tried(program, "a wrong answer moves a card to box 1",
                _case("Bern,wrong\n", "Paris,2\nOslo,5\nNew York,1\nBern,1"))
    yield tried(program, "no card climbs above box 5",
                _case("Oslo,right\nBern,right\nBern,right\n", "Paris,2\nOslo,5\nNew York,1\nBern,5"))
    yield tried(program, "a card may be answered often, and the order counts",
                _case("Paris,right\nNew York,right\nParis,wrong\nParis,right\nNew York,right\n",
                      "Paris,2\nOslo,5\nNew York,3\nBern,4"))
    yield tried(program, "without answers the table stays", _case("", "Paris,2\nOslo,5\nNew York,1\nBern,4"))
    yield tried(program, "an unknown card is named alone",
                _answered("Paris,right\nRome,right\nParis,right\n", "unknown card: Rome", status=1))


def _case(answers: str, rows: str) -> Case:
    return _answered(answers, f"card,box\n{rows}", status=0)


def _answered(answers: str, prints: str, status: int) -> Case:
    return Case(["boxes.csv", "answers.csv"], prints, status,
                {"boxes.csv": _BOXES, "answers.csv": f"card,result\n{answers}"})
