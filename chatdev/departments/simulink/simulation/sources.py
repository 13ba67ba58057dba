"""Kernels of sources: constants, functions of time, random numbers and counters. Instants at which they jump are exact:
the solver stops there."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from chatdev.departments.simulink.simulation.expressions import Values
from chatdev.departments.simulink.simulation.kernel import Site, elementwise, kernel, literal, scalars

if TYPE_CHECKING:
    import numpy

Piece = tuple[float, float, float]
"""A line: where it begins (seconds), its value there, and its slope."""
_TOLERANCE = 1e-12  # of a time, within which two instants are one


def is_reached(time: str, instant: float) -> str:
    """The condition that a time has come to an instant."""
    return f"{time} >= {literal(instant - _TOLERANCE * abs(instant))}"


class Instants:
    """A list of times at which a block jumps."""

    def __init__(self, times: Sequence[float]) -> None:
        self._times = sorted(times)

    def after(self, time: float) -> float:
        """The first one that is later."""
        at = bisect_right(self._times, time + _TOLERANCE * abs(time))
        return self._times[at] if at < len(self._times) else math.inf


class Cycle:
    """Times that repeat with a period, from `start` on: the marks lie between 0 and the period."""

    def __init__(self, period: float, marks: Sequence[float], start: float = 0.0) -> None:
        self.period, self.marks, self.start = period, sorted({0.0, *marks}), start

    def number(self, time: float) -> int:
        """Which period a time is in; -1 before the first."""
        since = time - self.start
        return math.floor(since / self.period + _TOLERANCE * max(1.0, abs(time) / self.period))

    def phase(self, time: float) -> float:
        """How long the period has lasted, with what is missing by rounding."""
        tolerance = _TOLERANCE * max(abs(time), self.period)
        return max(time - self.start - self.number(time) * self.period, 0.0) + tolerance

    def after(self, time: float) -> float:
        """The first mark that is later."""
        late = time + _TOLERANCE * max(abs(time), self.period)
        number = max(self.number(time), 0)
        marks = (self.start + cycle * self.period + mark for cycle in (number, number + 1) for mark in self.marks)
        return next((mark for mark in marks if mark > late), math.inf)


@kernel("constant", elementwise("Value"), rate="constant")
def _constant(site: Site) -> None:
    if min(site.matrix("Value").shape, default=0) > 1:
        raise site.fault("Value is a matrix; signals here are numbers and vectors")
    site.put(site.each("Value", site.width))


@kernel("ground", scalars, rate="constant")
def _ground(site: Site) -> None:
    site.put(["0.0"])


@kernel("step", elementwise("Time", "Before", "After"), rate="source")
def _step(site: Site) -> None:
    times = site.vector("Time", may_be_infinite=True)
    for number, (before, after) in enumerate(zip(site.each("Before", site.width), site.each("After", site.width),
                                                 strict=True)):
        time = times[number % len(times)]
        site.element(0, number, f"{after} if {is_reached('t', time)} else {before}", held=True)
    if site.is_continuous:
        site.jump_at(Instants([time for time in times if math.isfinite(time)]))


@kernel("ramp", elementwise("slope", "start", "InitialOutput"), rate="continuous")
def _ramp(site: Site) -> None:
    starts = site.vector("start")
    for number, (slope, first) in enumerate(zip(site.each("slope", site.width), site.each("InitialOutput", site.width),
                                                strict=True)):
        start, is_on = starts[number % len(starts)], site.keep()
        site.element(0, number, f"{first} + {slope} * (t - {literal(start)}) if {is_on} else {first}",
                     [f"{is_on} = {is_reached('t', start)}"])
    site.jump_at(Instants(starts))


def _sine_rate(site: Site) -> str:
    return "inherit" if site.part.values.get("TimeSource") == "Use external signal" else "source"


@kernel("sine_wave", elementwise("Amplitude", "Bias", "Frequency", "Phase"), rate=_sine_rate)
def _sine_wave(site: Site) -> None:
    amplitudes, biases = site.each("Amplitude", site.width), site.each("Bias", site.width)
    if site.text("SineType") == "Sample based":
        count, samples, offset = site.keep(0), site.number("Samples"), site.number("Offset")
        if not site.rate.is_discrete or samples <= 0:
            raise site.fault("it is sample based: give Samples and SampleTime above 0")
        angles = [f"{literal(2 * math.pi / samples)} * ({count} + {literal(offset)})"] * site.width
        site.update(f"{count} += 1")
    else:
        times = site.u(0, site.width) if site.inputs else ["t"] * site.width
        angles = [f"{w} * {t} + {p}" for w, t, p in zip(site.each("Frequency", site.width), times,
                                                        site.each("Phase", site.width), strict=True)]
    site.put(f"{a} * sin({angle}) + {b}" for a, angle, b in zip(amplitudes, angles, biases, strict=True))


def _pulse_rate(site: Site) -> str:
    return "hits" if site.part.values.get("PulseType") == "Sample based" else "continuous"


@kernel("pulse_generator", scalars, rate=_pulse_rate)
def _pulse_generator(site: Site) -> None:
    amplitude, period, delay = site.number("Amplitude"), site.number("Period"), site.number("PhaseDelay")
    if period <= 0:
        raise site.fault("Period is not above 0; give a positive number")
    if site.inputs:
        raise site.fault("a time from outside is not simulated; choose Use simulation time")
    if site.rate.is_discrete:
        count, samples = site.keep(0), site.whole("PulseWidth")
        site.put([f"{literal(amplitude)} if {count} >= {int(delay)} and ({count} - {int(delay)}) % {int(period)} "
                  f"< {samples} else 0.0"])
        site.update(f"{count} += 1")
        return
    width = site.number("PulseWidth") / 100 * period
    cycle = Cycle(period, [width] if 0 < width < period else [], delay)
    name = site.thing(cycle)
    site.put([f"{literal(amplitude)} if {name}.number(t) >= 0 and {name}.phase(t) < {literal(width)} else 0.0"],
             held=True)
    site.jump_at(cycle)


@kernel("signal_generator", elementwise("Amplitude", "Frequency"), rate="continuous")
def _signal_generator(site: Site) -> None:
    form, hertz = site.text("WaveForm"), site.text("Units") == "Hertz"
    if site.inputs or form not in ("sine", "square", "sawtooth"):
        raise site.fault(f"{form} with {site.text('TimeSource')} is not simulated; choose sine, square or sawtooth "
                         "of simulation time")
    frequencies = site.vector("Frequency")
    for number, amplitude in enumerate(site.each("Amplitude", site.width)):
        turns = frequencies[number % len(frequencies)] / (1 if hertz else 2 * math.pi)
        if form == "sine":
            site.element(0, number, f"{amplitude} * sin({literal(2 * math.pi * turns)} * t)")
            continue
        if turns <= 0:
            raise site.fault("Frequency is not above 0; give a positive number")
        cycle = Cycle(1 / turns, [0.5 / turns])
        name, since = site.thing(cycle), site.keep()
        site.jump_at(cycle)
        if form == "square":
            site.element(0, number, f"{amplitude} if {name}.phase(t) < {literal(0.5 / turns)} else -{amplitude}",
                         held=True)
        else:
            site.element(0, number, f"{amplitude} * ({literal(2 * turns)} * (t - {since}) - 1.0)",
                         [f"{since} = {name}.number(t) * {literal(1 / turns)}"])


@kernel("chirp", scalars, rate="continuous")
def _chirp(site: Site) -> None:
    first, last, target = site.number("f1"), site.number("f2"), site.number("T")
    if target <= 0:
        raise site.fault("T is not above 0; give a positive number")
    site.put([f"sin({literal(2 * math.pi)} * t * ({literal(first)} + {literal((last - first) / (2 * target))} * t))"])


@kernel("repeating_sequence", scalars, rate="continuous")
def _repeating_sequence(site: Site) -> None:
    times, values = site.vector("rep_seq_t"), site.vector("rep_seq_y")
    if len(times) != len(values) or len(times) < 2 or times[0] != 0 or sorted(times) != times or times[-1] <= 0:
        raise site.fault("rep_seq_t must begin with 0 and increase, with a value in rep_seq_y for each time")
    cycle = Cycle(times[-1], times[1:-1])

    def piece(time: float) -> Piece:
        """Begin, value and slope of the line that a time lies on."""
        left = min(bisect_right(times, cycle.phase(time)) - 1, len(times) - 2)
        slope = (values[left + 1] - values[left]) / (times[left + 1] - times[left])
        return cycle.number(time) * cycle.period + times[left], values[left], slope

    _follow(site, 0, piece)
    site.jump_at(cycle)


def _follow(site: Site, number: int, piece: Callable[[float], Piece]) -> None:
    """Say that an element is on the line that `piece` gives at whole steps."""
    now = site.keep((0.0, 0.0, 0.0))
    site.element(0, number, f"{now}[1] + {now}[2] * (t - {now}[0])", [f"{now} = {site.thing(piece)}(t)"])


@kernel("clock", scalars, rate="continuous")
def _clock(site: Site) -> None:
    site.put(["t"])


@kernel("digital_clock", scalars, rate="hits")
def _digital_clock(site: Site) -> None:
    site.put(["t"])


@kernel("random_number", elementwise("Mean", "Variance"), rate="hits")
def _random_number(site: Site) -> None:
    variances, means = site.vector("Variance"), site.each("Mean", site.width)
    _draw(site, "Seed", [f"{mean} + {literal(math.sqrt(max(variances[n % len(variances)], 0.0)))} * {{g}}.normal()"
                         for n, mean in enumerate(means)])


@kernel("uniform_random_number", elementwise("Minimum", "Maximum"), rate="hits")
def _uniform_random_number(site: Site) -> None:
    _draw(site, "Seed", [f"{{g}}.uniform({low}, {high})" for low, high in zip(
        site.each("Minimum", site.width), site.each("Maximum", site.width), strict=True)])


@kernel("white_noise", elementwise("Cov"), rate="hits", sample_time="Ts")
def _white_noise(site: Site) -> None:
    powers = site.vector("Cov")
    _draw(site, "seed", [f"{literal(math.sqrt(max(power, 0.0) / site.period))} * {{g}}.normal()" for power in (
        powers * site.width)[:site.width]])


def _draw(site: Site, seed: str, forms: Sequence[str]) -> None:
    """A new random number at each hit; the numbers are NumPy's for this seed, not those of MATLAB."""
    from numpy.random import default_rng

    seeds = site.vector(seed)
    for number, form in enumerate(forms):
        generator: numpy.random.Generator = default_rng([number, int(abs(seeds[number % len(seeds)]))])
        site.element(0, number, f"float({form.format(g=site.thing(generator))})", held=True)


