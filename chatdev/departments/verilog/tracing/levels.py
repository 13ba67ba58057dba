"""A trace: level by level what drives the wrong outputs, which source lines these are, and how reports show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.records import Assignment, Condition, Part, Trigger
from chatdev.departments.verilog.tracing.history import History
from chatdev.departments.verilog.waveform.comparison import value_text


class Watch(NamedTuple):
    """Bits of a signal, as they were just before `time` (None: at any time). `value` is theirs where no waveform has
    it, but what took them over does, as of a word of a memory."""

    part: Part
    time: int | None = None
    value: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """An assignment that gave `of` its value, or (`certain` is False) may have done so.

    `sampled` is the time just before which its values were taken; with None any time is meant. Of `late` signals the
    values count that they got at that time. `made` is the value that it makes, where `of` had another one afterwards:
    then something else wrote that as well.
    """

    of: Watch
    assignment: Assignment
    sampled: int | None
    certain: bool
    late: frozenset[str] = frozenset()
    made: str = ""

    def lines(self, design: Design) -> frozenset[int]:
        """Its source lines; where a time is known, only those that tell something."""
        known = self.sampled is not None
        return design.telling_lines_of(self.assignment) if known else design.lines_of(self.assignment)


@dataclass(frozen=True, slots=True)
class Wait:
    """Conditions because of which `of` did not get another value at `sampled`, when one of `triggers` came; without
    conditions none of these had come before that time. `late` as in `Step`."""

    of: Watch
    conditions: tuple[Condition, ...]
    triggers: tuple[Trigger, ...]
    sampled: int
    late: frozenset[str] = frozenset()

    def lines(self, design: Design) -> set[int]:
        """What was looked at; the label of a `case` too when it was the only one that would have led on. Edges that
        most blocks wait for only where none has come yet."""
        looked_at = {line for one in self.conditions for line in (*one.head, *one.repeats)}
        label = self.conditions[0].lines if len(self.conditions) == 1 else ()
        edges = {trigger.line for trigger in self.triggers}
        return looked_at | {*label} | (edges - design.usual_edges if self.conditions else edges)

    @property
    def is_at_edge(self) -> bool:
        """Whether it is about conditions of a block that runs at edges."""
        return bool(self.conditions) and any(trigger.edge != "change" for trigger in self.triggers)


@dataclass(slots=True)
class Level:
    """What drives the signals that the level before reads; the first is that of the outputs. What is `leapt` over lies
    between the two: lines of levels before had set it."""

    watched: list[Watch] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    leapt: list[Watch] = field(default_factory=list)

    def add(self, other: Level) -> None:
        """Take in what another one has."""
        self.watched += other.watched
        self.steps += other.steps
        self.waits += other.waits

    def lines(self, design: Design) -> set[int]:
        """The source lines of its assignments and of the conditions that were looked at."""
        return set[int]().union(*(step.lines(design) for step in self.steps),
                                *(wait.lines(design) for wait in self.waits))

    @property
    def signals(self) -> list[str]:
        """The names of the signals watched."""
        return [watch.part.signal for watch in self.watched]


@dataclass(frozen=True, slots=True)
class Trace:
    """Levels of assignments, and the signals that the next level would be about. One that `is_cut` was broken off where
    it took too long."""

    design: Design
    levels: tuple[Level, ...]
    next: tuple[Watch, ...]
    is_cut: bool = False

    def lines(self, levels: int | None = None) -> tuple[int, ...]:
        """The source lines of the first levels: assignments, conditions, the edges of clocked blocks, and declarations
        where a width may be wrong."""
        found = {self.design.declared[signal] for signal in self.doubtful_signals(levels)}
        return tuple(sorted(found.union(*(level.lines(self.design) for level in self.levels[:levels]))))

    def doubtful_signals(self, levels: int | None = None) -> tuple[str, ...]:
        """The signals whose width may be wrong: outputs of several bits, and what does not fit where it is used."""
        outputs = {port.name for port in self.design.ports if port.width > 1}
        doubtful = {misfit.signal for misfit in self.design.misfits}
        if self.levels[:levels]:
            doubtful |= outputs.intersection(self.levels[0].signals)
        return tuple(signal for signal in self._signals(self.levels[:levels]) if signal in doubtful)

    @staticmethod
    def _signals(levels: Sequence[Level]) -> dict[str, None]:
        """All signals of these levels: those that are watched, then those that their assignments write and read."""
        found = dict.fromkeys(signal for level in levels for signal in level.signals)
        for step in (step for level in levels for step in level.steps):
            found |= dict.fromkeys(part.signal for part in (*step.assignment.targets, *step.assignment.data))
        return found


@dataclass(frozen=True, slots=True)
class Cause:
    """Lines that gave a signal its value. `sampled` is the time of the edge of a clocked block, else None; `made` is
    the value that they made, where the signal had another one afterwards."""

    lines: tuple[int, ...]
    because: tuple[str, ...]
    sampled: int | None
    certain: bool
    made: str = ""


@dataclass(frozen=True, slots=True)
class SignalReport:
    """A signal of a level, with its value just before `time`, the causes, and the conditions that kept it from getting
    another value, in a clocked block at the edge at `kept`; or the edges for which it waits, when none has come yet.
    `late` are signals that changed at the very edge, and whose new values were seen; `either` says that the old ones
    explain as much."""

    name: str
    value: str
    time: int | None
    causes: tuple[Cause, ...]
    waits: tuple[str, ...]
    kept: int | None
    edges: tuple[str, ...]
    wait_lines: tuple[int, ...]
    late: tuple[str, ...]
    either: bool


def signal_reports(trace: Trace, history: History) -> list[list[SignalReport]]:
    """The levels as reports show them; signals without a driver in the design, its inputs above all, are left out."""
    return [[report for watch in level.watched for report in _reports(trace, level, watch, history)]
            for level in trace.levels]


def _reports(trace: Trace, level: Level, watch: Watch, history: History) -> Iterable[SignalReport]:
    """The report of one signal, if anything drives it."""
    steps = [step for step in level.steps if step.of == watch]
    waits = [wait for wait in level.waits if wait.of == watch]
    if steps or waits:
        conditions = _subjects(waits)
        yield SignalReport(
            name=trace.design.names.text_of(watch.part), value=_value(watch, history), time=watch.time,
            causes=tuple(dict.fromkeys(_cause(trace, step) for step in steps)), waits=conditions,
            kept=_last_edge(waits), edges=() if conditions else _edges(waits),
            wait_lines=_wait_lines(waits, trace.design),
            late=_late_signals(steps, waits), either=_is_doubtful(steps, waits))


def _cause(trace: Trace, step: Step) -> Cause:
    clocked = trace.design.process_of(step.assignment).is_clocked
    because = tuple(condition.text if condition.holds else f"not ({condition.text})"
                    for condition in step.assignment.conditions)
    return Cause(tuple(sorted(step.lines(trace.design))), because, step.sampled if clocked else None,
                 step.certain, value_text(step.made))


def _subjects(waits: Sequence[Wait]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(condition.subject for wait in waits for condition in wait.conditions))


def _last_edge(waits: Sequence[Wait]) -> int | None:
    return max((wait.sampled for wait in waits if wait.is_at_edge), default=None)


def _wait_lines(waits: Sequence[Wait], design: Design) -> tuple[int, ...]:
    return tuple(sorted(set[int]().union(*(wait.lines(design) for wait in waits))))


def _late_signals(steps: Sequence[Step], waits: Sequence[Wait]) -> tuple[str, ...]:
    return tuple(sorted(frozenset[str]().union(*(step.late for step in steps), *(wait.late for wait in waits))))


def _is_doubtful(steps: Sequence[Step], waits: Sequence[Wait]) -> bool:
    """Whether old values are among what explains a signal."""
    return frozenset() in {*(step.late for step in steps), *(wait.late for wait in waits)}


def _edges(waits: Sequence[Wait]) -> tuple[str, ...]:
    edges = (f"{trigger.edge} of {trigger.part.signal}" for wait in waits for trigger in wait.triggers)
    return tuple(dict.fromkeys(edges))


def _value(watch: Watch, history: History) -> str:
    """The value of these bits, empty when nobody has it."""
    return value_text(history.value_before(watch.part, watch.time) or watch.value)
