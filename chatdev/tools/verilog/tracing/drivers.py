"""From wrong outputs back over what drives them, level by level (VerilogCoder, arXiv 2408.08927, §3.3)."""

from __future__ import annotations

import functools
import itertools
import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chatdev.tools.verilog.design.design import Design
from chatdev.tools.verilog.design.records import Assignment, Kind, Part, Process, unique
from chatdev.tools.verilog.tracing.execution import (
    ExecutedAssignment,
    SkippedAssignment,
    run_process,
    samples_as_seen,
)
from chatdev.tools.verilog.tracing.history import History, SignalSample
from chatdev.tools.verilog.tracing.levels import Level, Step, Trace, Wait, Watch, lines_of

_WIRES: tuple[Kind, ...] = ("port", "continuous")
_LOGIC: tuple[Kind, ...] = (*_WIRES, "always_comb", "latch")
_OUTPUTS = 8  # that are followed for the one that leads to the fewest lines
_LEAPING = 60  # runs of processes for what was set by lines that were shown, in all levels
_MOST_RUNS = 250  # of processes for one output
_RUNS = 64  # of one process that are looked at for an assignment that is older than the last of them


def trace_outputs(design: Design, outputs: Iterable[str | Watch], levels: int = 2,
                  history: History | None = None) -> Trace:
    """Follow the outputs back, `levels` deep. Wires of instances, calls of functions and an `assign` that only makes an
    output of other signals count for no level. With a history no logic without a register does, nor what was set by the
    same lines as something nearer to the output, such as a counter at each edge: a level leads back over one register,
    to the last other cause.

    Without a history all drivers are named. With one, and for outputs that have a time, only those that were active:
    of a clocked block at its last edges, of anything else just before; a signal further back at the time at which its
    reader took it. Raises ToolError for an output that the design does not have.
    """
    wrong = [Watch(design.part(one)) if isinstance(one, str) else one for one in outputs]
    search = _Search(design, history, wrong)
    for _ in range(levels):
        search.add_level()
    return search.trace


class _Search:
    """The way back from the wrong outputs. `trace` is what was found so far; `_runs` of processes were needed for it,
    `_leaping` of them to leap over what lines that were shown had set."""

    def __init__(self, design: Design, history: History | None, wrong: Sequence[Watch]) -> None:
        self._history, self._wrong = history, wrong
        self._seen, self._runs, self._leaping = set[Watch](), 0, 0
        self._found, self._lines = set[int](), dict[Part, frozenset[int]]()
        self.trace = Trace(design, (), tuple(wrong))

    def add_level(self) -> None:
        """Go one level further back. What only leads to lines that are there already is followed last, the latest of
        it first: in a tree of equal instances this is the way to its leaves, where there is no time for all."""
        level, following = Level(), dict[Watch, None]()
        fresh, stale, shown = deque(self.trace.next), list[Watch](), set(self.trace.lines())
        while fresh or stale:
            watch = fresh.popleft() if fresh else stale.pop()
            if watch in self._seen:
                continue
            if self._runs > _MOST_RUNS:
                following[watch] = None
                continue
            self._seen.add(watch)
            here, after = self._follow(watch, level, shown)
            for one in here:
                (stale if self._lines_to(one.part) <= shown | self._found else fresh).append(one)
            following.update(dict.fromkeys(after))
        self.trace = Trace(self.trace.design, (*self.trace.levels, level),
                           tuple(watch for watch in following if watch not in self._seen), self._runs > _MOST_RUNS)

    def _wires_of(self, watch: Watch) -> tuple[Kind, ...]:
        """What costs no level behind this."""
        if self._history:
            return _LOGIC
        return _WIRES if watch in self._wrong else _WIRES[:1]

    def _lines_to(self, part: Part) -> frozenset[int]:
        """The lines that may give these bits their value."""
        if part not in self._lines:
            design = self.trace.design
            self._lines[part] = frozenset[int]().union(*(lines_of(one, design) for one in design.drivers(part)))
        return self._lines[part]

    def _follow(self, watch: Watch, level: Level, shown: set[int]) -> tuple[list[Watch], list[Watch]]:
        """Add what drives this to the level; returns what to watch in the same level, and in the next one."""
        design, one = self.trace.design, Level([watch])
        drivers = _Drivers(design, watch, one, self._wires_of(watch))
        here, after = drivers.find(self._history)
        self._runs += drivers.runs
        lines = one.lines(design)
        if self._history and self._leaping < _LEAPING and lines and lines <= shown:
            self._leaping += drivers.runs
            level.leaps += 1
            return [*here, *after], []
        level.add(one)
        self._found |= lines
        return here, after


def narrowest_trace(design: Design, outputs: Sequence[Watch], levels: int, history: History) -> Trace:
    """The trace of the one output that leads to the fewest lines: were there a single fault, all of them held it. Of
    many outputs some are followed, from the first to the last; traces that were broken off come last."""
    some = outputs[::math.ceil(len(outputs) / _OUTPUTS)]
    traces = [trace_outputs(design, [output], levels, history) for output in some]
    return min(traces, key=lambda one: (one.is_cut, -len(one.lines()) if one.is_cut else len(one.lines())))


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


