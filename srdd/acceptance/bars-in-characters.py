"""Bars in Characters: bars in exact proportion, in one column each."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _chart("bear,10 ant,5", "20", ("bear", 20, 10), ("ant ", 10, 5)))
    yield tried(program, "the largest has the full width",
                _chart("a,3 b,12 c,4", "4", ("a", 1, 3), ("b", 4, 12), ("c", 1, 4)),
                _chart("a,1 b,2", "30", ("a", 15, 1), ("b", 30, 2)))
    yield tried(program, "fractions are dropped, never rounded",
                _chart("x,99 y,100 z,1", "10", ("x", 9, 99), ("y", 10, 100), ("z", 0, 1)))
    yield tried(program, "proportions are exact", _chart("a,29 b,57 c,100", "100", ("a", 29, 29), ("b", 57, 57),
                                                         ("c", 100, 100)))
    yield tried(program, "zero has no bar", _chart("owl,0 ox,0", "8", ("owl", 0, 0), ("ox ", 0, 0)),
                _chart("owl,0 ox,7", "3", ("owl", 0, 0), ("ox ", 3, 7)))
    yield tried(program, "a bad row is named alone", *(
        Case(["data.csv", "20"], f"error: row {row}", status=1, files={"data.csv": rows.replace(" ", "\n") + "\n"})
        for rows, row in (("a,1 b,two", 2), ("a b,1", 1), ("a,1 b,2 c,-3", 3), ("a,1 b,2 c,3 d,4.5 e", 4))))


def _chart(rows: str, width: str, *bars: tuple[str, int, int]) -> Case:
    return Case(["data.csv", width], "\n".join(f"{label} {'#' * length} {number}" for label, length, number in bars),
                files={"data.csv": rows.replace(" ", "\n") + "\n"})
