"""Tools made from functions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from chatdev.errors import MissingProgram, ToolError
from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import Registry, Tool, ToolArgumentsError, ToolContext, registry, tool


@tool(reads=("plan", "notes?"))
def look(context: ToolContext, *, days: Annotated[int, Field(description="how far", ge=1)] = 3,
         kind: Literal["wet", "dry"], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    """Look at the weather
    of some days.

    Not for the description.
    """
    return {"days": days, "kind": kind, "tags": tags, "plan": context.values["plan"]}


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return ToolContext({}, {"plan": "p"}, {}, Unconfined(), tmp_path, tmp_path)


def test_name_description_and_schema_come_from_the_code() -> None:
    assert (look.name, look.reads) == ("tools.look", ("plan", "notes?"))
    assert look.about == "Look at the weather of some days."
    assert look.parameters == {
        "type": "object", "additionalProperties": False, "required": ["kind"],
        "properties": {
            "days": {"type": "integer", "minimum": 1, "default": 3, "description": "how far"},
            "kind": {"type": "string", "enum": ["wet", "dry"]},
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
        },
    }


def test_a_call_gets_checked_arguments_and_the_context(context: ToolContext) -> None:
    assert look.call(context, {"kind": "wet", "tags": ["a"]}) == {
        "days": 3, "kind": "wet", "tags": ("a",), "plan": "p"}


@pytest.mark.parametrize(("arguments", "text"), [
    ({}, "kind: Field required"),
    ({"kind": "wet", "days": "soon"}, "days: .*valid integer.*given: 'soon'"),
    ({"kind": "wet", "days": 0}, "days: .*greater than or equal to 1"),
    ({"kind": "odd"}, "kind: Input should be 'wet' or 'dry'"),
    ({"kind": "wet", "hours": 3}, "hours: Extra inputs are not permitted.*Its arguments: days, kind, tags"),
])
def test_arguments_that_do_not_fit_are_explained_to_the_agent(context: ToolContext, arguments: dict[str, Any],
                                                              text: str) -> None:
    with pytest.raises(ToolArgumentsError, match=text):
        look.call(context, arguments)


def test_only_keyword_only_typed_arguments_make_a_tool() -> None:
    def positional(context: ToolContext, days: int) -> str:
        return str(days)

    def untyped(context: ToolContext, *, days=3) -> str:  # type: ignore[no-untyped-def]  # the mistake under test
        return str(days)

    for function in (positional, untyped):
        with pytest.raises(TypeError, match="days must be keyword-only and typed"):
            tool()(function)


def test_every_registered_tool_is_described_under_its_name() -> None:
    tools = registry()
    assert "software.run" in tools
    for name, found in tools.items():
        assert isinstance(found, Tool)
        assert found.name == name
        assert found.about
        assert found.parameters["type"] == "object"


@pytest.mark.parametrize(("module", "name"), [
    ("chatdev.departments.pumps.parts.valves", "pumps.turn"), ("chatdev.departments.pumps", "pumps.turn"),
    ("chatdev.tools.value.check", "value.turn"), ("house.valves", "house.turn"), ("valves", "mine.turn")])
def test_a_tool_is_named_by_the_department_that_it_is_in(module: str, name: str) -> None:
    def turn(context: ToolContext) -> str:
        """Turn."""
        return ""

    turn.__module__ = module
    assert tool()(turn).name == name


def test_a_broken_tool_breaks_only_when_it_is_used() -> None:
    tools = Registry({"a.look": f"{__name__}:look", "b.gone": "no_such_package:x", "c.odd": f"{__name__}:context"})
    assert list(tools) == ["a.look", "b.gone", "c.odd"]
    assert tools["a.look"].about
    with pytest.raises(MissingProgram, match="'b.gone'.*no_such_package"):
        tools["b.gone"]
    with pytest.raises(ToolError, match="is no tool"):
        tools["c.odd"]


def test_plug_ins_bring_tools_by_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(name: str, entry: str) -> None:
        metadata = tmp_path / name / f"{name}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[chatdev.tools]\n{entry}\n")
        monkeypatch.syspath_prepend(str(tmp_path / name))

    install("plug", f"plug.look = {__name__}:look")
    found = registry()["plug.look"]
    assert (found.name, found.function) == ("plug.look", look.function)
    install("other", "retrieval.search = elsewhere:run")
    with pytest.raises(ToolError, match="'retrieval.search' is there twice.* in chatdev itself and .* package other;"):
        registry()
