"""What servers say of the arguments of their tools: whether it is a schema, and whether arguments fit it.

A schema is a stranger's word, and its patterns may take ever longer: both are found out in the child of this process.
"""

from __future__ import annotations

import json
from typing import Any

from chatdev.isolation.isolate import isolate

LARGEST_SCHEMA = 50_000
"""Characters of JSON."""
_SHOWN = 200  # characters of a message


class UnusableSchema(Exception):
    """A schema cannot be looked at, or takes longer than it may; the text says so."""


@isolate(UnusableSchema)
def schema_fault(schema: str) -> str | None:
    """What keeps a JSON text from being the schema of an object; None when it is one. Raises UnusableSchema."""
    from jsonschema.exceptions import SchemaError

    found = json.loads(schema)
    if not isinstance(found, dict) or found.get("type") != "object":
        return "it does not describe an object"
    try:
        _validator(found).check_schema(found)
    except SchemaError as error:
        return str(error.message)[:_SHOWN]
    return None


@isolate(UnusableSchema)
def misfit(schema: str, arguments: str) -> str | None:
    """Why arguments do not fit a schema, both JSON texts; None when they do. Raises UnusableSchema, also for a
    reference that leads out of the schema."""
    from referencing import Registry

    found = json.loads(schema)
    held = _validator(found)(found, registry=Registry())
    error = next(iter(held.iter_errors(json.loads(arguments))), None)
    if error is None:
        return None
    place = ".".join(map(str, error.absolute_path)) or "arguments"
    return f"{place}: {error.message}"[:_SHOWN]


def _validator(schema: dict[str, Any]) -> Any:
    """The validator of the draft that a schema names, or else of the newest."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    return validator_for(schema, default=Draft202012Validator)
