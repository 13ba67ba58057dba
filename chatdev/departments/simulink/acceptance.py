"""Acceptance by numbers: what is wanted of the signals of a simulation, read from YAML, measured and judged.

    stop: 20                       # seconds; solver, step, tolerance and set (Block.Parameter: value) may be given, too
    signals:
      Level:
        final: 2 ± 1 %
        overshoot: at most 5
        settling_time: at most 8
        trace: {file: level.csv, absolute: 0.02}

Figures are those of a step response as in the literature of control, and as MATLAB's stepinfo defines them: the change
goes from the value at `start` to the last one; rise time from 10 to 90 % of it, settling time until the signal stays
within 2 % of it, overshoot in percent of it, peak as the greatest magnitude.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainValidator, model_validator
from pydantic_core import PydanticCustomError

from chatdev.config.yaml_nodes import (
    StrictModel,
    display_path,
    parse_mapping,
    place_of,
    plain,
    read_text,
    validate_node,
)
from chatdev.errors import ConfigError

if TYPE_CHECKING:
    from chatdev.departments.simulink.simulation.expressions import Values
    from chatdev.departments.simulink.simulation.solve import Results

RISE, SETTLED = (0.1, 0.9), 0.02
"""Parts of a response's change: between which it rises, and within which it has settled."""
_UNCHANGED = 1e-9  # of a signal's greatest magnitude, below which it ends where it begins
_HUGE = 1e300  # from which on differences are no numbers any more
_MOST_POINTS = 100_000
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_FORMS: Sequence[tuple[re.Pattern[str], Callable[[float, float], tuple[float, float]]]] = [
    (re.compile(rf"(?:at most|<=?) *{_NUMBER}()"), lambda value, _: (-math.inf, value)),
    (re.compile(rf"(?:at least|>=?) *{_NUMBER}()"), lambda value, _: (value, math.inf)),
    (re.compile(rf"{_NUMBER} *(?:to|\.\.) *{_NUMBER}"), lambda low, high: (low, high)),
    (re.compile(rf"{_NUMBER} *(?:±|\+-|\+/-) *{_NUMBER}"), lambda value, near: (value - near, value + near)),
    (re.compile(rf"{_NUMBER} *(?:±|\+-|\+/-) *{_NUMBER} *%"),
     lambda value, part: (value - abs(value) * part / 100, value + abs(value) * part / 100)),
]
_HOW = "write `at most 5`, `at least 0`, `0.9 to 1.1`, `1 ± 0.02`, `1 ± 2 %` or {min: 0.9, max: 1.1}"


@dataclass(frozen=True, slots=True)
class Limit:
    """What a figure may be, both bounds included; `text` is as it was written."""

    low: float
    high: float
    text: str

    def holds(self, value: float) -> bool:
        """Whether the value is within; a millionth of a bound is let pass, as numbers are rounded."""
        room = [1e-6 * abs(bound) if math.isfinite(bound) else 0.0 for bound in (self.low, self.high)]
        return self.low - room[0] <= value <= self.high + room[1]


def _read_limit(given: Any, unit: str = "") -> Limit:
    """Raises PydanticCustomError with the fix."""
    text = given.strip() if isinstance(given, str) else ""
    if isinstance(given, Mapping):
        text = ", ".join(f"{key} {value}" for key, value in given.items())
    low, high = _bounds_of(given, unit)
    if not low <= high or (low, high) == (-math.inf, math.inf):
        near = "a number alone does not say how near" if isinstance(given, int | float) else "that is no limit"
        raise PydanticCustomError("limit", f"{near}; {_HOW}")
    return Limit(low, high, text)


def _bounds_of(given: Any, unit: str) -> tuple[float, float]:
    """The bounds, not numbers where it has none."""
    if isinstance(given, Mapping) and set(given) <= {"min", "max"}:
        found = given.get("min", -math.inf), given.get("max", math.inf)
        is_plain = all(type(bound) in (int, float) for bound in found)
        return (float(found[0]), float(found[1])) if is_plain else (math.nan, math.nan)
    plain_text = str(given).strip().removesuffix(unit).rstrip() if isinstance(given, str) else ""
    matches = ((form.fullmatch(plain_text), bounds) for form, bounds in _FORMS)
    return next((bounds(float(match[1]), float(match[2] or 0)) for match, bounds in matches if match),
                (math.nan, math.nan))


