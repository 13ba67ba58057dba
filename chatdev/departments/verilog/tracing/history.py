"""What the signals of a design did for some time before a mismatch, ready to be asked for one time after the other."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from chatdev.departments.verilog.design.records import Decision, Part, Trigger
from chatdev.departments.verilog.waveform.waves import Waves

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
