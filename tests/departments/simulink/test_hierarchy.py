"""Systems within systems: ports, paths, joints, and what checks, diff, metric, change and draw say of them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from chatdev.departments.simulink.change import change_model, list_differences
from chatdev.departments.simulink.checks import check_diagram
from chatdev.departments.simulink.commands import command
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock
from chatdev.departments.simulink.difference import compare
from chatdev.departments.simulink.hierarchy import (
    join_path,
    join_systems,
    outer_ports,
    split_path,
    spread,
    system_at,
    systems,
)
from chatdev.departments.simulink.metric import compare as measure
from chatdev.departments.simulink.painter import draw
from chatdev.errors import ConfigError

PLANT = """model: loop
blocks:
  Step: {type: Step}
  Plant:
    type: Subsystem
    system:
      blocks:
        u: {type: In1}
        Motor:
          type: Subsystem
          system:
            blocks:
              v: {type: In1}
              w: {type: In1, parameters: {Port: "2"}}
              Torque: {type: Sum, parameters: {Inputs: "+-"}}
              y: {type: Out1}
            lines:
              - v/1 -> Torque/1
              - w/1 -> Torque/2
              - Torque/1 -> y/1
        Lag: {type: Transfer Fcn}
        y: {type: Out1}
      lines:
        - u/1 -> Motor/1
        - Lag/1 -> Motor/2
        - Motor/1 -> Lag/1
        - Lag/1 -> y/1
  Scope: {type: Scope}
lines:
  - Step/1 -> Plant/1
  - Plant/1 -> Scope/1
"""
CIRCUIT = """model: circuit
blocks:
  Source: {type: DC Voltage Source}
  Load:
    type: Subsystem
    system:
      blocks:
        p: {type: Connection Port}
        n: {type: Connection Port, parameters: {Port: "2", Side: Right}}
        R: {type: Resistor}
      lines:
        - p/RConn1 -- R/LConn1
        - R/RConn1 -- n/RConn1
  Ground: {type: Electrical Reference}
  Solver: {type: Solver Configuration}
lines:
  - Source/LConn1 -- Load/LConn1
  - Load/RConn1 -- Source/RConn1
  - Source/RConn1 -- Ground/LConn1
  - Ground/LConn1 -- Solver/RConn1
"""


def read(text: str) -> Diagram:
    return Diagram.parse(text, "f")


def errors(model: Diagram) -> list[str]:
    return [f"{one.check}: {one.place}: {one.message}" for one in check_diagram(model) if one.severity == "error"]


@pytest.mark.parametrize("names", [("a",), ("a/b", "c"), (" x ", "y\nz"), ("a//b",)])
def test_a_path_says_its_names(names: tuple[str, ...]) -> None:
    assert split_path(join_path(*names)) == list(names)


def test_the_ports_of_a_subsystem_are_its_blocks_by_number() -> None:
    ports = outer_ports(read("""model: s
blocks:
  late: {type: In1, parameters: {Port: "2"}}
  first: {type: Inport}
  E: {type: Enable}
  T: {type: simulink/Ports & Subsystems/Trigger}
  out: {type: Out1}
  right: {type: Connection Port, parameters: {Side: Right, Port: "3"}}
  a: {type: Connection Port, parameters: {Port: "2"}}
  b: {type: Connection Port}
