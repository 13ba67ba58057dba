"""YAML with the place of every value, so that an error can name file and line, and from there to the schema's models.

YAML 1.2 words: only `true` and `false` are booleans, so `yes`, `no`, `on` and `off` stay text; dates and `1:30` stay
text too. Duplicate keys are refused; keys are text.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, Discriminator, Tag, ValidationError
from pydantic_core import ErrorDetails

from chatdev.errors import ConfigError
from chatdev.paths import working_folder

Key = str | int
KeyPath = tuple[Key, ...]
Value = Any  # dict[str, Node] | list[Node] | str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its place, `FILE:LINE`. Mappings and lists hold nodes; everything else is plain."""

    value: Value
    place: str


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the C parser where there is one
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own way


class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # C where it is there
    """Writes what this module reads back equal; texts of several lines as blocks."""

    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers


_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, tuple[str, str, Callable[[str], Any]]] = {
    "null": (r"~|null|Null|NULL|", "~nN", lambda _: None),
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF", lambda text: text.lower() == "true"),
    "int": (r"[-+]?(0|[1-9][0-9]*)", "-+0123456789", int),
    "float": (r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+", "-+.0123456789", float),
}
for _name, (_pattern, _first, _) in _WORDS.items():
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"(?:{_pattern})\Z"),
                                  [*_first, ""] if _name == "null" else list(_first))
Dumper.yaml_implicit_resolvers = {**_Loader.yaml_implicit_resolvers, "<": [(_TAG + "merge", re.compile(r"<<\Z"))]}
_SCALARS: dict[str, Callable[[str], Any]] = {_TAG + "str": str} | {_TAG + n: word[2] for n, word in _WORDS.items()}
_MOST_BYTES = 4 << 20  # of a file; the longest company there is has 40 KB
_SHORT = 40_000  # characters, up to which a text is remembered with its value
_DEEPEST = 100
_MOST_VALUES = 100_000  # aliases of aliases can make a small file huge


def _block_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if set(text) & set("\r\x85\u2028\u2029") else "|" if "\n" in text else None
    return dumper.represent_scalar(_TAG + "str", text, style=style)


Dumper.add_representer(str, _block_text)


def display_path(path: Path) -> str:
    """The path as messages name it: relative to the working directory where it lies below it."""
    try:
        here, real = working_folder(), path.resolve()
    except (OSError, RuntimeError):  # a link that leads to itself
        return str(path)
    return str(real.relative_to(here) if real.is_relative_to(here) else real)


def read(path: Path) -> Node:
    """The mapping in a YAML file; raises ConfigError naming file, line and fix."""
    return parse_mapping(read_text(path), display_path(path))


def parse_mapping(text: str, name: str) -> Node:
    """The mapping of a YAML text; raises ConfigError as `parse` does, and for what is no mapping."""
    node = parse(text, name)
    if not isinstance(node.value, dict):
        found = "is empty" if node.value is None else f"holds {_kind(node.value)}"
        raise ConfigError(f"{name} {found}; it must be a mapping (`key: value` lines)")
    return node


