"""Random sampled models against a direct evaluation of their difference equations, tick by tick; and random linear
systems against the matrix exponential."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.simulation.solve import Options, simulate

TICKS = 13


class Made(NamedTuple):
    """A block of a random model: its kind, a number for it, its period in ticks, and the blocks that feed it."""

    kind: str
    value: float
    period: int
    inputs: tuple[int, ...]


INPUTS = {"Constant": 0, "Gain": 1, "Sum": 2, "Product": 2, "Saturation": 1, "Relational Operator": 2, "Switch": 3,
          "Unit Delay": 1, "Zero-Order Hold": 1, "Delay": 1, "MinMax": 2, "Abs": 1}
HOLDS = ("Unit Delay", "Zero-Order Hold", "Delay")
PARAMETERS = {"Constant": {"Value": "{}"}, "Gain": {"Gain": "{}"}, "Sum": {"Inputs": "+-"},
              "Saturation": {"UpperLimit": "3", "LowerLimit": "-2"}, "Switch": {"Criteria": "u2 > Threshold"},
              "Relational Operator": {"Operator": "<="}, "Unit Delay": {"InitialCondition": "{}"},
              "Delay": {"InitialCondition": "{}", "DelayLength": "2"}, "MinMax": {"Function": "max", "Inputs": "2"}}


@st.composite
def models(draw: st.DrawFn) -> list[Made]:
    count = draw(st.integers(2, 40))
    made = [Made("Constant", float(draw(st.integers(-3, 3))), 1, ())]
    for number in range(1, count):
        kind = draw(st.sampled_from(sorted(INPUTS)))
        delays = kind in ("Unit Delay", "Delay")
        last = count - 1 if delays else number - 1  # only what delays may look ahead, so that no loop is algebraic
        inputs = tuple(draw(st.integers(0, last)) for _ in range(INPUTS[kind]))
        made.append(Made(kind, draw(st.sampled_from([-1.0, -0.5, 0.5, 1.0, 2.0])), draw(st.sampled_from([1, 2, 3])),
                         inputs))
    return made


def diagram(made: list[Made], order: list[int]) -> Diagram:
    blocks = {}
    for number in order:
        block = made[number]
        parameters = {name: value.format(block.value) for name, value in PARAMETERS.get(block.kind, {}).items()}
        if block.kind in HOLDS:
            parameters["SampleTime"] = str(block.period)
        blocks[f"b{number}"] = DiagramBlock(block.kind, parameters)
    wires = [Wire(End(f"b{source}", "1"), End(f"b{number}", str(port))) for number in order
             for port, source in enumerate(made[number].inputs, 1)]
    return Diagram("m", blocks, tuple(wires))


def compute(block: Made, given: list[float]) -> float:
    formulas = {"Constant": lambda: block.value, "Gain": lambda: block.value * given[0],
                "Sum": lambda: given[0] - given[1], "Product": lambda: given[0] * given[1],
                "Saturation": lambda: min(max(given[0], -2.0), 3.0), "Abs": lambda: abs(given[0]),
                "Relational Operator": lambda: float(given[0] <= given[1]), "MinMax": lambda: max(given),
                "Switch": lambda: given[0] if given[1] > 0 else given[2], "Zero-Order Hold": lambda: given[0]}
    return formulas[block.kind]()


def evaluate(made: list[Made]) -> list[list[float]]:
    """The values of all blocks at each tick: outputs first, in the order of the list, then all states."""
    now, rows = [0.0] * len(made), []
    lines = {number: [block.value] * (2 if block.kind == "Delay" else 1) for number, block in enumerate(made)}
    for tick in range(TICKS):
        for number, block in enumerate(made):
            if block.kind in ("Unit Delay", "Delay"):
                now[number] = lines[number][0] if tick % block.period == 0 else now[number]
        for number, block in enumerate(made):
            if block.kind in ("Unit Delay", "Delay") or (block.kind in HOLDS and tick % block.period):
                continue
            now[number] = compute(block, [now[source] for source in block.inputs])
        for number, block in enumerate(made):
            if block.kind in ("Unit Delay", "Delay") and tick % block.period == 0:
                lines[number] = [*lines[number][1:], now[block.inputs[0]]]
        rows.append([*now])
    return rows


@settings(deadline=None, max_examples=150)
@given(models(), st.integers(0, 10**6))
def test_sampled_models_follow_their_difference_equations(made: list[Made], seed: int) -> None:
    order = [*range(len(made))]
    random.Random(seed).shuffle(order)
    found = simulate(diagram(made, order), Options(stop=TICKS - 1.0))
    expected = evaluate(made)
    for time, row in zip(found.times.tolist(), found.values.tolist(), strict=True):
        values = dict(zip(found.columns, row, strict=True))
        assert [values[f"b{number}"] for number in range(len(made))] == expected[round(time)]


@settings(deadline=None, max_examples=60)
@given(models())
def test_fixed_steps_give_the_same_hits(made: list[Made]) -> None:
    """Of a step that is half a tick."""
    plain, fixed = (simulate(diagram(made, [*range(len(made))]), options)
                    for options in (Options(stop=12.0), Options(stop=12.0, solver="ode1", step=0.5)))
    at = dict(zip(fixed.times.tolist(), fixed.values.tolist(), strict=True))
    assert all(at[time] == row for time, row in zip(plain.times.tolist(), plain.values.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_linear_systems_follow_the_matrix_exponential(seed: int) -> None:
    """Written as integrators, gains and sums, with a vector state in a feedback, and as one block."""
    from scipy.linalg import expm

    rng = numpy.random.default_rng(seed)
    size = int(rng.integers(1, 6))
    a = rng.normal(size=(size, size)) - 1.5 * numpy.eye(size)
    start = rng.normal(size=size)
    rows = "; ".join(" ".join(map(repr, row)) for row in a.tolist())
    initial = f"[{' '.join(map(repr, start.tolist()))}]"
    blocks = {"x": DiagramBlock("Integrator", {"InitialCondition": initial}),
              "a": DiagramBlock("Gain", {"Gain": f"[{rows}]", "Multiplication": "Matrix(K*u)"}),
              "s": DiagramBlock("State-Space", {"A": f"[{rows}]", "B": f"zeros({size},1)", "C": f"eye({size})",
                                                "D": f"zeros({size},1)", "InitialCondition": initial}),
              "zero": DiagramBlock("Constant", {"Value": "0"})}
    wires = tuple(map(Wire.read, ("x/1 -> a/1", "a/1 -> x/1", "zero/1 -> s/1")))
    found = simulate(Diagram("m", blocks, wires), Options(stop=3, relative=1e-9))
    expected = numpy.array([expm(a * time) @ start for time in found.times])
    for name in ("x", "s"):
        columns = [found.columns.index(f"{name}[{n + 1}]" if size > 1 else name) for n in range(size)]
        assert numpy.abs(found.values[:, columns] - expected).max() < 1e-7
