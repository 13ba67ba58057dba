"""Flat Share Settlement: every cent divided, and repayments in a fixed order."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _case("Ann 1000 Ann Bo Cy", "Bo pays Ann 333, Cy pays Ann 333"))
    yield tried(program, "payers need not share", _case("Ann 900 Bo Cy", "Bo pays Ann 450, Cy pays Ann 450"))
    yield tried(program, "odd cents go to the first named", _case("Dan 101 Bo Cy", "Bo pays Dan 51, Cy pays Dan 50"),
                _case("Ann 1001 Cy Bo Ann, Ann 1001 Cy Bo Dan",
                      "Bo pays Ann 668, Cy pays Ann 668, Dan pays Ann 333"))
    yield tried(program, "debts of several payments are offset",
                _case("Ann 600 Ann Bo, Bo 400 Ann Bo, Ann 100 Bo", "Bo pays Ann 200"))
    yield tried(program, "the largest debt goes to the largest claim, as much as fits",
                _case("Ann 700 Cy, Bo 500 Dan, Bo 100 Cy", "Cy pays Ann 700, Dan pays Bo 500, Cy pays Bo 100"),
                _case("Zed 300 Ann, Yan 300 Bo, Ann 1 Eve", "Bo pays Yan 300, Ann pays Zed 299, Eve pays Zed 1"))
    yield tried(program, "there is nothing to settle", *(
        _case(text, "even", status=None) for text in ("Ann 500 Ann", "Ann 400 Bo, Bo 400 Ann")), refusal=True)
    yield tried(program, "a broken line is named alone", *(_case(text, f"bad line {line}", status=1) for text, line in (
        ("Ann 100 Bo, Bo ten Ann", 2), ("Ann 100 Bo, Bo 5 Ann, Cy", 3), ("Ann 100", 1))))


def _case(costs: str, prints: str, status: int | None = 0) -> Case:
    return Case(["costs.txt"], prints.replace(", ", "\n"), status, {"costs.txt": costs.replace(", ", "\n") + "\n"})
