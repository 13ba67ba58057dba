"""A simulation that goes on piece by piece does what one run does; what comes from outside is seen at its instant."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy
import pytest

from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.departments.simulink.simulation.kernel import InputTable, ModelFault, SimulationFailed
from chatdev.departments.simulink.simulation.solve import Options, Results, Simulation, simulate
from tests.departments.simulink.simulation.models import Blocks, constant, model, sampled


def pieces(stop: float, seed: int = 0) -> list[float]:
    chosen = random.Random(seed)
    return sorted({0.0, *(chosen.uniform(0, stop) for _ in range(20)), stop / 2, stop})


@pytest.mark.parametrize("name", reference_models())
def test_pieces_make_the_whole(name: str) -> None:
    """But for what looks at whole steps, of which pieces make more: a Rate Limiter (in gantry_crane)."""
    reference = reference_models()[name]
    diagram, stop = reference.diagram, 0.005 if reference.domain == "electrical" else 2.0
    options = Options(stop=stop, relative=1e-5, longest=stop / 1000)
    try:
        simulation, whole = Simulation(diagram, options), simulate(diagram, options)
    except (ModelFault, SimulationFailed):
        pytest.skip("it does not simulate")
    for time in pieces(stop):
        simulation.advance(time)
    scale = numpy.abs(whole.values).max(axis=0) + 1e-6
    numpy.testing.assert_array_less(numpy.abs(simulation.row - whole.values[-1]) / scale, 3e-3)
    assert simulation.results().columns == whole.columns


@pytest.mark.parametrize("solver", ["ode1", "ode4", "auto"])
def test_pieces_of_sampled_models_are_exactly_the_whole(solver: str) -> None:
    diagram = model({"One": constant("1"), "Sum": "Sum", "Store": sampled("Unit Delay", "0.1"), "Out": "Out1",
                     "Level": "Integrator", "Scope": "Scope"} if solver != "auto" else
                    {"One": constant("1"), "Sum": "Sum", "Store": sampled("Unit Delay", "0.1"), "Out": "Out1"},
                    "One/1 -> Sum/1", "Store/1 -> Sum/2", "Sum/1 -> Store/1", "Sum/1 -> Out/1",
                    *(["Sum/1 -> Level/1", "Level/1 -> Scope/1"] if solver != "auto" else []))
    options = Options(stop=1.0, solver=solver, step=None if solver == "auto" else 0.05)
    simulation = Simulation(diagram, options)
    for time in (0.0, 0.1, 0.25, 0.30000000000000004, 0.7, 1.0):
        simulation.advance(time)
    whole = simulate(diagram, options)
    assert simulation.row == tuple(whole.values[-1])


DRIVEN: Blocks = {"In": "In1", "Twice": ("Gain", {"Gain": "2"}), "Level": "Integrator", "Now": "Out1", "Out": "Out1"}
LINES = "In/1 -> Twice/1", "In/1 -> Level/1", "Twice/1 -> Now/1", "Level/1 -> Out/1"


def test_inputs_hold_until_the_next_ones() -> None:
    simulation = Simulation(model(DRIVEN, *LINES), Options(stop=4.0), inputs={})
    for time, value, expected in ((0.0, 1.0, (0.0, 2.0)), (1.0, 1.0, (1.0, 2.0)), (3.0, -2.0, (-3.0, -4.0))):
        simulation.advance(time, {"In": value})
        assert dict(zip(simulation.model.columns, simulation.row, strict=True)) == {
            "Level": pytest.approx(expected[0]), "Twice": expected[1]}
    simulation.advance(3.0, {"In": 5})
    assert simulation.row[simulation.model.columns.index("Twice")] == 10.0
    jumps = [row for (before, row) in pairwise(simulation.results().times) if before == row]
    assert jumps == [1.0, 3.0]


@pytest.mark.parametrize("kind", ["Discrete-Time Integrator", "Unit Delay", "Memory", "Zero-Order Hold"])
@pytest.mark.parametrize("solver", ["auto", "ode4"])
def test_a_hit_sees_the_input_of_its_instant(kind: str, solver: str) -> None:
    """However long before: given in pieces or as a table, the samples are the same."""
    parameters = {} if kind == "Memory" else {"SampleTime": "0.5"}
    blocks: Blocks = {"In": "In1", "Block": (kind, parameters), "Level": "Integrator", "Out": "Out1", "Other": "Out1"}
    diagram = model(blocks, "In/1 -> Block/1", "In/1 -> Level/1", "Block/1 -> Out/1", "Level/1 -> Other/1")
    options = Options(stop=3.0, solver=solver, step=0.5 if solver == "ode4" else None)
    values = [1.0, 4.0, -2.0, 0.0, 8.0, 3.0]
    times = [*(number * 0.5 for number in range(len(values)) for _ in "ab"), 3.0][1:]
    table = InputTable(times, [[value for value in values for _ in "ab"]])
    whole = simulate(diagram, options, inputs={"In": table})
    simulation = Simulation(diagram, options, inputs={})
    simulation.advance(0.0)
    for number, value in enumerate(values):
        simulation.advance((number + 1) * 0.5, {"In": value})
    found = simulation.results()
    for column in whole.columns:
        assert at_ends(found, column) == pytest.approx(at_ends(whole, column), abs=1e-9)


def at_ends(results: Results, column: str) -> list[float]:
    """The last value of each half second but the end, where no later input is known."""
    return [results[column][max(numpy.nonzero(results.times == time)[0])] for time in numpy.arange(6) * 0.5]


def test_a_table_is_followed_on_lines_and_jumps() -> None:
    table = InputTable([0.0, 1.0, 1.0, 2.0], [[0.0, 1.0, 5.0, 5.0]])
    results = simulate(model(DRIVEN, *LINES), Options(stop=3.0), inputs={"In": table})
    assert results["Level"][-1] == pytest.approx(0.5 + 5 + 5)
    at = {time: results["Twice"][results.times == time].tolist() for time in (1.0, 2.0, 3.0)}
    assert at == {1.0: [2.0, 10.0], 2.0: [10.0], 3.0: [10.0]}


def test_vectors_come_from_outside() -> None:
    diagram = model({"In": ("In1", {"PortDimensions": "2"}), "Out": "Out1"}, "In/1 -> Out/1")
    simulation = Simulation(diagram, inputs={})
    simulation.advance(1.0, {"In": [1, 2]})
    assert simulation.row == (1.0, 2.0)
    assert simulate(diagram, inputs={"In": InputTable([0.0], [[3.0], [4.0]])}).values[-1].tolist() == [3.0, 4.0]


@pytest.mark.parametrize(("given", "told"), [({"Inn": 1.0}, "no input 'Inn'"), ({"In": [1.0, 2.0]}, "of 2 elements")])
def test_inputs_that_are_none_are_told(given: dict[str, float], told: str) -> None:
    simulation = Simulation(model(DRIVEN, *LINES), inputs={})
    with pytest.raises(ModelFault, match=told):
        simulation.advance(1.0, given)


def test_tables_for_no_block_and_time_that_runs_back_are_told() -> None:
    with pytest.raises(ModelFault, match="there is no In1 block 'Level' for these values; the model's are: In"):
        simulate(model(DRIVEN, *LINES), inputs={"Level": InputTable([0.0], [[1.0]])})
    simulation = Simulation(model(DRIVEN, *LINES))
    simulation.advance(1.0)
    for time in (0.5, math.nan, math.inf):
        with pytest.raises(ModelFault, match="it cannot go on"):
            simulation.advance(time)


def test_without_data_an_input_is_nothing() -> None:
    assert simulate(model(DRIVEN, *LINES))["Level"][-1] == 0.0


def test_both_sides_of_jumps_stay_when_rows_are_left_out() -> None:
    diagram = model({"Step": ("Step", {"Time": "3"}), "Clock": "Clock", "Sum": "Sum", "Level": "Integrator",
                     "Out": "Out1", "Other": "Out1"},
                    "Step/1 -> Sum/1", "Clock/1 -> Sum/2", "Sum/1 -> Out/1", "Sum/1 -> Level/1", "Level/1 -> Other/1")
    results = simulate(diagram, Options(stop=10.0, longest=0.002, rows=1000))
    assert results.every > 1
    assert len(results.times) <= 1001
    assert [value.tolist() for value in results["Sum"][results.times == 3.0]] == [3.0, 4.0]


def test_random_sources_go_on_as_in_one_run() -> None:
    diagram: Diagram = model({"In": "In1", "Noise": ("Random Number", {"SampleTime": "0.5"}), "Sum": "Sum",
                              "Out": "Out1"}, "Noise/1 -> Sum/1", "In/1 -> Sum/2", "Sum/1 -> Out/1")
    simulation = Simulation(diagram, Options(stop=2.0), inputs={})
    for number in range(5):
        simulation.advance(number * 0.5, {"In": float(number % 2)})
    whole = simulate(diagram, Options(stop=2.0))
    assert simulation.row[0] - 0.0 == pytest.approx(whole["Sum"][-1] + 0.0)
