"""From wrong outputs back over what drives them, level by level (VerilogCoder, arXiv 2408.08927, §3.3)."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chatdev.tools.verilog.active import Held, Reached, run
from chatdev.tools.verilog.design.design import Design
from chatdev.tools.verilog.design.records import Assignment, Condition, Kind, Part, Process, Trigger, unique
from chatdev.tools.verilog.history import History, Sample
from chatdev.tools.verilog.races import as_seen

_WIRES: tuple[Kind, ...] = ("port", "continuous")
_OUTPUTS = 8  # that are followed for the one that leads to the fewest lines
_RUNS = 64  # of one process that are looked at for an assignment that is older than the last of them


@dataclass(frozen=True, slots=True)
class Watch:
    """Bits of a signal, as they were just before `time` (None: at any time)."""

    part: Part
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """An assignment that gave `of` its value, or (`certain` is False) may have done so.

    `sampled` is the time just before which its values were taken; with None any time is meant. Of `late` signals the
    values count that they got at that time.
    """

    of: Watch
    assignment: Assignment
    sampled: int | None
    certain: bool
    late: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Wait:
    """Conditions because of which `of` did not get another value at `sampled`, when one of `triggers` came; without
    conditions none of these had come before that time. `late` as in `Step`."""

    of: Watch
    conditions: tuple[Condition, ...]
    triggers: tuple[Trigger, ...]
    sampled: int
    late: frozenset[str] = frozenset()

    @property
    def lines(self) -> set[int]:
        """What was looked at; the label of a `case` too when it was the only one that would have led on."""
        looked_at = {line for one in self.conditions for line in (*one.head, *one.twins)}
        label = self.conditions[0].lines if len(self.conditions) == 1 else ()
        return looked_at | {*label} | {trigger.line for trigger in self.triggers}


@dataclass(slots=True)
class Level:
    """What drives the signals that the level before reads; the first is that of the outputs."""

    watched: list[Watch] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Trace:
    """Levels of assignments, and the signals that the next level would be about."""

    design: Design
    levels: tuple[Level, ...]
    next: tuple[Watch, ...]

    def lines(self, levels: int | None = None) -> tuple[int, ...]:
        """The source lines of the first levels: assignments, conditions, the edges of clocked blocks, and declarations
        where a width may be wrong."""
        found = {self.design.declared[signal] for signal in self.doubtful(levels)}
        for level in self.levels[:levels]:
            for step in level.steps:
                found.update(lines_of(self.design, step.assignment))
            for wait in level.waits:
                found.update(wait.lines)
        return tuple(sorted(found))

    def doubtful(self, levels: int | None = None) -> tuple[str, ...]:
        """The signals whose width may be wrong: outputs of several bits, and what does not fit where it is used."""
        named = dict.fromkeys(watch.part.signal for level in self.levels[:levels] for watch in level.watched)
        named |= dict.fromkeys(part.signal for level in self.levels[:levels] for step in level.steps
                               for part in (*step.assignment.targets, *step.assignment.data))
        first = {watch.part.signal for level in self.levels[:1] for watch in level.watched}
        outputs = {port.name for port in self.design.ports if port.width > 1} & first
        misfits = {misfit.signal for misfit in self.design.misfits}
        return tuple(signal for signal in named if signal in outputs or signal in misfits)


def lines_of(design: Design, assignment: Assignment) -> set[int]:
    """The source lines of one assignment, of the constants in it, of the conditions and the loop around it, and of the
    edges that it waits for."""
    heads = [trigger.line for trigger in design.process_of(assignment).triggers]
    return {*assignment.lines, *assignment.declared, *heads, *([assignment.loop.line] if assignment.loop else []),
            *(line for condition in assignment.conditions
              for line in (*condition.lines, *condition.declared, *condition.twins))}


def trace(design: Design, outputs: Iterable[str | Watch], levels: int = 2, history: History | None = None) -> Trace:
    """Follow the outputs back, `levels` deep. Wires of instances, calls of functions and an `assign` that only makes an
    output of other signals count for no level.

    Without a history all drivers are named. With one, and for outputs that have a time, only those that were active:
    of a clocked block at its last edges, of anything else just before; a signal further back at the time at which its
    reader took it. Raises ToolError for an output that the design does not have.
    """
    wrong = [Watch(design.part(one)) if isinstance(one, str) else one for one in outputs]
    watched, seen, found = wrong, set[Watch](), []
    for _ in range(levels):
        level, queue, following = Level(), list(watched), dict[Watch, None]()
        for watch in queue:  # grows while wires lead on
            if watch not in seen:
                seen.add(watch)
                level.watched.append(watch)
                here, after = _Drivers(design, watch, level, _WIRES if watch in wrong else _WIRES[:1]).find(history)
                queue += here
                following.update(dict.fromkeys(after))
        found.append(level)
        watched = [watch for watch in following if watch not in seen]
    return Trace(design, tuple(found), tuple(watched))


def narrowest(design: Design, outputs: Sequence[Watch], levels: int, history: History) -> Trace:
    """The trace of the one output that leads to the fewest lines: were there a single fault, all of them held it. Of
    many outputs some are followed, from the first to the last."""
    some = outputs[::math.ceil(len(outputs) / _OUTPUTS)]
    traces = [trace(design, [output], levels, history) for output in some]
    return min(traces, key=lambda one: len(one.lines()))


class _Drivers:
    """Adds to a level what drives one watched part, and gathers what to watch next: after assignments of the kinds
    `wires` in the same level, after others in the next one."""

    def __init__(self, design: Design, watch: Watch, level: Level, wires: tuple[Kind, ...]) -> None:
        self._design, self._watch, self._level, self._wires = design, watch, level, wires
        self._here: list[Watch] = []
        self._after: list[Watch] = []

    def find(self, history: History | None) -> tuple[list[Watch], list[Watch]]:
        """What to watch in the same level, and in the next one."""
        drivers = self._design.drivers(self._watch.part)
        if not drivers:  # nothing writes these bits: what writes the others may have been meant to
            self._level.steps += [Step(self._watch, other, None, False)
                                  for other in self._design.drivers(self._watch.part.signal)]
        processes = list({driver.process: self._design.process_of(driver) for driver in drivers}.values())
        if history is not None and self._watch.time is not None:
            processes = self._active(processes, history, self._watch.time)
        for process in processes:
            for assignment in process.assignments:
                if assignment.writes(self._watch.part):
                    self._any_time(assignment)
        return self._here, self._after

    def _any_time(self, assignment: Assignment) -> None:
        """Note it with all that it may ever read."""
        if not any(step.assignment is assignment and step.of == self._watch for step in self._level.steps):
            self._level.steps.append(Step(self._watch, assignment, None, False))
        triggers = self._design.process_of(assignment).triggers
        self._lead(assignment, [*assignment.data, *assignment.control, *(one.part for one in triggers)], None)
        calls = [call for condition in assignment.conditions for call in condition.calls]
        for name in dict.fromkeys([*assignment.calls, *calls]):
            for inner in self._design.functions[name].assignments:
                if not any(step.assignment is inner for step in self._level.steps):
                    self._any_time(inner)

    def _lead(self, assignment: Assignment, parts: Iterable[Part], time: int | None) -> None:
        into = self._here if assignment.kind in self._wires else self._after
        into += [Watch(part, time) for part in parts]

    def _active(self, processes: list[Process], history: History, time: int) -> list[Process]:
        """Note what was active when the part got its value; returns the processes of which that is not known."""
        left, unknown = self._watch.part.mask, []
        for process in sorted(processes, key=lambda one: one.kind == "initial"):
            if process.kind != "initial" or left:
                missing, known = self._runs(process, history, time)
                left &= ~_may_write(process, self._watch.part) | missing
                unknown += [] if known else [process]
        return unknown if left else []

    def _runs(self, process: Process, history: History, time: int) -> tuple[int, bool]:
        """Go back over the runs of a process until all bits that it may write are explained; returns those that are
        not, and whether it is known that no run wrote them."""
        left, number = _may_write(process, self._watch.part), 0
        samples = history.runs(process.triggers, time) if process.triggers else history.before(time)
        for number, before in enumerate(itertools.islice(samples, _RUNS), start=1):
            sample = as_seen(self._design, process, self._watch.part, before) if process.clocked else before
            ran = run(self._design, process, self._watch.part, sample, held=number == 1)
            if ran and number > 1:  # what held others back tells something only where anything was reached
                ran = run(self._design, process, self._watch.part, sample, held=True)
            reached = [one for one in ran if isinstance(one, Reached)]
            if number == 1 or reached:
                left = self._keep(process, ran, sample, left)
            if not left or self._written(process, reached):
                return 0, True
            if not all(one.certain for one in reached):
                return left, False
        if number == 0 and history.complete:
            self._never_ran(process, time)
        return left, history.complete and number < _RUNS

    def _never_ran(self, process: Process, time: int) -> None:
        self._level.waits.append(Wait(self._watch, (), process.triggers, time))
        self._after += [Watch(trigger.part, time) for trigger in process.triggers]

    def _keep(self, process: Process, ran: list[Reached | Held], sample: Sample, left: int) -> int:
        """Note the last assignments that write bits of `left`, and those that would have done so later but for their
        conditions; returns the bits that are left then."""
        held, ways = list[Held](), set[int]()
        for one in reversed(ran):
            writes = one.writes if isinstance(one, Reached) else one.assignment.targets
            masks = [target.mask for target in writes if target.signal == self._watch.part.signal]
            if not any(mask & left for mask in masks):
                continue
            if isinstance(one, Held):
                held.append(one)
                continue
            self._step(process, one, sample)
            ways |= {id(condition.decision) for condition in one.assignment.conditions}
            if one.certain and one.exact and not _goes_on(one, self._watch.part.signal):
                left = functools.reduce(lambda rest, mask: rest & ~mask, masks, left)
        # other ways of the decisions that led to what was carried out tell nothing more
        self._wait(process, [one for one in reversed(held) if id(one.conditions[-1].decision) not in ways], sample)
        return left

    def _written(self, process: Process, reached: Sequence[Reached]) -> bool:
        """Whether a run surely wrote the signal, though it is not known by which assignment. What a loop writes counts
        as all of it: it writes the same bits in every run."""
        signal = self._watch.part.signal
        whole = all(target == self._design.part(signal) for one in reached for target in one.writes
                    if target.signal == signal and one.assignment.loop is None)
        return bool(reached) and signal in process.always and whole

    def _step(self, process: Process, reached: Reached, sample: Sample) -> None:
        self._level.steps.append(Step(self._watch, reached.assignment, sample.until, reached.certain, sample.late))
        edge, changed = _after_edge(process, sample), reached.earlier | sample.late
        for part in reached.reads:
            self._lead(reached.assignment, [part], edge if part.signal in changed else sample.until)
        self._lead(reached.assignment, [one.part for one in process.triggers], edge)
        for inner in reached.inner:
            self._step(self._design.process_of(inner.assignment), inner, sample)

    def _wait(self, process: Process, held: Sequence[Held], sample: Sample) -> None:
        conditions = dict.fromkeys(condition for one in held for condition in one.conditions)
        if conditions:
            self._level.waits.append(Wait(self._watch, tuple(conditions), process.triggers, sample.until, sample.late))
            edge = _after_edge(process, sample)
            self._after += [Watch(part, edge if part.signal in sample.late else sample.until)
                            for part in unique(part for one in held for part in one.reads)]
            self._after += [Watch(trigger.part, edge) for trigger in process.triggers]
        for inner in (inner for one in held for inner in one.inner):
            self._step(self._design.process_of(inner.assignment), inner, sample)


def _after_edge(process: Process, sample: Sample) -> int:
    """When what a run wrote at once is seen."""
    return sample.until + 1 if process.clocked else sample.until


def _goes_on(reached: Reached, signal: str) -> bool:
    """Whether it makes its value of what the same run has made of the signal before."""
    return signal in reached.earlier and any(part.signal == signal for part in reached.reads)


def _may_write(process: Process, part: Part) -> int:
    """The bits of a part that a process may write."""
    masks = [target.mask for one in process.assignments for target in one.targets if target.signal == part.signal]
    return part.mask & functools.reduce(int.__or__, masks, 0)