def read_text(path: Path) -> str:
    """The text of a file; raises ConfigError when it cannot be read, is no plain file, is too long or not UTF-8."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # no FIFO keeps us waiting
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigError(f"{display_path(path)} is no plain file; put one in its place")
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ConfigError(f"{display_path(path)} is longer than {_MOST_BYTES >> 20} MB; make it shorter")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{display_path(path)} cannot be read: {error.strerror or error}; check the path and its "
                          "permissions") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{display_path(path)} is not UTF-8 (see byte {error.start}); save it in that "
                          "encoding") from error


def parse(text: str, name: str) -> Node:
    """The value of a YAML text; `name` stands for the file in places and errors."""
    return _parse_again(text, name) if len(text) <= _SHORT else _parse(text, name)


def _parse(text: str, name: str) -> Node:
    try:
        _refuse_depth(text, name)
        root = yaml.compose(text, Loader=_Loader)
        return _Builder(name).build(root) if root is not None else Node(None, f"{name}:1")
    except yaml.MarkedYAMLError as error:
        raise ConfigError(_syntax_message(error, text, name)) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{name}: not YAML: {' '.join(str(error).split())}; remove the character") from error
    except UnicodeEncodeError as error:
        raise ConfigError(f"{name}: has half a character (byte {error.start}); write it in UTF-8") from error
    except RecursionError as error:
        raise ConfigError(f"{name}: an alias contains itself; write its value out") from error


_parse_again = lru_cache(maxsize=64)(_parse)  # a run reads its company, and what that extends, several times


def node_of(value: Any, name: str, level: int = 0) -> Node:
    """The values of a mapping built in Python, as if they came from YAML; `name` stands for the file in errors. Raises
    ConfigError for keys that are no texts, values that YAML has not, and what is nested too deeply."""
    if level > _DEEPEST:
        raise ConfigError(f"{name}: nested deeper than {_DEEPEST} levels; write it flatter")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ConfigError(f"{name}: the key {key!r:.60} is not text; make it one")
        return Node({key: node_of(child, name, level + 1) for key, child in value.items()}, name)
    if isinstance(value, list | tuple):
        return Node([node_of(child, name, level + 1) for child in value], name)
    if value is None or isinstance(value, str | int | float):
        return Node(value, name)
    raise ConfigError(f"{name}: {value!r:.60} is no value of YAML; take texts, numbers, booleans, lists and mappings")


def plain(node: Node) -> Any:
    """The value without places."""
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [plain(child) for child in node.value]
    return node.value


def place_of(node: Node, path: Sequence[Key]) -> str:
    """The place of the value at `path`, or of the deepest part of the path that exists."""
    for key in path:
        child = _child(node.value, key)
        if child is None:
            break
        node = child
    return node.place


def descend(node: Node, path: Sequence[Key]) -> Node | None:
    """The node at `path`; None when there is nothing."""
    found: Node | None = node
    for key in path:
        found = _child(found.value, key) if found else None
    return found


def replace_at(node: Node, path: Sequence[Key], new: Node) -> Node:
    """The mapping `node` with `new` at `path`, which leads through mappings."""
    if not path:
        return new
    return Node({**node.value, path[0]: replace_at(node.value[path[0]], path[1:], new)}, node.place)


def merge(base: Node, over: Node) -> Node:
    """`base` with `over` on top: mappings entry by entry, everything else replaced."""
    if not (isinstance(base.value, dict) and isinstance(over.value, dict)):
        return over
    merged = dict(base.value)
    for key, child in over.value.items():
        merged[key] = merge(merged[key], child) if key in merged else child
    return Node(merged, over.place)


def _refuse_depth(text: str, name: str) -> None:
    """The C parser composes recursively and would crash the process on a text like `[[[[…`."""
    if _is_deep(text):
        raise ConfigError(f"{name}: nested deeper than {_DEEPEST} levels; write it flatter")


def _is_deep(text: str) -> bool:
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                return True
    except yaml.MarkedYAMLError as error:
        if "nesting depth" not in str(error.problem):  # newer scanners, which read ahead, have a limit of their own
            raise
        return True
    return False


def _child(value: Value, key: Key) -> Node | None:
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
        return value[key]  # type: ignore[no-any-return]  # lists of a Node hold nodes
    return None


class _Builder:
    """Turns composed YAML nodes into values with places."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = 0

    def build(self, node: yaml.Node, mark: yaml.Mark | None = None) -> Node:
        self._count += 1
        if self._count > _MOST_VALUES:
            raise self._refusal(node, f"more than {_MOST_VALUES} values", "use fewer aliases")
        place = self._place(mark or node.start_mark)
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return Node(self._mapping(node), place)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return Node([self.build(child) for child in node.value], place)
        return Node(self._scalar(node), place)

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != _TAG + "str":
                raise self._refusal(key, f"the key {_source(key)} is not text", "put it in quotes (so must a value "
                                    "that begins with `{`)")
            if key.value == "<<" and not key.style:
                raise self._refusal(key, "merge keys (`<<`) are not used here", "write the entries out, or `extends`")
            if key.value in found:
                raise self._refusal(key, f"the key {key.value!r} is given twice (first in {found[key.value].place})",
                                    "remove one of them")
            found[key.value] = self.build(value, key.start_mark)
        return found

    def _scalar(self, node: yaml.Node) -> Any:
        make = _SCALARS.get(node.tag)
        if make is None or not isinstance(node, yaml.ScalarNode):
            raise self._refusal(node, f"the tag {node.tag.replace(_TAG, '!!')} is not used here", "remove it")
        try:
            return make(node.value)
        except ValueError as error:
            raise self._refusal(node, f"{_source(node)} is not a number: {error}", "put it in quotes") from error

    def _refusal(self, node: yaml.Node, problem: str, fix: str) -> ConfigError:
        return ConfigError(f"{self._place(node.start_mark)}: {problem}; {fix}")

    def _place(self, mark: yaml.Mark) -> str:
        return f"{self._name}:{mark.line + 1}"


def _source(node: yaml.Node) -> str:
    return repr(node.value)[:60] if isinstance(node, yaml.ScalarNode) else "of this entry"


def _kind(value: Value) -> str:
    return "a list" if isinstance(value, list) else f"the single value {value!r}"[:80]


def _syntax_message(error: yaml.MarkedYAMLError, text: str, name: str) -> str:
    mark = error.problem_mark or error.context_mark
    line = mark.line if mark else 0
    lines = text.splitlines()
    problem = ", ".join(part for part in (error.problem, error.context) if part)
    indent = lines[line][: len(lines[line]) - len(lines[line].lstrip())] if line < len(lines) else ""
    fix = "indent with spaces, never with tabs" if "\t" in indent else \
        "check indentation, quotes and colons around this line (texts with `: ` or `{{` need quotes or `|`)"
    return f"{name}:{line + 1}: not YAML: {problem}; {fix}"


# From YAML to the schema's models; every misfit becomes one line with file, line, field and fix.

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
        case "value_error" if path[-1] in ("extra_body", "headers"):  # which may hold a key
            return str(error["ctx"]["error"])
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


def dump(model: StrictModel) -> str:
    """A company, or a part of one, as YAML that is read back equal; defaults are left out."""
    values = model.model_dump(mode="python", by_alias=True, exclude_defaults=True)
    return yaml.dump(values, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)
