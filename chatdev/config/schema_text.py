"""JSON schemas as strong models read them: in fewer words, and with the same meaning.

An answer's schema is written as a type of TypeScript, which says in a line what takes a page of JSON; a tool's schema
loses what says nothing to whoever calls it. Values and arguments are held against the whole schema all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from chatdev.config.profiles import Sizes

_NAMES = {"object": "object", "array": "unknown[]", "integer": "integer", "number": "number", "string": "string",
          "boolean": "boolean", "null": "null"}
_BOUNDS = {"minItems": "at least {}", "maxItems": "at most {}", "minLength": "at least {} characters",
           "maxLength": "at most {} characters", "minimum": "from {}", "maximum": "up to {}",
           "exclusiveMinimum": "more than {}", "exclusiveMaximum": "less than {}", "pattern": "matches {}",
           "format": "{}", "multipleOf": "a multiple of {}", "minProperties": "at least {}",
           "maxProperties": "at most {}"}
_SAID = {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "oneOf",
         "description", "title", *_BOUNDS}


class _NoType(Exception):
    """A schema says what a type cannot."""


def type_text(schema: Any) -> str:
    """Filter: a JSON schema as a type of TypeScript, descriptions and bounds as comments; as JSON where it says what a
    type cannot (references, conditions, defaults), and anything but a mapping as JSON, too."""
    try:
        return _type(schema)
    except _NoType:
        return json.dumps(schema, ensure_ascii=False, default=str)


def _type(schema: Any) -> str:
    if not _is_sayable(schema):
        raise _NoType
    comment = "; ".join(_remarks(schema))
    return _shape(schema) + (f" /* {comment} */" if comment else "")


def _is_sayable(schema: Any) -> bool:
    return isinstance(schema, Mapping) and _SAID.issuperset(schema) and set(schema.get("required", ())) <= set(
        schema.get("properties", ())) and "*/" not in str(schema.get("description"))


def _remarks(schema: Mapping[str, Any]) -> Iterator[str]:
    if about := str(schema.get("description", "")).strip():
        yield about
    for name, words in _BOUNDS.items():
        if name in schema:
            yield words.format(schema[name])


def _shape(schema: Mapping[str, Any]) -> str:
    if choices := _choices(schema):
        return " | ".join(choices)
    kind = schema.get("type")
    if kind == "array" and "items" in schema:
        inner = _type(schema["items"])
        return f"({inner})[]" if _choices(schema["items"]) or any(_remarks(schema["items"])) else f"{inner}[]"
    if kind == "object" and (fields := ", ".join(_fields(schema))):
        return f"{{{fields}}}"
    return "unknown" if kind is None else _NAMES[kind]


def _choices(schema: Mapping[str, Any]) -> list[str]:
    """What it may be, where that is one of several things."""
    if "const" in schema or "enum" in schema:
        return [json.dumps(value, ensure_ascii=False) for value in schema.get("enum", [schema.get("const")])]
    if either := schema.get("anyOf") or schema.get("oneOf"):
        return [_type(one) for one in either]
    kinds = schema.get("type")
    return [_shape({**schema, "type": one}) for one in kinds] if isinstance(kinds, list) else []


def _fields(schema: Mapping[str, Any]) -> Iterator[str]:
    required = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        shown = name if name.isidentifier() else json.dumps(name, ensure_ascii=False)
        yield f"{shown}{'' if name in required else '?'}: {_type(part)}"
    if isinstance(rest := schema.get("additionalProperties"), Mapping):
        yield f"[name: string]: {_type(rest)}"


def call_schema(schema: Mapping[str, Any], sizes: Sizes) -> Mapping[str, Any]:
    """A tool's schema as a model of these sizes gets it: a strong one without what says nothing to a caller, that there
    are no other arguments, and that one which may be left out is then null or empty."""
    if sizes.program == "small":
        return schema
    rest = {name: value for name, value in schema.items() if (name, value) != ("additionalProperties", False)}
    if "properties" in rest:
        rest["properties"] = {name: _argument(part) for name, part in rest["properties"].items()}
    return rest


def _argument(part: Mapping[str, Any]) -> dict[str, Any]:
    rest = dict(part)
    if rest.get("default", ...) in (None, ""):
        del rest["default"]
        kinds = [kind for kind in rest.get("anyOf", ()) if kind != {"type": "null"}]
        if len(kinds) == 1:
            del rest["anyOf"]
            rest |= kinds[0]
    return rest