"""))
    assert [(port.name, port.direction, port.label) for port in ports] == [
        ("1", "in", "first"), ("2", "in", "late"), ("enable", "in", "enable"), ("trigger", "in", "trigger"),
        ("1", "out", "out"), ("LConn1", "conserving", "b"), ("LConn2", "conserving", "a"),
        ("RConn1", "conserving", "right")]


@pytest.mark.parametrize(("blocks", "message"), [
    ("{a: {type: In1}, b: {type: In1}}", "its In1 blocks have the ports a 1, b 1; give them the numbers 1 to 2"),
    ("{a: {type: Out1, parameters: {Port: x}}}", "its Out1 blocks have the ports a x"),
    ("{a: {type: Enable}, b: {type: Enable}}", "the blocks 'a', 'b' are both its control enable; keep one")])
def test_ports_that_contradict_each_other_are_told(blocks: str, message: str) -> None:
    model = read(f"model: m\nblocks: {{S: {{type: Subsystem, system: {{blocks: {blocks}}}}}}}")
    assert any(message in one for one in errors(model))


def test_checks_name_what_is_inside_by_its_path() -> None:
    assert errors(read(PLANT)) == []
    wrong = read(PLANT.replace('parameters: {Inputs: "+-"}', 'parameters: {Inputs: "+-+"}').replace(
        "Lag/1 -> Motor/2", "Lag/1 -> Motor/3"))
    assert errors(wrong) == [
        "port types: connection Lag/1 -> Motor/3 in Plant: Subsystem has no port 3",
        "complete ports: block Plant/Motor: the input 2 (w) of Motor is not connected",
        "complete ports: block Plant/Motor/Torque: the input 3 of Torque is not connected"]


def test_a_network_is_looked_at_across_subsystems() -> None:
    assert errors(read(CIRCUIT)) == []
    assert errors(read(CIRCUIT.replace("  - Ground/LConn1 -- Solver/RConn1\n", ""))) == [
        "complete ports: block Solver: the terminal RConn1 of Solver is not connected",
        "complete ports: block Source: a physical network has exactly one Solver Configuration; that of Source, "
        "Ground, Load/R has 0"]


def test_a_tag_is_sought_in_other_systems_too() -> None:
    text = """model: m
blocks:
  Step: {type: Step}
  G: {type: Goto, parameters: {GotoTag: T, TagVisibility: global}}
  S: {type: Subsystem, system: {blocks: {F: {type: From, parameters: {GotoTag: T}}, y: {type: Out1}},
      lines: [F/1 -> y/1]}}
  Scope: {type: Scope}
lines: [Step/1 -> G/1, S/1 -> Scope/1]
"""
    assert errors(read(text)) == []
    assert any("no Goto has the tag 'U' of F" in one for one in errors(read(text.replace(
        "F: {type: From, parameters: {GotoTag: T}}", "F: {type: From, parameters: {GotoTag: U}}"))))


def test_joint_systems_lead_signals_through_their_borders() -> None:
    flat = join_systems(read(PLANT))
    assert sorted(map(str, flat.wires)) == [
        "Plant/Lag/1 -> Plant/Motor/Torque/2", "Plant/Lag/1 -> Scope/1", "Plant/Motor/Torque/1 -> Plant/Lag/1",
        "Step/1 -> Plant/Motor/Torque/1"]
    assert [*flat.blocks] == ["Step", "Scope", "Plant/Lag", "Plant/Motor/Torque"]
    assert [sorted(map(str, net)) for net in join_systems(read(CIRCUIT)).nets()] == [
        ["Load/R/LConn1", "Source/LConn1"], ["Ground/LConn1", "Load/R/RConn1", "Solver/RConn1", "Source/RConn1"]]


def test_lines_in_a_circle_without_blocks_lead_nowhere() -> None:
    model = read("""model: m
blocks:
  S: {type: Subsystem, system: {blocks: {u: {type: In1}, y: {type: Out1}}, lines: [u/1 -> y/1]}}
  Scope: {type: Scope}
