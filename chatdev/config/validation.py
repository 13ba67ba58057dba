"""From YAML to the schema's models; every misfit becomes one line with file, line, field and mend."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from chatdev.config.nearest import known
from chatdev.config.shape import locate
from chatdev.config.source import KeyPath, Node, place_of, plain
from chatdev.errors import ConfigError

M = TypeVar("M", bound=BaseModel)


def validated(model: type[M], node: Node) -> M:
    """The model that the YAML describes; raises one ConfigError that lists all misfits, one a line."""
    try:
        return model.model_validate(plain(node))
    except ValidationError as error:
        raise ConfigError("\n".join(dict.fromkeys(_line(model, node, e) for e in error.errors()))) from error


def dotted(path: KeyPath) -> str:
    """A path as users write it in `--set`, e.g. `chain.3.repeat.max`."""
    return ".".join(map(str, path))


def _line(model: type[BaseModel], node: Node, error: ErrorDetails) -> str:
    path, names = locate(model, error["loc"])
    return f"{place_of(node, path)}: {dotted(path)}: {_problem(error, path, names)}"


def _problem(error: ErrorDetails, path: KeyPath, names: list[str]) -> str:
    given = error["input"]
    match error["type"]:
        case "extra_forbidden":
            return f"unknown key {path[-1]!r}; {known(str(path[-1]), names)}"
        case "missing":
            return "this key is required; add it"
        case "literal_error":
            allowed = error["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
            return f"{_short(given)} is not possible here; {known(str(given), allowed)}"
        case "bool_type":
            return f"{_short(given)} is not a truth value; write `true` or `false`"
        case _:
            message = error["msg"]
            return f"{message[:1].lower()}{message[1:]} (given: {_short(given)})"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
