"""Subsystems against what their formulas say: dissolved, enabled, triggered, chosen by If; buses, tags, masks."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace

import numpy
import pytest

from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, Wire
from chatdev.departments.simulink.simulation.kernel import ModelFault, SimulationFailed
from chatdev.departments.simulink.simulation.solve import Options, Results, options_of, set_parameters, simulate

Row = tuple[str, Mapping[str, str]] | str | DiagramBlock
EXACT = Options(stop=10, relative=1e-8)


def system(blocks: Mapping[str, Row], *lines: str, **variables: str) -> Diagram:
    found = {name: row if isinstance(row, DiagramBlock) else DiagramBlock(*((row,) if isinstance(row, str) else row))
             for name, row in blocks.items()}
    return Diagram("m", found, tuple(map(Wire.read, lines)), variables=variables)


def inside(blocks: Mapping[str, Row], *lines: str, kind: str = "Subsystem", **variables: str) -> DiagramBlock:
    return DiagramBlock(kind, system=system(blocks, *lines, **variables))


def at(found: Results, column: str, time: float) -> float:
    """Just behind a time."""
    return float(found[column][numpy.searchsorted(found.times, time, side="right") - 1])


def shuffled(model: Diagram, seed: int) -> Diagram:
    """The same model in another order, on all levels."""
    names, wires = [*model.blocks], [*model.wires]
    random.Random(seed).shuffle(names)
    random.Random(seed + 1).shuffle(wires)
    blocks = {name: replace(block, system=shuffled(block.system, seed + 2)) if block.system else block
              for name in names for block in [model.blocks[name]]}
    return replace(model, blocks=blocks, wires=tuple(wires))


LAG = system({"u": ("Step", {"Time": "0"}), "S": inside(
    {"u": "In1", "Gain": ("Gain", {"Gain": "K"}), "In": inside(
        {"v": "In1", "y": ("Integrator", {}), "Out": "Out1"}, "v/1 -> y/1", "y/1 -> Out/1"), "out": "Out1", "sum":
     ("Sum", {"Inputs": "+-"})},
    "u/1 -> sum/1", "sum/1 -> Gain/1", "Gain/1 -> In/1", "In/1 -> sum/2", "In/1 -> out/1", K="2*T"), "Scope": "Scope"},
    "u/1 -> S/1", "S/1 -> Scope/1", T="0.5")
CLOCKED: dict[str, Row] = {"clock": ("Pulse Generator", {"Period": "4", "PulseWidth": "50"}), "ramp": "Ramp",
                           "A": "Scope"}


def enabled(states: str = "held", outputs: str = "held") -> Diagram:
    """A ramp is integrated, and steps of 1 s counted, on [0, 2), [4, 6) and [8, 10)."""
    body = inside({
        "u": "In1", "on": ("Enable", {"StatesWhenEnabling": states}), "I": "Integrator", "one": "Constant",
        "D": ("Unit Delay", {"SampleTime": "1"}), "add": "Sum",
        "y": ("Out1", {"OutputWhenDisabled": outputs, "InitialOutput": "-7"}), "n": ("Out1", {"Port": "2"})},
        "u/1 -> I/1", "I/1 -> y/1", "one/1 -> add/1", "D/1 -> add/2", "add/1 -> D/1", "add/1 -> n/1")
    return system({**CLOCKED, "S": body, "B": "Scope"}, "clock/1 -> S/enable", "ramp/1 -> S/1", "S/1 -> A/1",
                  "S/2 -> B/1")


def test_a_dissolved_subsystem_is_what_it_holds() -> None:
    found = simulate(LAG, EXACT)
    assert found.columns == ("S/In/y",)
    assert numpy.abs(found["S/In/y"] - (1 - numpy.exp(-found.times))).max() < 1e-7


@pytest.mark.parametrize(("states", "outputs", "wanted"), [
    ("held", "held", {1: 0.5, 3: 2, 5: 2 + 4.5, 7: 12, 9: 12 + 8.5}),
    ("reset", "held", {1: 0.5, 3: 2, 5: 4.5, 7: 10, 9: 8.5}),
    ("held", "reset", {1: 0.5, 3: -7, 5: 2 + 4.5, 7: -7, 9: 12 + 8.5})])
def test_an_enabled_subsystem_holds_or_begins_anew(states: str, outputs: str, wanted: dict[float, float]) -> None:
    found = simulate(enabled(states, outputs), EXACT)
    assert {time: round(at(found, "S/y", time + 1e-9), 6) for time in wanted} == wanted


@pytest.mark.parametrize(("states", "wanted"), [
    ("held", [1, 2, 2, 2, 3, 4, 4, 4, 5, 6]), ("reset", [1, 2, 2, 2, 1, 2, 2, 2, 1, 2])])
def test_sampled_blocks_stand_still_while_disabled(states: str, wanted: list[float]) -> None:
    found = simulate(enabled(states), EXACT)
    assert [at(found, "S/n", time + 0.5) for time in range(10)] == wanted


def test_an_enabled_subsystem_starts_where_its_control_crosses_zero() -> None:
    body = inside({"u": "In1", "on": "Enable", "y": "Out1"}, "u/1 -> y/1")
    found = simulate(system({"wave": "Sine Wave", "ramp": "Ramp", "S": body, "A": "Scope"}, "wave/1 -> S/enable",
                            "ramp/1 -> S/1", "S/1 -> A/1"), EXACT)
    for time, value in ((2, 2), (5, math.pi), (7, 7), (9.424, 9.424), (9.9, 3 * math.pi)):
        assert at(found, "S/y", time) == pytest.approx(value, abs=0.21 if value in (2, 7, 9.424) else 1e-9)
    held = found["S/y"][(found.times > math.pi + 1e-9) & (found.times < 2 * math.pi - 1e-9)]
    assert numpy.abs(held - math.pi).max() < 1e-9


@pytest.mark.parametrize(("kind", "times"), [
    ("rising", [0, 2 * math.pi]), ("falling", [math.pi, 3 * math.pi]),
    ("either", [0, math.pi, 2 * math.pi, 3 * math.pi])])
def test_a_triggered_subsystem_runs_once_at_each_edge(kind: str, times: list[float]) -> None:
    body = inside({
        "u": "In1", "edge": ("Trigger", {"TriggerType": kind}), "one": "Constant", "D": ("Unit Delay", {
            "SampleTime": "-1"}), "add": "Sum", "y": "Out1", "n": ("Out1", {"Port": "2"})},
        "u/1 -> y/1", "one/1 -> add/1", "D/1 -> add/2", "add/1 -> D/1", "add/1 -> n/1")
    found = simulate(system({"wave": "Sine Wave", "ramp": "Ramp", "S": body, "A": "Scope", "B": "Scope"},
                            "wave/1 -> S/trigger", "ramp/1 -> S/1", "S/1 -> A/1", "S/2 -> B/1"), EXACT)
    for number, time in enumerate(times, 1):
        assert at(found, "S/y", time + 0.01) == pytest.approx(time, abs=1e-9)
        assert at(found, "S/n", time + 0.01) == number
    assert found["S/n"][-1] == len(times)


def test_a_trigger_counts_only_while_enabled() -> None:
    body = inside({"on": "Enable", "edge": "Trigger", "one": "Constant", "D": ("Unit Delay", {"SampleTime": "-1"}),
                   "add": "Sum", "n": "Out1"}, "one/1 -> add/1", "D/1 -> add/2", "add/1 -> D/1", "add/1 -> n/1")
    found = simulate(system({"fast": ("Pulse Generator", {"Period": "1", "PulseWidth": "50"}),
                             **CLOCKED, "S": body}, "fast/1 -> S/trigger", "clock/1 -> S/enable", "S/1 -> A/1"), EXACT)
    assert [at(found, "S/n", time + 0.25) for time in range(10)] == [0, 1, 1, 1, 2, 3, 3, 3, 4, 5]


def test_if_and_merge_choose_by_turns() -> None:
    high = inside({"u": "In1", "act": "Action Port", "G": ("Gain", {"Gain": "g"}), "y": "Out1"}, "u/1 -> G/1",
                  "G/1 -> y/1", kind="If Action Subsystem", g="2*k")
    rest = inside({"act": ("Action Port", {"InitializeStates": "reset"}), "one": "Constant", "I": "Integrator",
                   "y": "Out1"}, "one/1 -> I/1", "I/1 -> y/1", kind="If Action Subsystem")
    found = simulate(system(
        {"wave": "Sine Wave", "If": ("If", {"IfExpression": "u1 > 0.5 | (u1 < -.5)"}), "P": high, "N": rest,
         "M": "Merge", "A": "Scope"}, "wave/1 -> If/1", "If/1 -> P/ifaction", "If/2 -> N/ifaction", "wave/1 -> P/1",
        "P/1 -> M/1", "N/1 -> M/2", "M/1 -> A/1", k="3"), EXACT)
    sixth = math.pi / 6
    for time, value in zip(found.times.tolist(), found["M"].tolist(), strict=True):
        phase = (time + sixth) % math.pi - sixth
        if min(abs(phase - sixth), abs(phase + sixth)) > 1e-6 and abs(phase - 5 * sixth) > 1e-6:
            began = 0.0 if time < sixth else time - (phase + sixth)
            wanted = 6 * math.sin(time) if phase > sixth else time - began
            assert value == pytest.approx(wanted, abs=1e-6)


def test_switch_case_takes_the_first_case_that_fits() -> None:
    bodies = {name: inside({"act": "Action Port", "c": ("Constant", {"Value": value}), "y": "Out1"}, "c/1 -> y/1",
                           kind="Switch Case Action Subsystem")
              for name, value in {"A": "10", "B": "20", "C": "30"}.items()}
    found = simulate(system(
        {"count": ("Ramp", {}), "Case": ("Switch Case", {"CaseConditions": "{1,[2 3]}"}), **bodies,
         "M": ("Merge", {"Inputs": "3"}), "hold": ("Zero-Order Hold", {"SampleTime": "1"}), "Scope": "Scope"},
        "count/1 -> hold/1", "hold/1 -> Case/1", "Case/1 -> A/ifaction", "Case/2 -> B/ifaction", "Case/3 -> C/ifaction",
        "A/1 -> M/1", "B/1 -> M/2", "C/1 -> M/3", "M/1 -> Scope/1"), Options(stop=5))
    assert [at(found, "M", time + 0.5) for time in range(5)] == [30, 10, 20, 20, 30]


def test_a_resettable_subsystem_begins_anew_at_an_edge() -> None:
    body = inside({"u": "In1", "back": ("Reset", {"ResetTriggerType": "rising"}),
                   "I": ("Integrator", {"InitialCondition": "1"}), "y": "Out1"}, "u/1 -> I/1", "I/1 -> y/1")
    found = simulate(system({"one": "Constant", "step": ("Step", {"Time": "3"}), "S": body, "A": "Scope"},
                            "step/1 -> S/reset", "one/1 -> S/1", "S/1 -> A/1"), EXACT)
    assert numpy.interp([2.9999999, 3.0000001, 10], found.times, found["S/y"]).tolist() == pytest.approx([4, 1, 8])


def test_a_subsystem_in_a_disabled_one_stands_still_too() -> None:
    deep = inside({"u": "In1", "on": "Enable", "I": "Integrator", "y": "Out1"}, "u/1 -> I/1", "I/1 -> y/1")
    body = inside({"u": "In1", "on": "Enable", "one": "Constant", "deep": deep, "y": "Out1"}, "one/1 -> deep/enable",
                  "u/1 -> deep/1", "deep/1 -> y/1")
    found = simulate(system({**CLOCKED, "S": body, "one": "Constant"}, "clock/1 -> S/enable", "one/1 -> S/1",
                            "S/1 -> A/1"), EXACT)
    assert numpy.interp([1, 3, 5, 7, 10], found.times, found["S/y"]).tolist() == pytest.approx([1, 2, 3, 4, 6])


def test_a_scope_in_a_disabled_subsystem_keeps_its_value() -> None:
    body = inside({"u": "In1", "on": "Enable", "Inner": "Scope"}, "u/1 -> Inner/1")
    found = simulate(system({**CLOCKED, "S": body}, "clock/1 -> S/enable", "ramp/1 -> S/1", "ramp/1 -> A/1"), EXACT)
    assert found.sinks == {"S/Inner": ("S/Inner/ramp",), "A": ("ramp",)}
    assert [at(found, "S/Inner/ramp", time) for time in (3, 7)] == [2, 6]
    assert numpy.array_equal(found["ramp"], found.times)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_blocks_changes_no_value(seed: int) -> None:
    for model in (LAG, enabled(), enabled("reset", "reset")):
        plain, other = simulate(model, EXACT), simulate(shuffled(model, seed), EXACT)
        assert numpy.array_equal(plain.times, other.times)
        assert all(numpy.array_equal(plain[column], other[column]) for column in plain.columns)


@pytest.mark.parametrize(("model", "change"), [
    (enabled(), {"S/on.StatesWhenEnabling": "reset"}), (enabled(), {"S/I.InitialCondition": "1"}),
    (enabled(), {"S/y.OutputWhenDisabled": "reset"}), (LAG, {"T": "0.7"}), (LAG, {"S.K": "3"}),
    (LAG, {"S/In/y.InitialCondition": "0.1"})])
def test_a_mutant_is_seen(model: Diagram, change: dict[str, str]) -> None:
    right, wrong = simulate(model, EXACT), simulate(model, EXACT, change)
    column = right.columns[0]
    assert max(abs(at(right, column, time) - at(wrong, column, time)) for time in (0.5, 3, 5.5)) > 1e-3


def test_buses_carry_their_names_through_subsystems() -> None:
    body = inside({"u": "In1", "pick": ("Bus Selector", {"OutputSignals": "motor.torque,wave"}), "y": "Out1",
                   "z": ("Out1", {"Port": "2"})}, "u/1 -> pick/1", "pick/1 -> y/1", "pick/2 -> z/1")
    model = system(
        {"pair": ("Constant", {"Value": "[1 2]"}), "ramp": "Ramp", "wave": "Sine Wave",
         "motor": ("Bus Creator", {"Inputs": "'speed','torque'"}), "all": "Bus Creator", "S": body, "A": "Scope",
         "B": "Scope"}, "pair/1 -> motor/1", "ramp/1 -> motor/2", "motor/1 -> all/1", "wave/1 -> all/2", "all/1 -> S/1",
        "S/1 -> A/1", "S/2 -> B/1")
    found = simulate(model, Options(stop=3))
    assert found["S/pick/1" if "S/pick/1" in found.columns else found.columns[0]][-1] == 3
    assert found[found.columns[1]][-1] == pytest.approx(math.sin(3))
    wrong, _ = set_parameters(model, {"S/pick.OutputSignals": "motor.power,wave"})
    with pytest.raises(ModelFault, match=r"'S/pick': the bus has no signal 'motor\.power'; it has .*motor\.torque"):
        simulate(wrong)


@pytest.mark.parametrize(("reach", "fence", "sees"), [("global", "", True), ("local", "", False), ("scoped", "", False),
                                                     ("scoped", "S", True), ("scoped", "T", False)])
def test_a_tag_is_seen_as_far_as_it_reaches(reach: str, fence: str, sees: bool) -> None:
    fences: dict[str, Row] = {"fence": ("Goto Tag Visibility", {"GotoTag": "X"})}
    taker = inside({"F": ("From", {"GotoTag": "X"}), "y": "Out1", **(fences if fence == "T" else {})}, "F/1 -> y/1")
    giver = inside({"u": "In1", "G": ("Goto", {"GotoTag": "X", "TagVisibility": reach})}, "u/1 -> G/1")
    model = system({"ramp": "Ramp", "give": giver, "take": taker, "A": "Scope", **(fences if fence == "S" else {})},
                   "ramp/1 -> give/1", "take/1 -> A/1")
    if sees:
        assert simulate(model, Options(stop=2))["take/F"][-1] == 2
    else:
        with pytest.raises(ModelFault, match="From 'take/F': there is no Goto with the tag 'X' that it can see"):
            simulate(model)


TRIGGERED = inside({"edge": "Trigger", "I": "Integrator", "y": "Out1"}, "I/1 -> y/1")


@pytest.mark.parametrize(("body", "control", "message"), [
    (inside({"edge": ("Trigger", {"TriggerType": "function-call"})}), "trigger", "'S': a function-call sub"),
    (inside({"edge": ("Trigger", {"ShowOutputPort": "on"})}), "trigger", "the output of 'edge'"),
    (TRIGGERED, "trigger", "'S/I': it has a continuous state, and 'S' runs at single instants; take a sampled block"),
    (inside({"edge": "Trigger", "D": ("Unit Delay", {"SampleTime": "1"})}, "D/1 -> D/1"), "trigger",
     "'S/D': SampleTime is .*let it be -1"),
    (inside({"edge": "Trigger", "I": ("Discrete-Time Integrator", {"SampleTime": "-1"})}), "trigger",
     "'S/I': it needs a sample time, and 'S' runs when it is triggered"),
    (inside({"on": "Enable", "R": "Resistor", "g": "Electrical Reference"}, "R/LConn1 -- g/LConn1"), "enable",
     "an electrical network in 'S', which does not always run, is not simulated"),
    (DiagramBlock("Enabled Subsystem"), "enable", "not simulated: Enabled Subsystem 'S'"),
    (DiagramBlock("Subsystem", {"SystemSampleTime": "0.1"}, system=system({"on": "Enable"})), "enable",
     "not simulated: 'S': SystemSampleTime '0.1'"),
    (inside({"on": "Enable", "G": ("Gain", {"Gain": "nobody"})}), "enable", "'S/G': Gain is 'nobody'"),
    (inside({"on": "Enable"}, nothing="a b c"), "enable", "S: the variable nothing is 'a b c'"),
    (inside({"on": "Enable", "M": ("Sum", {"Inputs": "xyz"})}), "enable", "Sum 'S/M': Inputs is 'xyz', which says no"),
    (inside({"on": "Enable", "C": ("MyBlock", {})}), "enable", "'S/C' is of the type 'MyBlock'"),
])
def test_what_is_not_simulated_is_refused_by_name(body: DiagramBlock, control: str, message: str) -> None:
    model = system({"ramp": "Ramp", "S": body}, f"ramp/1 -> S/{control}")
    with pytest.raises(ModelFault, match=message):
        simulate(model)


@pytest.mark.parametrize(("text", "message"), [
    ("u1 >", "is none"), ("__import__('os')", "cannot be read"), ("u3 > 0", "names u3, and it has 1 inputs"),
    ("u1 > 0 > 1", "no number"), ("(" * 5000 + "u1", "more than 500 characters"), ("((u1", "is none")])
def test_an_expression_of_if_is_read_and_never_run(text: str, message: str) -> None:
    with pytest.raises(ModelFault, match=message):
        simulate(system({"ramp": "Ramp", "If": ("If", {"IfExpression": text})}, "ramp/1 -> If/1"))


def test_a_loop_through_a_control_input_is_told() -> None:
    body = inside({"u": "In1", "on": "Enable", "y": "Out1"}, "u/1 -> y/1")
    model = system({"one": "Constant", "S": body, "n": ("Gain", {"Gain": "-1"}), "a": ("Bias", {"Bias": "0.5"})},
                   "one/1 -> S/1", "S/1 -> n/1", "n/1 -> a/1", "a/1 -> S/enable")
    with pytest.raises(SimulationFailed, match="algebraic loop .*'S'"):
        simulate(model)


def test_settings_of_the_model_are_taken_where_nothing_is_given() -> None:
    model = replace(LAG, settings={"StopTime": "4*T", "Solver": "ode4", "FixedStep": "0.01", "RelTol": "auto"})
    found = simulate(model)
    assert (found.solver, found.times[-1], found.steps) == ("ode4", 2.0, 201)
    assert options_of(model, stop=3.0, solver="ode45", step=None).stop == 3.0
    assert options_of(replace(model, settings={"SolverName": "VariableStepAuto", "StopTime": "inf"})) == Options()
    with pytest.raises(ModelFault, match="settings: StopTime is 'soon'"):
        options_of(replace(model, settings={"StopTime": "soon"}))
    with pytest.raises(ModelFault, match="StartTime is '1'"):
        options_of(replace(model, settings={"StartTime": "1"}))


@pytest.mark.parametrize(("key", "message"), [
    ("S/In/z.Gain", "there is no block 'S/In/z'; it has v, y, Out"), ("S/Gain/x.Gain", "is no subsystem of")])
def test_a_path_that_leads_nowhere_is_told(key: str, message: str) -> None:
    with pytest.raises(ModelFault, match=message):
        simulate(LAG, EXACT, {key: "1"})


def test_a_data_store_is_read_as_it_was_written_before() -> None:
    body = inside({"R": ("Data Store Read", {"DataStoreName": "X", "SampleTime": "1"}), "add": "Sum", "one": "Constant",
                   "W": ("Data Store Write", {"DataStoreName": "X"})}, "R/1 -> add/1", "one/1 -> add/2", "add/1 -> W/1")
    blocks: dict[str, Row] = {
        "M": ("Data Store Memory", {"DataStoreName": "X", "InitialValue": "[3 5]"}), "S": body,
        "look": ("Data Store Read", {"DataStoreName": "X", "SampleTime": "1"}), "Scope": "Scope"}
    found = simulate(system(blocks, "look/1 -> Scope/1"), Options(stop=3))
    assert found.values.tolist() == [[3, 5], [4, 6], [5, 7], [6, 8]]
    with pytest.raises(ModelFault, match="'look': there is no Data Store Memory 'X' in the systems around it"):
        simulate(system({name: row for name, row in blocks.items() if name != "M"}, "look/1 -> Scope/1"))
    twice: dict[str, Row] = {**blocks, "W2": ("Data Store Write", {"DataStoreName": "X"}), "c": "Constant"}
    with pytest.raises(ModelFault, match="both write the data store 'X', and the order"):
        simulate(system(twice, "look/1 -> Scope/1", "c/1 -> W2/1"))
