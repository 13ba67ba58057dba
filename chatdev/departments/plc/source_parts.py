"""The text of a program in parts, as other tools keep them: units with their members, types, lists of global variables.

The text is split by its tokens, so that bodies, comments and pragmas stay as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from chatdev.departments.plc.st.diagnostics import Findings
from chatdev.departments.plc.st.tokens import Token, split_tokens

UNITS = ("PROGRAM", "FUNCTION_BLOCK", "FUNCTION", "INTERFACE")
SECTIONS = ("VAR_INPUT", "VAR_OUTPUT", "VAR_IN_OUT", "VAR", "VAR_TEMP", "VAR_EXTERNAL", "VAR_STAT", "VAR_INST",
            "VAR_GLOBAL")
ACCESS = ("PUBLIC", "PRIVATE", "PROTECTED", "INTERNAL", "ABSTRACT", "FINAL", "OVERRIDE")
ACCESSORS = ("GET", "SET")
_ENDS = ("END_STRUCT", "END_UNION")
_MEMBERS = ("METHOD", "PROPERTY", "ACTION")


class NotWritable(ValueError):
    """A part of a program that a form of file has no place for; the text says which, and where."""


@dataclass(frozen=True, slots=True)
class Part:
    """A unit, member, TYPE or VAR_GLOBAL: its first word, its name (of global variables, that of their
    list), its declarations and its body as written."""

    word: str
    name: str
    head: str
    body: str
    line: int
    members: tuple[Part, ...] = ()


def split_parts(source: str) -> list[Part]:
    """The parts of a source, in their order, each with the comments before it. Raises NotWritable."""
    text = _Text(source)
    found, at, begin, space, owner = list[Part](), 0, 0, "", ""
    while at < len(text.keys):
        key = text.keys[at]
        if key in (";", "NAMESPACE", "END_NAMESPACE", "ACTIONS", "END_ACTIONS"):
            name = text.tokens[at + 1].text if key in ("NAMESPACE", "ACTIONS") and at + 1 < len(text.keys) else ""
            space = {"NAMESPACE": name, "END_NAMESPACE": ""}.get(key, space)
            owner = {"ACTIONS": name, "END_ACTIONS": ""}.get(key, owner)
            at += 1 + bool(name)
            begin = text.end(at - 1)
            continue
        end = _end_of(text, at)
        if key == "TYPE":
            found += _types_of(text, at, end, begin)
        elif key in _MEMBERS:
            _give(found, _member_of(text, at, end + 1, begin), owner)
        elif key == "CONFIGURATION":
            found += _lists_of(text, at, end)
        elif key == "VAR_GLOBAL":
            found.append(Part(key, space, text.source[begin:text.end(end)].strip(), "", text.tokens[at].line))
        else:
            found.append(_routine_of(text, at, end, begin))
        begin, at = text.end(end), end + 1
    return found


def tokens_of(text: str) -> list[Token]:
    """The tokens of a part's head."""
    return [one for one in split_tokens(text, Findings(), defines=()) if one.kind != "end"]


