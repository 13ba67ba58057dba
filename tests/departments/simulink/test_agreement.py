"""What a model of language wrote down is read whatever it is, display names are resolved, and truth is MATLAB's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.simulink.agreement import agreed_model, read_given, settle
from chatdev.departments.simulink.change import change_model, list_differences
from chatdev.departments.simulink.company_tools import review_investigation
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, Wire
from chatdev.departments.simulink.reference_models import reference_models

BALL = reference_models()["spring_ball"].diagram
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = st.recursive(PLAIN | st.sampled_from(["Gravity", "Gravity/1 -> Height/1", "Gain", "Log"]),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                        st.sampled_from(["name", "type", "parameters", "block", "Gain", "Operator"]), inner,
                        max_size=3),
                    max_leaves=8)


@given(st.dictionaries(st.sampled_from(["model", "about", "blocks", "connections"]),
                       JSON | st.lists(JSON, max_size=4)))
def test_no_investigation_breaks_a_tool(value: dict[str, Any]) -> None:
    agreed = agreed_model(value, BALL)
    assert isinstance(agreed, Diagram)
    assert isinstance(review_investigation(value, [value, *value.values()], BALL, ["Gravity"]), list)
    assert list_differences(agreed, agreed) == []


@given(st.dictionaries(st.sampled_from(["remove", "add", "set", "disconnect", "connect"]),
                       JSON | st.lists(JSON, max_size=3)))
def test_no_change_breaks_a_tool(value: dict[str, Any]) -> None:
    made = change_model(BALL, value)
    untouched = {name: block for name, block in BALL.blocks.items() if name not in made.touched}
    assert untouched.items() <= dict(made.model.blocks).items()


@pytest.mark.parametrize(("shown", "kind", "parameters"), [
    ("Log", "Math Function", {"Operator": "log"}), ("Subtract", "Subtract", {}),
    ("AND", "Logical Operator", {"Operator": "AND"}), ("simulink/Sources/Step", "Step", {})])
def test_a_display_name_is_a_block_with_its_parameter(shown: str, kind: str, parameters: dict[str, str]) -> None:
    (block,) = settle({"blocks": [{"name": "A", "type": shown}]})["blocks"]
    assert (block["type"], block["parameters"]) == (kind, parameters)


def test_what_is_given_goes_before_what_a_name_implies() -> None:
    (block,) = settle({"blocks": [{"name": "A", "type": "Log", "parameters": {"Operator": "log10"}}]})["blocks"]
    assert block["parameters"] == {"Operator": "log10"}


def test_a_name_of_several_blocks_stays_for_the_review() -> None:
    value = {"blocks": [{"name": "A", "type": "Flux Capacitor"}], "connections": []}
    assert settle(value)["blocks"][0]["type"] == "Flux Capacitor"
    assert any("Flux Capacitor" in one.message for one in review_investigation(value))


def test_a_list_of_names_is_a_list_of_blocks() -> None:
    assert [one["type"] for one in read_given('["Step", "Scope",]', "list")["blocks"]] == ["Step", "Scope"]


def test_defaults_numbers_and_the_order_of_a_net_are_no_difference() -> None:
    wires = (Wire.read("R1/RConn1 -- C1/LConn1"), Wire.read("C1/LConn1 -- L1/LConn1"))
    turned = (Wire.read("L1/LConn1 -- R1/RConn1"), Wire.read("R1/RConn1 -- C1/LConn1"))
    one = Diagram("a", {"G": DiagramBlock("Gain", {"Gain": "1"}), "S": DiagramBlock("Step", {"Time": "2.0"})}, wires)
    other = Diagram("b", {"S": DiagramBlock("simulink/Sources/Step", {"Time": "2"}), "G": DiagramBlock("Gain")}, turned)
    assert list_differences(one, other) == []
    assert list_differences(one, Diagram("c", {"G": DiagramBlock("Gain", {"Gain": "3"})})) == [
        "block G: Gain is 3, not 1", "block S (Step) is missing",
        "net C1/LConn1 -- L1/LConn1 -- R1/RConn1 is missing"]
