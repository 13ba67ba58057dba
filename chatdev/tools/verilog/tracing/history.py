"""What the signals of a design did for some time before a mismatch, ready to be asked for one time after the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from chatdev.tools.verilog.design.records import Part, Trigger
from chatdev.tools.verilog.waveform.waves import Row, Waves

T = TypeVar("T")

_ROWS = 512  # before a mismatch that are looked at
_AFTER = {"posedge": "1", "negedge": "0"}
_OPPOSITE = {"posedge": "negedge", "negedge": "posedge"}


@dataclass(frozen=True, slots=True)
class SignalSample:
    """Values that held just before `until`. For a run of a process, `after` are the values once everything at that time
    has happened, and `late` are the signals for which `values` has those already. What was found out with these values
    is kept, as many ask: `decided` are the branches that were taken, `known` is what processes made of them."""

    values: Mapping[str, str]
    until: int
    after: Mapping[str, str] = field(default_factory=dict)
    late: frozenset[str] = frozenset()
    decided: dict[int, int | None] = field(default_factory=dict, compare=False)
    known: dict[Any, Any] = field(default_factory=dict, compare=False)

    def seen_late(self, signals: frozenset[str]) -> SignalSample:
        """The same where these signals had already changed."""
        new = {signal: self.after[signal] for signal in signals}
        return self.once(signals, lambda: SignalSample({**self.values, **new}, self.until, self.after, signals))

    def once(self, key: Any, find: Callable[[], T]) -> T:
        """What `find` gives, which is called for each key but once."""
        if key not in self.known:
            self.known[key] = find()
        found: T = self.known[key]
        return found


class History:
    """Rows in the order of time, one wherever a signal changed. `complete` says that none is missing at the start."""

    def __init__(self, rows: Sequence[Row], complete: bool = True) -> None:
        self.rows = rows
        self._times = [row.time for row in rows]
        self._values = [row.values for row in rows]
        self.complete = complete
        self._samples: dict[tuple[frozenset[str], int, int], SignalSample] = {}

    @classmethod
    def of(cls, waves: Waves, scope: str, signals: Iterable[str], time: int) -> Self:
        """The last rows before `time` of those signals below `scope` (`tb.top_module1`) that the waveform has; raises
        WaveformError."""
        names = {f"{scope}.{signal}": signal for signal in signals}
        rows = waves.rows_before([name for name in names if name in waves.signals], time, _ROWS)
        return cls([Row(row.time, {names[name]: bits for name, bits in row.values.items()}) for row in rows],
                   complete=len(rows) < _ROWS)

    def samples_before(self, time: int) -> Iterator[SignalSample]:
        """What held just before `time`, then what held before that, and so on."""
        until = time
        for place in reversed(range(bisect_left(self._times, time))):
            yield self._sample_at(place, frozenset(), until, self._values[place], {})
            until = self._times[place]

    def samples_at_triggers(self, triggers: Sequence[Trigger], time: int) -> Iterator[SignalSample]:
        """What a process saw when it was triggered before `time`, the last time first: of its triggers the new values,
        of everything else those just before (x at the start)."""
        for place in reversed(range(0 if self.complete else 1, bisect_left(self._times, time))):
            new = self._values[place]
            old = self._values[place - 1] if place else {signal: "x" * len(bits) for signal, bits in new.items()}
            fired = {trigger.part.signal for trigger in triggers if _has_fired(trigger, old, new)}
            if fired:
                yield self._sample_at(place, frozenset(fired), self._times[place], old, new)

    def _sample_at(self, place: int, fired: frozenset[str], until: int, old: Mapping[str, str],
                   new: Mapping[str, str]) -> SignalSample:
        """One for all that ask, so that what was found out with it is known to all."""
        key = fired, place, until
        if key not in self._samples:
            self._samples[key] = SignalSample({**old, **{signal: new[signal] for signal in fired}}, until, new)
        return self._samples[key]


def _has_fired(trigger: Trigger, old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Whether the edge is between two rows."""
    was, now = bits_in(old, trigger.part), bits_in(new, trigger.part)
    if trigger.edge == "change":
        return was != now
    after = _AFTER[trigger.edge]
    return was[-1:] != now[-1:] and (now[-1:] == after or was[-1:] == _AFTER[_OPPOSITE[trigger.edge]])


def bits_in(values: Mapping[str, str], part: Part) -> str:
    """The bits of a part, empty where there is no value of its signal."""
    bits = values.get(part.signal, "")
    return bits[max(0, len(bits) - part.low - part.width):len(bits) - part.low]
