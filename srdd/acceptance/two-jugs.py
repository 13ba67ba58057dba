"""Two Jugs: fewest moves, and targets out of reach."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _moves("3 5 4", "6"))
    yield tried(program, "targets at once and after one move", _moves("3 5 0", "0"), _moves("3 5 3", "1"),
                _moves("3 5 5", "1"))
    yield tried(program, "the shorter of two ways", _moves("3 5 1", "4"), _moves("5 3 1", "4"), _moves("3 5 2", "2"))
    yield tried(program, "large jugs", _moves("23 31 17", "20"), _moves("300 7 3", "262"))
    yield tried(program, "targets out of reach", *(Case(text.split(), "impossible", status=None)
                                                   for text in ("2 4 3", "6 9 5", "3 5 6")), refusal=True)
    yield tried(program, "numbers that do not go are refused", *(Case(text.split(), "bad input", status=1) for text in (
        "0 5 1", "3 -5 4", "3 5 -1", "3 five 4", "3 5 2.5")))


def _moves(text: str, number: str) -> Case:
    return Case(text.split(), number)
