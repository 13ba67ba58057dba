"""Tax Rate Summary: exact cents, and each rate rounded once."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _case("3 4.99 19, 1 12.50 7", "7% 12.50 0.88, 19% 14.97 2.84, total 31.19"))
    yield tried(program, "lines of one rate are added", _case("2 10.00 20, 1 5.25 20", "20% 25.25 5.05, total 30.30"))
    yield tried(program, "tax is rounded once per rate",
                _case("1 0.33 7, 1 0.33 7, 1 0.33 7, 1 0.33 7", "7% 1.32 0.09, total 1.41"),
                _case("1 0.05 10, 1 0.05 10, 1 0.05 10", "10% 0.15 0.02, total 0.17"))
    yield tried(program, "halves go upward", _case("1 1.50 7", "7% 1.50 0.11, total 1.61"),
                _case("1 2.50 5", "5% 2.50 0.13, total 2.63"))
    yield tried(program, "rates are sorted as numbers, zero among them",
                _case("1 1.00 19, 1 1.00 7, 1 2.00 0, 1 1.00 100",
                      "0% 2.00 0.00, 7% 1.00 0.07, 19% 1.00 0.19, 100% 1.00 1.00, total 6.26"))
    yield tried(program, "large sums stay exact",
                _case("999999999 99999999.99 19",
                      "19% 99999999890000000.01 18999999979100000.00, total 118999999869100000.01"))
    yield tried(program, "a line that does not fit is named alone",
                *(_case(text, f"bad line {line}", status=1) for text, line in (
                    ("3 4.99 19, 3 4.99", 2), ("x 4.99 19", 1), ("1 1.00 7, 1 1.00 7, 1 cheap 7, z", 3))))


def _case(text: str, prints: str, status: int = 0) -> Case:
    return Case(["invoice.txt"], prints.replace(", ", "\n"), status, {"invoice.txt": text.replace(", ", "\n") + "\n"})
