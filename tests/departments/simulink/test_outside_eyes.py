"""What users of Simulink tools complained of in public issue trackers, asked of this one: a test for each question.

The trackers: simulink-agentic-toolkit (MathWorks), massif, WEC-Sim.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from chatdev.cli.outcome import heed_signals
from chatdev.departments.simulink.catalogue import block_finder
from chatdev.departments.simulink.checks import check_diagram, check_investigation
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.difference import compare
from chatdev.departments.simulink.parts import DiagramFinding


def simulink(*arguments: object) -> Result:
    with heed_signals():
        return CliRunner().invoke(command_line, ["simulink", *map(str, arguments)], prog_name="chatdev")


def errors(text: str) -> list[DiagramFinding]:
    return [one for one in check_diagram(Diagram.parse(text, "m")) if one.severity == "error"]


def of_type(name: str, **parameters: str) -> list[DiagramFinding]:
    """What the checks say of a block between a source and a scope."""
    value: dict[str, Any] = {
        "blocks": [{"name": "In", "type": "Sine Wave"}, {"name": "Scope", "type": "Scope"},
                   {"name": "B", "type": name, "parameters": parameters}],
        "connections": ["In/1 -> B/1", "B/1 -> Scope/1"]}
    return [one for one in check_investigation(value) if one.block == "B" and one.severity != "remark"]


@pytest.mark.parametrize(("name", "kind", "parameter"), [
    ("Log", "Math Function", "Operator: log"), ("Reciprocal", "Math Function", "Operator: reciprocal"),
    ("Power", "Math Function", "Operator: pow"), ("Max", "MinMax", "Function: max"),
    ("Round", "Rounding Function", "Operator: round"), ("NOT", "Logical Operator", "Operator: NOT")])
def test_a_display_name_means_its_block_and_its_operator(name: str, kind: str, parameter: str) -> None:
    """Why does `Log` build a block that computes exp? (simulink-agentic-toolkit 80)"""
    found = block_finder().find(name)
    meant = [one for one in found.candidates if one.block.type == kind]
    assert [f"{key}: {value}" for key, value in meant[0].parameters.items()] == [parameter]
    finding = of_type(name)[0]
    assert finding.check == "block list"
    assert f"type {kind} with {parameter}" in finding.fix


def test_a_name_is_never_taken_for_a_block_that_is_only_like_it() -> None:
    """Why do I get Combinatorial Logic when I ask for a Truth Table? (simulink-agentic-toolkit 77)"""
    [finding] = of_type("Truth Table")
    assert "no block type 'Truth Table'" in finding.message


@pytest.mark.parametrize("name", ["Integrator, Second-Order", "Second-Order Integrator"])
def test_both_names_of_a_block_mean_it(name: str) -> None:
    """Why is the name of the library browser another block than that of the page? (simulink-agentic-toolkit 55)"""
    found = block_finder().find(name).sure
    assert found
    assert found.block.type == "Integrator, Second-Order"
    assert len(found.block.ports_with({})) == 3


def test_a_name_that_several_blocks_bear_is_asked_back() -> None:
    """Why is my `Sine` a source without an input? (simulink-agentic-toolkit 81)"""
    [finding] = of_type("Sine")
    assert "type Sine Wave" in finding.fix
    assert "type Trigonometric Function with Operator: sin" in finding.fix
    assert simulink("blocks", "Sine").exit_code == 1


def test_a_block_of_a_library_keeps_its_own_defaults() -> None:
    """Why has Integrator Limited no limits? (simulink-agentic-toolkit 53)"""
    found = block_finder().find("Integrator Limited").sure
    assert found
    defaults = found.block.with_defaults(found.parameters)
    assert (defaults["LimitOutput"], defaults["UpperSaturationLimit"], defaults["LowerSaturationLimit"]) == (
        "on", "1", "0")


LOGIC = """model: logic
blocks:
  A: {type: Constant}
  B: {type: Constant, parameters: {Value: '0'}}
  Gate: {type: Logical Operator, parameters: {Operator: NAND}}
  Send: {type: Goto, parameters: {GotoTag: Ready}}
  Take: {type: From, parameters: {GotoTag: Ready}}
  Compare: {type: Relational Operator, parameters: {Operator: '>='}}
  Show: {type: Display}
