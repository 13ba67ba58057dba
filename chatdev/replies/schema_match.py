"""How a value violates a schema. One that may take ever longer is held against it in the child of `chatdev.isolation`:
a pattern of a stranger's company may search for ever, and its references may lead through the same parts again and
again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any

from chatdev.config.json_schema import EndlessSchema, schema_validator
from chatdev.isolation.isolate import isolate

_MOST = 1000  # violations that are told; a reply may have a million
_LABORIOUS = ("pattern", "patternProperties", "regex", "$ref", "$dynamicRef", "anyOf", "oneOf", "uniqueItems",
              "unevaluatedItems", "unevaluatedProperties")
"""Keywords whose time grows faster than the value and the schema."""


def find_violations(value: Any, schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Path and description of what the sound `schema` forbids in `value`, by path; of the first thousand where it is
    more. Raises EndlessSchema."""
    text = json.dumps(schema, default=str)
    if any(f'"{word}"' in text for word in _LABORIOUS):
        return search_violations(json.dumps(value), text)
    return _find_here(value, schema)


@isolate(EndlessSchema)
def search_violations(value: str, schema: str) -> list[tuple[str, str]]:
    """The same of JSON texts, in the child."""
    return _find_here(json.loads(value), json.loads(schema))


def _find_here(value: Any, schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    try:
        errors = sorted(islice(schema_validator(schema).iter_errors(value), _MOST), key=lambda error: error.json_path)
    except ArithmeticError:  # an integer without end, and a `multipleOf` that is a fraction
        return [("$", "it holds a number that is too large")]
    return [(str(error.json_path), str(error.message)) for error in errors]
