"""What drives bits of a signal, and what to look at behind it: one step of a trace (VerilogCoder, arXiv 2408.08927)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.records import Assignment, Kind, Part, Process, mask_of, unique
from chatdev.departments.verilog.design.source import name_of
from chatdev.departments.verilog.tracing.execution import (
    ExecutedAssignment,
    SkippedAssignment,
    decisive_values,
    made_value,
    run_process,
    samples_as_seen,
)
from chatdev.departments.verilog.tracing.history import History, SignalSample, bits_in
from chatdev.departments.verilog.tracing.levels import Level, Step, Wait, Watch

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
            if not all(one.certain for one in run.executed_assignments):
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
            self._level.waits.append(Wait(self._watch, tuple(conditions), process.triggers, sample.until, sample.late))
            edge, changed = _after_edge(process, sample), _new_signals(process, sample)
            self._after += [Watch(part, edge if part.signal in changed else sample.until)
                            for part in unique(part for one in skipped for part in one.reads)]
            self._watch_triggers(process, edge)
        for inner in itertools.chain.from_iterable(one.inner for one in skipped):
            self._add_step(self._design.process_of(inner.assignment), inner, sample)

    def _watch_triggers(self, process: Process, time: int) -> None:
        self._after += [Watch(trigger.part, time) for trigger in process.triggers]


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