_Figure = Annotated[Any, PlainValidator(_read_limit)]
_Percent = Annotated[Any, PlainValidator(lambda given: _read_limit(given, "%"))]
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]
_Solver = Literal["auto", "ode45", "ode23", "ode15s", "discrete", "ode1", "ode2", "ode3", "ode4", "ode5"]
_Setting = Annotated[str, BeforeValidator(lambda given: f"{given:.17g}" if type(given) in (int, float) else given)]


class Crossings(StrictModel):
    """When a signal crosses a level: the first of these times in seconds, to `within` seconds; how often at all."""

    level: _Finite = 0.0
    direction: Literal["rising", "falling", "either"] = "either"
    times: list[_Finite] = Field(default_factory=list, max_length=_MOST_POINTS)
    within: _Positive | None = None
    count: _Figure | None = None

    @model_validator(mode="after")
    def _ask_something(self) -> Self:
        if not self.times and self.count is None:
            raise PydanticCustomError("crossings", "nothing is wanted; give times with within, or count")
        if self.times and self.within is None:
            raise PydanticCustomError("crossings", "times need within, in seconds; add it")
        return self


class Trace(StrictModel):
    """A signal over time that is wanted, from a CSV file, its text, or as points [seconds, value]: within `absolute`
    plus `relative` × the value, up to `time` seconds early or late."""

    file: str | None = None
    csv: str | None = None
    points: list[list[_Finite]] = Field(default_factory=list, max_length=_MOST_POINTS)
    column: str | None = None
    absolute: _Tolerance = 0.0
    relative: _Tolerance = 0.0
    time: _Tolerance = 0.0

    @model_validator(mode="after")
    def _ask_once(self) -> Self:
        if sum((self.file is not None, self.csv is not None, bool(self.points))) != 1:
            raise PydanticCustomError("trace", "give one of file, csv and points")
        if not self.absolute and not self.relative:
            raise PydanticCustomError("trace", "no tolerance is given; add absolute or relative")
        if any(len(point) != 2 for point in self.points):
            raise PydanticCustomError("trace", "a point is [seconds, value]; write both")
        return self


class SignalWish(StrictModel):
    """What is wanted of a signal. Times in seconds, counted from `start`; overshoot in percent of the change from
    `initial` (the value at `start` if None) to the last value; `target` is a number or the name of a signal."""

    start: _Tolerance = 0.0
    initial: _Finite | None = None
    target: _Finite | str | None = None
    final: _Figure | None = None
    rise_time: _Figure | None = None
    settling_time: _Figure | None = None
    overshoot: _Percent | None = None
    peak: _Figure | None = None
    peak_time: _Figure | None = None
    min: _Figure | None = None
    max: _Figure | None = None
    steady_state_error: _Figure | None = None
    crossings: Crossings | None = None
    trace: Trace | None = None

    @model_validator(mode="after")
    def _name_target(self) -> Self:
        if self.steady_state_error is not None and self.target is None:
            raise PydanticCustomError("target", "a steady-state error needs a target; give a number or a signal")
        return self


class Acceptance(StrictModel):
    """How a model is simulated (None: as its own settings say), and what is wanted of its signals."""

    stop: _Positive | None = None
    solver: _Solver | None = None
    step: _Positive | None = None
    tolerance: _Positive | None = None
    set: dict[str, _Setting] = Field(default_factory=dict)
    signals: dict[str, SignalWish] = Field(default_factory=dict)

    @classmethod
    def read(cls, text: str, name: str, files: Mapping[str, str] | None = None) -> Self:
        """The acceptance of a YAML text; `name` stands for its file in errors, and `files` holds the texts of the CSV
        files that traces name. Raises ConfigError, which names line, field and fix."""
        node = parse_mapping(text, name)
        found = validate_node(cls, node)
        signals = {}
        for signal, wish in found.signals.items():
            place = place_of(node, ("signals", signal, "trace"))
            trace = _with_points(wish.trace, signal, place, files or {}) if wish.trace else None
            signals[signal] = wish.model_copy(update={"trace": trace})
            last = max((point[0] for point in trace.points), default=0.0) if trace else 0.0
            if last > (found.stop or math.inf):
                raise ConfigError(f"{place}: signals.{signal}.trace: it goes to {last:g} s, and stop is "
                                  f"{found.stop:g}; give a later stop, or a shorter trace")
        return found.model_copy(update={"signals": signals})


