"""Column Grid Reckoner: equal columns, their edges rounded upward."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _grid("210 15 5 3", "15.00 71.67, 76.67 133.33, 138.33 195.00"))
    yield tried(program, "one column takes all", _grid("100 10 7 1", "10.00 90.00"))
    yield tried(program, "no margin, no gutter",
                _grid("100 0 0 4", "0.00 25.00, 25.00 50.00, 50.00 75.00, 75.00 100.00"))
    yield tried(program, "halves are rounded up", _grid(
        "9 0 0 8", "0.00 1.13, 1.13 2.25, 2.25 3.38, 3.38 4.50, 4.50 5.63, 5.63 6.75, 6.75 7.88, 7.88 9.00"))
    yield tried(program, "a column may be as narrow as 1", _grid("8 1 2 2", "1.00 3.00, 5.00 7.00"),
                _grid("4 0 2 2", "0.00 1.00, 3.00 4.00"))
    yield tried(program, "grids that cannot be are refused", *(
        Case(text.split(), "error: no such grid", status=1)
        for text in ("100 10 5 0", "100 10 5 -2", "100 -1 5 2", "100 10 5.5 2", "wide 10 5 2", "20 9 1 2",
                     "20 10 0 1")))


def _grid(arguments: str, columns: str) -> Case:
    lines = [f"column {number}: {edges.replace(' ', ' to ')}" for number, edges in enumerate(columns.split(", "), 1)]
    return Case(arguments.split(), "\n".join(lines))
