"""Electrical networks against formulas, and what is wrong with one by the names of its elements."""

from __future__ import annotations

import math

import numpy
import pytest

from chatdev.departments.simulink.reference_models import reference_models
from chatdev.departments.simulink.simulation.kernel import ModelFault
from chatdev.departments.simulink.simulation.solve import Options, Results, simulate
from tests.departments.simulink.simulation.models import Blocks, model, run

PROBE: Blocks = {"V": "Voltage Sensor", "y": "PS-Simulink Converter", "Scope": "Scope", "G": "Electrical Reference",
                 "Solver": "Solver Configuration"}
PROBE_LINES = ("V/RConn1 -- y/LConn1", "y/1 -> Scope/1", "V/RConn2 -- G/LConn1", "Solver/RConn1 -- G/LConn1")


def probe(blocks: Blocks, *lines: str, stop: float = 1.0, relative: float = 1e-6) -> Results:
    """With a voltage sensor `V` against ground `G`, and its converter `y`."""
    return run({**PROBE, **blocks}, *PROBE_LINES, *lines, stop=stop, relative=relative)


def dc(volts: str) -> tuple[str, dict[str, str]]:
    return "DC Voltage Source", {"v0": volts}


def ohm(resistance: str) -> tuple[str, dict[str, str]]:
    return "Resistor", {"R": resistance}


def test_a_capacitor_is_charged_over_a_resistor() -> None:
    found = probe({"S": dc("5"), "R": ("Resistor", {"R": "1", "R_unit": "kOhm"}), "C": ("Capacitor", {"c": "1e-4"})},
                  "S/LConn1 -- R/LConn1", "R/RConn1 -- C/LConn1", "C/LConn1 -- V/LConn1", "S/RConn1 -- G/LConn1",
                  "C/RConn1 -- G/LConn1")
    assert numpy.abs(found["y"] - 5 * (1 - numpy.exp(-found.times / 0.1))).max() < 1e-4


def test_a_coil_and_a_capacitor_swing() -> None:
    """From 1 V on the capacitor, with the damping of the resistor in series."""
    found = probe({"L": ("Inductor", {"l": "0.1"}), "C": ("Capacitor", {"c": "0.01", "vc": "1"}), "R": ohm("0.5")},
                  "L/LConn1 -- C/LConn1", "C/LConn1 -- V/LConn1", "L/RConn1 -- R/LConn1", "R/RConn1 -- G/LConn1",
                  "C/RConn1 -- G/LConn1")
    damping, speed = 0.5 / 0.2, math.sqrt(1000 - 2.5**2)
    expected = numpy.exp(-damping * found.times) * (numpy.cos(speed * found.times)
                                                    + damping / speed * numpy.sin(speed * found.times))
    assert numpy.abs(found["y"] - expected).max() < 1e-3


@pytest.mark.parametrize(("blocks", "lines", "expected"), [
    ({"S": dc("6"), "A": ohm("1"), "B": ohm("2")},
     ["S/LConn1 -- A/LConn1", "A/RConn1 -- B/LConn1", "B/LConn1 -- V/LConn1", "B/RConn1 -- G/LConn1",
      "S/RConn1 -- G/LConn1"], 4),
    ({"I": ("DC Current Source", {"i0": "2"}), "R": ohm("3")},
     ["I/RConn1 -- R/LConn1", "R/LConn1 -- V/LConn1", "I/LConn1 -- G/LConn1", "R/RConn1 -- G/LConn1"], 6),
    ({"S": dc("2"), "E": ("Voltage-Controlled Voltage Source", {"K": "-3"}), "R": ohm("1")},
     ["S/LConn1 -- E/LConn1", "S/RConn1 -- G/LConn1", "E/RConn1 -- G/LConn1", "E/LConn2 -- V/LConn1",
      "E/RConn2 -- G/LConn1", "R/LConn1 -- V/LConn1", "R/RConn1 -- G/LConn1"], -6),
    ({"S": dc("2"), "T": ("Ideal Transformer", {"n": "4"}), "R": ohm("5")},
     ["S/LConn1 -- T/LConn1", "S/RConn1 -- G/LConn1", "T/LConn2 -- G/LConn1", "T/RConn1 -- R/LConn1",
      "R/LConn1 -- V/LConn1", "R/RConn1 -- G/LConn1", "T/RConn2 -- G/LConn1"], 0.5),
    ({"S": dc("2"), "A": ohm("1"), "B": ohm("3"), "U": "Op-Amp"},
     ["S/LConn1 -- A/LConn1", "S/RConn1 -- G/LConn1", "A/RConn1 -- U/LConn2", "B/LConn1 -- U/LConn2",
      "U/LConn1 -- G/LConn1", "U/RConn1 -- B/RConn1", "B/RConn1 -- V/LConn1"], -6),
    ({"S": dc("5"), "D": "Diode", "R": ohm("4.1")},
     ["S/LConn1 -- D/LConn1", "D/RConn1 -- R/LConn1", "R/LConn1 -- V/LConn1", "R/RConn1 -- G/LConn1",
      "S/RConn1 -- G/LConn1"], 4.4 * 4.1 / 4.4),
    ({"S": dc("-5"), "D": "Diode", "R": ohm("4.1")},
     ["S/LConn1 -- D/LConn1", "D/RConn1 -- R/LConn1", "R/LConn1 -- V/LConn1", "R/RConn1 -- G/LConn1",
      "S/RConn1 -- G/LConn1"], 0)])