def read_acceptance_file(path: Path) -> Acceptance:
    """The acceptance in a file; the CSV files of its traces are found from there. Raises ConfigError."""
    text, name = read_text(path), display_path(path)
    signals = plain(parse_mapping(text, name)).get("signals")
    wishes = signals.values() if isinstance(signals, Mapping) else ()
    traces = [wish.get("trace") for wish in wishes if isinstance(wish, Mapping)]
    files = [trace.get("file") for trace in traces if isinstance(trace, Mapping)]
    return Acceptance.read(text, name, {file: read_text(path.parent / file) for file in files if isinstance(file, str)})


def _with_points(trace: Trace, signal: str, place: str, files: Mapping[str, str]) -> Trace:
    where = f"{place}: signals.{signal}.trace"
    if trace.file is not None:
        by_name = {PurePosixPath(path).name: text for path, text in files.items()}
        found = files.get(trace.file, by_name.get(PurePosixPath(trace.file).name))
        if found is None:
            raise ConfigError(f"{where}: there is no file {trace.file!r:.80}; hand it in, or write the trace as csv or "
                              "points")
        return trace.model_copy(update={"points": _read_csv(found, trace.column or signal, trace.file)})
    if trace.csv is not None:
        return trace.model_copy(update={"points": _read_csv(trace.csv, trace.column or signal, where)})
    return trace


def _read_csv(text: str, column: str, name: str) -> list[list[float]]:
    """The points of a column, or of the only one there is."""
    head, *rows = list(filter(any, csv.reader(text.splitlines()))) or [[]]
    if not rows or len(head) < 2:
        raise ConfigError(f"{name}: no trace; it has a head `time,{column}` and rows of numbers")
    at = _choose_column([cell.strip() for cell in head[1:]], column, name)
    points = [_read_point(row, at, f"{name}: row {number}") for number, row in enumerate(rows[:_MOST_POINTS], 2)]
    return [point for point in points if all(map(math.isfinite, point))]


def _choose_column(names: Sequence[str], column: str, place: str) -> int:
    if column in names:
        return 1 + names.index(column)
    if len(names) > 1:
        raise ConfigError(f"{place}: there is no column {column!r:.80}; it has {', '.join(names[:20])}: give column")
    return 1


def _read_point(row: Sequence[str], at: int, place: str) -> list[float]:
    try:
        return [float(row[0]), float(row[at])]
    except (ValueError, IndexError):
        raise ConfigError(f"{place} has no number for the time or the value; mend it, or leave the row out") from None


# What is measured.


class StepResponse:
    """The figures of a signal from `start` on; None where one has no meaning. Values (NumPy) at times in seconds, of
    which two may be one instant."""

    def __init__(self, times: Values, values: Values, start: float = 0.0, initial: float | None = None) -> None:
        import numpy

        first = min(int(numpy.searchsorted(times, start - 1e-12 * abs(start))), len(times) - 1)
        self.times, self.values = times[first:] - start, values[first:]
        self.initial = float(self.values[0]) if initial is None else initial
        self.final = float(self.values[-1])

    @property
    def broken_at(self) -> float | None:
        """When it is no finite number for the first time."""
        import numpy

        bad = numpy.flatnonzero(~numpy.isfinite(self.values))
        return float(self.times[bad[0]]) if bad.size else None

    @cached_property
    def _part(self) -> Values | None:
        """The part of its change that is done at each time; None of a signal that ends where it begins."""
        change = self.final - self.initial
        size = max(abs(self.initial), abs(float(self.values.max())), abs(float(self.values.min())))
        is_change = _UNCHANGED * size < abs(change) and size < _HUGE
        return (self.values - self.initial) / change if is_change else None

    @property
    def rise_time(self) -> float | None:
        """From a tenth of the change to nine tenths."""
        times = [self._first_time(part) for part in RISE]
        return times[1] - times[0] if times[0] is not None and times[1] is not None else None

    def _first_time(self, part: float) -> float | None:
        import numpy

        if self._part is None:
            return None
        reached = numpy.flatnonzero(self._part >= part)
        return _between(self.times, self._part, int(reached[0]), part) if reached.size else None

    @property
    def settling_time(self) -> float | None:
        """From when on it stays within 2 % of its change around the last value."""
        import numpy

        if self._part is None:
            return None
        miss = self._part - 1
        outside = numpy.flatnonzero(numpy.abs(miss) > SETTLED)
        if not outside.size:
            return 0.0
        last = int(outside[-1])
        return _between(self.times, miss, last + 1, math.copysign(SETTLED, float(miss[last])))

    @property
    def overshoot(self) -> float | None:
        """In percent of the change, beyond the last value."""
        return None if self._part is None else max(0.0, 100 * (float(self._part.max()) - 1))

    @property
    def peak(self) -> float:
        """The greatest magnitude."""
        return abs(float(self.values[self._peak]))

    @property
    def peak_time(self) -> float:
        """When it is reached first."""
        return float(self.times[self._peak])

    @cached_property
    def _peak(self) -> int:
        return int(abs(self.values).argmax())

    @property
    def min(self) -> float:
        """The least value."""
        return float(self.values.min())

    @property
    def max(self) -> float:
        """The greatest value."""
        return float(self.values.max())

    def crossings(self, level: float, direction: str = "either") -> list[float]:
        """When it crosses the level; a signal that only touches it does not."""
        import numpy

        side = (self.values > level).astype(int) - (self.values < level)
        steps = numpy.flatnonzero(side)
        found = []
        for before, after in pairwise(steps):
            if side[before] != side[after] and direction in ("either", "rising" if side[after] > 0 else "falling"):
                found.append(_between(self.times, self.values, int(before) + 1, level))
        return found

    def bounds(self, low: float, high: float) -> tuple[float, float]:
        """The least and the greatest value from one time to another."""
        import numpy

        room = 1e-9 * max(abs(low), abs(high), 1e-300)
        inside = (self.times >= low - room) & (self.times <= high + room)
        found = [*self.values[inside], *numpy.interp([low, high], self.times, self.values)] if not inside.any() or \
            low < high else [*self.values[inside]]
        return float(min(found)), float(max(found))


