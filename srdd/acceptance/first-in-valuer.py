"""First In Valuer: the oldest pieces leave first, and never more than there are."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _case("in 10 2.00, in 5 3.00, out 12", "cost 26.00, left 3 worth 9.00"))
    yield tried(program, "only arrivals", _case("in 3 1.10, in 2 0.05", "left 5 worth 3.40"))
    yield tried(program, "a delivery may leave in pieces",
                _case("in 4 1.25, in 2 9.99, out 1, out 2, out 2",
                      "cost 1.25, cost 2.50, cost 11.24, left 1 worth 9.99"))
    yield tried(program, "everything may leave",
                _case("in 2 3.00, out 2, in 1 7.50, out 1", "cost 6.00, cost 7.50, left 0 worth 0.00"))
    yield tried(program, "more than there is does not leave",
                _case("in 5 1.00, in 2 4.00, out 10, out 6", "short by 3, cost 9.00, left 1 worth 4.00"),
                _case("out 4", "short by 4, left 0 worth 0.00"))
    yield tried(program, "one departure may empty several deliveries",
                _case("in 1 0.10, in 1 0.20, in 2 0.35, in 4 8.00, out 1, out 4, in 1 1.00, out 3",
                      "cost 0.10, cost 8.90, cost 24.00, left 1 worth 1.00"))


def _case(moves: str, prints: str) -> Case:
    return Case(["moves.txt"], prints.replace(", ", "\n"), files={"moves.txt": moves.replace(", ", "\n") + "\n"})
