"""Are simulated models right? Models with formulas, and random linear systems against python-control.

    python -m benchmarks.simulink.linear [--resume | --write]

A hundred linear systems, seeded, are built of transfer functions, zeros and poles, and state spaces, in series, in
parallel and in feedback; our blocks are wired as the system says, python-control reduces it to one system and answers
its step by matrix exponentials. Errors are the greatest over the whole time, of the greatest value. The order of a
fixed-step solver is by how its error falls when the step is halved. PEERS_PYTHON: see simulation.py. Writes
benchmarks/results/simulink_linear.json.
"""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy

from benchmarks.simulink.simulation import ask_peers
from benchmarks.study import DOCS, RESULTS_FOLDER, PartStudy, markdown_table, marks
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.departments.simulink.simulation.solve import Options, Results, simulate
from chatdev.departments.simulink.simulation.steps import FIXED

SYSTEMS, STOP, GRID = 100, 5.0, 0.1
System = tuple[Any, ...]
"""("tf", numerator, denominator), ("zp", zeros, poles, gain), ("ss", A, B, C, D), or "series", "parallel" or "feedback"
with two systems; complex numbers are pairs."""
VARIABLE = ("ode45", "ode23", "ode15s")
KINDS = {"continuous": 55, "stiff": 15, "discrete": 30}

# models with formulas


def model(blocks: Mapping[str, tuple[str, Mapping[str, str]] | str], *lines: str) -> Diagram:
    """A model of blocks (type, or type and parameters) and lines."""
    return Diagram("m", {name: DiagramBlock(block) if isinstance(block, str) else DiagramBlock(*block)
                         for name, block in blocks.items()}, tuple(map(Wire.read, lines)))


SECOND_ORDER = model({"u": ("Step", {"Time": "0"}), "y": ("Transfer Fcn", {
    "Numerator": "[4]", "Denominator": "[1 1 4]"}), "Scope": "Scope"}, "u/1 -> y/1", "y/1 -> Scope/1")
BALL = model({
    "g": ("Constant", {"Value": "-9.81"}), "e": ("Gain", {"Gain": "-0.8"}), "start": ("IC", {"Value": "15"}),
    "v": ("Integrator", {"ExternalReset": "rising", "InitialConditionSource": "external", "ShowStatePort": "on"}),
    "x": ("Integrator", {"InitialCondition": "10", "LimitOutput": "on", "LowerSaturationLimit": "0"}),
    "floor": ("Compare To Zero", {"relop": "<="}), "Scope": "Scope"}, "g/1 -> v/1", "floor/1 -> v/2", "start/1 -> v/3",
    "v/State -> e/1", "e/1 -> start/1", "v/1 -> x/1", "x/1 -> floor/1", "x/1 -> Scope/1")
BANG = model({"c": ("Constant", {"Value": "1"}), "e": ("Sum", {"Inputs": "+-"}), "i": "Integrator",
              "d": ("Relay", {"OnSwitchValue": "0.1", "OffSwitchValue": "-0.1", "OnOutputValue": "1",
                              "OffOutputValue": "-1"}), "Scope": "Scope"},
             "c/1 -> e/1", "i/1 -> e/2", "e/1 -> d/1", "d/1 -> i/1", "i/1 -> Scope/1")
COUNT = model({"one": ("Constant", {"Value": "1"}), "y": ("Sum", {"Inputs": "++"}), "d": (
    "Unit Delay", {"SampleTime": "1"}), "Scope": "Scope"}, "one/1 -> y/1", "d/1 -> y/2", "y/1 -> d/1", "y/1 -> Scope/1")
LOOP = model({"c": ("Constant", {"Value": "1"}), "x": ("Sum", {"Inputs": "+-"}), "g": ("Gain", {"Gain": "0.5"}),
              "Scope": "Scope"}, "c/1 -> x/1", "g/1 -> x/2", "x/1 -> g/1", "x/1 -> Scope/1")
RC = model({"S": ("DC Voltage Source", {"v0": "5"}), "R": ("Resistor", {"R": "1000"}),
            "C": ("Capacitor", {"c": "1e-4"}), "V": "Voltage Sensor", "y": "PS-Simulink Converter", "Scope": "Scope",
            "G": "Electrical Reference", "f": "Solver Configuration"},
           "S/LConn1 -- R/LConn1", "R/RConn1 -- C/LConn1", "C/LConn1 -- V/LConn1", "S/RConn1 -- G/LConn1",
           "C/RConn1 -- G/LConn1", "V/RConn2 -- G/LConn1", "f/RConn1 -- G/LConn1", "V/RConn1 -- y/LConn1",
           "y/1 -> Scope/1")


