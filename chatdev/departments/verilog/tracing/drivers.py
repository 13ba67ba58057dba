"""What drives bits of a signal, and what to look at behind it: one step of a trace (VerilogCoder, arXiv 2408.08927),
for which a process is run again."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.elaborate import Evaluation, nesting_error
from chatdev.departments.verilog.design.records import (
    Assignment,
    Condition,
    Decision,
    Kind,
    Loop,
    Part,
    Process,
    bits,
    mask_of,
    name_of,
    unique,
)
from chatdev.departments.verilog.design.statements import Reader, selection_of, strip_conversions
from chatdev.departments.verilog.tracing.trace import History, Level, SignalSample, Step, Wait, Watch, bits_in

# Which assignments gave a signal its value: a process is run again with the values that a simulation recorded.


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


# One step of a trace.

_LOGIC = {"always_comb", "latch"}
_NAMES = {"NamedValue", "HierarchicalValue"}
_RUNS = 128  # of one process that are looked at for an assignment that is older than the last of them


@dataclass(frozen=True, slots=True)
class _PastRun:
    """What became of assignments in one run of a process, in the order in which they took effect; `other` is the same
    where what it saw is doubtful."""

    sample: SignalSample
    results: list[ExecutedAssignment | SkippedAssignment]
    other: _PastRun | None = None

    @property
    def ways(self) -> list[tuple[int, bool]]:
        """Which assignments were executed, and which were not."""
        return [(id(one.assignment), isinstance(one, ExecutedAssignment)) for one in self.results]

    def tell_doubt(self, one: ExecutedAssignment) -> ExecutedAssignment:
        """The assignment, not certain where the run may have seen something else."""
        return one if self.other is None else replace(one, certain=False)

    @property
    def executed_assignments(self) -> list[ExecutedAssignment]:
        return [one for one in self.results if isinstance(one, ExecutedAssignment)]

    @property
    def is_certain(self) -> bool:
        """Whether all that was executed surely was."""
        return all(one.certain for one in self.executed_assignments)

    @property
    def may_write(self) -> bool:
        """Whether anything was executed, in one reading at least."""
        return bool(self.executed_assignments) or (self.other is not None and self.other.may_write)


class Drivers:
    """Adds to a level what drives one watched part, and gathers what to watch next: after assignments of the kinds
    `wires` in the same level, after others in the next one."""

    def __init__(self, design: Design, watch: Watch, level: Level, wires: tuple[Kind, ...]) -> None:
        self._design, self._watch, self._level, self._wires = design, watch, level, wires
        self._part, self._signal = watch.part, watch.part.signal
        self._known_value, self._has_fitting = "", False
        self._is_explained = True  # but for what had another value than was written
        self.runs = 0
        self._here: list[Watch] = []
        self._after: list[Watch] = []

    def find(self, history: History | None) -> tuple[list[Watch], list[Watch]]:
        """What to watch in the same level, and in the next one."""
        drivers = self._design.drivers(self._part)
        if not drivers:  # nothing writes these bits: what writes the others may have been meant to
            self._level.steps += [Step(self._watch, other, None, False) for other in self._design.drivers(self._signal)]
        processes = list({driver.process: self._design.process_of(driver) for driver in drivers}.values())
        if history is not None and self._watch.time is not None:
            self._known_value = history.value_before(self._part, self._watch.time) or self._watch.value
            unknown = self._add_active(processes, history, self._watch.time)
            processes = unknown if self._is_explained else processes
        for process in processes:
            for assignment in process.writers(self._part):
                self._add_at_any_time(assignment)
        return self._here, self._after

    def _add_at_any_time(self, assignment: Assignment) -> None:
        """Add it with all that it may ever read."""
        if not any(step.assignment is assignment and step.of == self._watch for step in self._level.steps):
            self._level.steps.append(Step(self._watch, assignment, None, False))
        triggers = self._design.process_of(assignment).triggers
        self._lead(assignment, map(Watch, (*assignment.data, *assignment.control, *(one.part for one in triggers))))
        for inner in self._called_assignments(assignment):
            if not any(step.assignment is inner for step in self._level.steps):
                self._add_at_any_time(inner)

    def _called_assignments(self, assignment: Assignment) -> list[Assignment]:
        """The assignments of the functions that it may enter."""
        names = sorted(assignment.entered_functions)
        return [inner for name in names for inner in self._design.functions[name].assignments]

    def _lead(self, assignment: Assignment, watches: Iterable[Watch]) -> None:
        into = self._here if assignment.kind in self._wires else self._after
        into += watches

    def _add_active(self, processes: list[Process], history: History, time: int) -> list[Process]:
        """Add what was active when the part got its value; returns the processes of which that is not known."""
        left, unknown = self._part.mask, []
        for process in sorted(processes, key=lambda one: one.kind == "initial"):
            if process.kind != "initial" or left:
                missing, known = self._add_last_runs(process, history, time)
                left &= ~process.writable_bits(self._part) | missing
                unknown += [] if known else [process]
        return unknown if left else []

    def _add_last_runs(self, process: Process, history: History, time: int) -> tuple[int, bool]:
        """Go back over the runs of a process until all bits that it may write are explained; returns those that are
        not, and whether it is known that no run wrote them."""
        left, number = process.writable_bits(self._part), 0
        for number, run in enumerate(self._last_runs(process, history, time), start=1):
            if number == 1 or run.may_write:
                left = self._add_readings(process, run, left)
            if not left or self._is_written(process, run.executed_assignments):
                return 0, True
            if not run.is_certain:
                return left, False
        if number == 0 and history.complete:
            self._level.waits.append(Wait(self._watch, (), process.triggers, time))
            self._watch_triggers(process, time)
        return left, history.complete and number < _RUNS

    def _last_runs(self, process: Process, history: History, time: int) -> Iterator[_PastRun]:
        """The runs of a process before a time, the last one first."""
        samples = (history.samples_at_triggers(process.triggers, time) if process.triggers
                   else history.samples_before(time))
        idle = set[tuple[str, ...]]()  # what decided that a run writes nothing, which is so in most of them
        for number, before in enumerate(itertools.islice(samples, _RUNS)):
            decisive = decisive_values(self._design, process, self._part, before) if number else None
            if decisive in idle:
                yield _PastRun(before, [])
                continue
            run = self._run_as_seen(process, before, is_last=number == 0)
            if decisive is not None and not run.results:
                idle.add(decisive)
            yield run

    def _run_as_seen(self, process: Process, before: SignalSample, *, is_last: bool) -> _PastRun:
        seen = [before]
        if process.is_clocked:
            seen = samples_as_seen(self._design, process, self._part, before, self._watch.value)
        run, *others = (self._run(process, sample, is_last=is_last) for sample in seen)
        other = next((one for one in others if one.ways != run.ways), None)
        return replace(run, other=other) if other else run

    def _run(self, process: Process, sample: SignalSample, *, is_last: bool) -> _PastRun:
        self.runs += 1
        results = run_process(self._design, process, self._part, sample, skipped=is_last)
        if results and not is_last:  # what kept others back tells something only where anything was reached
            results = run_process(self._design, process, self._part, sample, skipped=True)
        return _PastRun(sample, results)

    def _add_readings(self, process: Process, run: _PastRun, left: int) -> int:
        """The same as `_add_run`, of both readings where what the run saw is doubtful."""
        if run.other is None:
            return self._add_run(process, run, left)
        return self._add_run(process, run, left) | self._add_run(process, replace(run.other, other=run), left)

    def _add_run(self, process: Process, run: _PastRun, left: int) -> int:
        """Add the last assignments that write bits of `left`, and those that would have done so later but for their
        conditions; returns the bits that are left then."""
        skipped, ways = list[SkippedAssignment](), set[int]()
        for one in reversed(run.results):
            bits = self._bits_of(one)
            if not bits & left:
                continue
            if isinstance(one, SkippedAssignment):
                skipped.append(one)
                continue
            if self._explain_by(process, run, one, left):
                ways |= {id(condition.decision) for condition in one.assignment.conditions}
                left &= ~bits if _surely_makes_all(one, self._signal) else -1
        # other ways of the decisions that led to what was executed tell nothing more
        self._add_wait(process, [one for one in reversed(skipped) if id(one.conditions[-1].decision) not in ways],
                       run.sample)
        return left

    def _explain_by(self, process: Process, run: _PastRun, one: ExecutedAssignment, left: int) -> bool:
        """Add an assignment, and whether its value fits; not one that may have written other bits, where these would
        have another value had it written them."""
        made = self._made_otherwise(process, one, run.sample) if left == self._part.mask else ""
        self._has_fitting |= not made
        self._is_explained = self._has_fitting
        if made and not (one.certain and one.exact):
            return False
        self._add_step(process, run.tell_doubt(one), run.sample, made)
        return True

    def _made_otherwise(self, process: Process, one: ExecutedAssignment, sample: SignalSample) -> str:
        """What an assignment makes of the part, if the part had another value afterwards; else nothing."""
        after = bits_in(sample.after, self._part) or self._watch.value if process.is_clocked else ""
        made = made_value(self._design, process, self._part, one, sample) if after else None
        differ = any({*both} == {"0", "1"} for both in zip(made or "", after, strict=False))
        return made if made and differ else ""

    def _bits_of(self, one: ExecutedAssignment | SkippedAssignment) -> int:
        """The bits of the signal that it wrote, or would have written."""
        targets = one.writes if isinstance(one, ExecutedAssignment) else one.assignment.targets
        return mask_of(self._signal, targets)

    def _is_written(self, process: Process, executed: Sequence[ExecutedAssignment]) -> bool:
        """Whether a run surely wrote the signal, though it is not known by which assignment. What a loop writes counts
        as all of it: it writes the same bits in every run."""
        whole = all(target == self._design.part(self._signal) for one in executed for target in one.writes
                    if target.signal == self._signal and one.assignment.loop is None)
        return bool(executed) and self._signal in process.always_written and whole

    def _add_step(self, process: Process, executed: ExecutedAssignment, sample: SignalSample, made: str = "") -> None:
        assignment = executed.assignment
        self._level.steps.append(Step(self._watch, assignment, sample.until, executed.certain, sample.late, made))
        edge, changed = _after_edge(process, sample), executed.earlier | _new_signals(process, sample)
        for part in executed.reads:
            value = "" if part != executed.copied or part.signal in sample.values or made else self._known_value
            watch = Watch(part, edge if part.signal in changed else sample.until, value)
            if part.signal in executed.earlier or self._is_next_value(assignment, part):
                self._here.append(watch)  # a variable of the same block, or what another one makes for it alone
            else:
                self._lead(assignment, [watch])
        self._lead(assignment, [Watch(one.part, edge) for one in process.triggers])
        for inner in executed.inner:
            self._add_step(self._design.process_of(inner.assignment), inner, sample)

    def _is_next_value(self, assignment: Assignment, part: Part) -> bool:
        """Whether a register takes the bits as they are, and logic makes them, as in `state <= next`."""
        copies = assignment.value is not None and name_of(assignment.value.kind) in _NAMES
        is_copied = copies and assignment.kind == "clocked" and part.signal in {one.signal for one in assignment.data}
        return is_copied and all(one.kind in _LOGIC for one in self._design.drivers(part))

    def _add_wait(self, process: Process, skipped: Sequence[SkippedAssignment], sample: SignalSample) -> None:
        conditions = dict.fromkeys(condition for one in skipped for condition in one.conditions)
        if conditions:
            self._level.waits.append(Wait(self._watch, tuple(conditions), process.triggers, sample.until, sample.late,
                                          _conditions_behind(skipped)))
            edge, changed = _after_edge(process, sample), _new_signals(process, sample)
            self._after += [Watch(part, edge if part.signal in changed else sample.until)
                            for part in unique(part for one in skipped for part in one.reads)]
            self._watch_triggers(process, edge)
        for inner in itertools.chain.from_iterable(one.inner for one in skipped):
            self._add_step(self._design.process_of(inner.assignment), inner, sample)

    def _watch_triggers(self, process: Process, time: int) -> None:
        self._after += [Watch(trigger.part, time) for trigger in process.triggers]


def _conditions_behind(skipped: Iterable[SkippedAssignment]) -> tuple[Condition, ...]:
    """The conditions that nobody came to, of the one assignment that has any; none where several have."""
    behind = [one.assignment.conditions[len(one.conditions):] for one in skipped]
    [found, *others] = [*filter(None, behind)] or [()]
    return () if others else found


def _after_edge(process: Process, sample: SignalSample) -> int:
    """When what a run wrote at once is seen."""
    return sample.until + 1 if process.triggers else sample.until


def _new_signals(process: Process, sample: SignalSample) -> frozenset[str]:
    """The signals of which a run saw what they became at its very time: those for which it runs, and `late` ones."""
    return sample.late | {trigger.part.signal for trigger in process.triggers if trigger.edge == "change"}


def _surely_makes_all(one: ExecutedAssignment, signal: str) -> bool:
    """Whether it wrote its bits for certain, and whatever they were before."""
    return one.certain and one.exact and not _builds_on_itself(one, signal)


def _builds_on_itself(executed: ExecutedAssignment, signal: str) -> bool:
    """Whether it makes its value of what the same run has made of the signal before."""
    return signal in executed.earlier and any(part.signal == signal for part in executed.reads)