lines:
- A/1 -> Gate/1
- B/1 -> Gate/2
- Gate/1 -> Send/1
- Take/1 -> Compare/1
- A/1 -> Compare/2
- Compare/1 -> Show/1
"""


def test_operators_and_tags_are_in_the_text_form() -> None:
    """Why does the exported text say `Logic(...)` without AND or NAND, and Goto without its tag? (…-toolkit 88, 69)"""
    text = Diagram.parse(LOGIC, "m").text()
    for kept in ("NAND", "GotoTag: Ready", "Operator: '>='"):
        assert kept in text
    assert errors(text) == []


@pytest.mark.parametrize("lost", ["Operator: NAND", "Operator: '>='", "GotoTag: Ready"])
def test_a_lost_operator_is_told(lost: str) -> None:
    """What tells me that an agent dropped the operator, so that it became the default? (…-toolkit 50, 88)"""
    model = Diagram.parse(LOGIC.replace(f", parameters: {{{lost}}}", ""), "m")
    found = check_diagram(model, is_complete=True)
    assert any(f"says no {lost.split(':')[0]}" in one.message and one.severity == "error" for one in found)
    assert check_diagram(model) != []


def test_a_value_that_an_operator_does_not_have_is_told() -> None:
    """Why is a wrong relation accepted in silence? (simulink-agentic-toolkit 20)"""
    told = of_type("Relational Operator", Operator="=>")
    assert any("'=>' is no Operator of Relational Operator" in one.message for one in told)
    assert [one.fix for one in of_type("Logical Operator", Operator="and") if one.parameter] == ["write AND"]


def test_goto_and_from_are_paired(tmp_path: Path) -> None:
    """Where does my From get its signal from? (massif 95)"""
    alone = LOGIC.replace("type: From, parameters: {GotoTag: Ready}", "type: From, parameters: {GotoTag: Redy}")
    [finding] = errors(alone)
    assert (finding.block, finding.message) == ("Take", "no Goto has the tag 'Redy' of Take")
    assert "'Ready'" in finding.fix
    both = compare(Diagram.parse(LOGIC, "m"), Diagram.parse(LOGIC.replace("Ready", "Done"), "m"))
    assert both.lines() == ["~ tag Ready: renamed Done"]
    assert compare(Diagram.parse(LOGIC, "m"), Diagram.parse(alone, "m")).pairs_removed == (("Send", "Take"),)


def test_two_gotos_of_one_tag_are_told_before_the_run() -> None:
    """`Multiple Gotos found with tag named 'disp1'`: which ones? (WEC-Sim 549, 1069)"""
    twice = LOGIC.replace("  Take:", "  Send 2: {type: Goto, parameters: {GotoTag: Ready}}\n  Take:") + \
        "- Gate/1 -> Send 2/1\n"
    [finding] = errors(twice)
    assert finding.message == "2 Goto blocks have the tag 'Ready': Send, Send 2"


def test_a_second_line_into_an_input_changes_nothing_in_silence() -> None:
    """Why did a connection that failed delete the one that was there? (simulink-agentic-toolkit 62)"""
    [finding] = errors(LOGIC + "- B/1 -> Show/1\n")
    assert finding.message == "the input Show/1 has a source already: Compare/1"


CIRCUIT = """model: circuit
blocks:
  V: {type: DC Voltage Source, position: [30, 40, 60, 80]}
  R: {type: Resistor}
  G: {type: Electrical Reference}
  S: {type: Solver Configuration}
lines:
- V/LConn1 -- R/LConn1
- R/RConn1 -- G/LConn1
- V/RConn1 -- G/LConn1
- S/RConn1 -- G/LConn1
"""


def test_a_terminal_that_is_not_there_is_no_other_terminal() -> None:
    """Why does RConn5, which my block does not have, disconnect RConn1? (simulink-agentic-toolkit 63)"""
    found = errors(CIRCUIT.replace("R/RConn1", "R/RConn5"))
    assert found[0].message == "Resistor has no port RConn5"
    assert found[0].fix == "R has: terminals LConn1, RConn1"


@pytest.mark.parametrize(("gone", "told"), [("S", "exactly one Solver Configuration"),
                                            ("G", "has an Electrical Reference")])
def test_a_network_without_solver_or_ground_is_told_before_the_run(gone: str, told: str) -> None:
    """Why is a network without a Solver Configuration block refused only when it runs? (WEC-Sim 111)"""
    text = "\n".join(line for line in CIRCUIT.splitlines() if f"{gone}:" not in line and f"{gone}/" not in line)
    if gone == "G":
        text += "\n- R/RConn1 -- V/RConn1\n- S/RConn1 -- V/RConn1"
    assert told in " ".join(one.message for one in errors(text))


def test_i_see_what_changed_and_not_what_only_moved(tmp_path: Path) -> None:
    """How do I compare two versions without the noise of places? (…-toolkit 24, WEC-Sim 29)"""
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(CIRCUIT, encoding="utf-8")
    new.write_text(CIRCUIT.replace("[30, 40, 60, 80]", "[130, 40, 160, 80]"), encoding="utf-8")
    assert simulink("diff", old, new).output.splitlines()[2:] == ["> block V: [30, 40, 60, 80] -> [130, 40, 160, 80]"]
    assert simulink("diff", old, new, "--meaning").exit_code == 0
    changed = new.read_text(encoding="utf-8").replace("{type: Resistor}", "{type: Resistor, parameters: {R: '5'}}")
    new.write_text(changed, encoding="utf-8")
    assert json.loads(simulink("diff", old, new, "--json", "--meaning").output)["parameters"] == {
        "R": {"R": {"before": "", "after": "5"}}}


def test_the_places_that_i_gave_are_kept_when_blocks_are_added() -> None:
    """Why does automatic alignment destroy the layout that we made? (simulink-agentic-toolkit 7, 33)"""
    from chatdev.departments.simulink.layout import place

    model = Diagram.parse(CIRCUIT, "m")
    placed = place(model)
    assert placed.blocks["V"].position == (30, 40, 60, 80)
    assert all(block.position for block in placed.blocks.values())
    more = Diagram.parse(placed.text().replace("lines:", "  L: {type: Inductor}\nlines:"), "m")
    assert set(compare(placed, place(more)).moved) == set()


@pytest.mark.parametrize("name", ["Spar/Plate", "Heave + Pitch -> out", "PS-Simulink\nConverter", "\"quoted\"", "yes"])
def test_a_name_of_any_kind_survives(name: str) -> None:
    """Why does a slash or a line break in a block's name break the model? (WEC-Sim 549)"""
    model = Diagram.parse(CIRCUIT.replace("R:", json.dumps(name) + ":"), "m")
    assert name in Diagram.parse(model.text(), "m").blocks
    told = [one for one in check_diagram(model) if one.check == "format" and one.block == name]
    assert bool(told) == ("/" in name)