def second_order(time: Any) -> Any:
    """Of 4 / (s^2 + s + 4)."""
    fast = 2 * math.sqrt(1 - 0.25**2)
    return 1 - numpy.exp(-0.5 * time) * (numpy.cos(fast * time) + 0.5 / fast * numpy.sin(fast * time))


def bounces(stop: float) -> Iterator[float]:
    """The times at which a ball meets the floor that rises with 15 m/s from 10 m and keeps 0.8 of its speed."""
    speed = math.sqrt(15**2 + 2 * 9.81 * 10)
    time = (15 + speed) / 9.81
    while time < stop:
        yield time
        speed *= 0.8
        time += 2 * speed / 9.81


def _ball_error() -> float:
    found = simulate(BALL, Options(stop=20))
    hits = sorted({time for time, height in zip(found.times, found["x"], strict=True) if height == 0})
    expected = [*bounces(20)]
    return max(map(abs, numpy.subtract(hits, expected))) if len(hits) == len(expected) else math.inf


def _bang_error() -> float:
    found = simulate(BANG, Options(stop=10))
    wave = 0.9 + numpy.abs((found.times - 1.1) % 0.4 - 0.2)
    return float(numpy.abs(found["i"] - numpy.where(found.times < 1.1, found.times, wave)).max())


def _amplifier_error() -> float:
    """Of the emitter stage: the amplitude in its second period, against the phasor, as a part of it."""
    found = simulate(reference_models()["emitter_stage"].diagram, Options(stop=0.005, relative=1e-7, absolute=1e-10,
                                                                         longest=2e-6))
    load = 1 / (1 / 80000 + 1 / 3300 + 1 / 10000)
    phasor = -150 / 2000 * load / (1 + 2j * cmath.pi * 1000 * 1.04e-10 * load)
    late = (found.times >= 0.004) & numpy.append(numpy.diff(found.times) > 0, True)
    times, values = found.times[late], found["Converter"][late]
    turned = numpy.trapezoid(values * numpy.exp(-2j * math.pi * 1000 * times), times) * 2 / 0.001
    return float(abs(abs(turned) - 0.005 * abs(phasor)) / (0.005 * abs(phasor)))


def _over_time(found: Results, column: str, expected: Any) -> float:
    return float(numpy.abs(found[column] - expected).max())


def measure_formulas() -> dict[str, float]:
    """The error of each model with a formula."""
    step = simulate(SECOND_ORDER, Options(relative=1e-9))
    rc = simulate(RC, Options(stop=1, relative=1e-9, absolute=1e-10))
    return {
        "second order, step, 10 s": _over_time(step, "y", second_order(step.times)),
        "bouncing ball, 18 hits in 20 s (s)": _ball_error(),
        "bang-bang with hysteresis, 45 turns in 10 s": _bang_error(),
        "discrete loop y = 1 + y/z": float(numpy.abs(simulate(COUNT, Options(stop=5))["y"] - numpy.arange(1, 7)).max()),
        "algebraic loop x = 1 - x/2": abs(float(simulate(LOOP)["x"][-1]) - 2 / 3),
        "RC, 5 V, 1 s": _over_time(rc, "y", 5 * (1 - numpy.exp(-rc.times / 0.1))),
        "transistor stage, amplitude at 1 kHz (of it)": _amplifier_error()}


def measure_orders() -> dict[str, dict[str, float]]:
    """By how much the error of a pendulum's angle falls with half the step, as a power of 2."""
    pendulum = model({"x": ("Integrator", {"InitialCondition": "2"}), "v": "Integrator", "s": "Trigonometric Function",
                      "a": ("Gain", {"Gain": "-9.81"}), "Scope": "Scope"},
                     "v/1 -> x/1", "x/1 -> s/1", "s/1 -> a/1", "a/1 -> v/1", "x/1 -> Scope/1")
    exact = simulate(pendulum, Options(stop=2, relative=1e-12, absolute=1e-13))["x"][-1]
    found = {}
    for number, solver in enumerate(FIXED, 1):
        steps = [2.0**-power for power in ((10, 11) if number < 3 else (8, 9) if number < 4 else (6, 7))]
        first, second = (abs(simulate(pendulum, Options(stop=2, solver=solver, step=step))["x"][-1] - exact)
                         for step in steps)
        found[solver] = {"step": steps[1], "error": float(second), "order": math.log2(first / second)}
    return found


