"""Kernels of continuous blocks that have states, delays or hysteresis."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Sequence

import numpy

from chatdev.departments.simulink.simulation.expressions import Values
from chatdev.departments.simulink.simulation.kernel import Site, elementwise, kernel, literal, scalars


def edge_condition(reset: str, now: str, before: str) -> str:
    """The condition that an edge comes, by the kind of reset: from below 0 to 0 or above, or from 0 up; and so down."""
    rising, falling = (f"({before} < 0 and {now} >= 0 or {before} == 0 and {now} > 0)",
                       f"({before} > 0 and {now} <= 0 or {before} == 0 and {now} < 0)")
    return {"rising": rising, "falling": falling, "either": f"({rising} or {falling})",
            "level": f"({now} != 0 or {before} != 0)", "level hold": f"{now} != 0",
            "sampled level": f"{now} != 0"}[reset]


def reset_lines(site: Site, reset: str, port: int, lines: Sequence[str]) -> list[str]:
    """What is decided where an edge at an input does `lines`; its crossing is located."""
    now, before = site.scalar(port), site.keep()
    if site.is_continuous:
        site.margin(f"{now} if {before} <= 0 else -{now}")
    site.update(f"{before} = {now}")
    if reset not in ("level", "level hold", "sampled level"):
        return [f"if not first and {edge_condition(reset, now, before)}: {'; '.join(lines)}"]
    return [f"if {edge_condition(reset, now, before)}: {'; '.join(lines)}"]


def begin_lines(site: Site, new: Callable[[float], str]) -> tuple[list[str], list[str]]:
    """The stores of an integrator, made by `new`, and what puts its initial values into them."""
    is_external, reset = site.text("InitialConditionSource") == "external", site.text("ExternalReset")
    starts = site.u(len(site.inputs) - 1, site.width) if is_external else site.each("InitialCondition", site.width)
    initial = [0.0] if is_external else site.vector("InitialCondition")
    stores = [new(initial[number % len(initial)]) for number in range(site.width)]
    begin = [f"{store} = {start}" for store, start in zip(stores, starts, strict=True)]
    decide = [f"if first: {'; '.join(begin)}"] if is_external else []
    return stores, decide + (reset_lines(site, reset, 1, begin) if reset != "none" else [])


@kernel("integrator", elementwise("InitialCondition"), rate="continuous")
def _integrator(site: Site) -> None:
    states, decide = begin_lines(site, site.state)
    extra = int(site.is_on("ShowSaturationPort"))
    for number, (state, u) in enumerate(zip(states, site.u(0, site.width), strict=True)):
        before = decide if number == 0 else [site.outputs[0][0]] if decide else []
        rate, own, (low, high) = u, list[str](), limits(site, number)
        if site.is_on("WrapState"):
            own = _wrap(site, state)
        elif site.is_on("LimitOutput"):
            mode = site.keep(0)
            own = [f"{state} = {low} if {state} < {low} else {high} if {state} > {high} else {state}"]
            site.settle(f"{mode} = 1 if {state} >= {high} and {u} > 0 else -1 if {state} <= {low} and {u} < 0 else 0")
            site.margin(f"-{u} if {mode} > 0 else {u} if {mode} < 0 else max({state} - {high}, {low} - {state})")
            rate = f"(0.0 if {mode} else {u})"
        if site.text("ExternalReset").startswith("level"):
            rate = f"(0.0 if {site.scalar(1)} else {rate})"
        site.derive(state, rate)
        site.element(0, number, state, [*before, *own])
        if extra:
            site.element(1, number, f"1.0 if {state} >= {high} else -1.0 if {state} <= {low} else 0.0",
                         [site.outputs[0][number]])
        if len(site.outputs) > 1 + extra:
            site.element(1 + extra, number, f"x[{int(state[1:])}]")


def limits(site: Site, number: int) -> tuple[str, str]:
    """The bounds of an element."""
    if not site.is_on("LimitOutput"):
        return "(-inf)", "inf"
    low, high = (site.each(name, site.width)[number] for name in ("LowerSaturationLimit", "UpperSaturationLimit"))
    if not float(low.strip("()")) < float(high.strip("()")):
        raise site.fault("LowerSaturationLimit is not below UpperSaturationLimit; exchange them")
    return low, high


def _wrap(site: Site, state: str) -> list[str]:
    low, high = site.number("WrappedStateLowerValue"), site.number("WrappedStateUpperValue")
    if not low < high:
        raise site.fault("WrappedStateLowerValue is not below WrappedStateUpperValue; exchange them")
    bounds = literal(low), literal(high)
    site.margin(f"max({state} - {bounds[1]}, {bounds[0]} - {state})")
    return [f"if {state} >= {bounds[1]} or {state} < {bounds[0]}: {state} = {bounds[0]} + "
            f"mod({state} - {bounds[0]}, {literal(high - low)})"]


@kernel("second_order_integrator", elementwise("ICX", "ICDXDT"), rate="continuous")
def _second_order_integrator(site: Site) -> None:
    if site.is_on("LimitX") or site.is_on("LimitDXDT"):
        raise site.fault("its limits are not simulated; use two Integrators")
    reset, at = site.text("ExternalReset"), 1 + (site.text("ExternalReset") != "none")
    starts = list[Sequence[str]]()
    for source, value in (("ICSourceX", "ICX"), ("ICSourceDXDT", "ICDXDT")):
        is_external = site.text(source) == "external"
        starts.append(site.u(at, site.width) if is_external else site.each(value, site.width))
        at += is_external
    for number, u in enumerate(site.u(0, site.width)):
        x, rate = site.state(0.0), site.state(0.0)
        begin = [f"{x} = {starts[0][number]}", f"{rate} = {starts[1][number]}"]
        decide = [f"if first: {'; '.join(begin)}"]
        if reset != "none":
            decide += reset_lines(site, reset, 1, begin)
        site.element(0, number, x, decide)
        site.element(1, number, rate, [site.outputs[0][number]])
        site.derive(x, rate)
        site.derive(rate, u)


@kernel("transfer_fcn", lambda site: [max(1, site.matrix("Numerator").shape[0])], rate="continuous")
def _transfer_fcn(site: Site) -> None:
    numerator, denominator = site.matrix("Numerator"), site.vector("Denominator")
    if 1 in numerator.shape:
        numerator = numerator.reshape(1, -1) if site.width == 1 else numerator
    _linear(site, *companion(site, numerator, denominator), [site.scalar()])


@kernel("zero_pole", scalars, rate="continuous")
def _zero_pole(site: Site) -> None:
    _linear(site, *companion(site, *polynomials(site)), [site.scalar()])


def polynomials(site: Site) -> tuple[Values, list[float]]:
    """Numerator (one row) and denominator of a block given by zeros, poles and gain."""
    zeros, poles = site.matrix("Zeros").ravel(), site.matrix("Poles").ravel()
    return (site.number("Gain") * numpy.atleast_1d(numpy.real(numpy.poly(zeros)))).reshape(1, -1), [
        *map(float, numpy.atleast_1d(numpy.real(numpy.poly(poles))))]


def companion(site: Site, numerator: Values, denominator: list[float],
              ) -> tuple[Values, Values, Values, Values, list[float]]:
    """A, B, C, D and zeros as the initial state, in the controllable form, of a row of transfer functions."""
    while denominator and denominator[0] == 0:
        denominator = denominator[1:]
    while numerator.shape[1] > 1 and not numerator[:, 0].any():
        numerator = numerator[:, 1:]
    order = len(denominator) - 1
    if order < 0:
        raise site.fault("its denominator is 0; give one that is not")
    if numerator.shape[1] > order + 1:
        raise site.fault(f"its numerator is of order {numerator.shape[1] - 1}, its denominator of order {order}; the "
                         "numerator's must not be greater")
    below = numpy.array(denominator) / denominator[0]
    above = numpy.hstack([numpy.zeros((numerator.shape[0], order + 1 - numerator.shape[1])),
                          numerator]) / denominator[0]
    a, b = numpy.eye(order, k=-1), numpy.zeros((order, 1))
    if order:
        a[0, :], b[0, 0] = -below[1:], 1.0
    through = above[:, :1]
    return a, b, above[:, 1:] - through * below[1:], through, [0.0] * order


@kernel("state_space", lambda site: [site.matrix("C").shape[0]], rate="continuous")
def _state_space(site: Site) -> None:
    _linear(site, *matrices(site), [*site.u(0, site.matrix("B").shape[1])])


def matrices(site: Site) -> tuple[Values, Values, Values, Values, list[float]]:
    """A, B, C, D and the initial state of a block that has them as parameters."""
    a, b, c, d = (site.matrix(name) for name in "ABCD")
    states, inputs, outputs = a.shape[0], b.shape[1], c.shape[0]
    if d.size == 1 and (outputs, inputs) != (1, 1) and d[0, 0] == 0:
        d = numpy.zeros((outputs, inputs))
    if a.shape != (states, states) or b.shape[0] != states or c.shape[1] != states or d.shape != (outputs, inputs):
        raise site.fault(f"A is {a.shape[0]} by {a.shape[1]}, B {b.shape[0]} by {b.shape[1]}, C {c.shape[0]} by "
                         f"{c.shape[1]}, D {d.shape[0]} by {d.shape[1]}; they do not fit each other")
    initial = site.vector("InitialCondition")
    if len(initial) not in (1, states):
        raise site.fault(f"InitialCondition has {len(initial)} elements, and there are {states} states")
    return a, b, c, d, (initial if len(initial) == states else initial * states)


def combine(site: Site, row: Sequence[float], names: Sequence[str]) -> str:
    """The sum of what a row of a matrix makes of variables."""
    terms = [name if factor == 1 else f"{literal(factor)} * {name}"
             for factor, name in zip(row, names, strict=True) if factor]
    return site.total(terms) if terms else "0.0"


def _linear(site: Site, a: Values, b: Values, c: Values, d: Values,
            initial: Sequence[float], inputs: Sequence[str]) -> None:
    states = [site.state(one) for one in initial]
    names = [*states, *inputs]
    for state, row in zip(states, numpy.hstack([a, b]).tolist(), strict=True):
        site.derive(state, combine(site, row, names))
    site.put(combine(site, row, names) for row in numpy.hstack([c, d]).tolist())


@kernel("derivative", rate="continuous")
def _derivative(site: Site) -> None:
    """By the whole steps, as Simulink's: the change since the last one, divided by its length; 0 at the start."""
    time = site.keep(0.0)
    for number, u in enumerate(site.u()):
        value, slope = site.keep(0.0), site.keep(0.0)
        site.element(0, number, f"({u} - {value}) / (t - {time}) if t > {time} else {slope}")
        site.update(f"{value}, {slope} = {u}, {site.outputs[0][number]}")
    site.update(f"{time} = t")


