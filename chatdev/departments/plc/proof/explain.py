"""A counterexample is run in the interpreter, and only what shows there is shown: what changed, and which lines ran."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chatdev.departments.plc.proof.flatten import entry_variables, nest, values_of
from chatdev.departments.plc.proof.outcome import Cycle
from chatdev.departments.plc.proof.properties import MONITORS, Step
from chatdev.departments.plc.proof.transition import CYCLE, Transition
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.values import write_text
from chatdev.departments.plc.st.core import MOST_TURNS, Program, Value

DEFAULT_CYCLE = 100
"""Milliseconds from scan to scan, where nothing depends on it."""
Watch = Callable[[Mapping[str, Value], Mapping[str, Value], Mapping[str, Any]], Step]
"""What a property sees of a scan: the scalars at its begin, at its end, and the monitors."""


class ReplayedRun:
    """A run in the interpreter with given inputs. `shows` tells whether it did what it is meant to show."""

    def __init__(self, transition: Transition, cycle_ms: int | None, watches_overflow: bool = False,
                 most_turns: int = MOST_TURNS) -> None:
        self._transition = transition
        self._program = transition.program
        self._cycle_ms = cycle_ms
        self._machine = Machine(self._program, cycle_ms or DEFAULT_CYCLE, watches_overflow, most_turns)
        self.cycles: list[Cycle] = []
        self.fault: RunTimeFault | None = None

    def shows_harm(self, inputs: Sequence[Mapping[str, Value]], watch: Watch) -> bool:
        """Whether the property sees harm in the last of these scans."""
        monitors: Mapping[str, Any] = dict.fromkeys(MONITORS, False)
        step = Step(False)
        for given in inputs:
            seen = self._scan(given)
            if seen is None:
                return False
            step = watch(*seen, monitors)
            monitors = dict.fromkeys(MONITORS, False) | dict(step.monitors)
        return step.harm is True

    def shows_fault(self, inputs: Sequence[Mapping[str, Value]], kind: str, place: str, text: str) -> bool:
        """Whether the last of these scans ends with this run-time fault, has an assertion that does not hold, or an
        operator `text` whose result does not fit its type."""
        for given in inputs:
            self._scan(given)
            if self.fault is not None:
                break
        if kind == "assertion":
            return any(str(one.span) == place or not place for one in self._machine.broken)
        if kind == "overflow":
            return any((str(span), operator) == (place, text) for span, operator in self._machine.wrapped)
        return self.fault is not None and self.fault.kind == kind and str(self.fault.span) == place

    def _scan(self, given: Mapping[str, Value]) -> tuple[dict[str, Value], dict[str, Value]] | None:
        """The scalars at begin and end of one scan; None if it ended with a fault."""
        before = _flat(self._program, self._machine.state)
        begin = before | {path: value for path, value in self._complete(given, before).items() if path in before}
        inputs = {variable.name: nest(variable.type, begin, variable.name)
                  for variable in entry_variables(self._program) if variable.section in ("input", "in_out")}
        milliseconds = self._cycle_ms or given.get(CYCLE, DEFAULT_CYCLE)
        try:
            self._machine.scan(inputs, milliseconds)
        except RunTimeFault as fault:
            self.fault = fault
        end = _flat(self._program, self._machine.state)
        self._note(before, end, milliseconds)
        return None if self.fault else (begin, end)

    def _complete(self, given: Mapping[str, Value], before: Mapping[str, Value]) -> dict[str, Value]:
        return {path: given.get(path, before[path]) for path in self._transition.inputs if path in before}

    def _note(self, before: Mapping[str, Value], end: Mapping[str, Value], milliseconds: int) -> None:
        first = not self.cycles
        given = [path for path in self._transition.inputs if path in end]
        changed = [path for path in end if repr(end[path]) != repr(before[path]) or (first and path in given)]
        types = self._transition.types
        self.cycles.append(Cycle(len(self.cycles) + 1, milliseconds,
                                 tuple((path, write_text(end[path], types[path])) for path in changed),
                                 tuple(sorted(self._machine.lines)), self.fault.message if self.fault else ""))


def _flat(program: Program, state: Mapping[str, Value]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for variable in entry_variables(program):
        if variable.name in state:
            found |= values_of(program, variable.type, state[variable.name], variable.name)
    return found