def test_networks_without_states_follow_the_laws(blocks: Blocks, lines: list[str], expected: float) -> None:
    assert probe(blocks, *lines)["y"][-1] == pytest.approx(expected, abs=1e-6)


def test_a_half_wave_is_cut_at_the_forward_voltage() -> None:
    found = probe({"S": ("AC Voltage Source", {"amp": "10", "frequency": "2"}), "D": "Diode", "R": ohm("9.7")},
                  "S/LConn1 -- D/LConn1", "D/RConn1 -- R/LConn1", "R/LConn1 -- V/LConn1", "R/RConn1 -- G/LConn1",
                  "S/RConn1 -- G/LConn1")
    wave = 10 * numpy.sin(4 * math.pi * found.times)
    assert numpy.abs(found["y"] - numpy.maximum(wave - 0.6, 0) * 0.97).max() < 1e-5
    assert found.events == 4


def test_a_switch_closes_by_a_signal_and_feeds_back() -> None:
    """A capacitor is charged until a relay opens the switch at 2 V, and discharged until it closes at 1 V."""
    found = probe({"S": dc("5"), "W": ("Switch (Electrical)", {}), "A": ohm("1"), "B": ohm("10"),
                   "C": ("Capacitor", {"c": "0.1", "r": "0"}), "r": ("Relay", {
                       "OnSwitchValue": "2", "OffSwitchValue": "1", "OnOutputValue": "0", "OffOutputValue": "1"}),
                   "w": "Simulink-PS Converter"},
                  "S/LConn1 -- W/LConn1", "W/RConn2 -- A/LConn1", "A/RConn1 -- C/LConn1", "C/LConn1 -- B/LConn1",
                  "C/LConn1 -- V/LConn1", "S/RConn1 -- G/LConn1", "C/RConn1 -- G/LConn1", "B/RConn1 -- G/LConn1",
                  "y/1 -> r/1", "r/1 -> w/1", "w/RConn1 -- W/RConn1", stop=5)
    late = found["y"][found.times > 1]
    assert (late.min(), late.max()) == pytest.approx((1, 2), abs=1e-6)


@pytest.mark.parametrize(("name", "stop", "expected"), [("rc_ladder", 0.05, 4.98), ("relay_coil", 0.05, 0.08)])
def test_reference_networks_end_where_they_must(name: str, stop: float, expected: float) -> None:
    found = simulate(reference_models()[name].diagram, Options(stop=stop))
    assert found.values[-1, 0] == pytest.approx(expected, rel=5e-3)


def test_the_emitter_stage_has_the_gain_of_its_phasors() -> None:
    found = simulate(reference_models()["emitter_stage"].diagram, Options(stop=0.003, relative=1e-5, absolute=1e-9))
    load = 1 / (1 / 80000 + 1 / 3300 + 1 / 10000)
    gain = abs(-150 / 2000 * load / (1 + 2j * math.pi * 1000 * 1.04e-10 * load))
    assert found["Converter"][found.times > 0.002].max() == pytest.approx(0.005 * gain, rel=0.01)


def test_the_bridge_rectifies() -> None:
    found = simulate(reference_models()["bridge_rectifier"].diagram, Options(stop=0.1))
    late = found.times > 0.06
    assert found["Input Converter"][late].min() < -30 < 30 < found["Input Converter"][late].max()
    assert 15 < found["Output Converter"][late].min() < found["Output Converter"][late].max() < 34
    assert found["Current Converter"].min() > -1e-3


@pytest.mark.parametrize(("blocks", "lines", "message"), [
    ({"S": dc("1"), "T": dc("2")}, ["S/LConn1 -- T/LConn1", "T/LConn1 -- V/LConn1", "S/RConn1 -- G/LConn1",
                                    "T/RConn1 -- G/LConn1"], "no solution, or more than one, at '[ST]', '[ST]'"),
    ({"R": ("Resistor", {"R": "nan"})}, ["R/LConn1 -- V/LConn1", "R/RConn1 -- G/LConn1"], "'R': R is 'nan'"),
    ({"R": ("Resistor", {"R_unit": "foot"})}, ["R/LConn1 -- V/LConn1", "R/RConn1 -- G/LConn1"], "'R': R_unit is 'foo"),
    ({"C": ("Capacitor", {"c": "0"})}, ["C/LConn1 -- V/LConn1", "C/RConn1 -- G/LConn1"], "'C': c is 0"),
    ({"S": "Controlled Voltage Source"}, ["S/LConn1 -- V/LConn1", "S/RConn2 -- G/LConn1"], "'S': its input RConn1")])
def test_contradictions_name_their_elements(blocks: Blocks, lines: list[str], message: str) -> None:
    with pytest.raises(ModelFault, match=message):
        probe(blocks, *lines)


def test_a_network_needs_a_reference() -> None:
    with pytest.raises(ModelFault, match="has no Electrical Reference"):
        simulate(model({"S": dc("1"), "V": "Voltage Sensor", "y": "PS-Simulink Converter"}, "S/LConn1 -- V/LConn1",
                       "S/RConn1 -- V/RConn2", "V/RConn1 -- y/LConn1"))


def test_a_converter_without_sensor_is_named() -> None:
    with pytest.raises(ModelFault, match="'y': no sensor is wired to it"):
        simulate(model({"y": "PS-Simulink Converter"}))
