"""Tools on the wire: the names that servers allow, and calls of them, whole or in the pieces of a stream.

Servers differ in how they stream calls: all with one index, without an index, with id and name in every piece, with
arguments as an object (docs/servers.md).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chatdev.llm.base import ToolCall, ToolSpec
from chatdev.llm.failures import Unusable
from chatdev.safe_text import encodable_text, short_name

LONGEST_NAME = 400
"""Characters of the id and the name of a call; some ids are more than a number."""
_LONGEST_ON_WIRE = 64
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")
_PREFIX = re.compile(r"functions?\.")
_NUMBER = re.compile(r":\d+$")
_NOTHING = ("", "null", "None")


class WireNames:
    """Names of a request's tools on the wire, and back: letters, digits, `_` and `-`, at most 64, no two the same."""

    def __init__(self, tools: Iterable[ToolSpec]) -> None:
        self._wire: dict[str, str] = {}
        self._own: dict[str, str] = {}
        for tool in tools:
            plain = name = _plain_name(tool.name)
            while name in self._own:
                name = _short(f"{plain}_{hashlib.sha256(f'{name} {tool.name}'.encode()).hexdigest()[:8]}")
            self._wire[tool.name], self._own[name] = name, tool.name

    @property
    def offered(self) -> Collection[str]:
        """The names as the server knows them."""
        return self._own.keys()

    def is_offered(self, name: str) -> bool:
        """Whether a tool has this own name."""
        return name in self._wire

    def wire(self, name: str) -> str:
        """A tool's name for the wire, also of one that is not offered now."""
        return self._wire.get(name) or _plain_name(name)

    def own(self, said: str) -> str:
        """The offered tool that a model means, by its name on the wire or by its own; what it said where that is none
        of them."""
        for name in _spellings(said):
            if name in self._own:
                return self._own[name]
            if name in self._wire:
                return name
        return said


def _spellings(said: str) -> Iterator[str]:
    """A name as it was said, then without what parsers of servers leave on it: `functions.look:0` (Kimi K2),
    `look<|channel|>commentary` (gpt-oss), line ends (GLM)."""
    yield said
    bare = said.partition("<|")[0].strip()
    yield bare
    without = _NUMBER.sub("", bare)
    yield without
    yield _PREFIX.sub("", without, count=1)


def _plain_name(name: str) -> str:
    """The name with other letters replaced; dots, which most servers forbid, by two bars."""
    return _short(_NOT_ALLOWED.sub("_", name.replace(".", "__")) or "_")


def _short(name: str) -> str:
    if len(name) <= _LONGEST_ON_WIRE:
        return name
    return f"{name[:_LONGEST_ON_WIRE - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def read_calls(calls: Any, names: WireNames) -> tuple[ToolCall, ...]:
    """The calls of a message. Raises Unusable for one without a name."""
    found = []
    for n, call in enumerate(calls if isinstance(calls, list) else []):
        function = _function_of(call)
        if not function.get("name"):
            raise Unusable("the reply holds a tool call without a name")
        name = names.own(encodable_text(str(function["name"])))
        found.append(ToolCall(_id_of(call, n), short_name(name, LONGEST_NAME), _arguments(function.get("arguments"))))
    return tuple(found)


def _function_of(call: Any) -> Mapping[str, Any]:
    """Name and arguments of a call; some servers put them beside its id."""
    if not isinstance(call, Mapping):
        return {}
    function = call.get("function", call)
    return function if isinstance(function, Mapping) else {}


def _id_of(call: Mapping[str, Any], number: int) -> str:
    """The server's own id of a tool call, if a request can name it; only the next request uses it."""
    given = encodable_text(str(call.get("id") or ""))
    return given if 0 < len(given) <= LONGEST_NAME else f"call-{number}"


def _arguments(given: Any) -> str:
    """Arguments as JSON text; some servers send them as an object, or as the text of a text."""
    text = given if isinstance(given, str) else json.dumps(given or {})
    if text.strip() in _NOTHING:
        return "{}"
    if text.lstrip().startswith('"'):
        try:
            inner = json.loads(text)
        except (ValueError, RecursionError):
            inner = None
        text = inner if isinstance(inner, str) and inner.lstrip().startswith("{") else text
    return encodable_text(text)


# Calls in the pieces of a stream.

_SIGN = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
_PIECE, _CALL = 16, 1000  # bytes that we take to keep a piece of a call, and a call


@dataclass(slots=True)
class _Nesting:
    """Whether JSON that comes in pieces is whole; in a time that grows with its text only."""

    depth: int = 0
    quoted: bool = False
    left: str = ""

    def add(self, text: str) -> None:
        """Take the next piece."""
        text, self.left = self.left + text, ""
        if (len(text) - len(text.rstrip("\\"))) % 2:
            text, self.left = text[:-1], "\\"
        for sign in _SIGN.findall(text):
            if sign == '"':
                self.quoted = not self.quoted
            elif not self.quoted and len(sign) == 1:
                self.depth += 1 if sign in "{[" else -1

    @property
    def is_whole(self) -> bool:
        return self.depth <= 0 and not self.quoted and not self.left


