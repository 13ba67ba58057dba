"""JSON schemas in a company (Draft 2020-12): whether one is sound, how a value is held against it, whether the grammar
of a local model can hold a reply to it, and its text for models, in fewer words and with the same meaning.

A schema is one document: `$ref` leads to a place in it (`#/$defs/part`, `#anchor`). `format` is asserted for `date`,
`date-time`, `email`, `ipv4`, `ipv6`, `regex` and `uuid`; another format is a remark for readers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache, lru_cache
from graphlib import CycleError, TopologicalSorter
from math import inf
from typing import TYPE_CHECKING, Any

from chatdev.config.profiles import Sizes
from chatdev.config.yaml_nodes import name_hint
from chatdev.isolation.isolate import isolate

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


DRAFT = "https://json-schema.org/draft/2020-12/schema"
TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_ONE = ("items", "contains", "additionalProperties", "propertyNames", "if", "then", "else", "not", "unevaluatedItems",
        "unevaluatedProperties", "contentSchema")
_SEVERAL = ("prefixItems", "allOf", "anyOf", "oneOf")
_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
KEYWORDS = (
    "type", "const", "enum", "required", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "pattern",
    "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minProperties",
    "maxProperties", "dependentRequired", "minContains", "maxContains", *_ONE, *_SEVERAL, *_NAMED,
    "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding",
    "contentMediaType", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$id", "$schema", "$comment", "$vocabulary",
)
_SAME_VALUE = ("allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas")
"""Their schemas speak of the very value that the schema around them speaks of."""
_WORDS = {"object": "a mapping", "boolean": "true or false", "array": "a list", "string": "a text",
          "integer": "a whole number", "number": "a number", "null": "null"}
_LABORIOUS = ("pattern", "$")  # beginnings of keywords
_ASSERTED = ("date", "email", "ipv4", "ipv6", "regex", "uuid")

_IN_GRAMMARS = frozenset({
    "type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
    "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "const", "anyOf",
    "oneOf", "$ref", "$defs", "definitions",
    "format", "pattern", "uniqueItems", "multipleOf",  # not held, or not fully: the reply is checked afterwards
    "$schema", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
})


class EndlessSchema(Exception):
    """A schema takes longer than it may, or more memory; the text says so."""


def schema_problem(schema: dict[str, Any]) -> str | None:
    """The first thing wrong with a schema, with the way out; None when it is sound. One whose patterns and references
    may take ever longer is looked at in the child of `chatdev.isolation`."""
    if not schema:
        return "the form `json` needs a schema; write e.g. `schema: {type: object, properties: {…}, required: […]}`"
    try:
        return _known_problem(json.dumps(schema))
    except EndlessSchema as error:
        return f"the schema cannot be checked: {error}; make it simpler"


@lru_cache(maxsize=64)  # the standard's own schema is slow, and companies have the same ones again and again
def _known_problem(schema: str) -> str | None:
    laborious = any(f'"{word}' in schema for word in _LABORIOUS)
    return find_problem(schema) if laborious else _first_problem(json.loads(schema))


@isolate(EndlessSchema)
def find_problem(schema: str) -> str | None:
    """The same of a JSON text, in the child."""
    return _first_problem(json.loads(schema))


def _first_problem(schema: dict[str, Any]) -> str | None:
    for where, part in _parts(schema, "schema"):
        if problem := next(_problems(part, where), None):
            return problem
    return _misfit(schema) or next(_lost_references(schema), None) or _endless_circle(schema)


def schema_validator(schema: Mapping[str, Any]) -> Validator:
    """What holds values against a sound schema; formats are asserted as the head of this module says."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema, format_checker=_formats())


def grammar_can_express(schema: Mapping[str, Any]) -> bool:
    """Whether llama.cpp makes a grammar of a sound schema that lets valid values through; if not, the reply must be
    left free.

    Measured on the server that we ship (`tests/engine/test_constraint.py`): it refuses `true` and `false` as schemas,
    references by anchor or to the whole, and an empty `enum`; with `allOf`, `patternProperties` and `prefixItems` it
    shuts out what is valid; it does not come back from bounds that contradict each other.
    """
    return all(isinstance(part, dict) and _IN_GRAMMARS.issuperset(part) and part.get("enum") != []
               and _plain_reference(part.get("$ref", "#/")) and not _has_contradictory_bounds(part)
               for _, part in _parts(schema, ""))


def _plain_reference(reference: str) -> bool:
    """Whether a reference leads from the root along names that are written as they are."""
    return reference.startswith("#/") and not set(reference) & set("%~")


def _has_contradictory_bounds(part: dict[str, Any]) -> bool:
    """Whether the bounds leave nothing between them."""
    least = max(part.get("minimum", -inf), part.get("exclusiveMinimum", -inf) + 1)
    most = min(part.get("maximum", inf), part.get("exclusiveMaximum", inf) - 1)
    return bool(least > most or part.get("minItems", 0) > part.get("maxItems", inf)
                or part.get("minLength", 0) > part.get("maxLength", inf))


