"""The catalogue as agents read it: what is there, what is asked back, and how long it may grow."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any, cast

import pytest

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.views import MOST_BLOCKS, blocks, describe_blocks, list_names, tabulate_blocks
from chatdev.errors import ToolError
from chatdev.paths import bundled_folder
from chatdev.sandbox.base import Sandbox
from chatdev.tools.base import ToolArgumentsError, ToolContext, render_file

KNOWLEDGE = bundled_folder("company_config") / "simugen" / "knowledge"


def call(values: dict[str, Any] | None = None, **arguments: Any) -> str:
    context = ToolContext({}, values or {}, {}, cast(Sandbox, None), Path(), Path())  # no tool here runs a program
    return str(blocks.call(context, arguments))


def test_the_list_names_every_block_once_below_its_library() -> None:
    text = list_names()
    listed = re.findall(r"^- (.+?)(?:: | \(shown as |$)", text, re.MULTILINE)
    assert sorted(listed) == sorted(catalogue().types)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [*catalogue().libraries]
    assert "- Gain: triangle" in text
    assert "Log10" in text
    assert len(list_names(looks=False)) < 8_000 < len(text) < 20_000


def test_the_list_of_some_libraries_is_shorter() -> None:
    text = list_names(libraries=["Sinks"])
    assert "- Scope: " in text
    assert "Gain" not in text


def test_a_description_has_what_a_line_and_a_parameter_need() -> None:
    text = describe_blocks(["Integrator"])
    for part in ("`simulink/Continuous/Integrator`", "inputs: `1` u\n", "outputs: `1` y\n",
                 "input (reset), if `ExternalReset` is rising or falling or either or level or level hold",
                 "input (x0), if `InitialConditionSource` is external", "`InitialCondition` = `0`",
                 "output `State` (state), if `ShowStatePort` is on",
                 "**Discrete-Time Integrator** (`simulink/Discrete/Discrete-Time Integrator`)"):
        assert part in text


def test_terminals_are_told_with_their_domain() -> None:
    assert "terminals: `LConn1` + [electrical], `RConn2` - [electrical]" in describe_blocks(["Voltage Sensor"])
    assert "outputs: `RConn1` measured [physical signal]" in describe_blocks(["Voltage Sensor"])


def test_names_of_one_block_are_described_together() -> None:
    text = describe_blocks(["Log", "Reciprocal", "Math Function", "Log"])
    assert text.count("## ") == 1
    assert '- "Log" is this block with `Operator` = `log`\n- "Reciprocal" is this block with' in text


def test_a_name_that_is_not_clear_is_asked_back() -> None:
    text = describe_blocks(["Sine", "Intergrator", "qqqqq"])
    assert '## "Sine": which block?' in text
    assert "Operations/Trigonometric Function`) with `Operator` = `sin`: rectangle with the function's name" in text
    assert '## "Intergrator" is not in the catalogue\nWas one of these meant?' in text
    assert '## "qqqqq" is not in the catalogue\nNothing like it is, either.' in text


def test_every_block_has_a_short_description() -> None:
    for block in catalogue().types.values():
        text = describe_blocks([block.type])
        assert text.startswith(f"## {block.type}\n")
        assert f"`{block.path}`" in text
        assert 150 < len(text) < 2_500
        assert "\n\n\n" not in text
        assert text.count(" none\n") <= 2


def test_too_many_names_are_cut_with_a_word() -> None:
    names = [f"{number} " + "x" * 500 for number in range(1_000)]
    text = describe_blocks(names)
    assert len(text) < 30_000
    assert text.count("## ") == MOST_BLOCKS
    assert "Left out, because too many were asked for at once: 40 xxx" in text


def test_the_table_of_a_report_keeps_its_columns() -> None:
    types = [catalogue().types[name] for name in ("Gain", "Sum", "Gain", "Relational Operator")]
    rows = tabulate_blocks(types).splitlines()
    assert len(rows) == 2 + 3
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}


def test_the_tool_lists_names_or_describes_blocks() -> None:
    assert blocks.name == "simulink.blocks"
    assert call() == call(names=[]) == list_names()
    assert call(names=["Gain", "Sum"]) == describe_blocks(["Gain", "Sum"])
    with pytest.raises(ToolArgumentsError, match=r"names.*valid list"):
        call(names="Gain")


@pytest.mark.parametrize("value", [["Gain", "Sum"], [{"type": "Gain", "count": 2}, {"type": "Sum"}],
                                   "- Gain\n- `Sum`\n", ("Gain", "Sum")])
def test_the_tool_takes_the_names_from_the_memory(value: object) -> None:
    assert call({"requested_blocks": value}) == describe_blocks(["Gain", "Sum"])
    assert call({"requested_blocks": value}, names=["Mux"]) == describe_blocks(["Mux"])


@pytest.mark.parametrize("value", [7, {"Gain": 1}, ["Gain", 3], [{"name": "Gain"}]])
def test_a_memory_that_holds_no_names_is_refused(value: object) -> None:
    with pytest.raises(ToolError, match="`requested_blocks` is a list of names of blocks"):
        call({"requested_blocks": value})


def test_the_shape_of_a_program_is_python() -> None:
    program = render_file(KNOWLEDGE / "program.j2", model='od"d')
    calls = [node.func for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Call)]
    called = [one.attr for one in calls if isinstance(one, ast.Attribute)]
    assert called.count("quit") == 1
    assert set(called) == {"start_matlab", "new_system", "add_block", "items", "set_param", "add_line", "arrangeSystem",
                           "save_system", "quit"}


def test_the_functions_are_told_with_what_matlab_says() -> None:
    text = render_file(KNOWLEDGE / "functions.j2")
    for function in ("new_system", "add_block", "set_param", "get_param", "add_line", "arrangeSystem", "save_system"):
        assert re.search(rf"^## {function}", text, re.MULTILINE)
    for message in ("There is no block named", "The destination port already has a line connection",
                    "The second port already has a line connection", "do not share the same Physical Modeling domain",
                    "Invalid Simulink object name"):
        assert message in text


def test_what_the_functions_say_of_blocks_is_in_the_catalogue() -> None:
    text = render_file(KNOWLEDGE / "functions.j2")
    named = {name for block in catalogue().types.values() for name in block.parameters}
    assert {"Inputs", "NumInputPorts", "Operator", "ExternalReset", "InitialConditionSource", "n_nodes",
            "GotoTag"} <= named & set(re.findall(r"`(\w+)`", text))