def statements_of(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Begin and end of what a `;` ends, which belongs to it, or an END_STRUCT or END_UNION without one."""
    begin = 0
    for at, depth in enumerate(depths_of(tokens)):
        key, behind = tokens[at].key, tokens[at + 1].key if at + 1 < len(tokens) else ""
        if not depth and (key == ";" or (key.upper() in _ENDS and behind != ";")):
            yield begin, at + 1
            begin = at + 1


def depths_of(tokens: Sequence[Token]) -> Iterator[int]:
    """How many brackets and structures are open behind each token."""
    depth = 0
    for one in tokens:
        depth += (one.key.upper() in ("STRUCT", "UNION", "(", "[")) - (one.key.upper() in (*_ENDS, ")", "]"))
        yield depth


class _Text:
    """A source by its tokens: their words in capital letters, and where they stand."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = tokens_of(source)
        self.keys = [one.key.upper() for one in self.tokens]
        starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
        self._offsets = [starts[one.line - 1] + one.column - 1 for one in self.tokens]

    def start(self, at: int) -> int:
        """The offset of a token."""
        return self._offsets[at]

    def end(self, at: int) -> int:
        """The offset behind a token."""
        return self._offsets[at] + len(self.tokens[at].text)

    def begins_member(self, at: int) -> bool:
        """Whether a METHOD, PROPERTY or ACTION begins here: two names in a row are no statement."""
        behind = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        return self.keys[at] in _MEMBERS and behind is not None and behind.kind == "name" \
            and behind.line == self.tokens[at].line


def _end_of(text: _Text, at: int) -> int:
    """The token that ends the part that begins there."""
    word, line = text.keys[at], text.tokens[at].line
    if word not in (*UNITS, *_MEMBERS, "TYPE", "VAR_GLOBAL", "CONFIGURATION"):
        raise NotWritable(f"line {line}: {text.tokens[at].text} has no place in a file of another tool")
    ends = "END_VAR" if word == "VAR_GLOBAL" else f"END_{word}"
    for number in range(at, len(text.keys)):
        if text.keys[number] == ends:
            return number
    raise NotWritable(f"line {line}: {word} is never closed")


def _give(found: list[Part], member: Part, owner: str) -> None:
    """Put a member that stands behind its unit into it."""
    for number in range(len(found) - 1, -1, -1):
        unit = found[number]
        if unit.word in UNITS and owner.lower() in ("", unit.name.lower()):
            found[number] = replace(unit, members=(*unit.members, member))
            return
    raise NotWritable(f"line {member.line}: {member.word} {member.name} belongs to no unit")


def _lists_of(text: _Text, at: int, end: int) -> Iterator[Part]:
    """The global variables of a CONFIGURATION."""
    for number in range(at, end):
        if text.keys[number] == "VAR_GLOBAL":
            head = text.source[text.start(number):text.end(_end_of(text, number))]
            yield Part("VAR_GLOBAL", "", head, "", text.tokens[number].line)


def _routine_of(text: _Text, at: int, end: int, begin: int) -> Part:
    """A unit, method or accessor from its first word up to its end, which does not belong to it."""
    stop = text.start(end) if end < len(text.keys) else len(text.source)
    head = number = _head_end(text, at, end)
    here = text.end(head - 1)
    members, bodies = list[Part](), list[str]()
    written = text.tokens[at].text
    word = written if written.upper() == text.keys[at] else text.keys[at]  # FUNCTIONBLOCK, as CODESYS 2.3 writes it
    declared = f"{text.source[begin:text.start(at)]}{word}{text.source[text.end(at):here]}"
    if text.keys[at] in ACCESSORS:  # whose word other tools do not write
        declared = f"{text.source[begin:text.start(at)].strip()}\n{text.source[text.end(at):here].strip()}"
    while number < end:
        if not text.begins_member(number):
            number += 1
            continue
        before = text.end(number - 1)
        bodies.append(text.source[here:before])
        last = _member_end(text, number, end)
        members.append(_member_of(text, number, last, before))
        has_end = text.keys[last - 1].startswith("END_")
        here = text.end(last - 1) if has_end else text.start(last)
        number = last
    body = "".join((*bodies, text.source[here:stop])).strip("\n")
    return Part(text.keys[at], _name_of(text, at), declared.strip(), body if body.strip() else "",
                text.tokens[at].line, tuple(members))


def _name_of(text: _Text, at: int) -> str:
    """The name behind the first word, and behind PUBLIC and the like."""
    if text.keys[at] in ACCESSORS:
        return text.keys[at].capitalize()
    while at + 2 < len(text.keys) and text.keys[at + 1] in ACCESS and text.tokens[at + 2].kind == "name":
        at += 1
    return text.tokens[at + 1].text.strip('"')


def _head_end(text: _Text, at: int, end: int) -> int:
    """The token behind the declarations of a routine: its name, what it extends and implements, the type of its result,
    and its variables."""
    number = at + 1
    if text.keys[at] not in ACCESSORS:
        while text.keys[number] in ACCESS and text.tokens[number + 1].kind == "name":
            number += 1
        number = _names_end(text, number, end)
    while number < end and text.keys[number] in ("EXTENDS", "IMPLEMENTS"):
        number = _names_end(text, number + 1, end)
    if number < end and text.keys[number] == ":":
        number = _type_end(text, number + 1, end)
    number += number < end and text.keys[number] == ";"
    while number < end and text.keys[number] in SECTIONS:
        while number < end and text.keys[number] != "END_VAR":
            number += 1
        number += 1
        number += number < end and text.keys[number] == ";"
    return number


def _names_end(text: _Text, number: int, end: int) -> int:
    """The token behind names with dots and commas between."""
    number += 1
    while number + 1 < end and text.keys[number] in (".", ","):
        number += 2
    return number


def _type_end(text: _Text, number: int, end: int) -> int:
    """The token behind a type."""
    while number < end and (text.keys[number] in ("ARRAY", "POINTER", "REFERENCE", "REF_TO", "TO", "OF", "[")):
        depth = int(text.keys[number] == "[")
        while depth and number + 1 < end:
            number += 1
            depth += (text.keys[number] == "[") - (text.keys[number] == "]")
        number += 1
    number = _names_end(text, number, end)
    if number < end and text.keys[number] in ("[", "("):
        closing = {"[": "]", "(": ")"}[text.keys[number]]
        number = next((one for one in range(number, end) if text.keys[one] == closing), number) + 1
    return number


def _member_end(text: _Text, at: int, end: int) -> int:
    """The token behind a member; in an INTERFACE it may have no end of its own."""
    ends = f"END_{text.keys[at]}"
    for number in range(at + 1, end):
        if text.keys[number] == ends:
            return number + 1
        if text.begins_member(number):
            return number
    return end


def _member_of(text: _Text, at: int, stop: int, begin: int) -> Part:
    """A member up to the token behind it."""
    end = stop - text.keys[stop - 1].startswith("END_")
    if text.keys[at] == "METHOD":
        return _routine_of(text, at, end, begin)
    if text.keys[at] == "ACTION":
        colon = at + 2 + (text.keys[at + 2:at + 3] == [":"])
        limit = text.start(end) if end < len(text.keys) else len(text.source)
        return Part("ACTION", _name_of(text, at), text.source[begin:text.end(colon - 1)].strip(),
                    text.source[text.end(colon - 1):limit].strip("\n"), text.tokens[at].line)
    accessors = [number for number in range(at + 2, end) if text.keys[number] in ACCESSORS
                 and text.keys[number + 1:number + 2] not in (["("], [":="], ["."])]
    first = accessors[0] if accessors else end
    while first > at + 2 and text.keys[first - 1] in ACCESS:
        first -= 1
    members, behind = list[Part](), text.end(first - 1)
    for number in _accessor_starts(text, accessors, end):
        last = next((one for one in range(number, end) if text.keys[one] == f"END_{text.keys[number]}"), end)
        members.append(_routine_of(text, number, last, behind))
        behind = text.end(min(last, len(text.keys) - 1))
    return Part("PROPERTY", _name_of(text, at), text.source[begin:text.end(first - 1)].strip(), "",
                text.tokens[at].line, tuple(members))


def _accessor_starts(text: _Text, accessors: Sequence[int], end: int) -> Iterator[int]:
    """Of the words GET and SET those that begin an accessor, and do not stand in the body of another one."""
    inside = -1
    for number in accessors:
        if number > inside:
            yield number
            inside = next((one for one in range(number, end) if text.keys[one] == f"END_{text.keys[number]}"), number)


def _types_of(text: _Text, at: int, end: int, begin: int) -> Iterator[Part]:
    """A part for each type of a TYPE, as other tools keep them; the comment before stands with the first."""
    comment = text.source[begin:text.start(at)].strip()
    inner = text.tokens[at + 1:end]
    for first, stop in statements_of(inner):
        if stop - first > 1:
            number = at + 1 + first
            while text.keys[number] in ACCESS and text.tokens[number + 1].kind == "name":
                number += 1
            before = text.end(at + first)
            written = text.source[before:text.end(at + stop)].strip("\n")
            head = f"TYPE{written if written[:1].isspace() else f' {written}'}\nEND_TYPE"
            yield Part("TYPE", text.tokens[number].text.strip('"'), f"{comment}\n{head}".strip(), "",
                       text.tokens[number].line)
            comment = ""
