"""Swap Partner Finder: pairs of collectors who can both give."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _case("Bo; 7; 3 4, Ada; 3 4; 7", "Ada - Bo: 2/1"))
    yield tried(program, "pairs are alphabetical",
                _case("Eve; 1 2; 3, Cy; 3; 1, Ada; 3 4; 2, Bo; 1; 4", "Ada - Eve: 1/1, Cy - Eve: 1/1"))
    yield tried(program, "a gift without return is no swap",
                _case("Ada; 1 2; 9, Bo; 5; 1 2, Cy; 9; 5", "no swaps"), refusal=True)
    yield tried(program, "the same stamp twice counts once", _case("Ada; 3 3 8; 7 5, Bo; 7 7 5; 3 3", "Ada - Bo: 1/2"))
    yield tried(program, "numbers are compared whole, and any may be missing",
                _case("Ada; 12 3; 45, Bo; 4 5; 1 2, Cy; ; 12, Dan; 45; 12", "Ada - Dan: 1/1"),
                _case("Ada; ; ", "no swaps"))
    yield tried(program, "a line without two semicolons is named alone",
                _case("Bo; 7; 3 4, Ada; 3 4; 7, Cy 7; 8", "bad line 3", status=1),
                _case("Bo, Ada; 3 4; 7", "bad line 1", status=1))


def _case(lines: str, prints: str, status: int | None = 0) -> Case:
    return Case(["swap.txt"], prints.replace(", ", "\n"), None if prints == "no swaps" else status,
                {"swap.txt": lines.replace(", ", "\n") + "\n"})