class History:
    """What a signal has been, for a delay: read with lines between whole steps, and with its jumps."""

    def __init__(self, delay: float, initial: float) -> None:
        self._delay, self._times, self._values = delay, [0.0], [initial]
        self._cursor, self._jumps = 1, deque[float]()

    def push(self, time: float, value: float) -> None:
        """Add what is seen at a whole step, or just before it."""
        if self._values[-1] == value and len(self._times) > 1 and self._times[-1] == time:
            return
        if self._times[-1] == time and value != self._values[-1]:
            self._jumps.append(time + self._delay)
        self._times.append(time)
        self._values.append(value)

    def start(self, time: float) -> None:
        """A step begins: what lies before it is not looked at again."""
        self._cursor = bisect_right(self._times, time - self._delay + 1e-13 * time)
        while self._jumps and self._jumps[0] < time * (1 - 1e-12):
            self._jumps.popleft()
        if self._cursor > 4096:
            del self._times[:self._cursor - 2], self._values[:self._cursor - 2]
            self._cursor = 2

    def at(self, time: float) -> float:
        """The value a delay ago; within a step, that of the piece it began in."""
        then = time - self._delay - 1e-13 * time  # so that a jump is not seen before the step that begins with it
        right = bisect_left(self._times, then, lo=max(self._cursor, 1))
        if right == len(self._times):
            return self._values[-1]
        if right == 1 and then < self._times[0]:
            return self._values[0]
        left, length = right - 1, self._times[right] - self._times[right - 1]
        share = (then - self._times[left]) / length if length > 0 else 0.0
        return self._values[left] + share * (self._values[right] - self._values[left])

    def after(self, time: float) -> float:
        """When the next jump comes out."""
        return next((jump for jump in self._jumps if jump > time * (1 + 1e-12)), math.inf)