lines: [S/1 -> S/1, S/1 -> Scope/1]
""")
    assert join_systems(model).wires == ()


def test_a_difference_names_the_system_it_is_in() -> None:
    old = read(PLANT)
    new = read(PLANT.replace("Lag: {type: Transfer Fcn}", 'Lag: {type: Transfer Fcn, parameters: {Numerator: "[2]"}}')
               .replace('              - w/1 -> Torque/2\n', "").replace("loop", "loop\nvariables: {k: 2}", 1))
    assert compare(old, old).is_empty
    found = compare(old, new)
    assert found.changes_meaning
    assert [line.partition(" ->")[0] for line in found.lines()] == [
        "~ variable k: (not given)", "~ in Plant: block Lag: Numerator (not given)", "- in Plant/Motor: line w/1"]
    assert found.to_dict()["systems"]["Plant"]["systems"]["Motor"]["wires_removed"] == ["w/1 -> Torque/2"]


def test_the_metric_counts_what_is_inside() -> None:
    asked, whole = read(PLANT), measure(read(PLANT), read(PLANT))
    assert whole.accuracy == whole.f1 == 1.0
    assert whole.blocks.asked == len(spread(asked).blocks) == 11
    inside = system_at(asked, ["Plant", "Motor"])
    less = change_model(asked, {"remove": ["Plant/Motor/Torque"]}).model
    assert "Torque" not in system_at(less, ["Plant", "Motor"]).blocks
    assert "Torque" in inside.blocks
    assert measure(asked, less).blocks.matched == 10
    assert measure(asked, less).accuracy < 1


def test_a_change_reaches_into_subsystems() -> None:
    found = change_model(read(PLANT), {
        "add": [{"name": "Plant/Extra", "type": "Gain", "parameters": {"Gain": "3"}}],
        "set": [{"block": "Plant/Motor/Torque", "parameters": {"Inputs": "++"}}],
        "disconnect": ["Plant/Motor/1 -> Plant/Lag/1"],
        "connect": ["Plant/Motor/1 -> Plant/Extra/1", "Plant/Extra/1 -> Plant/Lag/1", "Step/1 -> Plant/Lag/1"]})
    assert found.problems == ["Step/1 -> Plant/Lag/1: its ends lie in different systems; lead it through an In1 or "
                              "Out1 block"]
    assert list_differences(read(PLANT), found.model) == [
        "block Plant/Motor/Torque: Inputs is ++, not +-", "block Plant/Extra (Gain) is new",
        "connection Plant/Motor/1 -> Plant/Lag/1 is missing", "connection Plant/Motor/1 -> Plant/Extra/1 is new",
        "connection Plant/Extra/1 -> Plant/Lag/1 is new"]
    assert change_model(read(PLANT), {"remove": ["Plant/Moto"]}).problems


def test_a_picture_shows_one_system(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(PLANT)
    runner = CliRunner()
    inside = runner.invoke(command, ["draw", str(file), "--system", "Plant/Motor"])
    assert inside.exit_code == 0
    assert "<title>Torque (Sum)</title>" in inside.output
    top = runner.invoke(command, ["draw", str(file)])
    assert "<title>Plant (Subsystem)</title>" in top.output
    assert "Torque" not in top.output
    wrong = runner.invoke(command, ["draw", str(file), "--system", "Plant/Lag"])
    assert wrong.exit_code == 2
    assert "'Plant/Lag' is no subsystem of 'loop'; there are Plant/Motor" in wrong.output
    assert draw(system_at(read(PLANT), ["Plant", "Motor"])) == inside.output


def test_a_finding_inside_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(PLANT.replace("- w/1 -> Torque/2", "- w/1 -> Torque/5").replace(
        "Lag: {type: Transfer Fcn}", "Lag: {type: Transfer Fcn, parameters: {Numerater: 1}}"))
    output = CliRunner().invoke(command, ["check", str(file)]).output
    places = re.findall(r":(\d+): error: ([\w ]+): ((?:block|connection) \S+)", output)
    assert places == [("21", "parameters", "block Plant/Lag,"), ("15", "parameters", "block Plant/Motor/Torque,"),
                      ("15", "complete ports", "block Plant/Motor/Torque:")]


def test_walking_names_every_system() -> None:
    assert [path for path, _ in systems(read(PLANT))] == [(), ("Plant",), ("Plant", "Motor")]
    with pytest.raises(ConfigError, match="'Scope' is no subsystem of 'loop'; there are Plant"):
        system_at(read(PLANT), ["Scope"])
    block = DiagramBlock("Gain", system=Diagram("x", {"u": DiagramBlock("In1")}))
    assert any("which holds no system" in one for one in errors(replace(read(PLANT), blocks={"G": block}, wires=())))