@kernel("repeating_stair", scalars, rate="hits", sample_time="tsamp")
def _repeating_stair(site: Site) -> None:
    values, count = site.vector("OutValues"), site.keep(0)
    site.put([f"{site.thing(values)}[{count}]"])
    site.update(f"{count} = ({count} + 1) % {len(values)}")


@kernel("counter_free_running", scalars, rate="hits", sample_time="tsamp")
def _counter_free_running(site: Site) -> None:
    _count(site, 2 ** site.whole("NumBits", 1, 64))


@kernel("counter_limited", scalars, rate="hits", sample_time="tsamp")
def _counter_limited(site: Site) -> None:
    _count(site, site.whole("uplimit", 0, 2**31) + 1)


def _count(site: Site, end: int) -> None:
    count = site.keep(0)
    site.put([f"float({count})"])
    site.update(f"{count} = ({count} + 1) % {end}")


def _columns(site: Site) -> list[int | None]:
    return [max(site.matrix("VariableName").shape[1] - 1, 1)]


@kernel("from_workspace", _columns, rate="source")
def _from_workspace(site: Site) -> None:
    data: Values = site.matrix("VariableName")
    times = data[:, 0].tolist() if data.size else []
    if data.shape[1] < 2 or len(times) < 2 or any(b <= a for a, b in pairwise(times)):
        raise site.fault("its variable needs a column of increasing times and a column for each element")
    beyond, joins = site.text("OutputAfterFinalValue"), site.is_on("Interpolate")
    if beyond not in ("Extrapolation", "Holding final value", "Setting to zero"):
        raise site.fault(f"{beyond} after the last value is not simulated; choose Holding final value")
    for number in range(site.width):
        values = data[:, number + 1].tolist()

        def piece(time: float, values: list[float] = values) -> Piece:
            left = max(bisect_right(times, time + _TOLERANCE * abs(time)) - 1, 0)
            if left >= len(times) - 1 and beyond != "Extrapolation":
                return time, 0.0 if beyond == "Setting to zero" and time > times[-1] else values[-1], 0.0
            if not joins:
                return time, values[left], 0.0
            left = min(left, len(times) - 2)
            return times[left], values[left], (values[left + 1] - values[left]) / (times[left + 1] - times[left])

        _follow(site, number, piece)
    site.jump_at(Instants(times))


