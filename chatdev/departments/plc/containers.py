"""Files in which engineering tools keep Structured Text: TwinCAT objects, PLCopen XML (TC6 2.01), CODESYS 2.3 exports,
or plain text. What they hold is one text for the reader, with each line's place in the file."""

from __future__ import annotations

import re

from chatdev.departments.plc.container_pieces import (
    Container,
    Piece,
    add_end,
    add_text,
    note_graphical,
    unit_word,
)
from chatdev.departments.plc.plcopen import read_plcopen
from chatdev.departments.plc.source_file import decode_source, tell_file
from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.xml_tree import Element, WrongContainer, is_xml, read_xml

MOST_BYTES = 20_000_000
"""Of one file."""
_PLCOPEN = "plcopen.org"
_MSBUILD = "schemas.microsoft.com/developer/msbuild"


def read_container(data: bytes, name: str) -> Container:
    """What a file of this name holds. Raises WrongContainer, and NoText for bytes that are no text."""
    if len(data) > MOST_BYTES:
        raise WrongContainer(tell_file("file-too-long", most=MOST_BYTES // 1_000_000))
    if is_xml(data):
        root, namespace = read_xml(data)
        if root.name == "TcPlcObject":
            return _read_twincat(root)
        if root.name == "project" and _PLCOPEN in namespace:
            return read_plcopen(root)
        raise WrongContainer(tell_file("foreign-xml", root=root.name[:80], is_project=_MSBUILD in namespace))
    source = decode_source(data)
    found = Container(notes=list(source.notes), written=source)
    if name.lower().endswith(".exp"):
        _read_export(source.text, found)
    else:
        found.pieces.append(Piece(_take_tests(source.text, found)))
    return found


def _take_tests(text: str, found: Container) -> str:
    """A text without its TEST blocks, line for line."""
    def take(block: re.Match[str]) -> str:
        name = block["test"] if block["name"] is None else block["name"]
        if name is None:
            return block[0]
        line, at = text.count("\n", 0, block.start("body")) + 1, block.start("body")
        found.tests.append((name, Piece(block["body"], line, at - text.rfind("\n", 0, at))))
        return "\n" * block[0].count("\n")

    return _TEST.sub(take, text) if "END_TEST" in text.upper() else text


_TEST = re.compile(r"\(\*.*?\*\)|//[^\n]*"
                   r"|^[ \t]*TEST[ \t]+(?:'(?P<test>(?:\$.|[^'$\n])*)'|(?P<name>\w+)[ \t]*$)"
                   r"(?P<body>.*?)\bEND_TEST\b[ \t]*;?",
                   re.IGNORECASE | re.DOTALL | re.MULTILINE)


# TwinCAT: an object a file, its texts in CDATA.


def _read_twincat(root: Element) -> Container:
    found = Container()
    for one in root.children:
        name = one.attributes.get("Name", "")
        if one.name in ("POU", "Itf"):
            _read_object(one, name, found)
        elif one.name == "DUT":
            add_text(one.find("Declaration"), "", found)
        elif one.name == "GVL":
            _add_globals(one, name, found)
        elif one.name == "Task":
            _read_task(one, found)
        else:
            found.note("not-code", one, what=one.name)
    return found


def _read_object(pou: Element, name: str, found: Container) -> None:
    """A unit as the standard writes it: its declarations, what belongs to it, its body, its end."""
    declaration = pou.find("Declaration")
    word = unit_word(declaration.text if declaration else "")
    add_text(declaration, "declaration", found)
    if word is None:
        found.note("no-unit", pou, name=name)
        return
    for part in pou.all("Method", "Property", "Action"):
        _read_part(part, name, found)
    for part in (one for folder in pou.all("Folder") for one in folder.all("Method", "Property", "Action")):
        _read_part(part, name, found)
    _add_body(pou, name, "body", found)
    add_end(f"END_{word}", found)


def _read_part(part: Element, owner: str, found: Container) -> None:
    name = part.attributes.get("Name", "")
    if part.name == "Action":
        found.pieces.append(Piece(f"ACTION {name}:\n", part.line, part.column, made=True))
        _add_body(part, f"{owner}.{name}", name, found)
        add_end("END_ACTION", found)
        return
    add_text(part.find("Declaration"), f"{name}, declaration", found)
    if part.name == "Method":
        _add_body(part, f"{owner}.{name}", name, found)
        add_end("END_METHOD", found)
        return
    for accessor in part.all("Get", "Set"):
        word = accessor.name.upper()
        found.pieces.append(Piece(f"{word}\n", accessor.line, accessor.column, made=True))
        add_text(accessor.find("Declaration"), f"{name}.{accessor.name}, declaration", found)
        _add_body(accessor, f"{owner}.{name}", f"{name}.{accessor.name}", found)
        add_end(f"END_{word}", found)
    add_end("END_PROPERTY", found)


def _add_body(owner: Element, name: str, title: str, found: Container) -> None:
    implementation = owner.find("Implementation")
    if implementation is None:
        return
    if (text := implementation.find("ST")) is not None:
        add_text(text, title, found)
    elif implementation.children:
        note_graphical(implementation.children[0].name, name, implementation, found)


def _add_globals(gvl: Element, name: str, found: Container) -> None:
    found.pieces.append(Piece(f"NAMESPACE {name}\n", gvl.line, gvl.column, made=True))
    add_text(gvl.find("Declaration"), "", found)
    add_end("END_NAMESPACE", found)


def _read_task(task: Element, found: Container) -> None:
    """A task's cycle stands in microseconds there."""
    cycle = task.find("CycleTime")
    says_cycle = cycle is not None and cycle.text.strip().isdigit() and 0 < int(cycle.text) < 10 ** 10
    cycle_ms = max(1, int(cycle.text) // 1000) if cycle is not None and says_cycle else None
    names = [name.text.strip() for call in task.all("PouCall") if (name := call.find("Name")) is not None]
    found.tasks += [(name, cycle_ms, _read_priority(task)) for name in names or [""]]


def _read_priority(task: Element) -> int | None:
    said = task.find("Priority")
    return int(said.text) if said is not None and re.fullmatch(r"\s*\d{1,5}\s*", said.text) else None


# CODESYS 2.3 exports: plain text, with sections of its own between the units, and bodies in graphical languages.

_COMMENT = re.compile(r"\(\*(?:[^*]|\*(?!\)))*+\*\)")
_ENDS = {"VAR_GLOBAL": "VAR", "FUNCTIONBLOCK": "FUNCTION_BLOCK"}
_UNIT_HEAD = re.compile(r"\s*(PROGRAM|FUNCTION_?BLOCK|FUNCTION|TYPE|VAR_GLOBAL|ACTION)\b", re.IGNORECASE)
_UNIT_END = re.compile(r"\s*END_(PROGRAM|FUNCTION_BLOCK|FUNCTION|TYPE|VAR|ACTION)\b", re.IGNORECASE)
_BODY = re.compile(r"\s*_(LD|FBD|SFC|IL|CFC)_BODY\b", re.IGNORECASE)


def _read_export(text: str, found: Container) -> None:
    """The text with what is no program left out, line for line."""
    bare = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text).split("\n")
    reader = _ExportReader(found)
    kept = [line if reader.keeps(number, code) or not code.strip() else ""
            for number, (line, code) in enumerate(zip(text.split("\n"), bare, strict=True), 1)]
    found.pieces.append(Piece("\n".join(kept)))


class _ExportReader:
    """Where the lines of an export stand: in a unit, in a body that is drawn, or in a section without a program."""

    def __init__(self, found: Container) -> None:
        self._found = found
        self._unit = self._name = self._section = ""
        self._is_drawn = False

    def keeps(self, number: int, code: str) -> bool:
        """Whether a line belongs to a unit's text."""
        if self._unit:
            return self._read_unit(number, code)
        if head := _UNIT_HEAD.match(code):
            self._unit, self._is_drawn, self._section = head[1].upper(), False, ""
            self._name = code[head.end():].partition(":")[0].strip()
            return self._read_unit(number, code)
        if code.strip() and not self._section:
            self._section = code.split()[0].strip("_ :")
            self._found.note("not-code", Span(number, 1, number, len(code)), what=self._section[:60])
        return False

    def _read_unit(self, number: int, code: str) -> bool:
        end = _UNIT_END.match(code)
        if end and end[1].upper() == _ENDS.get(self._unit, self._unit):
            self._unit = ""
            return True
        if body := _BODY.match(code):
            self._is_drawn = True
            self._found.graphical.append(self._name)
            self._found.note("graphical", Span(number, 1, number, len(code)), name=self._name, language=body[1].upper())
        return not self._is_drawn
