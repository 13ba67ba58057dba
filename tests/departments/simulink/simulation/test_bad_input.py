"""Models that cannot be simulated are told with their blocks, before anything runs where that can be known, and in
bounded time and memory."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator

import pytest

from chatdev.departments.simulink.catalogue import BlockType, catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.parts import make_parts
from chatdev.departments.simulink.simulation.kernel import KERNELS, ModelFault, SimulationFailed
from chatdev.departments.simulink.simulation.solve import Options, simulate
from tests.departments.simulink.simulation.models import Blocks, constant, model, run, sampled

LAG: Blocks = {"c": constant("1"), "e": ("Sum", {"Inputs": "+-"}), "i": "Integrator"}
LAG_LINES = ("c/1 -> e/1", "g/1 -> i/1", "e/1 -> g/1", "i/1 -> e/2")


@pytest.mark.parametrize(("block", "message"), [
    (("Gain", {"Gain": "nan"}), "Gain is 'nan', which is not a number"),
    (("Integrator", {"InitialCondition": "inf"}), "InitialCondition is infinite"),
    (("Integrator", {"InitialCondition": "[1 2]"}), "InitialCondition has 2 elements, the signal 3"),
    (("Memory", {"InitialCondition": "[1 2]"}), "InitialCondition has 2 elements, the signal 3"),
    (sampled("Unit Delay", InitialCondition="[1 2]"), "InitialCondition has 2 elements, the signal 3"),
    (("Transport Delay", {"DelayTime": "[1 2]"}), "DelayTime has 2 elements, the signal 3"),
    (("Integrator", {"LimitOutput": "on", "UpperSaturationLimit": "1", "LowerSaturationLimit": "2"}), "is not below"),
    (("Saturation", {"UpperLimit": "1", "LowerLimit": "2"}), "LowerLimit is above UpperLimit"),
    (("Dead Zone", {"UpperValue": "-2", "LowerValue": "1"}), "LowerValue is above UpperValue"),
    (("Integrator", {"ExternalReset": "maybe"}), "inputs, and its parameters ask for more"),
    (("Discrete Transfer Fcn", {"Denominator": "ones(1,9999)", "SampleTime": "1"}), "9998 states, and at most 2000"),
    (("Transport Delay", {"DelayTime": "1e-30"}), "a step every 1e-30 s"),
    (sampled("Unit Delay", "1e-30"), "1e-30 s .for 'B'., makes more than 20,000,000 steps"),
    (("Demux", {"Outputs": "1000000"}), "more than 1000 ports"),
    (("Gain", {"Gain": "1" + "+1" * 5000}), "more than 300 operations in a row"),
    (("Fcn", {"Expr": "u" + "+u" * 200}), "more than 80 operations in a row"),
    (("Gain", {"Gain": "sum(poly(1:9999))"}), "poly takes too long")])
def test_a_parameter_that_cannot_be_is_refused_with_its_block(block: tuple[str, dict[str, str]], message: str) -> None:
    with pytest.raises(ModelFault, match=message) as refused:
        run({"u": constant("[1 2 3]"), "B": block}, "u/1 -> B/1")
    assert "B" in refused.value.blocks


def test_an_output_that_nothing_gives_is_told() -> None:
    with pytest.raises(ModelFault, match="Mux 'm': its parameters leave an output without a value"):
        run({"m": ("Mux", {"Inputs": "0"})})


@pytest.mark.parametrize(("source", "message"), [
    (("Pulse Generator", {"Period": "1e-30"}), "'u': it asks for a step every 5e-31 s"),
    (("Signal Generator", {"WaveForm": "square", "Frequency": "1e30"}), "'u': it asks for a step"),
    (("Repeating Sequence", {"rep_seq_t": "[0 1e-30]", "rep_seq_y": "[0 1]"}), "'u': it asks for a step"),
    (("Random Number", {"SampleTime": "1e-7"}), "1e-07 s .for 'u'., makes more than 20,000,000"),
    (("Uniform Random Number", {"Minimum": "3", "Maximum": "2"}), "'u': Minimum is above Maximum"),
    (("Step", {"Time": "[1 2]", "After": "[1 2 3]"}), "'u': Time has 2 elements, the signal 3"),
    (constant("1:1e6"), "'u': Value .* more than 10000 elements"), (constant("inf"), "'B' is inf at 0 s")])
def test_a_source_that_cannot_be_is_told(source: tuple[str, dict[str, str]], message: str) -> None:
    with pytest.raises((ModelFault, SimulationFailed), match=message) as refused:
        run({"u": source, "B": "Integrator"}, "u/1 -> B/1")
    assert getattr(refused.value, "blocks", ())


@pytest.mark.parametrize(("options", "message"), [
    (Options(stop=-1), "give a time above 0"), (Options(stop=5e-324), "give a time above 0"),
    (Options(stop=math.inf), "give a time above 0"), (Options(longest=1e-30), "more than 20,000,000"),
    (Options(solver="ode4", step=1e-30), "the step, 1e-30 s, makes more than 20,000,000 steps"),
    (Options(relative=1e-300), "steps become too short")])
def test_times_that_cannot_be_are_refused(options: Options, message: str) -> None:
    with pytest.raises((ModelFault, SimulationFailed), match=message):
        simulate(model({**LAG, "g": "Gain"}, *LAG_LINES), options)


def test_rates_without_a_common_part_are_told_to_fixed_steps() -> None:
    with pytest.raises(ModelFault, match=r"the step, .* \(for 'a', 'b'\), makes more than") as refused:
        run({"a": sampled("Unit Delay", "pi"), "b": sampled("Unit Delay"), "i": "Integrator"}, solver="ode4")
    assert set(refused.value.blocks) == {"a", "b"}


@pytest.mark.parametrize("solver", ["ode45", "ode23", "ode15s"])
def test_a_slope_that_is_no_number_names_its_block(solver: str) -> None:
    with pytest.raises(SimulationFailed, match="the slope of the state of 'i' is nan at 0 s") as failed:
        run({"t": "Clock", "m": ("Bias", {"Bias": "-5"}), "r": "Sqrt", "i": "Integrator"}, "t/1 -> m/1", "m/1 -> r/1",
            "r/1 -> i/1", solver=solver)
    assert failed.value.blocks == ("i",)


def test_steps_that_creep_end_with_the_fastest_block() -> None:
    """A lag of a picosecond within ten seconds, by explicit steps; ode15s takes it."""
    stiff: Blocks = {**LAG, "g": ("Gain", {"Gain": "1e12"}), "slow": "Integrator"}
    with pytest.raises(SimulationFailed, match="65536 have brought it from 0 to .* for 'i'; the model is") as failed:
        run(stiff, *LAG_LINES, "c/1 -> slow/1")
    assert failed.value.blocks == ("i",)
    assert run(stiff, *LAG_LINES, "c/1 -> slow/1", solver="ode15s")["i"][-1] == pytest.approx(1)


def test_large_models_are_watched_for_fewer_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A creeping step of many blocks costs as much as many of a few."""
    monkeypatch.setattr("chatdev.departments.simulink.simulation.solve._WATCHED", 4000)
    blocks = {**LAG, "g": ("Gain", {"Gain": "1e12"}), **{f"x{n}": "Integrator" for n in range(400)}}
    with pytest.raises(SimulationFailed, match="800 have brought it from 0"):
        run(blocks, *LAG_LINES, *(f"c/1 -> x{n}/1" for n in range(400)))