def _parts(schema: Any, where: str) -> Iterator[tuple[str, Any]]:
    """A schema and those inside it, outer ones first, each with its path."""
    yield where, schema
    for key, below, inner in _inner(schema):
        if not (key == "additionalProperties" and isinstance(inner, bool)):
            yield from _parts(inner, f"{where}.{below}")


def _inner(schema: Any) -> Iterator[tuple[str, str, Any]]:
    """The schemas right inside one: keyword, path and schema."""
    for key, value in schema.items() if isinstance(schema, dict) else ():
        if key in _ONE:
            yield key, key, value
        elif key in _SEVERAL and isinstance(value, list):
            yield from ((key, f"{key}.{n}", inner) for n, inner in enumerate(value))
        elif key in _NAMED and isinstance(value, dict):
            yield from ((key, f"{key}.{name}", inner) for name, inner in value.items())


def _problems(part: Any, where: str) -> Iterator[str]:
    """Mistakes that the standard allows, or that its schema reports badly."""
    if not isinstance(part, dict):
        return
    for key in part:
        if key not in KEYWORDS:
            yield f"{where}: there is no keyword {key!r}; {name_hint(key, KEYWORDS)}"
    types = part.get("type", [])
    for name in types if isinstance(types, list) else [types]:
        if name not in TYPES:
            yield f"{where}.type: there is no type {name!r}; {name_hint(str(name), TYPES)}"
    if part.get("$schema", DRAFT) != DRAFT:
        yield f"{where}.$schema: schemas are read as Draft 2020-12 ({DRAFT}), not {part['$schema']!r}; leave it out"
    if "$id" in part and where != "schema":
        yield f"{where}.$id: a schema in a company is one document; leave it out and use `$defs`"


def _misfit(schema: dict[str, Any]) -> str | None:
    """Mistakes found by the standard's own schema."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    standard = Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=_formats())
    error = best_match(standard.iter_errors(schema))
    return None if error is None else f"{'.'.join(map(str, ('schema', *error.absolute_path)))} {_misfit_text(error)}"


def _misfit_text(error: ValidationError) -> str:
    if error.validator == "type":
        value: Any = error.validator_value
        kinds = [value] if isinstance(value, str) else value
        return f"must be {' or '.join(_WORDS[kind] for kind in kinds)}, not {error.instance!r}"
    if error.validator == "format" and error.validator_value == "regex":
        return f"is not a regular expression: {error.cause}"
    return f"cannot be {error.instance!r}: {error.message}"


def _lost_references(schema: dict[str, Any]) -> Iterator[str]:
    target, schemas = _targets(schema), {id(part) for _, part in _parts(schema, "schema")}
    for where, part in _parts(schema, "schema"):
        for key in ("$ref", "$dynamicRef"):
            reference = part.get(key, "#") if isinstance(part, dict) else "#"
            if not reference.startswith("#"):
                yield (f"{where}.{key}: {reference!r} leads out of the company, and nothing is fetched; copy what it "
                       "names into `$defs` and write `#/$defs/NAME`")
            elif id(target(reference)) not in schemas:
                yield (f"{where}.{key}: {reference!r} leads to no schema; "
                       f"{name_hint(reference, [f'#/$defs/{name}' for name in schema.get('$defs', {})])}")


def _endless_circle(schema: dict[str, Any]) -> str | None:
    """A schema that asks of a value what it already asked of it, through references, can be answered never."""
    target, places = _targets(schema), {id(part): where for where, part in _parts(schema, "schema")}
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for _, part in _parts(schema, "schema"):
        if isinstance(part, dict):
            sorter.add(id(part), *map(id, _same_value(part, target)))
    try:
        sorter.prepare()
    except CycleError as error:
        circle = [places.get(one, "?") for one in reversed(error.args[1])]
        return f"{circle[0]}: leads back to itself ({' → '.join(circle)}); remove one `$ref`"
    return None


def _same_value(part: dict[str, Any], target: Callable[[str], Any]) -> Iterator[Any]:
    """The schemas that speak of the very value that this one speaks of."""
    yield from (inner for key, _, inner in _inner(part) if key in _SAME_VALUE)
    yield from (target(part[key]) for key in ("$ref", "$dynamicRef") if key in part)


def _targets(schema: dict[str, Any]) -> Callable[[str], Any]:
    """A function that says what a local reference leads to; None when it leads nowhere."""
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    registry: Registry[Any] = Registry()
    resolver = registry.with_resource("", DRAFT202012.create_resource(schema)).resolver()

    def target(reference: str) -> Any:
        try:
            return resolver.lookup(reference).contents
        except Unresolvable:
            return None

    return target


@cache
def _formats() -> Any:
    """The formats that need no package beside `jsonschema`, so that every machine asserts the same."""
    from jsonschema import FormatChecker

    checker = FormatChecker(_ASSERTED)
    checker.checks("date-time", raises=ValueError)(_is_date_time)
    return checker


def _is_date_time(value: object) -> bool:
    """A date and time with its offset (RFC 3339); what is no text has no format."""
    return not isinstance(value, str) or (value[10:11] in "Tt" and datetime.fromisoformat(value).tzinfo is not None)


# JSON schemas as strong models read them: in fewer words, and with the same meaning.

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