@kernel("transport_delay", elementwise("DelayTime"), rate="continuous")
def _transport_delay(site: Site) -> None:
    delays, initial = site.vector("DelayTime"), site.vector("InitialOutput")
    if min(delays) < 0:
        raise site.fault("DelayTime is negative; give a time of 0 or more")
    for number, u in enumerate(site.u(0, site.width)):
        delay = delays[number % len(delays)]
        if delay == 0:
            site.element(0, number, u)
            continue
        history = History(delay, initial[number % len(initial)])
        name = site.thing(history)
        site.element(0, number, f"{name}.at(t)", [f"{name}.start(t)"])
        site.update(f"{name}.push(t, {u})")
        site.leave(u, f"{name}.push(t, {u})")
        site.jump_at(history)
        site.code.longest_step = min(site.code.longest_step, delay)


@kernel("memory", elementwise("InitialCondition"),
        rate=lambda site: "inherit" if site.is_on("InheritSampleTime") else "continuous")
def _memory(site: Site) -> None:
    for number, u in enumerate(site.u(0, site.width)):
        initial = site.vector("InitialCondition")
        value = site.keep(initial[number % len(initial)])
        site.element(0, number, value, held=True)
        site.update(f"{value} = {u}", once=True)


@kernel("initial_condition", elementwise("Value"))
def _initial_condition(site: Site) -> None:
    for number, (u, value) in enumerate(zip(site.u(0, site.width), site.each("Value", site.width), strict=True)):
        site.element(0, number, f"{value} if first else {u}")