def test_a_million_events_end_with_the_block_that_makes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatdev.departments.simulink.simulation.solve._MOST_EVENTS", 2000)
    with pytest.raises(SimulationFailed, match="2001 events have brought it to .*'r'") as failed:
        run({"r": ("Relay", {"OnSwitchValue": "1e-4", "OffSwitchValue": "-1e-4", "OnOutputValue": "-1",
                             "OffOutputValue": "1"}), "i": "Integrator"}, "r/1 -> i/1", "i/1 -> r/1", stop=1)
    assert failed.value.blocks == ("r",)


def test_a_control_without_port_is_told_with_its_block() -> None:
    with pytest.raises(SimulationFailed, match="the control of 's' is 7, and it has no such port") as failed:
        run({"c": constant("7"), "s": ("Multiport Switch", {"Inputs": "2"})}, "c/1 -> s/1", "c/1 -> s/2", "c/1 -> s/3")
    assert failed.value.blocks == ("s",)


def test_models_without_blocks_or_signals_give_no_columns() -> None:
    for blocks in ({}, {"S": "Scope"}):
        found = run(blocks)
        assert found.columns == ()
        assert found.times.tolist() == [0, 10]


def test_wide_signals_are_refused_before_they_are_made() -> None:
    blocks = {**{f"c{n}": constant("ones(1,10000)") for n in range(11)}, "m": ("Mux", {"Inputs": "11"})}
    with pytest.raises(ModelFault, match="Mux 'm': its signal would have 110000 elements, and at most 100000"):
        run(blocks, *(f"c{n}/1 -> m/{n + 1}" for n in range(11)))


