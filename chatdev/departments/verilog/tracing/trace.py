"""A trace: level by level what drives the wrong outputs, what these signals did for some time before, which source
lines these are, and how reports show it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.records import Assignment, Condition, Decision, Part, Trigger
from chatdev.departments.verilog.waveform.comparison import value_text
from chatdev.departments.verilog.waveform.waves import Waves


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
    conditions none of these had come before that time. Where only one assignment has conditions that nobody came to,
    these are `behind`. `late` as in `Step`."""

    of: Watch
    conditions: tuple[Condition, ...]
    triggers: tuple[Trigger, ...]
    sampled: int
    late: frozenset[str] = frozenset()
    behind: tuple[Condition, ...] = ()

    def lines(self, design: Design) -> set[int]:
        """What was looked at; the label of a `case` too when it was the only one that would have led on. Edges that
        most blocks wait for only where none has come yet."""
        looked_at = {line for one in (*self.conditions, *self.behind) for line in (*one.head, *one.repeats)}
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

    def __str__(self) -> str:
        """For people: by level the signals, each with the lines that drive it."""
        return "\n".join(f"Level {number}:\n" + "\n".join(self._text_of(level)) for number, level
                         in enumerate(self.levels, start=1) if level.steps or level.waits)

    def _text_of(self, level: Level) -> Iterator[str]:
        """The lines of a level as text."""
        source = self.design.text.splitlines()
        for watch in level.watched:
            lines = sorted(Level([], [one for one in level.steps if one.of == watch],
                                 [one for one in level.waits if one.of == watch]).lines(self.design))
            if lines:
                when = f", just before {watch.time}" if watch.time is not None else ""
                yield f"- {self.design.names.text_of(watch.part)}{when}"
                yield from (f"{number:6} | {source[number - 1]}" for number in lines if number <= len(source))

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


# What the signals of a design did for some time before a mismatch, ready to be asked for one time after the other.

T = TypeVar("T")

_STEPS = 512  # before a mismatch that are looked at
_AFTER = {"posedge": "1", "negedge": "0"}
_OPPOSITE = {"posedge": "negedge", "negedge": "posedge"}


@dataclass(frozen=True, slots=True)
class Past:
    """What happened to signals: the values `before` the first step, and for each step its time and the signals that
    got other values, the oldest first. `complete` says that none is missing at the start."""

    before: dict[str, str]
    steps: list[tuple[int, dict[str, str]]]
    complete: bool = True

    @classmethod
    def of(cls, waves: Waves, scope: str, signals: Iterable[str], time: int) -> Self:
        """The last steps before `time` of those signals below `scope` (`tb.top_module1`) that can be read; raises
        WaveformError."""
        names = {f"{scope}.{signal}": signal for signal in signals}
        last = waves.steps_before(waves.readable(names), time, _STEPS)
        return cls({names[name]: bits for name, bits in last.before.items()},
                   [(moment, {names[name]: bits for name, bits in step.items()}) for moment, step in last.steps],
                   complete=len(last.steps) < _STEPS)


class Values(Mapping[str, str]):
    """The values of signals from one step on, but for those that are `new`; each is looked up when it is asked for."""

    __slots__ = ("_columns", "_known", "_place")

    def __init__(self, columns: Mapping[str, _Column], place: int, new: Mapping[str, str] | None = None) -> None:
        self._columns, self._place, self._known = columns, place, dict(new or {})

    def __getitem__(self, signal: str) -> str:
        if signal not in self._known:
            self._known[signal] = self._columns[signal].value_at(self._place)
        return self._known[signal]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def with_new(self, new: Mapping[str, str]) -> Values:
        """The same where these signals have other values."""
        return Values(self._columns, self._place, {**self._known, **new})


@dataclass(frozen=True, slots=True)
class SignalSample:
    """Values that held just before `until`. For a run of a process, `after` are the values once everything at that time
    has happened, and `late` are the signals for which `values` has those already. What was found out with these values
    is kept, as many ask: `decided` are the branches that were taken, `known` is what processes made of them."""

    values: Values
    until: int
    after: Mapping[str, str] = field(default_factory=dict)
    late: frozenset[str] = frozenset()
    decided: dict[Decision, int | None] = field(default_factory=dict, compare=False)
    known: dict[Any, Any] = field(default_factory=dict, compare=False)

    def seen_late(self, signals: frozenset[str]) -> SignalSample:
        """The same where these signals had already changed."""
        new = {signal: self.after[signal] for signal in signals}
        return self.once(signals, lambda: SignalSample(self.values.with_new(new), self.until, self.after, signals))

    def once(self, key: Any, find: Callable[[], T]) -> T:
        """What `find` gives, which is called for each key but once."""
        if key not in self.known:
            self.known[key] = find()
        found: T = self.known[key]
        return found