class _Drivers:
    """Adds to a level what drives one watched part, and gathers what to watch next: after assignments of the kinds
    `wires` in the same level, after others in the next one."""

    def __init__(self, design: Design, watch: Watch, level: Level, wires: tuple[Kind, ...]) -> None:
        self._design, self._watch, self._level, self._wires = design, watch, level, wires
        self._part, self._signal = watch.part, watch.part.signal
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
            processes = self._add_active(processes, history, self._watch.time)
        for process in processes:
            for assignment in process.assignments:
                if assignment.writes(self._part):
                    self._add_at_any_time(assignment)
        return self._here, self._after

    def _add_at_any_time(self, assignment: Assignment) -> None:
        """Add it with all that it may ever read."""
        if not any(step.assignment is assignment and step.of == self._watch for step in self._level.steps):
            self._level.steps.append(Step(self._watch, assignment, None, False))
        triggers = self._design.process_of(assignment).triggers
        self._lead(assignment, [*assignment.data, *assignment.control, *(one.part for one in triggers)], None)
        for inner in self._called_assignments(assignment):
            if not any(step.assignment is inner for step in self._level.steps):
                self._add_at_any_time(inner)

    def _called_assignments(self, assignment: Assignment) -> list[Assignment]:
        """The assignments of the functions that it may enter."""
        calls = [call for condition in assignment.conditions for call in condition.calls]
        names = dict.fromkeys([*assignment.calls, *calls])
        return [inner for name in names for inner in self._design.functions[name].assignments]

    def _lead(self, assignment: Assignment, parts: Iterable[Part], time: int | None) -> None:
        into = self._here if assignment.kind in self._wires else self._after
        into += [Watch(part, time) for part in parts]

    def _add_active(self, processes: list[Process], history: History, time: int) -> list[Process]:
        """Add what was active when the part got its value; returns the processes of which that is not known."""
        left, unknown = self._part.mask, []
        for process in sorted(processes, key=lambda one: one.kind == "initial"):
            if process.kind != "initial" or left:
                missing, known = self._add_last_runs(process, history, time)
                left &= ~_writable_bits(process, self._part) | missing
                unknown += [] if known else [process]
        return unknown if left else []

    def _add_last_runs(self, process: Process, history: History, time: int) -> tuple[int, bool]:
        """Go back over the runs of a process until all bits that it may write are explained; returns those that are
        not, and whether it is known that no run wrote them."""
        left, number = _writable_bits(process, self._part), 0
        for number, run in enumerate(self._last_runs(process, history, time), start=1):
            if number == 1 or run.executed_assignments:
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
        for number, before in enumerate(itertools.islice(samples, _RUNS)):
            seen = samples_as_seen(self._design, process, self._part, before) if process.is_clocked else [before]
            run, *others = (self._run(process, sample, is_last=number == 0) for sample in seen)
            yield replace(run, other=next((one for one in others if one.ways != run.ways), None))

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
            self._add_step(process, run.tell_doubt(one), run.sample)
            ways |= {id(condition.decision) for condition in one.assignment.conditions}
            if one.certain and one.exact and not _builds_on_itself(one, self._signal):
                left &= ~bits
        # other ways of the decisions that led to what was executed tell nothing more
        self._add_wait(process, [one for one in reversed(skipped) if id(one.conditions[-1].decision) not in ways],
                       run.sample)
        return left

    def _bits_of(self, one: ExecutedAssignment | SkippedAssignment) -> int:
        """The bits of the signal that it wrote, or would have written."""
        targets = one.writes if isinstance(one, ExecutedAssignment) else one.assignment.targets
        return _mask_of(self._signal, targets)

    def _is_written(self, process: Process, executed: Sequence[ExecutedAssignment]) -> bool:
        """Whether a run surely wrote the signal, though it is not known by which assignment. What a loop writes counts
        as all of it: it writes the same bits in every run."""
        whole = all(target == self._design.part(self._signal) for one in executed for target in one.writes
                    if target.signal == self._signal and one.assignment.loop is None)
        return bool(executed) and self._signal in process.always_written and whole

    def _add_step(self, process: Process, executed: ExecutedAssignment, sample: SignalSample) -> None:
        assignment = executed.assignment
        self._level.steps.append(Step(self._watch, assignment, sample.until, executed.certain, sample.late))
        edge, changed = _after_edge(process, sample), executed.earlier | _new_signals(process, sample)
        for part in executed.reads:
            self._lead(assignment, [part], edge if part.signal in changed else sample.until)
        self._lead(assignment, [one.part for one in process.triggers], edge)
        for inner in executed.inner:
            self._add_step(self._design.process_of(inner.assignment), inner, sample)

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


def _builds_on_itself(executed: ExecutedAssignment, signal: str) -> bool:
    """Whether it makes its value of what the same run has made of the signal before."""
    return signal in executed.earlier and any(part.signal == signal for part in executed.reads)


def _writable_bits(process: Process, part: Part) -> int:
    """The bits of a part that a process may write."""
    return part.mask & _mask_of(part.signal, (target for one in process.assignments for target in one.targets))


def _mask_of(signal: str, targets: Iterable[Part]) -> int:
    """The bits of a signal that are among the targets."""
    return functools.reduce(int.__or__, (target.mask for target in targets if target.signal == signal), 0)
