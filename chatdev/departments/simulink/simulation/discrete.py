"""Kernels of sampled blocks: at a hit all outputs are computed in the order of direct feed-through, then all states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from chatdev.departments.simulink.simulation.kernel import Site, elementwise, kernel, literal, scalars
from chatdev.departments.simulink.simulation.states import (
    begin_lines,
    combine,
    companion,
    limits,
    matrices,
    polynomials,
)


@kernel("unit_delay", elementwise("InitialCondition"), rate="hits")
def _unit_delay(site: Site) -> None:
    initial = site.spread("InitialCondition", site.width)
    for number, u in enumerate(site.u(0, site.width)):
        value = site.keep(initial[number])
        site.element(0, number, value)
        site.update(f"{value} = {u}")


@kernel("delay", elementwise("InitialCondition"), rate="hits")
def _delay(site: Site) -> None:
    for parameter, plain in (("DelayLengthSource", "Dialog"), ("InitialConditionSource", "Dialog"),
                             ("ExternalReset", "None"), ("ShowEnablePort", "off")):
        if site.text(parameter) != plain:
            raise site.fault(f"{parameter} {site.text(parameter)} is not simulated; choose {plain}")
    length, initial = site.whole("DelayLength"), site.spread("InitialCondition", site.width)
    for number, u in enumerate(site.u(0, site.width)):
        if length == 0:
            site.element(0, number, u)
            continue
        line, at = site.keep([initial[number]] * length), site.keep(0)
        site.element(0, number, f"{line}[{at}]")
        site.update(f"{line}[{at}] = {u}; {at} = ({at} + 1) % {length}")


@kernel("zero_order_hold", rate="hits")
def _zero_order_hold(site: Site) -> None:
    site.put(site.u())


def _transition_rate(site: Site) -> str:
    return "inherit" if site.part.values.get("OutPortSampleTime", "-1").strip() == "-1" else "hits"


@kernel("rate_transition", elementwise("InitialCondition"), rate=_transition_rate, sample_time="OutPortSampleTime")
def _rate_transition(site: Site) -> None:
    """To a slower rate a hold; to a faster one a delay of one slow sample, as the deterministic transfer is."""
    initial = site.spread("InitialCondition", site.width)
    slow = site.input_rates[0] if site.input_rates else site.rate
    if not (site.rate.is_discrete and slow.is_discrete and slow.period > site.rate.period):
        site.put(site.u(0, site.width))
        return
    site.rate = slow
    for number, u in enumerate(site.u(0, site.width)):
        value = site.keep(initial[number])
        site.element(0, number, value)
        site.update(f"{value} = {u}")


def _scheme(site: Site, parameter: str, kinds: str = "") -> str:
    """Forward Euler, Backward Euler or Trapezoidal."""
    found = site.text(parameter).removeprefix("Integration: ").removeprefix("Accumulation: ") or kinds
    if found not in ("Forward Euler", "Backward Euler", "Trapezoidal"):
        raise site.fault(f"{parameter} {found!r} is not known; it is Forward Euler, Backward Euler or Trapezoidal")
    return found


_THROUGH = {"Forward Euler": 0.0, "Backward Euler": 1.0, "Trapezoidal": 0.5}
"""How much of the input of an instant is in the output of the same instant."""


@kernel("discrete_integrator", elementwise("InitialCondition", "gainval"), rate="hits")
def _discrete_integrator(site: Site) -> None:
    through = _THROUGH[_scheme(site, "IntegratorMethod")]
    step = 1.0 if site.text("IntegratorMethod").startswith("Accumulation") else site.period
    states, decide = begin_lines(site, site.keep)
    initial = [site.code.remembered[state] for state in states]
    gains, extra = site.spread("gainval", site.width), int(site.is_on("ShowSaturationPort"))
    for number, (state, u) in enumerate(zip(states, site.u(0, site.width), strict=True)):
        gain, y, (low, high) = gains[number] * step, site.outputs[0][number], limits(site, number)
        form = f"min(max({{}}, {low}), {high})" if site.is_on("LimitOutput") else "{}"
        seen = f"{state} + {literal(gain * through)} * {u}" if through else state
        after = f"{y} + {literal(gain * (1 - through))} * {u}" if through < 1 else y
        site.element(0, number, form.format(seen), decide if number == 0 else [site.outputs[0][0]] if decide else [])
        site.update(f"{state} = {form.format(after)}")
        if extra:
            site.element(1, number, f"1.0 if {y} >= {high} else -1.0 if {y} <= {low} else 0.0")
        if len(site.outputs) > 1 + extra:
            before = site.keep(initial[number])
            site.element(1 + extra, number, before)
            site.update(f"{before} = {state}")


@kernel("discrete_transfer_fcn", elementwise(), rate="hits")
def _discrete_transfer_fcn(site: Site) -> None:
    _filter(site, site.vector("Numerator"), site.vector("Denominator"), by_delay=False)


@kernel("discrete_filter", elementwise(), rate="hits")
def _discrete_filter(site: Site) -> None:
    _filter(site, site.vector("Numerator"), site.vector("Denominator"), by_delay=True)


@kernel("discrete_fir", elementwise(), rate="hits")
def _discrete_fir(site: Site) -> None:
    _filter(site, site.vector("Coefficients"), [1.0], by_delay=True)


@kernel("discrete_zero_pole", elementwise(), rate="hits")
def _discrete_zero_pole(site: Site) -> None:
    numerator, denominator = polynomials(site)
    _filter(site, numerator.ravel().tolist(), denominator, by_delay=False)


@kernel("discrete_first_order", elementwise(), rate="hits")
def _discrete_first_order(site: Site) -> None:
    pole, initial = site.number("PoleZ"), site.spread("ICPrevOutput", site.width)
    for number, u in enumerate(site.u()):
        value = site.keep(initial[number])
        site.element(0, number, f"{literal(pole)} * {value} + {literal(1 - pole)} * {u}")
        site.update(f"{value} = {site.outputs[0][number]}")


def _filter(site: Site, numerator: list[float], denominator: list[float], by_delay: bool) -> None:
    """A transfer function in z, or in z^-1, for each element of the input; direct form II."""
    if len(site.inputs) > 1:
        raise site.fault("coefficients from an input port are not simulated; give them as parameters")
    if by_delay:
        if denominator[0] == 0:
            raise site.fault("the first coefficient of its denominator is 0; give one that is not")
        length = max(len(numerator), len(denominator))
        numerator, denominator = ([*one, *[0.0] * (length - len(one))] for one in (numerator, denominator))
    a, b, c, d, _ = companion(site, numpy.array([numerator]), denominator)
    start = site.vector("InitialStates") if "InitialStates" in site.part.values else [0.0]
    if len(start) not in (1, a.shape[0]):
        raise site.fault(f"InitialStates has {len(start)} elements, and there are {a.shape[0]} states")
    for number, u in enumerate(site.u()):
        _sample(site, [a, b, c, d], start if len(start) == a.shape[0] else start * a.shape[0], [u], number)


@kernel("discrete_state_space", lambda site: [site.matrix("C").shape[0]], rate="hits")
def _discrete_state_space(site: Site) -> None:
    a, b, c, d, initial = matrices(site)
    _sample(site, [a, b, c, d], initial, site.u(0, b.shape[1]), 0)


def _sample(site: Site, system: Sequence[numpy.ndarray], initial: Sequence[float], inputs: Sequence[str],
             first: int) -> None:
    a, b, c, d = system
    states = [site.keep(one) for one in initial]
    names = [*states, *inputs]
    for number, row in enumerate(numpy.hstack([c, d]).tolist()):
        site.element(0, first + number, combine(site, row, names))
    if states:
        rows = [combine(site, row, names) for row in numpy.hstack([a, b]).tolist()]
        site.update(f"{', '.join(states)}, = {', '.join(rows)},")


@kernel("discrete_derivative", rate="hits")
def _discrete_derivative(site: Site) -> None:
    gain, initial = site.number("gainval") / site.period, site.spread("ICPrevScaledInput", site.width)
    for number, u in enumerate(site.u()):
        value = site.keep(initial[number])
        site.element(0, number, f"{literal(gain)} * {u} - {value}")
        site.update(f"{value} = {literal(gain)} * {u}")


@kernel("difference", rate="hits")
def _difference(site: Site) -> None:
    initial = site.spread("ICPrevInput", site.width)
    for number, u in enumerate(site.u()):
        value = site.keep(initial[number])
        site.element(0, number, f"{u} - {value}")
        site.update(f"{value} = {u}")


@kernel("tapped_delay", lambda site: [site.whole("NumDelays", 1) + site.is_on("includeCurrent")], rate="hits",
        sample_time="samptime")
def _tapped_delay(site: Site) -> None:
    length, u = site.whole("NumDelays", 1), site.scalar()
    values = [site.keep(initial) for initial in site.spread("vinit", length)]
    row = [*values, *([u] if site.is_on("includeCurrent") else [])]
    site.put(row if site.text("DelayOrder") == "Oldest" else row[::-1])
    site.update(f"{', '.join(values)}, = {', '.join([*values[1:], u])},")


def _detect(name: str, condition: str, remembers: str = "{u}") -> None:
    @kernel(name, elementwise("vinit"))
    def _write(site: Site) -> None:
        initial = site.spread("vinit", site.width)
        for number, u in enumerate(site.u(0, site.width)):
            value = site.keep(initial[number])
            site.element(0, number, f"1.0 if {condition.format(u=u, before=value)} else 0.0", held=True)
            site.update(f"{value} = {remembers.format(u=u)}")


_detect("detect_change", "{u} != {before}")
_detect("detect_increase", "{u} > {before}")
_detect("detect_decrease", "{u} < {before}")
_detect("detect_rise_positive", "{u} > 0 and not {before}", "{u} > 0")
_detect("detect_fall_negative", "{u} < 0 and not {before}", "{u} < 0")


def _pid_rate(site: Site) -> str:
    return "hits" if site.part.values.get("TimeDomain") == "Discrete-time" else "continuous"


@kernel("pid", scalars, rate=_pid_rate)
@kernel("discrete_pid", scalars, rate=_pid_rate)
def _pid(site: Site) -> None:
    """Parallel: P u + I/s u + D N/(1 + N/s) u; Ideal: P times the sum of u and the others. `c` is how much of an
    instant is in the same instant's sum (0 of a continuous one)."""
    for parameter, plain in (("ControllerParametersSource", "internal"), ("ExternalReset", "none"),
                             ("InitialConditionSource", "internal"), ("TrackingMode", "off")):
        if site.text(parameter, plain) != plain:
            raise site.fault(f"{parameter} {site.text(parameter)} is not simulated; choose {plain}")
    u, step = site.scalar(), 0.0 if site.is_continuous else site.period
    p, i, d = (site.number(name) if name in site.text("Controller") else 0.0 for name in "PID")
    is_ideal = site.text("Form") == "Ideal"
    terms = [f"{literal(1.0 if is_ideal else p)} * {u}"]
    integral = filtered = slope = ""
    if i:
        integral = _store(site, site.number("InitialConditionForIntegrator"))
        c = step * _THROUGH[_scheme(site, "IntegratorMethod", "Forward Euler")] if step else 0.0
        terms.append(f"{integral} + {literal(c * i)} * {u}" if c else integral)
    if d:
        filtered, slope = _filtered_derivative(site, u, d, step)
        terms.append(slope)
    total = site.total(terms)
    y = f"{literal(p)} * ({total})" if is_ideal else total
    cut = _limit_output(site, y)
    if integral:
        _accumulate(site, integral, _against_windup(site, f"{literal(i)} * {u}", y, cut), step)
    if filtered:
        _accumulate(site, filtered, slope, step)


