"""A loop as one turn of any number.

Where a loop may make too many turns to look at one by one, its variables have any values before a turn, the *head*,
and that turn is executed once. It stands for each turn of which a run-time fault is asked, and for the last one where a
run goes on behind the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import z3

from chatdev.departments.plc.proof.terms import BOOL, Term, lift
from chatdev.departments.plc.st.core import Expression, Operation, Scalar, Span, Type

TURNS = Scalar("DINT", "int", 32)
"""The type of what counts the turns."""
WIDER = 48
"""Bits that the numbers have more in which differences are told."""


@dataclass(frozen=True, eq=False, slots=True)
class Carried:
    """A scalar that a turn may change: when the summarised turns begin, before any of them (a symbol), behind it."""

    name: str
    type: Scalar
    entry: Term
    head: Any
    next: Term


@dataclass(frozen=True, eq=False, slots=True)
class LoopSummary:
    """A summarised loop: where it stands, when it is come to (`guard`), what its turns change, the number of turns
    before the head (a symbol of `TURNS`, at least `first`), what must hold for the turn to begin, when it is the last
    one, the terms of which each ends the scan within it, and the summaries of loops within the turn."""

    span: Span
    guard: Term
    carried: tuple[Carried, ...]
    distances: tuple[tuple[Any, Any, Any], ...]
    turns: Any
    first: int
    begins: Term
    leaves: Term
    stops: tuple[Term, ...]
    inner: tuple[LoopSummary, ...]

    @property
    def completed(self) -> Any:
        """That the loop comes to an end with this turn, if the scan comes to it."""
        ends = z3.And(lift(self.begins, BOOL), lift(self.leaves, BOOL))
        return z3.Implies(lift(self.guard, BOOL), ends)

    @property
    def symbols(self) -> set[str]:
        """The names of what stands for any value."""
        return {one.name for one in self.carried} | {str(self.turns)}


def widen(value: Term, type_: Type) -> Any:
    """A number in so many bits that no difference of two, and no product with a count of turns, wraps."""
    assert isinstance(type_, Scalar)
    extend = z3.SignExt if is_signed(type_) else z3.ZeroExt
    return extend(WIDER, lift(value, type_))


def comparisons_in(condition: Expression, holds: bool = True) -> Iterator[tuple[Expression, Expression]]:
    """The comparisons of integers that hold wherever a condition does (or does not): the smaller value, the larger."""
    if not isinstance(condition, Operation):
        return
    operator, operands = condition.operator, condition.operands
    if operator == "not":
        yield from comparisons_in(operands[0], not holds)
    elif operator in (("and", "and_then") if holds else ("or", "or_else")):
        for operand in operands:
            yield from comparisons_in(operand, holds)
    elif operator in ("<", "<=", ">", ">=") and getattr(operands[0].type, "kind", "") in ("int", "time", "bits"):
        one, other = operands
        yield (one, other) if (operator in ("<", "<=")) == holds else (other, one)


def is_signed(type_: Scalar) -> bool:
    """Whether the lowest value of a type of numbers is negative."""
    return type_.signed and type_.kind != "bits"
