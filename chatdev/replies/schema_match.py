"""How a value violates a schema. A schema with patterns is held against it in the child of `chatdev.isolation`: a
pattern of a stranger's company may search for ever."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from chatdev.config.json_schema import schema_validator
from chatdev.isolation.isolate import isolate

_SEARCHING = ('"pattern"', '"patternProperties"')


class EndlessPattern(Exception):
    """A pattern takes longer than it may; the text says so."""


def find_violations(value: Any, schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Path and description of everything in `value` that the sound `schema` forbids, by path. Raises EndlessPattern."""
    text = json.dumps(schema, default=str)
    if any(word in text for word in _SEARCHING):
        return search_violations(json.dumps(value), text)
    return _find_here(value, schema)


@isolate(EndlessPattern)
def search_violations(value: str, schema: str) -> list[tuple[str, str]]:
    """The same of JSON texts, in the child."""
    return _find_here(json.loads(value), json.loads(schema))


def _find_here(value: Any, schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    try:
        errors = sorted(schema_validator(schema).iter_errors(value), key=lambda error: error.json_path)
    except ArithmeticError:  # an integer without end, and a `multipleOf` that is a fraction
        return [("$", "it holds a number that is too large")]
    return [(str(error.json_path), str(error.message)) for error in errors]
