"""A part of the studies that hold simulations against others: formulas, python-control, difference equations and
ngspice."""

from __future__ import annotations

import random
import shutil

import numpy
import pytest

from benchmarks.simulink import circuits, graphs, linear
from benchmarks.simulink.peers import respond
from benchmarks.simulink.simulation import to_diagram
from chatdev.departments.simulink.simulation.solve import Options, simulate

BOUNDS = (4e-9, 1e-11, 1e-9, 0.0, 1e-12, 2e-7, 1e-4)
"""Of the errors of the models with formulas, in their order."""


def test_models_with_formulas_follow_them() -> None:
    found = linear.measure_formulas()
    assert [name for (name, error), bound in zip(found.items(), BOUNDS, strict=True) if not error <= bound] == []


def test_fixed_step_solvers_have_their_order() -> None:
    orders = [row["order"] for row in linear.measure_orders().values()]
    assert orders == pytest.approx([1, 2, 3, 4, 5], abs=0.3)


@pytest.mark.parametrize(("kind", "solver", "bound"), [
    ("continuous", "ode45", 1e-7), ("continuous", "ode23", 1e-6), ("continuous", "ode15s", 1e-5),
    ("continuous", "ode4", 1e-5), ("stiff", "ode15s", 1e-4), ("discrete", "discrete", 1e-11)])
def test_linear_systems_answer_a_step_as_others_say(kind: str, solver: str, bound: float) -> None:
    every = [system for one, system in linear.systems() if one == kind][:4 if kind == "stiff" else 8]
    for system in every:
        right = respond([*system], kind == "discrete", linear.GRID, 51)
        found = linear.response(kind, system, Options(stop=linear.STOP, solver=solver, relative=1e-7, absolute=1e-15,
                                                      step=0.01 if solver == "ode4" else None))
        assert numpy.abs(numpy.subtract(found, right)).max() <= bound * max(1.0, *map(abs, right))


@pytest.mark.parametrize("seed", range(20))
def test_loops_over_delays_follow_their_difference_equations(seed: int) -> None:
    model = graphs.sampled_graph(seed)
    assert graphs.ours(model) == pytest.approx(graphs.evaluate(model), abs=1e-12)


@pytest.mark.parametrize("kind", ["continuous", "algebraic", "switching", "vectors"])
def test_order_and_names_change_nothing(kind: str) -> None:
    """But the last digits of sums over algebraic loops."""
    for model in graphs.graphs(kind)[:5]:
        other = graphs.shuffled(to_diagram(model), random.Random(kind))
        found = simulate(other, Options(stop=model["stop"], relative=1e-7, absolute=1e-10)).values[-1]
        assert found.tolist() == pytest.approx(graphs.ours(model), abs=1e-9)


@pytest.mark.skipif(not shutil.which("ngspice"), reason="ngspice is not installed")
@pytest.mark.parametrize(("kind", "bound"), [*zip(
    circuits.KINDS, (1e-9, 2e-3, 1e-5, 1e-4, 0.1), strict=True)])
def test_networks_have_the_voltages_that_ngspice_finds(kind: str, bound: float) -> None:
    for seed in range(2):
        circuit = circuits.Circuit(random.Random(f"{kind} {seed}"), circuits.KINDS[kind])
        found = simulate(circuit.diagram(), Options(stop=circuits.STOP, relative=1e-7, absolute=1e-12))
        assert found.values[-1].tolist() == pytest.approx(circuit.ask_ngspice(), rel=bound, abs=bound)