def _between(times: Values, values: Any, after: int, level: float) -> float:
    """When a signal reaches a level on its way to the row `after`."""
    if after == 0:
        return float(times[0])
    before, now = float(values[after - 1]), float(values[after])
    share = (level - before) / (now - before) if now != before else 1.0
    return float(times[after - 1] + min(max(share, 0.0), 1.0) * (times[after] - times[after - 1]))


# What is judged.

NO_SIGNAL = "no_signal"
"""Why nothing is known of a signal: there is none of that name; `wanted` lists those that there are."""
FIGURES = ("final", "steady_state_error", "rise_time", "settling_time", "overshoot", "peak", "peak_time", "min", "max")


@dataclass(frozen=True, slots=True)
class Judgement:
    """One thing that is wanted of a signal: `wanted` in words, what was `got` (None where it has no meaning) and
    `when`. `why` is a key of the words for it (`wording/simulated.j2`); `facts` are numbers that these words tell."""

    signal: str
    figure: str
    wanted: str
    got: float | None
    when: float | None
    passed: bool
    why: str
    facts: Mapping[str, float]


def judge(acceptance: Acceptance, results: Results) -> tuple[Judgement, ...]:
    """What of the acceptance holds."""
    found = list[Judgement]()
    for name, wish in acceptance.signals.items():
        named = [name, *([wish.target] if isinstance(wish.target, str) else ())]
        columns = {one: find_column(one, results) for one in named}
        if lost := [one for one in named if columns[one] is None]:
            there = ", ".join(results.columns[:40]) or "none"
            found.append(Judgement(lost[0], "signal", there, None, None, False, NO_SIGNAL, {}))
            continue
        response = StepResponse(results.times, results[str(columns[name])], wish.start, wish.initial)
        target = float(results[str(columns[wish.target])][-1]) if isinstance(wish.target, str) else wish.target
        found += _judge_signal(name, wish, response, target)
    return tuple(found)


def find_column(name: str, results: Results) -> str | None:
    """A signal's column, by the name of its block, or of the block that records it where that has one signal."""
    recorded = results.sinks.get(name, ())
    return name if name in results.columns else recorded[0] if len(recorded) == 1 else None


