"""What the solver leaves open, short runs with random inputs may show."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from chatdev.departments.plc.proof.outcomes import Property
from chatdev.departments.plc.proof.properties import ASSERTION, MONITORS, PATTERNS, Step
from chatdev.departments.plc.proof.search import Budget
from chatdev.departments.plc.proof.symbolic_values import entry_variables, values_of
from chatdev.departments.plc.proof.transition import CYCLE, ScanRules
from chatdev.departments.plc.simulation.layout import TooDeep
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.trace import random_inputs
from chatdev.departments.plc.st.core import MOST_TURNS, Expression, Program, Value

CHANCE, MOST_CHANCE = 0.25, 1.0
"""The share of a check's seconds, and the seconds, that they may take."""
_VAIN = 50  # runs after which no more are tried, where none of them came through a scan
_FEW_SCANS = 5  # of a run that is neither one scan nor as long as the search
_CYCLES = (1, 10, 100, 1000)  # milliseconds from scan to scan in a run


class RandomRuns:
    """Runs from the start, in which what is asked for may be seen. A run ends where something is not known."""

    def __init__(self, program: Program, asked: Property, conditions: Sequence[Expression], rules: ScanRules) -> None:
        self._program = program
        self._asked = asked
        self._expressions = conditions
        self._rules = rules
        self._observe = PATTERNS[asked.pattern].observe if asked.pattern in PATTERNS else None
        self._has_scanned = False  # one whole scan, in any run

    def find(self, seconds: float, longest: int) -> tuple[dict[str, Value], ...]:
        """The inputs of each scan of a run whose last scan shows it; empty if none did."""
        try:
            self._machine = Machine(self._program, watches_overflow=self._rules.watch_overflow,
                                    most_turns=min(self._rules.most_turns, MOST_TURNS))
        except TooDeep:
            return ()
        self._conditions = [self._machine.watch(one) for one in self._expressions]
        inputs, dice, budget = random_inputs(self._program), random.Random(0), Budget(seconds)
        for tried, length in enumerate(cycle((1, _FEW_SCANS, longest)), start=1):
            milliseconds = self._rules.cycle_ms or dice.choice(_CYCLES)
            found = self._run(islice(inputs, length), milliseconds)
            if found or not budget.left or (tried >= _VAIN and not self._has_scanned):
                return found
        return ()

    def _run(self, inputs: Iterable[dict[str, Value]], milliseconds: int) -> tuple[dict[str, Value], ...]:
        self._machine.reset()
        monitors: Mapping[str, Any] = dict.fromkeys(MONITORS, False)
        given: list[dict[str, Value]] = []
        for values in inputs:
            before = self._machine.state | values
            given.append({CYCLE: milliseconds, **scalars_in(self._program, values)})
            try:
                after = self._machine.scan(values, milliseconds)
                self._has_scanned = True
                step = self._watch(before, after, monitors) if self._observe else Step(self._breaks())
            except RunTimeFault as fault:
                return tuple(given) if self._is_asked(fault) else ()
            if step.harm:
                return tuple(given)
            monitors = dict.fromkeys(MONITORS, False) | dict(step.monitors)
        return ()

    def _watch(self, before: Mapping[str, Value], after: Mapping[str, Value], monitors: Mapping[str, Any]) -> Step:
        """What the property sees of a scan. Where a condition has no value, that may be harm."""
        assert self._observe is not None
        try:
            return self._observe(lambda number: self._conditions[number](before),
                                 lambda number: self._conditions[number](after), monitors)
        except RunTimeFault:
            return Step(True)

    def _breaks(self) -> bool:
        """Whether the last scan broke the assertion, or wrapped the operator, that is asked for."""
        kind, place, text = duty_of(self._asked)
        if kind == "overflow":
            return any((str(span), operator) == (place, text) for span, operator in self._machine.wrapped)
        return kind == ASSERTION and any(place in ("", str(one.span)) for one in self._machine.broken)

    def _is_asked(self, fault: RunTimeFault) -> bool:
        kind, place, _ = duty_of(self._asked) if self._observe is None else ("", "", "")
        if kind == "loop" and self._rules.most_turns > MOST_TURNS:
            return False
        return (fault.kind, str(fault.span)) == (kind, place) or (self._observe is None and self._breaks())


def scalars_in(program: Program, state: Mapping[str, Value]) -> dict[str, Value]:
    """All scalars of the entry by their paths."""
    found: dict[str, Value] = {}
    for variable in entry_variables(program):
        if variable.name in state:
            found |= values_of(program, variable.type, state[variable.name], variable.name)
    return found


def duty_of(asked: Property) -> tuple[str, ...]:
    """The kind, place and text of what is owed; of all assertions together there is only the kind."""
    return (ASSERTION, "", "") if asked.pattern == ASSERTION else asked.parameters
