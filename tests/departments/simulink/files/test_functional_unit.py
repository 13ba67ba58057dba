"""Units of FMI are valid, and simulate as the model does, in another simulator (fmpy)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import fmpy
import numpy
import pytest
from fmpy.fmi2 import FMU2Slave
from fmpy.validation import validate_fmu

from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.files.functional_unit import Unit, write_unit
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.departments.simulink.simulation.kernel import InputTable, ModelFault
from chatdev.departments.simulink.simulation.solve import Options, simulate
from tests.departments.simulink.simulation.models import Blocks, model

MODELS = ("spring_ball", "pump_relay", "cruise_control", "sample_counter", "pid_antiwindup", "wall_cart",
          "traffic_light")
DRIVEN: Blocks = {"u 1": "In1", "K": ("Gain", {"Gain": "2"}), "Level": ("Integrator", {"InitialCondition": "1"}),
                  "y": "Out1", "now": ("Out1", {"Port": "2"}), "Scope": "Scope"}
LINES = "u 1/1 -> K/1", "K/1 -> Level/1", "Level/1 -> y/1", "K/1 -> now/1", "u 1/1 -> Scope/1"


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("name", MODELS)
def test_a_unit_simulates_as_its_model(name: str, version: str, tmp_path: Path) -> None:
    path, diagram = tmp_path / "unit.fmu", exact(reference_models()[name].diagram, 2.0)
    notes = write_unit(diagram, path, version)
    assert "chatdev-chain[simulink] must be loaded" in notes[0]
    assert validate_fmu(str(path)) == []
    found = fmpy.simulate_fmu(str(path), output_interval=0.125)
    whole = simulate(diagram, Options(stop=2.0, relative=1e-6, longest=0.01))
    for column in found.dtype.names[1:]:
        at = numpy.searchsorted(whole.times, found["time"] * (1 + 1e-12), side="right") - 1
        scale = numpy.abs(whole[column]).max() + 1e-6
        held, between = whole[column][at], numpy.interp(found["time"], whole.times, whole[column])
        errors = numpy.minimum(numpy.abs(held - found[column]), numpy.abs(between - found[column]))
        assert errors.max() / scale < 1e-4, column
    assert {*found.dtype.names[1:]} == {*whole.columns}


def exact(diagram: Diagram, stop: float) -> Diagram:
    return replace(diagram, settings={"StopTime": f"{stop}", "RelTol": "1e-6", "MaxStep": "0.01"})


@pytest.fixture(params=["2.0", "3.0"])
def driven(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    diagram = replace(model(DRIVEN, *LINES), settings={"StopTime": "3"}, variables={"V": "2*3"})
    path = tmp_path / "driven.fmu"
    write_unit(diagram, path, str(request.param))
    return path


def test_names_of_ports_and_parameters_are_those_of_the_model(driven: Path) -> None:
    known = {one.name: (one.causality, one.variability, float(one.start or 0))
             for one in fmpy.read_model_description(str(driven)).modelVariables}
    known.pop("time", None)
    assert known.pop("Level.InitialCondition") == ("parameter", "fixed", 1.0)
    assert known.pop("K.Gain") == ("parameter", "fixed", 2.0)
    assert known.pop("V") == ("parameter", "fixed", 6.0)
    assert known.pop("u 1") == ("input", "continuous", 0.0)
    assert {name: cause for name, (cause, _, _) in known.items()} == dict.fromkeys(("y", "now", "u 1 (2)"), "output")
    experiment = fmpy.read_model_description(str(driven)).defaultExperiment
    assert (float(experiment.startTime), float(experiment.stopTime)) == (0.0, 3.0)


def test_inputs_and_parameters_from_outside_count(driven: Path) -> None:
    given = numpy.array([(0.0, 1.0), (1.0, 1.0), (1.0, -3.0), (3.0, -3.0)], dtype=[("time", float), ("u 1", float)])
    found = fmpy.simulate_fmu(str(driven), input=given, start_values={"K.Gain": 10.0}, step_size=0.25,
                              output_interval=0.25)
    assert found["y"][-1] == pytest.approx(1 + 10 * (1 - 2 * 3), rel=1e-6)
    assert found["now"][0] == 10.0
    assert found["now"][-1] == -30.0


def test_a_unit_begins_anew_after_reset(tmp_path: Path) -> None:
    path = tmp_path / "driven.fmu"
    write_unit(model(DRIVEN, *LINES), path)
    unit, ends = Instance(path), []
    for gain in (1.0, 3.0):
        unit.slave.setupExperiment(startTime=0.0)
        unit.slave.enterInitializationMode()
        unit.set("u 1", 1.0)
        unit.set("K.Gain", gain)
        unit.slave.exitInitializationMode()
        for number in range(4):
            unit.slave.doStep(currentCommunicationPoint=number * 0.5, communicationStepSize=0.5)
        ends.append(unit.get("y"))
        unit.set("u 1", 7.0)
        assert unit.get("now") == 7.0 * gain
        unit.slave.reset()
    assert ends == [pytest.approx(3.0), pytest.approx(7.0)]


class Instance:
    """An instance of a unit of FMI 2.0, by names."""

    def __init__(self, path: Path) -> None:
        described = fmpy.read_model_description(str(path))
        self._places = {one.name: one.valueReference for one in described.modelVariables}
        self.slave: Any = FMU2Slave(guid=described.guid, unzipDirectory=fmpy.extract(str(path)), instanceName="one",
                                    modelIdentifier=described.coSimulation.modelIdentifier)
        self.slave.instantiate()

    def set(self, name: str, value: float) -> None:
        self.slave.setReal([self._places[name]], [value])

    def get(self, name: str) -> float:
        return float(self.slave.getReal([self._places[name]])[0])


def test_inputs_held_in_steps_are_those_of_a_table() -> None:
    unit = Unit(model(DRIVEN, *LINES))
    unit.begin(0.0)
    for number, value in enumerate((1.0, -2.0, 5.0)):
        unit.set_input("u 1", value)
        unit.advance(number + 1.0)
    whole = simulate(model(DRIVEN, *LINES), Options(stop=3.0), inputs={"u 1": InputTable(
        [0.0, 1.0, 1.0, 2.0, 2.0, 3.0], [[1.0, 1.0, -2.0, -2.0, 5.0, 5.0]])})
    assert unit.output("y") == pytest.approx(whole["Level"][-1], rel=1e-9)


def test_what_cannot_be_is_told(tmp_path: Path) -> None:
    unit = Unit(model(DRIVEN, *LINES))
    unit.advance(1.0)
    with pytest.raises(ValueError, match=r"K\.Gain is fixed"):
        unit.set_parameter("K.Gain", 1.0)
    with pytest.raises(ValueError, match="begins at 0"):
        unit.begin(5.0)
    with pytest.raises(ModelFault, match="not simulated: Load Flow Source"):
        write_unit(reference_models()["two_bus_grid"].diagram, tmp_path / "a.fmu")
    assert not (tmp_path / "a.fmu").exists()
