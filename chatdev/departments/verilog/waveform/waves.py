"""What the signals of a simulation did: values at a time, the rows before one, and all changes."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import inf
from pathlib import Path
from typing import Self

from chatdev.departments.verilog.waveform import lookback, vcd
from chatdev.departments.verilog.waveform.lookback import LastSteps, Step, find_steps
from chatdev.departments.verilog.waveform.vcd import WIDEST, Malformed, Signal, WaveformError, check_held

_NEAR = 5  # names that are offered for one that is not there
_MOST_COMPARED = 2_000  # names that it is compared with


@dataclass(frozen=True, slots=True)
class Row:
    """The values from `time` on until the next row: bits as `0`, `1`, `x` and `z`, the most significant first."""

    time: int
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Waves:
    """A VCD file, of which only the header was read. Times are in units of `timescale` (`1ps`).

    `signals` are known by their full names without range (`tb.top_module1.state`), escaped ones without backslash.
    Real numbers, strings and events are left out; simulators leave out unpacked arrays. Every method reads the file
    anew and keeps no more of it than it returns; it raises WaveformError for a signal that is not there and for a file
    that is damaged.
    """

    path: Path
    timescale: str
    signals: Mapping[str, Signal]
    codes: frozenset[str]

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the header; raises WaveformError."""
        header = vcd.read_header(path)
        return cls(path, header.timescale, header.signals, header.codes)

    def values_at(self, names: Iterable[str], time: int) -> dict[str, str]:
        """The values just before `time`: the row that explains a mismatch seen at `time`, since a bench compares before
        the updates of that time. `x` for what has no value yet."""
        signals = self._choose_signals(names)
        widths = _widths_of(signals)
        try:
            last = lookback.values_before(self.path, widths, self.codes, time)
        except (Malformed, OSError):
            last = {code: value for _, code, value in vcd.read_changes(self.path, widths, time)}
        return _name_values(signals, last)

    def rows_before(self, names: Iterable[str], time: int, count: int) -> list[Row]:
        """The last `count` rows before `time`, oldest first; there is one for each time at which a signal changed."""
        last = self.steps_before(names, time, count)
        values, rows = dict(last.before), []
        for moment, step in last.steps:
            values |= step
            rows.append(Row(moment, values.copy()))
        return rows

    def steps_before(self, names: Iterable[str], time: int, count: int) -> LastSteps:
        """The same with what changed alone, by name; of what has no value yet, `x` is what held before."""
        signals = self._choose_signals(names)
        widths = _widths_of(signals)
        try:
            last = lookback.steps_before(self.path, widths, self.codes, time, count)
        except (Malformed, OSError):
            last = LastSteps.of(self._read_words(widths, time), {}, count)
        sharing = _names_by_code(signals)
        steps = ((moment, {name: bits for code, bits in step.items() for name in sharing[code]})
                 for moment, step in last.steps)
        return LastSteps(_name_values(signals, last.before), deque(steps))

    def changes(self, names: Iterable[str], until: float = inf) -> Iterator[tuple[int, str, str]]:
        """(time, name, bits) of every change before `until`, first values included, by time; one at most for each."""
        names = list(names)
        for moment, step in self.steps(names, until):
            yield from ((moment, name, step[name]) for name in names if name in step)

    def steps(self, names: Iterable[str], until: float = inf) -> Iterator[Step]:
        """The same by time: what changed at each."""
        signals = self._choose_signals(names)
        sharing = _names_by_code(signals)
        for moment, step in self._read_steps(_widths_of(signals), until):
            yield moment, {name: bits for code, bits in step.items() for name in sharing[code]}

    def _read_steps(self, widths: Mapping[str, int], until: float) -> Iterator[Step]:
        """All steps of the codes in `widths`: where the lines end to tell them, the words go on."""
        count = 0
        try:
            for step in lookback.steps_until(self.path, widths, self.codes, until):
                count += 1
                yield step
        except (Malformed, OSError):
            yield from islice(find_steps(self._read_words(widths, until), {}), count, None)

    def _read_words(self, widths: Mapping[str, int], until: float) -> Iterator[Step]:
        """The values one by one, as the words of the file have them."""
        return ((moment, {code: value}) for moment, code, value in vcd.read_changes(self.path, widths, until))

    def _choose_signals(self, names: Iterable[str]) -> dict[str, Signal]:
        chosen = {name: self._signal(name) for name in names}
        for signal in chosen.values():
            if signal.width > WIDEST:
                raise WaveformError(f"{signal.name!r} is {signal.width} bits wide; at most {WIDEST} can be shown")
        check_held(sum(signal.width for signal in chosen.values()))
        return chosen

    def readable(self, names: Iterable[str]) -> list[str]:
        """Those that are there and not too wide to be read."""
        return [name for name in names if name in self.signals and self.signals[name].width <= WIDEST]

    def _signal(self, name: str) -> Signal:
        try:
            return self.signals[name]
        except KeyError:
            last = name.rpartition(".")[2]
            near = [other for other in self.signals if other.rpartition(".")[2] == last]
            alike = difflib.get_close_matches(name, islice(self.signals, _MOST_COMPARED), _NEAR)
            near += [other for other in alike if other not in near]
            raise WaveformError(f"the waveform has no signal {name!r}; " + (
                f"do you mean {' or '.join(near[:_NEAR])}?" if near else
                f"it has {len(self.signals)}, such as {', '.join(list(self.signals)[:_NEAR])}")) from None


def _widths_of(signals: Mapping[str, Signal]) -> dict[str, int]:
    """By code."""
    return {signal.code: signal.width for signal in signals.values()}


def _names_by_code(signals: Mapping[str, Signal]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, signal in signals.items():
        found.setdefault(signal.code, []).append(name)
    return found


def _name_values(signals: Mapping[str, Signal], values: Mapping[str, str]) -> dict[str, str]:
    """The values by name; `x` for what has none yet."""
    return {name: values.get(signal.code, "x" * signal.width) for name, signal in signals.items()}