class History:
    """A past of which each signal has a column of its own, so that only what is asked for is looked at."""

    def __init__(self, past: Past) -> None:
        self.complete = past.complete
        self._times = [time for time, _ in past.steps]
        self._columns = {signal: _Column(bits) for signal, bits in past.before.items()}
        for place, (_, step) in enumerate(past.steps):
            for signal, bits in step.items():
                self._columns[signal].add(place, bits)
        self._firings: dict[Sequence[Trigger], list[tuple[int, frozenset[str]]]] = {}
        self._samples: dict[tuple[frozenset[str], int, int], SignalSample] = {}

    @classmethod
    def of(cls, waves: Waves, scope: str, signals: Iterable[str], time: int) -> Self:
        """What was before `time`; raises WaveformError."""
        return cls(Past.of(waves, scope, signals, time))

    def samples_before(self, time: int) -> Iterator[SignalSample]:
        """What held just before `time`, then what held before that, and so on."""
        until = time
        for place in reversed(range(bisect_left(self._times, time))):
            yield self._sample_at(place, until)
            until = self._times[place]

    def has(self, signal: str) -> bool:
        """Whether the waveform has its values."""
        return signal in self._columns

    def value_before(self, part: Part, time: int | None) -> str:
        """The bits of a part just before `time`; empty where the waveform does not have them."""
        sample = next(self.samples_before(time), None) if time is not None else None
        return bits_in(sample.values, part) if sample else ""

    def last_change(self, part: Part, time: int) -> int | None:
        """When a part got the value that it had just before `time`; None where that is not known."""
        column = self._columns.get(part.signal)
        place = column.last_change(part, bisect_left(self._times, time)) if column else None
        return None if place is None else self._times[place]

    def samples_at_triggers(self, triggers: tuple[Trigger, ...], time: int) -> Iterator[SignalSample]:
        """What a process saw when it was triggered before `time`, the last time first: of its triggers the new values,
        of everything else those just before (x at the start)."""
        if triggers not in self._firings:
            self._firings[triggers] = list(self._find_firings(triggers))
        firings = self._firings[triggers]
        for at in reversed(range(bisect_left(firings, (bisect_left(self._times, time), frozenset[str]())))):
            place, fired = firings[at]
            yield self._sample_at(place - 1, self._times[place], fired)

    def _find_firings(self, triggers: Iterable[Trigger]) -> Iterator[tuple[int, frozenset[str]]]:
        """At which places there was an edge, and of which signals."""
        found: dict[int, set[str]] = {}
        for trigger in triggers:
            column = self._columns.get(trigger.part.signal)
            for place in column.firings(trigger) if column else ():
                found.setdefault(place, set()).add(trigger.part.signal)
        return ((place, frozenset(found[place])) for place in sorted(found) if place or self.complete)

    def _sample_at(self, place: int, until: int, fired: frozenset[str] = frozenset()) -> SignalSample:
        """One for all that ask, so that what was found out with it is known to all."""
        key = fired, place, until
        if key not in self._samples:
            after = Values(self._columns, place + 1) if fired else {}
            values = Values(self._columns, place, {signal: after[signal] for signal in fired})
            self._samples[key] = SignalSample(values, until, after)
        return self._samples[key]


class _Column:
    """The values of one signal: which it got, and at which places among the steps."""

    __slots__ = ("_bits", "_places")

    def __init__(self, before: str) -> None:
        self._places, self._bits = [-1], [before]

    def add(self, place: int, bits: str) -> None:
        self._places.append(place)
        self._bits.append(bits)

    def value_at(self, place: int) -> str:
        return self._bits[bisect_right(self._places, place) - 1]

    def last_change(self, part: Part, end: int) -> int | None:
        """The last place before `end` at which the bits of a part became others."""
        at = bisect_left(self._places, end) - 1
        now = _bits_of(self._bits[at], part)
        while at > 0 and _bits_of(self._bits[at - 1], part) == now:
            at -= 1
        return self._places[at] if at > 0 else None

    def firings(self, trigger: Trigger) -> Iterator[int]:
        """The places at which a trigger came."""
        part, edge = trigger.part, trigger.edge
        before = _bits_of(self._bits[0], part)
        for place, bits in zip(self._places[1:], self._bits[1:], strict=True):
            now = _bits_of(bits, part)
            if now != before and (edge == "change" or _is_edge(before[-1:], now[-1:], edge)):
                yield place
            before = now


def _is_edge(before: str, now: str, edge: str) -> bool:
    """Whether a bit went to, or came from, where such an edge has to."""
    return before != now and (now == _AFTER[edge] or before == _AFTER[_OPPOSITE[edge]])


def bits_in(values: Mapping[str, str], part: Part) -> str:
    """The bits of a part, empty where there is no value of its signal."""
    return _bits_of(values.get(part.signal, ""), part)


def _bits_of(bits: str, part: Part) -> str:
    return bits[max(0, len(bits) - part.low - part.width):len(bits) - part.low]