def test_ten_thousand_blocks_are_simulated_in_time() -> None:
    """More than a closure has cells for; the time grows with their number, not with its square."""
    def seconds(count: int) -> float:
        blocks = {"b0": DiagramBlock("Constant"), **{f"b{n}": DiagramBlock("Unit Delay", {"SampleTime": "1"})
                                                     for n in range(1, count)}}
        wires = tuple(Wire(End(f"b{n - 1}", "1"), End(f"b{n}", "1")) for n in range(1, count))
        started = time.process_time()
        found = simulate(Diagram("m", blocks, wires), Options(stop=3))
        assert [found[f"b{n}"][-1] for n in range(5)] == [1, 1, 1, 1, 0]
        return time.process_time() - started

    seconds(10)
    assert seconds(8000) < 12 * seconds(2000) + 1


def test_loops_of_large_models_are_solved() -> None:
    blocks: Blocks = {**{f"c{n}": ("Memory", {}) for n in range(4000)}, "a": ("Sum", {"Inputs": "++"}), "g": (
        "Gain", {"Gain": "0.5"}), "s": "Sign", "one": constant("1"), "Scope": "Scope", "i": ("Integrator", {
            "LimitOutput": "on"}), "t": "Sine Wave"}
    found = run(blocks, "one/1 -> a/1", "g/1 -> a/2", "a/1 -> s/1", "a/1 -> g/1", "a/1 -> Scope/1", "t/1 -> i/1",
                stop=1)
    assert found["a"][-1] == pytest.approx(2)


VALUES = ["0", "-1", "0.5", "1e308", "inf", "-inf", "[1 2 3]", "[]", "1e9", "64", "[1 2;3 4]", "nan", "'a'", "on", "?"]
SIMULATED = [kind for kind in catalogue().types.values() if kind.sim in KERNELS]


def strange_models(kind: BlockType, rng: random.Random) -> Iterator[Diagram]:
    """A block with strange parameters and inputs, among them NaN."""
    for _ in range(4):
        own = {name: rng.choice(VALUES) for name in kind.parameters if rng.random() < rng.choice([0, 0.1, 0.4])}
        blocks = {"B": DiagramBlock(kind.type, own), "0": DiagramBlock("Constant", {"Value": "0"}),
                  "n": DiagramBlock("Divide"), "t": DiagramBlock("Sine Wave", {"SampleTime": "0.5"}),
                  "i": DiagramBlock("Constant", {"Value": "inf"}), "v": DiagramBlock("Constant", {"Value": "[3 -2 1]"})}
        ports = make_parts(Diagram("m", blocks))["B"].ports or ()
        wires = [Wire(End("0", "1"), End("n", "1")), Wire(End("0", "1"), End("n", "2"))]
        wires += [Wire(End(rng.choice("0ntiv"), "1"), End("B", port.name)) for port in ports
                  if port.direction == "in" and not port.is_physical]
        yield Diagram("m", blocks, tuple(wires))


@pytest.mark.parametrize("kind", SIMULATED, ids=lambda kind: kind.type)
def test_whatever_a_block_is_given_it_runs_or_names_itself(kind: BlockType) -> None:
    for strange in strange_models(kind, random.Random(kind.type)):
        blamed = ["it runs"]
        try:
            simulate(strange, Options(stop=2))
        except (ModelFault, SimulationFailed) as error:
            blamed = [*error.blocks]
        assert blamed