# random linear systems


def random_system(rng: random.Random, kind: str, depth: int = 2) -> System:
    """A stable leaf, or two systems that are joined; in a feedback the loop's gain at rest is below 1."""
    if depth == 0 or rng.random() < 0.25:
        return _leaf(rng, kind)
    how = rng.choice(["series", "parallel", *(["feedback"] if kind != "stiff" else [])])
    first, second = (random_system(rng, kind, depth - 1) for _ in range(2))
    return how, first, second


def _poles(rng: random.Random, kind: str, count: int) -> list[complex]:
    found: list[complex] = []
    while len(found) < count:
        is_pair = count - len(found) > 1 and rng.random() < 0.5
        if kind == "discrete":
            size = rng.uniform(0.1, 0.85)
            pole = cmath.rect(size, rng.uniform(0.2, 2.5)) if is_pair else complex(rng.choice([size, -size]))
        else:
            fast = 10 ** rng.uniform(2, 3) if kind == "stiff" and not found else 1.0
            pole = complex(-rng.uniform(0.3, 3) * fast, rng.uniform(0.5, 4) if is_pair else 0.0)
        found += [pole, pole.conjugate()] if is_pair else [pole]
    return found


def _leaf(rng: random.Random, kind: str) -> System:
    count = rng.randint(1, 3)
    poles = _poles(rng, kind, count)
    denominator = numpy.real(numpy.poly(poles)).tolist()
    gain = rng.choice([-1, 1]) * rng.uniform(0.2, 0.8)
    at_rest = abs(numpy.polyval(denominator, 1.0 if kind == "discrete" else 0.0))
    form = rng.choice(["tf", "zp", "ss"])
    if form == "tf":
        above = [rng.uniform(-0.3, 0.3) * at_rest for _ in range(rng.randint(1, count + 1))]
        return "tf", [*above[:-1], gain * at_rest], denominator
    if form == "zp":
        zeros = _poles(rng, "discrete" if kind == "discrete" else "plain", rng.randint(0, count))
        rest = abs(numpy.polyval(numpy.poly(zeros) if zeros else [1.0], 1.0 if kind == "discrete" else 0.0))
        return "zp", [[z.real, z.imag] for z in zeros], [[p.real, p.imag] for p in poles], gain * at_rest / rest
    a = numpy.zeros((count, count))
    a[0] = [-one for one in denominator[1:]]
    a[1:, :-1] = numpy.eye(count - 1)
    b = numpy.eye(count)[:, :1]
    turn = numpy.linalg.qr(numpy.array([[rng.gauss(0, 1) for _ in range(count)] for _ in range(count)]))[0]
    c = numpy.array([[0.0] * (count - 1) + [gain * at_rest]])
    return ("ss", (turn @ a @ turn.T).tolist(), (turn @ b).tolist(), (c @ turn.T).tolist(),
            [[rng.choice([0.0, 0.0, 0.3])]])


