"""Which assignments gave a signal its value: a process is run again with the values that a simulation recorded.

Beyond VerilogCoder's tracing (arXiv 2408.08927, §3.3), which names every assignment of a signal. Values of x and z take
the way that the simulator takes. Whatever cannot be evaluated (loops, memories, real numbers) is kept: no assignment is
left out that might have been the one.

A clocked block sees what held before its edge, except for what changed at that very edge and first: a bench that drives
an input without `<=`, or a blocking assignment of another clocked block. The order is the simulator's; which it was can
often be told from what the block made of it (`samples_as_seen`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.elaborate import Evaluation, nesting_error
from chatdev.departments.verilog.design.reads import Reader
from chatdev.departments.verilog.design.records import Assignment, Condition, Decision, Loop, Part, Process, bits
from chatdev.departments.verilog.design.selections import selection_of, strip_conversions
from chatdev.departments.verilog.tracing.history import SignalSample, bits_in


@dataclass(frozen=True, slots=True)
class ExecutedAssignment:
    """An assignment that was executed, `certain` or perhaps, and what it took its value from. `writes` are the bits
    it wrote, all of them when `exact`; `earlier` are the signals that the same run had written before, at once; `inner`
    was executed in the functions that it calls. The bits that were asked for are those of `copied` as they are."""

    assignment: Assignment
    certain: bool
    writes: tuple[Part, ...]
    exact: bool
    reads: tuple[Part, ...]
    earlier: frozenset[str]
    inner: tuple[ExecutedAssignment, ...] = ()
    copied: Part | None = None


@dataclass(frozen=True, slots=True)
class SkippedAssignment:
    """An assignment that was not executed; the conditions that were looked at, what they read, and what was executed in
    the functions that they call."""

    assignment: Assignment
    conditions: tuple[Condition, ...]
    reads: tuple[Part, ...]
    inner: tuple[ExecutedAssignment, ...] = ()


def run_process(design: Design, process: Process, part: Part, sample: SignalSample, *,
                skipped: bool) -> list[ExecutedAssignment | SkippedAssignment]:
    """Run a process with the values of a sample: what became of the assignments that may write any bit of `part`, in
    the order in which they take effect (nonblocking ones after all others); those that were not executed only if
    `skipped`. Raises DesignError when it is nested too deeply."""
    def begin() -> Evaluation:
        if process.is_nonblocking:  # nothing that it writes changes what later runs see
            return _start_of(design, process, sample)
        return design.evaluation(sample.values, process.signals)

    try:
        return sample.once((process, part, skipped), _ProcessRun(
            design, process, part, begin, skipped, sample.decided).run)
    except RecursionError:  # reading by values goes a little deeper than reading without
        raise nesting_error() from None


class _ProcessRun:
    """One run, with what `begin` knows, as soon as that is asked for; `branches` are those that are known. `callers`
    are the processes that it is called from when it is that of a function; then `part` is None, and every assignment
    is noted."""

    def __init__(self, design: Design, process: Process, part: Part | None, begin: Callable[[], Evaluation],
                 skipped: bool, branches: dict[Decision, int | None], callers: tuple[Process, ...] = ()) -> None:
        self._design, self._process, self._part, self._begin = design, process, part, begin
        self._skipped, self._branches, self._callers = skipped, branches, callers
        self._loops: set[Loop] = set()
        self._earlier: set[str] = set()
        self._found: list[ExecutedAssignment | SkippedAssignment] = []

    @functools.cached_property
    def _now(self) -> Evaluation:
        return self._begin()

    def run(self) -> list[ExecutedAssignment | SkippedAssignment]:
        if not self._process.in_order:  # nobody knows when: what they write is unknown all the time
            self._forget(self._process.assignments)
        process, part = self._process, self._part
        noted = process.assignments if part is None else process.writers(part)
        which = set(map(id, noted))
        for assignment in noted if process.is_nonblocking else process.assignments:  # others change nothing seen here
            self._reach(assignment, id(assignment) in which)
        return sorted(self._found, key=lambda one: not one.assignment.blocking)

    def _reach(self, assignment: Assignment, is_noted: bool) -> None:
        self._enter_loop(assignment)
        reached, way = self._find_way(assignment)
        if is_noted and (self._skipped or reached is not False):
            self._note(assignment, reached, way)
        if assignment.blocking and reached is not False:
            self._execute(assignment, reached)

    def _enter_loop(self, assignment: Assignment) -> None:
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

    def _find_way(self, assignment: Assignment) -> tuple[bool | None, tuple[Condition, ...]]:
        """Whether it is reached, None for perhaps; and the conditions that were looked at."""
        certain = self._process.in_order
        for number, condition in enumerate(assignment.conditions, start=1):
            branch = self._branch_of(condition.decision)
            if branch is not None and branch != condition.branch:
                return False, assignment.conditions[:number]
            certain = certain and branch is not None
        return certain or None, assignment.conditions

    def _branch_of(self, decision: Decision) -> int | None:
        """Each decision is taken once, when its first assignment comes: later ones change what it looked at."""
        if decision not in self._branches:
            self._branches[decision] = decision.branch(self._now.value)
        return self._branches[decision]

    def _note(self, assignment: Assignment, reached: bool | None, way: tuple[Condition, ...]) -> None:
        reader = Reader(self._design.names, self._now.value)
        for condition in way:
            for expression in condition.decision.expressions_for(condition.branch):
                reader.found.add(self._now.reads_of(expression))
        if reached is False:
            self._found.append(SkippedAssignment(assignment, way, reader.found.parts, self._run_functions(reader)))
            return
        writes, exact = self._find_writes(assignment, reader)
        if self._part is None or any(target.overlaps(self._part) for target in writes):
            self._read_value(assignment, reader, writes, exact)
            copied = self._find_copied(assignment, writes[0]) if exact and len(writes) == 1 else None
            self._found.append(ExecutedAssignment(assignment, reached is True, writes, exact, reader.found.parts,
                                                  frozenset(self._earlier), self._run_functions(reader), copied))

    def _find_writes(self, assignment: Assignment, reader: Reader) -> tuple[tuple[Part, ...], bool]:
        """What it writes, with what is known of its indices, which are read."""
        left = getattr(assignment.operation, "left", None)
        selection = None if assignment.exact or left is None else selection_of(left, self._now.value)
        part = self._design.names.part(selection) if selection else None
        if selection is None or part is None:
            return assignment.targets, assignment.exact
        for index in selection.indices:
            reader.read(index)
        return (part,), selection.exact

    def _read_value(self, assignment: Assignment, reader: Reader, writes: tuple[Part, ...], exact: bool) -> None:
        """Read the value it takes; only the bits that matter where it writes one piece."""
        if assignment.value is None:
            reader.found.data.update(dict.fromkeys(assignment.data))
        elif exact and len(writes) == 1 and self._part is not None:
            low = max(self._part.low, writes[0].low)
            high = min(self._part.low + self._part.width, writes[0].low + writes[0].width)
            reader.read(assignment.value, low - writes[0].low, high - low)
        else:
            reader.read(assignment.value)

    def _find_copied(self, assignment: Assignment, written: Part) -> Part | None:
        """The bits that it takes over as those that were asked for."""
        if assignment.value is None or self._part is None or not written.covers(self._part):
            return None
        expression = strip_conversions(assignment.value)
        low, bit_count = self._part.low - written.low, expression.type.bitstreamWidth
        selection = selection_of(expression, self._now.value) if low + self._part.width <= bit_count else None
        if selection is None or not selection.exact:
            return None
        return self._design.names.part(selection.narrow(low, self._part.width))

    def _run_functions(self, reader: Reader) -> tuple[ExecutedAssignment, ...]:
        return tuple(one for call in reader.found.calls for one in self._run_function(call))

    def _run_function(self, call: Any) -> list[ExecutedAssignment]:
        """What is executed in a function, with its arguments as they are now."""
        process = self._design.functions[call.subroutine.hierarchicalPath]
        if any(caller is process for caller in self._callers):
            return []
        now = self._now.copy_for(process.signals)
        for argument, given in zip(process.arguments, call.arguments, strict=True):
            now.give(argument, self._now.constant(given))
        ran = _ProcessRun(self._design, process, None, lambda: now, False, {}, (*self._callers, process)).run()
        return [one for one in ran if isinstance(one, ExecutedAssignment)]

    def _execute(self, assignment: Assignment, reached: bool | None) -> None:
        self._earlier |= {target.signal for target in assignment.targets}
        if reached and assignment.loop is None:
            self._now.execute(assignment)
        else:
            self._now.forget(assignment.targets)


def _start_of(design: Design, process: Process, sample: SignalSample) -> Evaluation:
    """What a process knows before it writes anything: one evaluation for all that only ask."""
    return sample.once(process, lambda: design.evaluation(sample.values, process.signals))


def samples_as_seen(design: Design, process: Process, part: Part, sample: SignalSample,
                    value: str = "") -> list[SignalSample]:
    """The sample with the values that a process saw when it made what became of `part`; two of them where it may have
    seen what held before the edge or what changed at it, as both explain the same. `value` is that of a part which no
    waveform has, empty when it is not known. Raises DesignError."""
    changed = _find_races(design, process, sample)
    after = bits_in(sample.after, part)
    result = _result(design, process, part, sample, value) if changed else None
    if not changed or (result is None and after):
        return [sample]
    late = sample.seen_late(changed)
    other = _result(design, process, part, late, value)
    fitting = {after} if after else {None, value} if value else {result, other}
    return [one for one, made in ((sample, result), (late, other)) if made in fitting] or [sample]


def _find_races(design: Design, process: Process, sample: SignalSample) -> frozenset[str]:
    """The signals that changed at the very edge, and perhaps before the process looked at them."""
    return frozenset(signal for signal in design.racing_in(process)
                     if sample.after.get(signal) != sample.values.get(signal))


def decisive_values(design: Design, process: Process, part: Part, sample: SignalSample) -> tuple[str, ...] | None:
    """The values that decide whether a run writes any bit of `part`: with equal ones it does the same. None where more
    than values decides, or they may have been others."""
    deciders = design.deciders(process, part)
    if deciders is None or not _find_races(design, process, sample).isdisjoint(deciders):
        return None
    return tuple(sample.values.get(signal, "") for signal in deciders)


def _result(design: Design, process: Process, part: Part, sample: SignalSample, value: str) -> str | None:
    """What a process makes of `part`, whose value is `value` where no waveform has it; None when that is not known."""
    ran = run_process(design, process, part, sample, skipped=False)
    if not ran:
        return bits_in(sample.values, part) or value
    last = ran[-1]
    if isinstance(last, SkippedAssignment) or not last.certain or not last.exact:
        return None
    return made_value(design, process, part, last, sample)


def made_value(design: Design, process: Process, part: Part, one: ExecutedAssignment,
               sample: SignalSample) -> str | None:
    """What an assignment makes of `part`; None when that is not known: where it depends on what the same run did
    before, or where it is not known which bits are written, unless all are alike."""
    expression = one.assignment.value
    if expression is None or len(one.writes) != 1 or not one.earlier.isdisjoint(read.signal for read in one.reads):
        return None
    found = _start_of(design, process, sample).value(expression)
    made = "" if found is None else bits(found)
    if one.exact and one.assignment.loop is None:
        return _bits_for(part, one.writes[0], made)
    return made[0] * part.width if len(set(made)) == 1 else None


def _bits_for(part: Part, written: Part, made: str) -> str | None:
    """Those of a part among all that were written."""
    if not written.covers(part) or len(made) != written.width:
        return None
    return bits_in({part.signal: made}, part._replace(low=part.low - written.low))
