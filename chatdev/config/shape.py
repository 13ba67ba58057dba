"""Walks through the schema's types, for messages and for `--set`: where a key path leads, what may stand there."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Discriminator, Tag

from chatdev.config.source import Key, KeyPath

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
    kind = _bare(kind)
    if not _is_model(kind):
        return []
    return [field.alias or name for name, field in kind.model_fields.items()]


def child(kind: Any, key: Key) -> Any:
    """The type of the entry `key` of a type; None where the schema says nothing of it."""
    kind = _bare(kind)
    if _is_model(kind):
        fields = kind.model_fields.items()
        return next((_annotated(field) for name, field in fields if key in (field.alias, name)), None)
    origin, args = get_origin(kind), get_args(kind)
    if origin is dict:
        return args[1]
    return args[0] if origin is list else None


def wants_text(kind: Any) -> bool:
    """Whether a type is text (or nothing)."""
    return _bare(kind) is str


def settled(kind: Any, value: Any) -> Any:
    """The member of a tagged union that `value` is; other types as they are."""
    kind = _bare(kind)
    members = _members(kind)
    if not members:
        return kind
    tag_of = next(m for m in kind.__metadata__ if isinstance(m, Discriminator)).discriminator
    return members.get(str(tag_of(value))) if callable(tag_of) else None


def _annotated(field: Any) -> Any:
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


def _bare(kind: Any) -> Any:
    """Without `| None` and without metadata that are no union's."""
    if _union_of(kind):
        members = [m for m in get_args(kind) if m is not type(None)]
        return _bare(members[0]) if len(members) == 1 else kind
    if get_origin(kind) is Annotated and not _members(kind):
        return _bare(get_args(kind)[0])
    return kind


def _union_of(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _is_model(kind: Any) -> bool:
    kind = _bare(kind)
    return isinstance(kind, type) and issubclass(kind, BaseModel)
