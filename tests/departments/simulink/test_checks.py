"""The reviewer's eight checks: nothing is said of right models, and each way to spoil one is told by the check for it;
what an agent writes down is judged, however malformed."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.simulink.mutants import KINDS, investigation_of, mutants
from chatdev.departments.simulink import checks
from chatdev.departments.simulink.checks import check_diagram, check_investigation, read_investigation
from chatdev.departments.simulink.diagram import Diagram, Wire
from chatdev.departments.simulink.parts import CHECKS, DiagramFinding
from chatdev.departments.simulink.wiring_checks import check_nets, order_wires

MODELS = {file.stem: file for file in sorted((Path(checks.__file__).parent / "models").glob("*.yaml"))
          if file.stem != "index"}
LOOP: dict[str, Any] = {
    "blocks": [{"name": "Rate", "type": "Constant", "parameters": {"Value": 2}},
               {"name": "Sum", "type": "Sum", "parameters": {"Inputs": "+-"}},
               {"name": "Level", "type": "Integrator"},
               {"name": "Scope", "type": "Scope"}],
    "connections": ["Rate/1 -> Sum/1", "Sum/1 -> Level/1", "Level/1 -> Sum/2", "Level/1 -> Scope/1"]}
RC: dict[str, Any] = {
    "blocks": [{"name": "Source", "type": "DC Voltage Source"}, {"name": "R1", "type": "Resistor"},
               {"name": "C1", "type": "Capacitor"}, {"name": "Ground", "type": "Electrical Reference"},
               {"name": "Solver", "type": "Solver Configuration"}],
    "connections": ["Source/LConn1 -- R1/LConn1", "R1/RConn1 -- C1/LConn1", "Source/RConn1 -- Ground/LConn1",
                    "C1/RConn1 -- Ground/LConn1", "Solver/RConn1 -- Ground/LConn1"]}


def changed(base: dict[str, Any], name: str = "", connections: tuple[Any, ...] | None = None, add: Any = None,
            **changes: Any) -> dict[str, Any]:
    blocks = [block | changes if block["name"] == name else block for block in base["blocks"]]
    return {"blocks": [*blocks, add] if add is not None else blocks,
            "connections": base["connections"] if connections is None else [*base["connections"], *connections]}


def told(value: Any, check: str) -> list[DiagramFinding]:
    return [one for one in check_investigation(value) if one.check == check and one.severity != "remark"]


@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_said_of_a_right_model(name: str) -> None:
    model = Diagram.read(MODELS[name])
    assert check_diagram(model) == []
    assert check_investigation(investigation_of(model)) == []


@pytest.mark.parametrize("name", MODELS)
def test_each_way_to_spoil_a_model_is_told_by_its_check(name: str) -> None:
    missed = [kind for kind, check, mutant in mutants(Diagram.read(MODELS[name]), most=2)
              if not told(mutant, check)]
    assert missed == []


def test_every_check_has_ways_to_spoil_a_model() -> None:
    assert {check for check, _ in KINDS.values()} == set(CHECKS)


@pytest.mark.parametrize(("spoilt", "check", "message", "fix"), [
    (changed(LOOP, "Level", type="Log"), "block list", "another name of Math Function",
     "type Math Function with Operator: log"),
    (changed(LOOP, "Level", type="Integrater"), "block list", "no block type 'Integrater'", "Integrator"),
    (changed(LOOP, "Level", type="Voltage Source"), "block list", "may be 4 blocks", "AC Voltage Source; or"),
    (changed(LOOP, "Level", type="Inport"), "block list", "another name of In1", "write type In1"),
    (changed(LOOP, "Level", type="Blorb"), "block list", "no block type", "take the type from the catalogue"),
    (changed(LOOP, add="Gain"), "block list", "block 5 is 'Gain'", "write it as"),
    (changed(LOOP, add={"name": "Lost", "type": "Gain"}), "extra blocks", "Lost is connected to nothing", "remove it"),
    (changed(LOOP, connections=("Rate/1",)), "format", "is no line", "Name/port -> Name/port"),
    (changed(LOOP, connections=(["Rate/1", "Sum/1"],)), "format", "connection 5 is", "Gain1/1"),
    (changed(LOOP, connections=("Rat/1 -> Sum/1",)), "format", "no block 'Rat'", "did you mean 'Rate'?"),
    (changed(RC, connections=("R1/LConn1 -> Ground/LConn1",)), "format", "no direction", "write R1/LConn1 -- Ground"),
    (changed(LOOP, "Sum", parameters={"Inputs": "+"}), "parameters", "one input, but the connections use 2", "say all"),
    (changed(LOOP, "Sum", parameters={"Inputs": "*/"}), "parameters", "no signs of this block", "it takes + - |"),
    (changed(LOOP, "Sum", parameters={"Inputs": "many"}), "parameters", "says no number of ports", "such as \\+-"),
    (changed(LOOP, "Sum", parameters={"Inputs": "0"}), "parameters", "that is no port", "from 1"),
    (changed(LOOP, "Sum", parameters={"Input": "+-"}), "parameters", "no parameter 'Input'", "did you mean Inputs?"),
    (changed(LOOP, "Sum", parameters={}), "parameters", "does not say its signs", "give Inputs"),
    (changed(LOOP, "Level", parameters={"LimitOutput": True}), "parameters", "True is Python", "write 'on'"),
    (changed(LOOP, "Level", parameters={"LimitOutput": "False"}), "parameters", "False is Python", "write 'off'"),
    (changed(LOOP, "Level", parameters={"LimitOutput": "yes"}), "parameters", "neither on nor off", "write on"),
    (changed(LOOP, "Level", parameters={"ExternalReset": "Rising"}), "parameters", "no ExternalReset", "write rising"),
    (changed(LOOP, "Level", parameters=["ExternalReset"]), "parameters", "not an object", "write"),
    (changed(LOOP, "Level", parameters={"InitialCondition": {}}), "parameters", "no value that MATLAB", "a number"),
    (changed(LOOP, connections=("Rate/1 -> Sum/1",)), "duplicates", "there twice", "remove one"),
    (changed(RC, connections=("R1/LConn1 -- Source/LConn1",)), "duplicates", "there twice", "remove one"),
    (changed(LOOP, connections=("Level/1 -> Sum/1",)), "duplicates", "has a source already: Rate/1", "takes one line"),
    (changed(LOOP, connections=("Scope/1 -> Level/1",)), "port types", "Scope/1 is an input", "turn the connection"),
    (changed(LOOP, connections=("Level/1 -> Rate/1",)), "port types", "Rate/1 is an output", "outputs 1"),
    (changed(LOOP, connections=("Level/2 -> Scope/1",)), "port types", "Integrator has no port 2",
     "inputs 1; outputs 1"),
    (changed(RC, connections=("R1/LConn1 -- R1/RConn5",)), "port types", "no port RConn5", "terminals LConn1, RConn1"),
    (changed(LOOP, add={"name": "Sum2", "type": "Sum", "parameters": {"Inputs": "++"}}), "complete ports",
     "the input 1 of Sum2 is not connected", "Sum2/1"),
    (changed(RC, connections=("C1/LConn1 -- R1/LConn1", "C1/LConn1 -- Source/LConn1")), "nets",
     "both ends are in one net", "adds nothing"),
], ids=str)
def test_a_finding_says_what_is_wrong_and_what_to_do(spoilt: Any, check: str, message: str, fix: str) -> None:
    assert [one for one in told(spoilt, check) if re.search(message, one.message) and re.search(fix, one.fix)]


def test_signal_and_physical_ports_are_kept_apart() -> None:
    blocks = [*RC["blocks"], *LOOP["blocks"], {"name": "Meter", "type": "Voltage Sensor"}]
    mixed = {"blocks": blocks, "connections": [*RC["connections"], *LOOP["connections"], "Rate/1 -> R1/RConn1",
                                               "Meter/LConn1 -- R1/LConn1", "Meter/RConn2 -- Ground/LConn1",
                                               "Meter/RConn1 -- C1/LConn1"]}
    messages = [one.message for one in told(mixed, "port types")]
    assert messages[0] == "the ports are of different domains: Rate/1 is signal, R1/RConn1 is electrical"
    assert messages[1] == "the ports are of different domains: Meter/RConn1 is ps, C1/LConn1 is electrical"


@pytest.mark.parametrize(("connections", "warns"), [
    (["A/LConn1 -- B/LConn1", "B/LConn1 -- C/LConn1", "C/LConn1 -- D/LConn1"], False),
    (["A/LConn1 -- B/LConn1", "C/LConn1 -- D/LConn1", "B/LConn1 -- C/LConn1"], True),
])
def test_lines_that_join_two_nets_are_told_and_ordered(connections: list[str], warns: bool) -> None:
    wires = tuple(map(Wire.read, connections))
    assert bool(list(check_nets(Diagram("m", {}, wires)))) == warns
    assert list(check_nets(Diagram("m", {}, order_wires(wires)))) == []
    assert sorted(order_wires(wires)) == sorted(wires)


ends = st.builds(lambda name, port: f"{name}/LConn{port}", st.sampled_from("ABCDE"), st.integers(1, 2))


@given(st.lists(st.tuples(ends, ends).filter(lambda pair: pair[0] != pair[1]), max_size=12))
def test_ordered_lines_are_the_same_and_join_no_two_nets(pairs: list[tuple[str, str]]) -> None:
    wires = tuple(Wire.read(f"{one} -- {other}") for one, other in pairs)
    ordered = order_wires(wires)
    assert sorted(ordered) == sorted(wires)
    assert [one for one in check_nets(Diagram("m", {}, ordered)) if one.severity == "warning"] == []


def test_findings_keep_their_order_and_are_the_same_each_time() -> None:
    spoilt = changed(changed(LOOP, "Level", type="Integrater"), add="x", connections=("a", "Rate/1 -> Sum/1"))
    found = check_investigation(spoilt)
    assert [CHECKS.index(one.check) for one in found] == sorted(CHECKS.index(one.check) for one in found)
    assert found == check_investigation(json.loads(json.dumps(spoilt)))


plain = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) |
                     st.sampled_from(["Gain", "A", "A/1 -> B/1", "name", "type", "\ud800", "Sum", "Goto", "True"]),
                     lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                         st.sampled_from(["blocks", "connections", "name", "type", "parameters", "Inputs", "GotoTag"])
                         | st.text(max_size=3), inner, max_size=4), max_leaves=20)


@settings(max_examples=300)
@given(plain | st.fixed_dictionaries({"blocks": plain, "connections": plain}) | st.fixed_dictionaries(
    {"blocks": st.lists(st.fixed_dictionaries({"name": plain, "type": plain, "parameters": plain}), max_size=4),
     "connections": st.lists(plain, max_size=4)}))
def test_whatever_an_agent_writes_is_judged_without_an_error(value: Any) -> None:
    for one in check_investigation(value):
        assert one.message
        assert one.fix
        assert one.place


def test_a_thousand_blocks_are_checked_in_time() -> None:
    blocks = [{"name": f"G{n}", "type": "Gain"} for n in range(2000)]
    value = {"blocks": blocks, "connections": [f"G{n}/1 -> G{n + 1}/1" for n in range(1999)]}
    begin = time.process_time()
    found = check_investigation(value)
    assert time.process_time() - begin < 5
    assert [one.message for one in found if one.severity == "error"] == ["the input 1 (u) of G0 is not connected"]


def test_thousands_of_strange_types_are_told_in_time() -> None:
    begin = time.process_time()
    found = check_investigation({"blocks": [{"name": f"B{n}", "type": f"Strange {n}"} for n in range(4000)]})
    assert time.process_time() - begin < 20
    assert len([one for one in found if one.check == "block list"]) == 4000


def test_what_is_left_of_a_malformed_investigation_is_still_checked() -> None:
    read = read_investigation({"blocks": [None, *LOOP["blocks"]], "connections": [3, *LOOP["connections"]]})
    assert list(read.model.blocks) == ["Rate", "Sum", "Level", "Scope"]
    assert len(read.model.wires) == 4
    assert len(read.findings) == 2