class Drawing:
    """Blocks and lines of a system."""

    def __init__(self, kind: str) -> None:
        self.prefix = "Discrete " if kind == "discrete" else ""
        self._own = {"SampleTime": str(GRID)} if self.prefix else {}
        self.blocks: dict[str, DiagramBlock] = {}
        self.wires: list[Wire] = []

    def block(self, kind: str, parameters: Mapping[str, str], *sources: str) -> str:
        """A new block that these feed."""
        name = f"b{len(self.blocks)}"
        self.blocks[name] = DiagramBlock(kind, parameters)
        self.wires += [Wire(End(source, "1"), End(name, str(port))) for port, source in enumerate(sources, 1)]
        return name

    def add(self, system: System, source: str) -> str:
        """The block that gives the system's output; `source` feeds it."""
        how, *parts = system
        if how == "series":
            return self.add(parts[1], self.add(parts[0], source))
        if how == "parallel":
            return self.block("Sum", {"Inputs": "++"}, self.add(parts[0], source), self.add(parts[1], source))
        if how == "feedback":
            error = self.block("Sum", {"Inputs": "+-"}, source)
            output = self.add(parts[0], error)
            self.wires.append(Wire(End(self.add(parts[1], output), "1"), End(error, "2")))
            return output
        if how == "ss":
            names = dict(zip("ABCD", map(_matrix, parts), strict=True))
            return self.block(f"{self.prefix}State-Space", {**names, **self._own}, source)
        if how == "tf":
            names = {"Numerator": _matrix([parts[0]]), "Denominator": _matrix([parts[1]])}
            return self.block(f"{self.prefix}Transfer Fcn", {**names, **self._own}, source)
        return self._factors(parts, source)

    def _factors(self, parts: list[Any], source: str) -> str:
        """Parameters have real numbers, so that zeros and poles are given as roots of polynomials of theirs."""
        zeros, poles, gain = parts
        if all(not imaginary for _, imaginary in (*zeros, *poles)):
            names = {"Zeros": _matrix([[z for z, _ in zeros]]), "Poles": _matrix([[p for p, _ in poles]]),
                     "Gain": repr(float(gain))}
            return self.block(f"{self.prefix}Zero-Pole", {**names, **self._own}, source)
        above, below = (numpy.real(numpy.atleast_1d(numpy.poly([complex(*one) for one in row]))).tolist()
                        for row in (zeros, poles))
        return self.add(("tf", [gain * one for one in above], below), source)

    def diagram(self, system: System) -> Diagram:
        """Its step response, with hits at the grid's times."""
        step = self.block("Step", {"Time": "0", **self._own})
        scope = self.block("Scope", {}, self.add(system, step))
        self.block("Digital Clock", {"SampleTime": str(GRID)})
        assert scope
        return Diagram("m", self.blocks, tuple(self.wires))


def _matrix(rows: list[list[float]]) -> str:
    return f"[{'; '.join(' '.join(repr(float(one)) for one in row) for row in rows)}]"


def systems() -> Iterator[tuple[str, System]]:
    """All systems with their kinds."""
    for kind, count in KINDS.items():
        for seed in range(count):
            yield kind, random_system(random.Random(f"{kind} {seed}"), kind)


def response(kind: str, system: System, options: Options) -> list[float]:
    """Our values at the grid's times; of two at one time the later one."""
    found = simulate(Drawing(kind).diagram(system), options)
    last = dict(zip(found.times.tolist(), found.values[:, 0].tolist(), strict=True))
    return [last[number / 10] for number in range(round(STOP / GRID) + 1)]


def measure_systems() -> dict[str, Any]:
    """The greatest error of each kind and solver."""
    every = [*systems()]
    expected = ask_peers([{"do": "respond", "system": system, "grid": GRID, "count": round(STOP / GRID) + 1,
                           "is_sampled": kind == "discrete"} for kind, system in every])
    rows: dict[str, Any] = {}
    for (kind, system), right in zip(every, expected, strict=True):
        row = rows.setdefault(kind, {"systems": 0, "errors": {}})
        row["systems"] += 1
        solvers = ("discrete", "ode4") if kind == "discrete" else VARIABLE if kind == "stiff" else (*VARIABLE, *FIXED)
        for solver in solvers:
            step = (GRID if kind == "discrete" else 0.01) if solver in FIXED else None
            found = response(kind, system, Options(
                stop=STOP, solver=solver, relative=1e-7, absolute=1e-15, step=step))
            error = max(map(abs, numpy.subtract(found, right))) / max(1.0, *map(abs, right))
            row["errors"][solver] = max(row["errors"].get(solver, 0.0), float(error))
    return rows


def tables(study: Mapping[str, Any]) -> str:
    """Errors against formulas, orders, and errors of linear systems."""
    systems = study.get("systems", {})
    solvers = list(dict.fromkeys(solver for row in systems.values() for solver in row["errors"]))
    return "\n\n".join([
        markdown_table(["model", "greatest error"], [(name, f"{error:.0e}") for name, error in
                                                     study["formulas"].items()]),
        markdown_table(["solver", "step (s)", "error of a pendulum", "order"], [
            (name, f"{row['step']:.3g}", f"{row['error']:.0e}", f"{row['order']:.2f}")
            for name, row in study["orders"].items()]),
        markdown_table(["linear systems", "number", *solvers], [
            (kind, row["systems"], *(f"{row['errors'][solver]:.0e}" if solver in row["errors"] else "–"
                                     for solver in solvers)) for kind, row in systems.items()])])


STUDY = PartStudy(tables, RESULTS_FOLDER / "simulink_linear.json", DOCS / "simulink.md",
                  marks("linear", "simulink.linear"),
                  {"formulas": measure_formulas, "orders": measure_orders, "systems": measure_systems})

if __name__ == "__main__":
    STUDY.main(__doc__)