@dataclass(slots=True)
class _Call:
    """A tool call of a stream, in the pieces in which it came."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    nesting: _Nesting = field(default_factory=_Nesting)
    size: int = 0
    has_arguments: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all its arguments are there."""
        return self.has_arguments and self.nesting.is_whole

    def add_arguments(self, text: str) -> None:
        """Take a part of its arguments."""
        self.arguments.append(text)
        self.nesting.add(text)
        self.size += len(text)
        self.has_arguments = self.has_arguments or bool(text.strip())

    def repeats(self, piece: _Piece) -> bool:
        """Whether a named piece says what is known: a call that is whole, of one id, in the same words."""
        known = bool(piece.id) and (piece.id, piece.name) == (self.id, self.name) and self.is_whole
        return known and len(piece.arguments) == self.size and piece.arguments == "".join(self.arguments)

    def is_followed_by(self, piece: _Piece, *, is_other: bool) -> bool:
        """Whether a named piece, with another id or not, begins another call than this one, which has arguments."""
        if piece.name != self.name or not self.is_whole:
            return piece.name != self.name
        return is_other or (bool(piece.arguments.strip()) and not self.repeats(piece))

    def completion(self) -> dict[str, Any]:
        """The call as an unstreamed completion has it. Some gateways begin with an empty object, before the first part
        of the arguments."""
        arguments = "".join(self.arguments)
        if arguments.startswith("{}") and arguments[2:].lstrip().startswith("{"):
            arguments = arguments[2:]
        return {"id": self.id, "function": {"name": self.name, "arguments": arguments}}


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a call: what of it is given."""

    index: str
    id: str
    name: str
    arguments: str


class CallCollector:
    """Puts the calls of a stream together. `offered`: names of the tools on the wire."""

    def __init__(self, offered: Collection[str] = ()) -> None:
        self._offered = offered
        self._calls: list[_Call] = []
        self._newest: dict[str, _Call] = {}
        self._known: dict[tuple[str, str], _Call] = {}
        self.size = 0
        """Bytes that we take to keep them."""

    def add(self, pieces: Iterable[Mapping[str, Any]]) -> Iterator[str]:
        """Take the parts of one delta; gives their texts."""
        met: set[int] = set()
        for given in pieces:
            piece = _piece_of(given)
            call = self._call(piece, met)
            met.add(id(call))
            call.id = call.id or piece.id
            self.size += _PIECE + len(piece.id) + len(piece.name) + len(piece.arguments)
            if call.repeats(piece):
                continue
            if piece.name != call.name:  # else it is repeated in every piece
                call.name += piece.name
            if piece.arguments:
                call.add_arguments(piece.arguments)
            yield piece.name + piece.arguments

    def _call(self, piece: _Piece, met: set[int]) -> _Call:
        """The call that a part belongs to."""
        call = self._known.get((piece.index, piece.id)) or self._newest.get(piece.index)
        if call is None or self._begins(call, piece, again=id(call) in met):
            call = _Call()
            self._calls.append(call)
            self.size += _CALL + len(piece.index)
        if piece.id:
            self._known[piece.index, piece.id] = call
        self._newest[piece.index] = self._newest[""] = call
        return call

    def _begins(self, call: _Call, piece: _Piece, *, again: bool) -> bool:
        """Whether a part begins another call than the one of its index. A new id alone does not: some servers make one
        for each part. `again`: the same delta has a part of that call."""
        is_other = bool(piece.id and call.id) and piece.id != call.id
        if not piece.name or not call.name:
            return is_other and call.is_whole and not piece.arguments
        if again:
            return True
        if call.has_arguments:
            return call.is_followed_by(piece, is_other=is_other)
        return is_other or self._is_second(call.name, piece.name)

    def _is_second(self, name: str, more: str) -> bool:
        """Whether the next piece of a name is another name: names may come in pieces, too."""
        return name != more and {name, more} <= set(self._offered) and name + more not in self._offered

    def completions(self) -> list[dict[str, Any]]:
        """The calls as an unstreamed completion has them."""
        return [call.completion() for call in self._calls if call.name or call.has_arguments]

    @property
    def arguments(self) -> Iterator[str]:
        """All arguments so far, in pieces."""
        return (piece for call in self._calls for piece in call.arguments)


def _piece_of(given: Mapping[str, Any]) -> _Piece:
    function = _function_of(given)
    name, arguments, index = function.get("name"), function.get("arguments"), given.get("index")
    if isinstance(arguments, Mapping):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return _Piece("" if index is None else json.dumps(index), str(given.get("id") or ""),
                  name if isinstance(name, str) else "", arguments if isinstance(arguments, str) else "")