def _input_widths(site: Site) -> list[int | None]:
    if site.sources:  # it is one of a subsystem
        return site.input_widths[:1]
    table = (site.code.tables or {}).get(site.name)
    wanted = site.vector("PortDimensions")[0] if "PortDimensions" in site.part.values else -1
    width = int(wanted) if wanted > 0 else len(table.elements) if table else 1
    if table and len(table.elements) != width:
        raise site.fault(f"its table has {len(table.elements)} elements, and PortDimensions is {width}; give as many")
    return [width]


@kernel("inport", _input_widths, rate=lambda site: "inherit" if site.sources or site.code.tables is None else "source")
def _inport(site: Site) -> None:
    tables = site.code.tables
    if site.inputs or tables is None:
        site.put(site.u(0, site.width) if site.inputs else ["0.0"] * site.width)
    elif table := tables.get(site.name):
        for number, values in enumerate(table.elements):
            _follow(site, number, _Lines(table.times, values).piece)
        site.jump_at(Instants(table.times))
    else:
        first = len(site.code.held)
        site.code.held += [0.0] * site.width
        site.code.inputs[site.name] = (*range(first, first + site.width),)
        site.put(f"held[{place}]" for place in site.code.inputs[site.name])


class _Lines(NamedTuple):
    """Straight lines between points; of two points of one time, the second counts from there on."""

    times: Sequence[float]
    values: Sequence[float]

    def piece(self, time: float) -> Piece:
        """The line that a time lies on."""
        left = bisect_right(self.times, time + _TOLERANCE * abs(time)) - 1
        if not 0 <= left < len(self.times) - 1:
            return time, self.values[max(left, 0)], 0.0
        return (self.times[left], self.values[left],
                (self.values[left + 1] - self.values[left]) / (self.times[left + 1] - self.times[left]))
