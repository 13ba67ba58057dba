"""JSON schemas of companies: what the standard allows is taken, what cannot work is refused with the way out."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from chatdev.config.json_schema import KEYWORDS, grammar_can_express, schema_problem, schema_validator
from chatdev.config.load import companies, load_company
from tests.isolation.hostile import reader_of

TEXT = {"type": "string"}
PART = {"part": {"type": "object", "properties": {"name": TEXT, "parts": {"items": {"$ref": "#/$defs/part"}}}}}


@pytest.mark.parametrize("schema", [
    {"$ref": "#/$defs/part", "$defs": PART},
    {"type": "array", "items": {"$ref": "#/$defs/part"}, "$defs": PART},
    {"$ref": "#/definitions/a", "definitions": {"a": TEXT}},
    {"properties": {"a": {"$ref": "#"}}},
    {"$ref": "#here", "$defs": {"a": {"$anchor": "here", "type": "string"}}},
    {"$id": "https://example.org/s", "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"},
    {"patternProperties": {"^a": TEXT}, "additionalProperties": False},
    {"prefixItems": [TEXT, {"type": "integer"}], "items": False},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "postcode"},
    {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "not": {"required": ["c"]}},
    {"dependentRequired": {"a": ["b"]}, "propertyNames": {"pattern": "^[a-z]+$"}, "minProperties": 1},
    {"contains": TEXT, "minContains": 2, "uniqueItems": True, "unevaluatedItems": False},
    {"properties": {"a": True}, "deprecated": True, "$comment": "x"},
])
def test_what_the_standard_allows_is_taken(schema: dict[str, Any]) -> None:
    assert schema_problem(schema) is None


def test_every_keyword_that_is_asserted_is_known() -> None:
    assert set(Draft202012Validator.VALIDATORS) <= set(KEYWORDS)


@pytest.mark.parametrize(("schema", "problem"), [
    ({"properties": {"a": {"minLenght": 3}}}, "schema.properties.a: there is no keyword 'minLenght'; did you mean "
                                              "'minLength'?"),
    ({"anyOf": [{"patternPropertys": {}}]}, "schema.anyOf.0: there is no keyword 'patternPropertys'; did you mean "
                                            "'patternProperties'?"),
    ({"type": "text"}, "schema.type: there is no type 'text'; known: object, array, string"),
    ({"minLength": -3}, "schema.minLength cannot be -3: -3 is less than the minimum of 0"),
    ({"patternProperties": {"(": {}}}, "schema.patternProperties"),
    ({"$defs": {"a": {"pattern": "("}}}, "schema.$defs.a.pattern is not a regular expression"),
    ({"items": [TEXT]}, "schema.items must be a mapping or true or false, not [{"),
    ({"$ref": 3}, "schema.$ref must be a text, not 3"),
    ({"$ref": "https://example.org/a.json"}, "schema.$ref: 'https://example.org/a.json' leads out of the company"),
    ({"$ref": "part.json#/a"}, "schema.$ref: 'part.json#/a' leads out of the company"),
    ({"properties": {"a": {"$ref": "#/$defs/prat"}}, "$defs": PART},
     "schema.properties.a.$ref: '#/$defs/prat' leads to no schema; did you mean '#/$defs/part'?"),
    ({"$ref": "#nowhere"}, "schema.$ref: '#nowhere' leads to no schema"),
    ({"$ref": "#/$defs/a/type", "$defs": {"a": TEXT}}, "schema.$ref: '#/$defs/a/type' leads to no schema; did you"),
    ({"$ref": "#/const", "const": {"minLenght": 3}}, "schema.$ref: '#/const' leads to no schema"),
    ({"$ref": "#"}, "schema: leads back to itself"),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [TEXT, {"$ref": "#/$defs/a"}]}}}, "leads back to itself"),
    ({"$schema": "http://json-schema.org/draft-07/schema#"}, "schema.$schema: schemas are read as Draft 2020-12"),
    ({"$defs": {"a": {"$id": "https://example.org/a"}}}, "schema.$defs.a.$id: a schema in a company is one document"),
])
def test_what_cannot_work_is_refused(schema: dict[str, Any], problem: str) -> None:
    assert problem in str(schema_problem(schema))


@pytest.mark.parametrize(("schema", "good", "bad"), [
    ({"type": "array", "items": {"$ref": "#/$defs/part"}, "$defs": PART}, [{"name": "a"}], [{"name": 1}]),
    ({"format": "date"}, "2024-02-29", "2023-02-29"),
    ({"format": "date-time"}, "2024-02-29T10:00:00Z", "2024-02-29 10:00"),
    ({"format": "date-time"}, 3, "tomorrow"),
    ({"format": "email"}, "a@example.org", "a"),
    ({"format": "ipv4"}, "127.0.0.1", "127.0.0.256"),
    ({"format": "uuid"}, "123e4567-e89b-12d3-a456-426614174000", "123"),
    ({"prefixItems": [TEXT]}, ["a", 1], [1]),
    ({"patternProperties": {"^a": TEXT}}, {"ab": "x"}, {"ab": 1}),
])
def test_a_value_is_held_against_the_schema(schema: dict[str, Any], good: Any, bad: Any) -> None:
    assert schema_validator(schema).is_valid(good)
    assert not schema_validator(schema).is_valid(bad)


@pytest.mark.parametrize("schema", [
    {"properties": {"a": True}}, {"items": False}, {"properties": {"a": {"$ref": "#"}}}, {"$ref": "#here"},
    {"$ref": "#/$defs/a%20b"}, {"enum": []}, {"allOf": [{"type": "integer"}]}, {"patternProperties": {"^a": {}}},
    {"prefixItems": [TEXT]}, {"not": TEXT}, {"if": TEXT}, {"type": "array", "minItems": 3, "maxItems": 2},
    {"properties": {"a": {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 4}}},
])
def test_what_a_grammar_cannot_express_leaves_the_reply_free(schema: dict[str, Any]) -> None:
    assert not grammar_can_express(schema)


def test_a_grammar_can_express_the_schemas_of_all_bundled_companies() -> None:
    schemas = [phase.solution.schema_ for found in companies() for phase in load_company(found.folder).phases.values()
               if phase.solution.form == "json"]
    assert schemas
    assert all(map(grammar_can_express, schemas))


@pytest.mark.parametrize("schema", [
    {"pattern": "(" * 50_000}, {"pattern": "(?<=a{1,4294967295}b)"},
    {"$defs": {f"a{n}": {} for n in range(20_000)}, "$ref": "#/$defs/none"},
], ids=["nested", "beyond all numbers", "many names"])
def test_a_schema_that_takes_its_checker_down_is_refused(schema: dict[str, Any],
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    with reader_of(monkeypatch):
        assert "cannot be checked" in (schema_problem(schema) or "")
