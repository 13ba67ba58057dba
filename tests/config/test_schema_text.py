"""JSON schemas in fewer words: as a type for an answer, without noise for a tool."""

from __future__ import annotations

from typing import Any

import pytest

from chatdev.config.json_schema import call_schema, type_text
from chatdev.config.load import companies, load_company
from chatdev.config.profiles import Sizes
from chatdev.runner.toolbox import KnownTools, described_tools

TEXT = {"type": "string"}
STRONG, SMALL = Sizes(), Sizes(program="small")


@pytest.mark.parametrize(("schema", "text"), [
    (TEXT, "string"),
    ({}, "unknown"),
    ({"type": "array"}, "unknown[]"),
    ({"type": "array", "items": TEXT, "minItems": 1, "maxItems": 3}, "string[] /* at least 1; at most 3 */"),
    ({"type": "array", "items": {**TEXT, "description": "a name"}}, "(string /* a name */)[]"),
    ({"type": "array", "items": {"enum": ["a", 1, None]}}, '("a" | 1 | null)[]'),
    ({"const": None}, "null"),
    ({"type": ["string", "null"]}, "string | null"),
    ({"anyOf": [TEXT, {"type": "array", "items": TEXT}]}, "string | string[]"),
    ({"type": "integer", "minimum": 0, "exclusiveMaximum": 9}, "integer /* from 0; less than 9 */"),
    ({"type": "object"}, "object"),
    ({"type": "object", "additionalProperties": TEXT}, "{[name: string]: string}"),
    ({"type": "object", "required": ["a"], "additionalProperties": False,
      "properties": {"a": {"type": "boolean", "description": "whether"}, "b-c": {"type": "number"}}},
     '{a: boolean /* whether */, "b-c"?: number}'),
])
def test_a_schema_is_a_type_in_a_line(schema: dict[str, Any], text: str) -> None:
    assert type_text(schema) == text


@pytest.mark.parametrize("schema", [
    {"$ref": "#/$defs/part", "$defs": {"part": TEXT}}, {"type": "object", "properties": {"a": {"allOf": [TEXT]}}},
    {**TEXT, "description": "*/ what follows is no comment"}, {"type": "object", "properties": {"a": True}},
    {"type": "object", "required": ["a"]}, {"type": "object", "properties": {"a": TEXT}, "required": ["b"]},
    {"type": "array", "items": TEXT, "uniqueItems": True}])
def test_what_a_type_cannot_say_stays_json(schema: dict[str, Any]) -> None:
    assert type_text(schema).startswith("{\"")


def test_the_schemas_of_all_companies_are_types() -> None:
    for company in companies():
        for name, phase in load_company(company.name).phases.items():
            if phase.solution.schema_:
                assert '"properties"' not in type_text(phase.solution.schema_), name


def test_a_tool_is_offered_without_what_says_nothing() -> None:
    free = {"anyOf": [TEXT, {"type": "null"}], "default": None, "description": "Typed."}
    either = {"anyOf": [TEXT, {"type": "null"}]}
    schema = {"type": "object", "additionalProperties": False, "required": ["c"],
              "properties": {"a": free, "b": {"type": "integer", "default": 1}, "c": either,
                             "d": {**TEXT, "default": ""}}}
    assert call_schema(schema, SMALL) is schema
    assert call_schema(schema, STRONG) == {
        "type": "object", "required": ["c"],
        "properties": {"a": {"type": "string", "description": "Typed."}, "b": {"type": "integer", "default": 1},
                       "c": either, "d": TEXT}}
    assert free["default"] is None


def test_no_argument_of_a_tool_is_lost() -> None:
    for company in companies():
        for tool in described_tools(load_company(company.name), KnownTools()).values():
            offered = call_schema(tool.parameters, STRONG)
            assert list(offered.get("properties", {})) == list(tool.parameters.get("properties", {})), tool.name
            assert offered.get("required") == tool.parameters.get("required"), tool.name
