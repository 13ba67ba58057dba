"""Falling Block Replay: bars that rest, bridge holes, and clear rows."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _case("0 5, 5 5", "rows 1 height 0"))
    yield tried(program, "bars pile up", _case("2 3, 4 1, 0 2", "rows 0 height 2"),
                _case("9 1, 9 1, 9 1, 0 9", "rows 1 height 2"))
    yield tried(program, "nothing falls through a bar", _case("0 9, 0 3, 2 2, 9 1, 3 1", "rows 1 height 3"),
                _case("0 1, 0 9, 9 1, 9 1", "rows 1 height 1"))
    yield tried(program, "rows above a full one sink by one",
                _case("0 5, 0 5, 0 3, 5 5, 3 7, 5 5", "rows 3 height 0"),
                _case("0 4, 0 10, 0 2, 4 6, 2 8", "rows 3 height 0"))
    yield tried(program, "without bars nothing is filled", _case("", "rows 0 height 0"))
    yield tried(program, "a bar outside the well is named alone",
                *(_case(bars, f"bad line {line}", status=1)
                  for bars, line in (("0 5, 5 6", 2), ("-1 4", 1), ("0 10, 0 4, 10 1, 0 3", 3))))


def _case(bars: str, prints: str, status: int = 0) -> Case:
    return Case(["game.txt"], prints, status, {"game.txt": "".join(f"{bar}\n" for bar in bars.split(", ") if bar)})
