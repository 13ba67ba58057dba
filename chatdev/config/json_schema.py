"""Whether a JSON schema in a company is one that the engine can hold a solution against."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from chatdev.config.nearest import known

TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_LISTS_OF_SCHEMAS = ("anyOf", "allOf", "oneOf")
_PLAIN: dict[str, type | tuple[type, ...]] = {
    "required": list, "enum": list, "minItems": int, "maxItems": int, "minLength": int, "maxLength": int,
    "minimum": (int, float), "maximum": (int, float), "exclusiveMinimum": (int, float),
    "exclusiveMaximum": (int, float), "uniqueItems": bool, "description": str, "title": str, "pattern": str,
    "const": object, "default": object, "examples": list, "anyOf": list, "allOf": list, "oneOf": list,
}
KEYWORDS = ("type", "properties", "items", "additionalProperties", *_PLAIN)


def schema_problem(schema: dict[str, Any]) -> str | None:
    """The first thing wrong with a schema, with the way out; None when it is sound."""
    if not schema:
        return "the form `json` needs a schema; write e.g. `schema: {type: object, properties: {…}, required: […]}`"
    return next(_problems(schema, "schema"), None)


def _problems(schema: Any, where: str) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{where} must be a mapping of keywords, not {schema!r}"
        return
    for key in schema:
        if key not in KEYWORDS:
            yield f"{where}: there is no keyword {key!r}; {known(key, KEYWORDS)}"
    yield from _type(schema.get("type", []), where)
    yield from _values(schema, where)
    for below, inner in _inner(schema, where):
        yield from _problems(inner, below)


def _type(value: Any, where: str) -> Iterator[str]:
    for name in value if isinstance(value, list) else [value]:
        if name not in TYPES:
            yield f"{where}.type: there is no type {name!r}; {known(str(name), TYPES)}"


def _values(schema: dict[str, Any], where: str) -> Iterator[str]:
    for key, kind in _PLAIN.items():
        value = schema.get(key)
        if key in schema and (not isinstance(value, kind) or (isinstance(value, bool) and kind in (int, (int, float)))):
            yield f"{where}.{key} cannot be {value!r}"
    required = schema.get("required", [])
    if isinstance(required, list) and not all(isinstance(name, str) for name in required):
        yield f"{where}.required must list names of properties, not {required!r}"
    try:
        re.compile(str(schema.get("pattern", "")))
    except re.error as error:
        yield f"{where}.pattern is not a regular expression: {error}"


def _inner(schema: dict[str, Any], where: str) -> Iterator[tuple[str, Any]]:
    properties = schema.get("properties", {})
    if isinstance(properties, dict):
        yield from ((f"{where}.properties.{name}", inner) for name, inner in properties.items())
    else:
        yield f"{where}.properties", properties
    if "items" in schema:
        yield f"{where}.items", schema["items"]
    if not isinstance(schema.get("additionalProperties", True), bool):
        yield f"{where}.additionalProperties", schema["additionalProperties"]
    for key in _LISTS_OF_SCHEMAS:
        members = schema.get(key, [])
        yield from ((f"{where}.{key}.{n}", m) for n, m in enumerate(members if isinstance(members, list) else []))
