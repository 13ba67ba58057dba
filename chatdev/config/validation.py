"""From YAML to the schema's models; every misfit becomes one line with file, line, field and fix.

`locate` and what follows it walk through the models' types, for these messages and for `--set`: where a key path leads,
and what may stand there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Discriminator, Tag, ValidationError
from pydantic_core import ErrorDetails

from chatdev.config.yaml_nodes import Key, KeyPath, Node, place_of, plain
from chatdev.errors import ConfigError

M = TypeVar("M", bound=BaseModel)


def validate_node(model: type[M], node: Node) -> M:
    """The model that the YAML describes; raises one ConfigError that lists all misfits, one a line."""
    try:
        return model.model_validate(plain(node))
    except ValidationError as error:
        raise ConfigError("\n".join(dict.fromkeys(_line(model, node, e) for e in error.errors()))) from error


def dotted_path(path: KeyPath) -> str:
    """A path as users write it in `--set`, e.g. `chain.3.repeat.max`."""
    return ".".join(map(str, path))


def _line(model: type[BaseModel], node: Node, error: ErrorDetails) -> str:
    path, names = locate(model, error["loc"])
    return f"{place_of(node, path)}: {dotted_path(path)}: {_problem(error, path, names)}"


def _problem(error: ErrorDetails, path: KeyPath, names: list[str]) -> str:
    given = error["input"]
    match error["type"]:
        case "extra_forbidden":
            return f"unknown key {path[-1]!r}; {name_hint(str(path[-1]), names)}"
        case "missing":
            return "this key is required; add it"
        case "literal_error":
            allowed = error["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
            return f"{_excerpt(given)} is not possible here; {name_hint(str(given), allowed)}"
        case "bool_type":
            return f"{_excerpt(given)} is not a truth value; write `true` or `false`"
        case _:
            message = error["msg"]
            return f"{message[:1].lower()}{message[1:]} (given: {_excerpt(given)})"


def _excerpt(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


class StrictModel(BaseModel):
    """Unknown keys are refused, nothing is converted (`"10"` is no number, `yes` no truth value), values never change
    after loading; pydantic's own errors show no values (one may be a key)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True,
                              hide_input_in_errors=True)


def name_hint(given: str, allowed: Iterable[str]) -> str:
    """`did you mean 'x'? known: …` for a name that is not among the allowed ones."""
    names = list(dict.fromkeys(map(str, allowed)))
    if not names:
        return "there are none"
    close = get_close_matches(given, names, n=1, cutoff=0.6)
    return (f"did you mean {close[0]!r}? " if close else "") + f"known: {', '.join(names)}"


Loc = tuple[int | str, ...]


def locate(model: type[BaseModel], loc: Loc) -> tuple[KeyPath, list[str]]:
    """A pydantic error location as a key path of the YAML (pydantic adds the tags of unions), and the names that
    may stand where the path ends."""
    kind: Any = model
    path: list[Key] = []
    siblings: list[str] = []
    for part in loc:
        tagged = _members(kind)
        if tagged:
            kind = tagged.get(str(part))
            continue
        siblings = names_in(kind)
        path.append(part)
        kind = child(kind, part)
    return tuple(path), siblings


def names_in(kind: Any) -> list[str]:
    """The keys a model knows, as YAML writes them; none for anything but a model."""
    kind = _plain_type(kind)
    if not _is_model(kind):
        return []
    return [field.alias or name for name, field in kind.model_fields.items()]


def child(kind: Any, key: Key) -> Any:
    """The type of the entry `key` of a type; None where the schema says nothing of it."""
    kind = _plain_type(kind)
    if _is_model(kind):
        fields = kind.model_fields.items()
        return next((_full_type(field) for name, field in fields if key in (field.alias, name)), None)
    origin, args = get_origin(kind), get_args(kind)
    if origin is dict:
        return args[1]
    return args[0] if origin is list else None


def wants_text(kind: Any) -> bool:
    """Whether a type is str, optional or not."""
    return _plain_type(kind) is str


def union_member(kind: Any, value: Any) -> Any:
    """The member of a tagged union that `value` is; other types as they are."""
    kind = _plain_type(kind)
    members = _members(kind)
    if not members:
        return kind
    tag_of = next(m for m in kind.__metadata__ if isinstance(m, Discriminator)).discriminator
    return members.get(str(tag_of(value))) if callable(tag_of) else None


def _full_type(field: Any) -> Any:
    """A field's type with its metadata put back (pydantic keeps them apart)."""
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


def _members(kind: Any) -> dict[str, Any]:
    """Members of a tagged union by tag."""
    if get_origin(kind) is not Annotated or not any(isinstance(m, Discriminator) for m in kind.__metadata__):
        return {}
    return {tag: arg for arg in _union(get_args(kind)[0]) for tag in _tags(arg)}


def _union(kind: Any) -> Iterator[Any]:
    if get_origin(kind) is Annotated and _union_of(get_args(kind)[0]) and not any(_tags(kind)):
        yield from _union(get_args(kind)[0])
    elif _union_of(kind):
        for member in get_args(kind):
            yield from _union(member)
    else:
        yield kind


def _tags(kind: Any) -> list[str]:
    return [m.tag for m in getattr(kind, "__metadata__", ()) if isinstance(m, Tag)]


def _plain_type(kind: Any) -> Any:
    """Without `| None` and without metadata that are no union's."""
    if _union_of(kind):
        members = [m for m in get_args(kind) if m is not type(None)]
        return _plain_type(members[0]) if len(members) == 1 else kind
    if get_origin(kind) is Annotated and not _members(kind):
        return _plain_type(get_args(kind)[0])
    return kind


def _union_of(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _is_model(kind: Any) -> bool:
    kind = _plain_type(kind)
    return isinstance(kind, type) and issubclass(kind, BaseModel)