@kernel("rate_limiter", sample_time="",
        rate=lambda site: "continuous" if site.text("SampleTimeMode") == "continuous" else "inherit")
def _rate_limiter(site: Site) -> None:
    rising, falling = site.each("RisingSlewLimit", site.width), site.each("FallingSlewLimit", site.width)
    _limit_rate(site, site.u(), rising, falling)


@kernel("rate_limiter_dynamic")
def _rate_limiter_dynamic(site: Site) -> None:
    up, u, down = site.wide()
    _limit_rate(site, u, up, down)


def _limit_rate(site: Site, inputs: Sequence[str], up: Sequence[str], down: Sequence[str]) -> None:
    """Against what it was at the last whole step; a continuous one begins with its input."""
    time = site.keep(0.0)
    initial = site.vector("InitialCondition") if "InitialCondition" in site.part.values else [0.0]
    for number, (u, rise, fall) in enumerate(zip(inputs, up, down, strict=True)):
        value = site.keep(initial[number % len(initial)])
        since = f"(t - {time})" if site.is_continuous else literal(site.period)
        decide = [f"if first: {value} = {u}"] if site.is_continuous else []
        site.element(0, number, f"min(max({u}, {value} + {fall} * {since}), {value} + {rise} * {since})", decide)
        site.update(f"{value} = {site.outputs[0][number]}")
    site.update(f"{time} = t")


@kernel("backlash", elementwise("BacklashWidth"))
def _backlash(site: Site) -> None:
    initial = site.vector("InitialOutput")
    for number, (u, width) in enumerate(zip(site.u(0, site.width), site.each("BacklashWidth", site.width),
                                            strict=True)):
        value, play = site.keep(initial[number % len(initial)]), f"{width} / 2"
        site.element(0, number, f"min(max({value}, {u} - {play}), {u} + {play})")
        site.update(f"{value} = {site.outputs[0][number]}")


@kernel("relay", elementwise("OnSwitchValue", "OffSwitchValue", "OnOutputValue", "OffOutputValue"))
def _relay(site: Site) -> None:
    limits = [site.each(name, site.width) for name in ("OnSwitchValue", "OffSwitchValue", "OnOutputValue",
                                                       "OffOutputValue")]
    for number, (u, on, off, high, low) in enumerate(zip(site.u(0, site.width), *limits, strict=True)):
        if float(on.strip("()")) < float(off.strip("()")):
            raise site.fault("OnSwitchValue is below OffSwitchValue; exchange them")
        mode, before = site.keep(0), site.keep(0)
        site.element(0, number, f"{high} if {mode} else {low}",
                     [f"{mode} = 1 if {u} >= {on} else 0 if {u} <= {off} else {before}"])
        site.update(f"{before} = {mode}")
        if site.is_located:
            site.margin(f"{off} - {u} if {mode} else {u} - {on}")


@kernel("hit_crossing")
def _hit_crossing(site: Site) -> None:
    """1 at the instant of the crossing, and 0 again as soon as time goes on."""
    offset, direction = literal(site.number("HitCrossingOffset")), site.text("HitCrossingDirection")
    for number, u in enumerate(site.u()):
        before, hit = site.keep(0), site.keep(0.0)
        side = f"(({u} > {offset}) - ({u} < {offset}))"
        ways = {"rising": f"{before} < 0 and {u} >= {offset}", "falling": f"{before} > 0 and {u} <= {offset}"}
        if direction not in (*ways, "either"):
            raise site.fault(f"HitCrossingDirection is {direction!r}; it is rising, falling or either")
        crossing = ways.get(direction) or f"{ways['rising']} or {ways['falling']}"
        decide = [f"{hit} = 1.0 if {crossing} else 0.0", *([f"again = again or {hit}"] if site.is_continuous else [])]
        if site.outputs:
            site.element(0, number, hit, decide, held=True)
        site.update(f"{before} = {side}")
        if site.is_located:
            site.margin(f"{offset} - {u} if {before} > 0 else {u} - {offset} if {before} < 0 else -1.0")


@kernel("stop", rate="sink")
def _stop(site: Site) -> None:
    site.settle(f"stop = stop or {site.total(site.u(), 'or')}")
