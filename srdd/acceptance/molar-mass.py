"""Molar Mass: formulas with nested parentheses, elements that begin alike, and faults."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", Case(["Ca(OH)2"], "74.092 g/mol"))
    yield tried(program, "plain formulas", Case(["NaCl"], "58.440 g/mol"), Case(["H2SO4"], "98.072 g/mol"))
    yield tried(program, "numbers of several digits",
                Case(["C6H12O6"], "180.156 g/mol"), Case(["C12H22O11"], "342.297 g/mol"))
    yield tried(program, "elements that begin alike are told apart",
                Case(["CCaClCu"], "151.085 g/mol"), Case(["CO"], "28.010 g/mol"))
    yield tried(program, "parentheses in parentheses",
                Case(["Mg(Ca(OH)2)3"], "246.581 g/mol"), Case(["(C(NH2)2)2Fe(CO)"], "171.969 g/mol"))
    yield tried(program, "an element that is not listed is named",
                *(Case([text], f"unknown element: {name}", status=1)
                  for text, name in (("ZnO", "Zn"), ("Na2(Xe)3", "Xe"), ("CoC", "Co"))))
    yield tried(program, "other faults",
                *(Case([text], "bad formula", status=1) for text in ("(H2O", "H2O)", "", "H2-O")))
