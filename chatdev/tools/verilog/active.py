"""Which assignments gave a signal its value: the conditions of a design, evaluated with what a simulation recorded.

Beyond VerilogCoder's tracing (arXiv 2408.08927, §3.3), which names every assignment of a signal. Values of x and z take
the way that the simulator takes. Whatever cannot be evaluated (loops, memories, real numbers) is kept: no assignment is
left out that might have been the one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from chatdev.tools.verilog.design.decisions import Decision
from chatdev.tools.verilog.design.design import Design
from chatdev.tools.verilog.design.elaborate import too_deep
from chatdev.tools.verilog.design.evaluate import Evaluation
from chatdev.tools.verilog.design.places import place_of
from chatdev.tools.verilog.design.reads import Reader
from chatdev.tools.verilog.design.records import Assignment, Condition, Loop, Part, Process
from chatdev.tools.verilog.history import Sample


@dataclass(frozen=True, slots=True)
class Reached:
    """An assignment that was carried out, `certain` or perhaps, and what it took its value from. `writes` are the bits
    it wrote, all of them when `exact`; `earlier` are the signals that the same run had written before, at once; `inner`
    was carried out in the functions that it calls."""

    assignment: Assignment
    certain: bool
    writes: tuple[Part, ...]
    exact: bool
    reads: tuple[Part, ...]
    earlier: frozenset[str]
    inner: tuple[Reached, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """An assignment that was not carried out; the conditions that were looked at, what they read, and what was carried
    out in the functions that they call."""

    assignment: Assignment
    conditions: tuple[Condition, ...]
    reads: tuple[Part, ...]
    inner: tuple[Reached, ...] = ()


def run(design: Design, process: Process, part: Part, sample: Sample, *, held: bool) -> list[Reached | Held]:
    """Let a process run with the values of a sample; what became of the assignments that may write any bit of `part`,
    in the order in which they take effect (nonblocking ones after all others), of those that were not carried out only
    if `held`. Raises DesignError when it is nested too deeply."""
    try:
        return _Runner(design, process, part, Evaluation(design, sample.values, process.signals), held).run()
    except RecursionError:  # reading by values goes a little deeper than reading without
        raise too_deep() from None


class _Runner:
    """One run. `callers` are the processes that it is called from when it is that of a function; then `part` is None,
    and every assignment is noted."""

    def __init__(self, design: Design, process: Process, part: Part | None, now: Evaluation, held: bool,
                 callers: tuple[Process, ...] = ()) -> None:
        self._design, self._process, self._part, self._now = design, process, part, now
        self._held, self._callers = held, callers
        self._branches: dict[int, int | None] = {}
        self._loops: set[Loop] = set()
        self._earlier: set[str] = set()
        self._found: list[Reached | Held] = []

    def run(self) -> list[Reached | Held]:
        if not self._process.straight:  # nobody knows when: what they write is unknown all the time
            self._forget(self._process.assignments)
        for assignment in self._process.assignments:
            self._enter(assignment)
            reached, way = self._way(assignment)
            if (self._held or reached is not False) and (self._part is None or assignment.writes(self._part)):
                self._note(assignment, reached, way)
            if assignment.blocking and reached is not False:
                self._carry_out(assignment, reached)
        return sorted(self._found, key=lambda one: not one.assignment.blocking)

    def _enter(self, assignment: Assignment) -> None:
        """What a loop assigns is not known from its start on: nobody counts its rounds."""
        loop = assignment.loop
        if loop is not None and loop not in self._loops:
            self._loops.add(loop)
            self._forget(other for other in self._process.assignments if other.loop == loop)

    def _forget(self, assignments: Iterable[Assignment]) -> None:
        for assignment in assignments:
            if assignment.blocking:
                self._now.forget(assignment.targets)
                self._earlier |= {target.signal for target in assignment.targets}

    def _way(self, assignment: Assignment) -> tuple[bool | None, tuple[Condition, ...]]:
        """Whether it is reached, None for perhaps; and the conditions that were looked at."""
        certain = self._process.straight
        for number, condition in enumerate(assignment.conditions, start=1):
            branch = self._branch(condition.decision)
            if branch is not None and branch != condition.branch:
                return False, assignment.conditions[:number]
            certain = certain and branch is not None
        return certain or None, assignment.conditions

    def _branch(self, decision: Decision) -> int | None:
        """Each decision is taken once, when its first assignment comes: later ones change what it looked at."""
        if id(decision) not in self._branches:
            self._branches[id(decision)] = decision.branch(self._now.value)
        return self._branches[id(decision)]

    def _note(self, assignment: Assignment, reached: bool | None, way: tuple[Condition, ...]) -> None:
        reader = Reader(self._design.names, self._now.value)
        for condition in way:
            for expression in condition.decision.consulted(condition.branch):
                reader.read(expression)
        if reached is False:
            self._found.append(Held(assignment, way, reader.found.parts, self._functions(reader)))
            return
        writes, exact = self._writes(assignment, reader)
        if self._part is None or any(target.overlaps(self._part) for target in writes):
            self._take(assignment, reader, writes, exact)
            self._found.append(Reached(assignment, reached is True, writes, exact, reader.found.parts,
                                       frozenset(self._earlier), self._functions(reader)))

    def _writes(self, assignment: Assignment, reader: Reader) -> tuple[tuple[Part, ...], bool]:
        """What it writes, with what is known of its indices, which are read."""
        left = getattr(assignment.whole, "left", None)
        place = None if assignment.exact or left is None else place_of(left, self._now.value)
        part = self._design.names.part(place) if place else None
        if place is None or part is None:
            return assignment.targets, assignment.exact
        for index in place.indices:
            reader.read(index)
        return (part,), place.exact

    def _take(self, assignment: Assignment, reader: Reader, writes: tuple[Part, ...], exact: bool) -> None:
        """Read the value it takes; only the bits that matter where it writes one piece."""
        if assignment.taken is None:
            reader.found.data.update(dict.fromkeys(assignment.data))
        elif exact and len(writes) == 1 and self._part is not None:
            low = max(self._part.low, writes[0].low)
            high = min(self._part.low + self._part.width, writes[0].low + writes[0].width)
            reader.read(assignment.taken, low - writes[0].low, high - low)
        else:
            reader.read(assignment.taken)

    def _functions(self, reader: Reader) -> tuple[Reached, ...]:
        return tuple(one for call in reader.found.calls for one in self._function(call))

    def _function(self, call: Any) -> list[Reached]:
        """What is carried out in a function, with its arguments as they are now."""
        process = self._design.functions[call.subroutine.hierarchicalPath]
        if any(caller is process for caller in self._callers):
            return []
        now = self._now.within(process.signals)
        for argument, given in zip(process.arguments, call.arguments, strict=True):
            now.give(argument, self._now.constant(given))
        ran = _Runner(self._design, process, None, now, False, (*self._callers, process)).run()
        return [one for one in ran if isinstance(one, Reached)]

    def _carry_out(self, assignment: Assignment, reached: bool | None) -> None:
        self._earlier |= {target.signal for target in assignment.targets}
        if reached and assignment.loop is None:
            self._now.carry_out(assignment)
        else:
            self._now.forget(assignment.targets)
