"""Requirements that contradict each other, whatever a program does: they are found before anybody looks for a program
that satisfies them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import z3

from chatdev.departments.plc.proof.checks import Check, ProofStopped, at_work, model_of, rules_of
from chatdev.departments.plc.proof.outcome import Limits, Property
from chatdev.departments.plc.proof.properties import PropertyError, Step
from chatdev.departments.plc.proof.search import Budget
from chatdev.departments.plc.proof.terms import BOOL, Inexpressible, lift, negate
from chatdev.departments.plc.st.core import IEC, Dialect
from chatdev.isolation.isolate import isolate

_PATTERNS = ("pattern-invariant", "pattern-implication", "pattern-forbidden")
"""Those that look at one moment only."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Properties by their numbers, counted from 0, of which none can be left out. No program satisfies them together,
    or, with `about`, only one in which that condition never holds."""

    numbers: tuple[int, ...]
    about: str = ""


@isolate(ProofStopped)
@at_work()
def find_contradictions(source: str, entry: str | None, cycle_ms: int | None, properties: tuple[Property, ...],
                        limits: Limits, dialect: Dialect = IEC) -> tuple[Contradiction, ...]:
    """The contradictions among properties of one moment, no property in two of them. Values that the program gives to
    its variables do not count, only their types. Raises ProofStopped."""
    model = model_of(source, entry, rules_of(cycle_ms, limits), dialect)
    steps: dict[int, Step] = {}
    for number, asked in enumerate(properties):
        if asked.pattern in _PATTERNS:
            with suppress(PropertyError, Inexpressible):
                steps[number] = Check(model, asked, limits).free_step()
    search = _Search(steps, Budget(limits.seconds))
    return tuple(Contradiction(numbers, properties[numbers[0]].parameters[0] if about is not None else "")
                 for numbers, about in search.run())


class _Search:
    """Asks the solver which properties can hold at once."""

    def __init__(self, steps: Mapping[int, Step], budget: Budget) -> None:
        self._triggers = {number: lift(step.trigger, BOOL) for number, step in steps.items()}
        self._budget = budget
        self._solver = z3.Solver()
        for number, step in steps.items():
            self._solver.add(z3.Implies(_holds(number), lift(negate(step.harm), BOOL)))

    def run(self) -> Iterator[tuple[tuple[int, ...], int | None]]:
        """The numbers that contradict each other, and which one's condition they do so about, which then stands
        first."""
        open_ = set(self._triggers)
        for about in (None, *self._triggers):
            while about is None or about in open_:
                found = self._contradiction(open_, about)
                if not found:
                    break
                open_ -= set(found)
                yield found, about

    def _contradiction(self, numbers: set[int], about: int | None) -> tuple[int, ...]:
        """Properties that cannot hold at once: at all, or where the condition of `about`, one of them, holds, which
        could hold without it. Nothing if there are no two of them."""
        trigger = z3.BoolVal(True) if about is None else self._triggers[about]
        if not self._clash(numbers, trigger):
            return ()
        if about is not None and self._clash(numbers - {about}, trigger):
            return ()
        if about is None:
            return self._shrink(numbers, set(), trigger)
        others = self._shrink(numbers - {about}, {about}, trigger)
        return (about, *others) if others else ()

    def _shrink(self, numbers: set[int], kept: set[int], trigger: Any) -> tuple[int, ...]:
        """Those of the numbers of which none can be left out, later ones left out first."""
        for number in sorted(numbers, reverse=True):
            if self._clash((numbers | kept) - {number}, trigger):
                numbers = numbers - {number}
        return tuple(sorted(numbers))

    def _clash(self, numbers: set[int], trigger: Any) -> bool:
        """Whether they surely cannot hold at once. What the solver needs of them is all that is asked for later."""
        return self._budget.check(self._solver, trigger, *map(_holds, sorted(numbers))) == "unsat"


def _holds(number: int) -> Any:
    return z3.Bool(f"$holds{number}")