def _store(site: Site, initial: float) -> str:
    return site.state(initial) if site.is_continuous else site.keep(initial)


def _accumulate(site: Site, store: str, rate: str, step: float) -> None:
    if site.is_continuous:
        site.derive(store, rate)
    else:
        site.update(f"{store} += {literal(step)} * ({rate})")


def _filtered_derivative(site: Site, u: str, gain: float, step: float) -> tuple[str, str]:
    """The filter's state, and the derivative it gives."""
    if not site.is_on("UseFilter") and "UseFilter" in site.part.values:
        if site.is_continuous:
            raise site.fault("a derivative without filter is not simulated; set UseFilter on")
        before = site.keep(0.0)
        site.update(f"{before} = {u}")
        return "", f"{literal(gain / step)} * ({u} - {before})"
    n = site.number("N")
    c = step * _THROUGH[_scheme(site, "FilterMethod", "Forward Euler")] if step else 0.0
    state = _store(site, site.number("InitialConditionForFilter"))
    return state, f"{literal(n / (1 + n * c))} * ({literal(gain)} * {u} - {state})"


def _limit_output(site: Site, y: str) -> tuple[str, str, str]:
    """Says what the output is; and its bounds with the mode that tells which one is reached, if there are any."""
    if not site.is_on("LimitOutput"):
        site.element(0, 0, y)
        return "", "", ""
    low, high = (literal(site.number(name, True)) for name in ("LowerSaturationLimit", "UpperSaturationLimit"))
    mode = site.keep(0)
    site.element(0, 0, f"{high} if {mode} > 0 else {low} if {mode} < 0 else {y}",
                 [f"{mode} = ({y} > {high}) - ({y} < {low})"])
    if site.is_located:
        site.margin(f"{high} - ({y}) if {mode} > 0 else ({y}) - {low} if {mode} < 0 else "
                    f"max(({y}) - {high}, {low} - ({y}))")
    return mode, low, high


def _against_windup(site: Site, rate: str, y: str, cut: tuple[str, str, str]) -> str:
    """What the integrator adds up, by the anti-windup mode."""
    how, (mode, _, _) = site.text("AntiWindupMode", "none"), cut
    if how == "none" or not mode:
        return rate
    if how == "back-calculation" and site.is_continuous:
        return f"{rate} + {literal(site.number('Kb'))} * ({site.outputs[0][0]} - ({y}))"
    if how == "clamping":
        return f"(0.0 if {mode} * ({rate}) > 0 else {rate})"
    raise site.fault(f"AntiWindupMode {how} is not simulated here; choose clamping or none")