def _judge_signal(name: str, wish: SignalWish, response: StepResponse, target: float | None) -> Iterator[Judgement]:
    figures = [one for one in FIGURES if getattr(wish, one) is not None]
    if (broken := response.broken_at) is not None:
        yield Judgement(name, ", ".join(figures) or "signal", "", None, broken + wish.start, False, "broken", {})
        return
    facts = {"initial": response.initial, "final": response.final, "peak": response.peak,
             "peak_time": response.peak_time + wish.start, **({} if target is None else {"target": target})}
    yield from (_judge_figure(name, figure, wish, response, facts) for figure in figures)
    if wish.crossings:
        yield from _judge_crossings(name, wish.crossings, response, wish.start)
    if wish.trace:
        yield _judge_trace(name, wish.trace, response, wish.start)


def _judge_figure(name: str, figure: str, wish: SignalWish, response: StepResponse,
                  facts: Mapping[str, float]) -> Judgement:
    limit: Limit = getattr(wish, figure)
    is_error = figure == "steady_state_error"
    got: float | None = abs(facts["target"] - response.final) if is_error else getattr(response, figure)
    if got is None:
        return Judgement(name, figure, limit.text, None, None, False, "unchanged", facts)
    when = _time_of(figure, response, wish.start)
    return Judgement(name, figure, limit.text, got, when, limit.holds(got), figure, facts)


def _time_of(figure: str, response: StepResponse, start: float) -> float | None:
    """When it was seen, in seconds of the simulation."""
    if figure in ("final", "steady_state_error"):
        return float(response.times[-1]) + start
    if figure in ("min", "max"):
        row = response.values.argmin() if figure == "min" else response.values.argmax()
        return float(response.times[row]) + start
    return response.peak_time + start if figure in ("peak", "overshoot") else None


def _judge_crossings(name: str, wish: Crossings, response: StepResponse, start: float) -> Iterator[Judgement]:
    found = response.crossings(wish.level, wish.direction)
    facts = {"level": wish.level, "count": float(len(found))}
    if wish.count is not None:
        yield Judgement(name, "crossings", wish.count.text, float(len(found)), None, wish.count.holds(len(found)),
                        "crossing_count", facts)
    for number, time in enumerate(wish.times):
        got = found[number] + start if number < len(found) else None
        near = got is not None and abs(got - start - time) <= (wish.within or 0) * (1 + 1e-6)
        if not near or number == len(wish.times) - 1:
            why = "crossing" if got is not None else "no_crossing"
            yield Judgement(name, "crossings", f"{time + start:g} ± {wish.within:g} s", got, got, near, why,
                            facts | {"number": float(number + 1)})
            return


def _judge_trace(name: str, wish: Trace, response: StepResponse, start: float) -> Judgement:
    worst, missed, first = (-1.0, 0.0, 0.0, 0.0), 0, 0.0
    for time, value in wish.points:
        low, high = response.bounds(time - start - wish.time, time - start + wish.time)
        off, allowed = max(value - high, low - value, 0.0), wish.absolute + wish.relative * abs(value)
        if off > allowed * (1 + 1e-6):
            missed, first = missed + 1, first if missed else time
        if off / (allowed or 1e-300) > worst[0]:
            worst = off / (allowed or 1e-300), time, value, high if value > high else low
    _, time, value, got = worst
    allowed = wish.absolute + wish.relative * abs(value)
    return Judgement(name, "trace", f"{value:.6g} ± {allowed:.3g}", got, time, missed == 0, "trace",
                     {"missed": float(missed), "points": float(len(wish.points)), "first": first})


# An acceptance from a simulation that is right.


def derive_acceptance(results: Results, stop: float, *, points: int = 50, near: float = 0.01,
                      settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What holds of a right simulation, as plain values: of each signal the last, the least and the greatest value and
    a trace, to the part `near` of its range, and a thousandth of the time early or late."""
    import numpy

    signals = {}
    for column in results.columns:
        values = results[column]
        if not numpy.isfinite(values).all():
            continue
        span = float(values.max() - values.min())
        room = near * span if span > _UNCHANGED * abs(values).max() else near * max(abs(float(values[-1])), 1e-3)
        times = numpy.linspace(0.0, float(results.times[-1]), points)
        rows = numpy.searchsorted(results.times, times, side="right") - 1
        trace = [[float(results.times[row]), float(values[row])] for row in dict.fromkeys(rows.tolist())]
        limits = {figure: {"min": float(value) - room, "max": float(value) + room} for figure, value in (
            ("final", values[-1]), ("min", values.min()), ("max", values.max()))}
        signals[column] = {**limits, "trace": {"points": trace, "absolute": room, "time": stop / 1000}}
    return {**(settings or {}), "stop": stop, "signals": signals}
