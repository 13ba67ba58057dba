"""A program in Structured Text as files of engineering tools: TwinCAT objects, or PLCopen XML (TC6 2.01).

The text is split by its tokens, so that bodies, comments and pragmas stay as they are written. What the reader of
containers (`containers.py`) makes of the files is the same program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5
from xml.etree import ElementTree

from chatdev.departments.plc.st.diagnostics import Findings
from chatdev.departments.plc.st.tokens import Token, split_tokens

_UNITS = ("PROGRAM", "FUNCTION_BLOCK", "FUNCTION")
_SECTIONS = {"VAR_INPUT": "inputVars", "VAR_OUTPUT": "outputVars", "VAR_IN_OUT": "inOutVars", "VAR": "localVars",
             "VAR_TEMP": "tempVars", "VAR_EXTERNAL": "externalVars", "VAR_STAT": "localVars",
             "VAR_GLOBAL": "globalVars"}
_POU_TYPES = {"PROGRAM": "program", "FUNCTION_BLOCK": "functionBlock", "FUNCTION": "function"}
_FLAGS = ("CONSTANT", "RETAIN", "PERSISTENT")
_ELEMENTARY = ("BOOL", "BYTE", "WORD", "DWORD", "LWORD", "SINT", "INT", "DINT", "LINT", "USINT", "UINT", "UDINT",
               "ULINT", "REAL", "LREAL", "TIME", "DATE", "DT", "TOD")
_NAMESPACE = UUID("6f1c4f0e-3d0b-5b61-9b0e-6a2c6d1f7a10")
_TC6 = "http://www.plcopen.org/xml/tc6_0201"
_XHTML = "http://www.w3.org/1999/xhtml"


class NotWritable(ValueError):
    """A part of a program that a form of file has no place for; the text says which, and where."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A unit, TYPE or VAR_GLOBAL of a text: its first word, its name, its declarations and its body as written."""

    word: str
    name: str
    head: str
    body: str
    line: int


def write_twincat(source: str) -> dict[str, str]:
    """TwinCAT's objects by the names of their files. Raises NotWritable."""
    found = dict[str, str]()
    for number, part in enumerate(_split(source)):
        kind, ending = {"TYPE": ("DUT", "TcDUT"), "VAR_GLOBAL": ("GVL", "TcGVL")}.get(part.word, ("POU", "TcPOU"))
        name = part.name or f"GVL_{number}"
        body = "" if kind != "POU" else (
            f"\n    <Implementation>\n      <ST>{_cdata(part.body)}</ST>\n    </Implementation>")
        found[f"{name}.{ending}"] = (
            '<?xml version="1.0" encoding="utf-8"?>\n<TcPlcObject Version="1.1.0.1">\n'
            f'  <{kind} Name="{name}" Id="{{{uuid5(_NAMESPACE, name)}}}">\n'
            f"    <Declaration>{_cdata(part.head)}</Declaration>{body}\n  </{kind}>\n</TcPlcObject>\n")
    return found


def write_plcopen(source: str, name: str, cycle_ms: int | None = None) -> str:
    """PLCopen XML with all of a program. Raises NotWritable."""
    ElementTree.register_namespace("", _TC6)
    ElementTree.register_namespace("xhtml", _XHTML)
    root = _element("project")
    _add(root, "fileHeader", companyName="", productName="chatdev", productVersion="1",
         creationDateTime="1970-01-01T00:00:00")
    header = _add(_add(root, "contentHeader", name=name), "coordinateInfo")
    for language in ("fbd", "ld", "sfc"):
        _add(_add(header, language), "scaling", x="1", y="1")
    types = _add(root, "types")
    data_types, pous = _add(types, "dataTypes"), _add(types, "pous")
    instances = _add(_add(_add(root, "instances"), "configurations"), "configuration", name="Config0")
    resource = _add(instances, "resource", name="Res0")
    parts = list(_split(source))
    _add_tasks(resource, [part for part in parts if part.word == "PROGRAM"], cycle_ms)
    for part in parts:
        if part.word == "TYPE":
            for declared in _declarations(_tokens(part.head)[1:-1], part):
                held = _add(data_types, "dataType", name=declared.name)
                _add_type(_add(held, "baseType"), declared.type, part)
                _add_value(held, declared.initial)
        elif part.word == "VAR_GLOBAL":
            _add_sections(resource, part)
        else:
            _add_pou(pous, part)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _cdata(text: str) -> str:
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


# The parts of a text.


def _tokens(text: str) -> list[Token]:
    return [one for one in split_tokens(text, Findings(), defines=()) if one.kind != "end"]


def _split(source: str) -> Iterator[_Part]:
    """The parts of a source, in their order, with the comments before each."""
    tokens, lines, begin = _tokens(source), source.splitlines(keepends=True), 0
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    offsets = [starts[one.line - 1] + one.column - 1 for one in tokens]
    at = 0
    while at < len(tokens):
        if tokens[at].key in (";", "namespace", "END_NAMESPACE"):  # the name of a list is that of its file
            at += 1 + (tokens[at].key == "namespace")
            begin = offsets[at - 1] + len(tokens[at - 1].text)
            continue
        end = _end_of(tokens, at)
        last = end + 1 < len(tokens) and tokens[end + 1].key == ";"
        stop = offsets[end] + len(tokens[end].text)
        inside = tokens[at:end + 1], offsets[at:end + 1], begin
        if tokens[at].key.upper() == "TYPE":
            yield from _types_of(source, *inside)
        else:
            yield _part_of(source, *inside, stop)
        begin, at = stop + last, end + 1 + last


def _end_of(tokens: Sequence[Token], at: int) -> int:
    """The token that ends the part that begins there."""
    word = tokens[at].key.upper()
    if word not in (*_UNITS, "TYPE", "VAR_GLOBAL"):
        raise NotWritable(f"line {tokens[at].line}: {tokens[at].text} has no place in a file of another tool")
    ends = "END_VAR" if word == "VAR_GLOBAL" else f"END_{word}"
    end = next((number for number in range(at, len(tokens)) if tokens[number].key.upper() == ends), None)
    if end is None:
        raise NotWritable(f"line {tokens[at].line}: {word} is never closed")
    return end


def _part_of(source: str, tokens: Sequence[Token], offsets: Sequence[int], begin: int, stop: int) -> _Part:
    word = tokens[0].key.upper()
    if word == "VAR_GLOBAL":
        return _Part(word, "", source[begin:stop].strip(), "", tokens[0].line)
    inside, cut = "", offsets[_head_end(tokens)]
    for one, offset in zip(tokens, offsets, strict=True):
        if one.key in _SECTIONS:
            inside = one.key
        elif one.key == "END_VAR" and inside:
            inside, cut = "", offset + len(one.text)
    return _Part(word, tokens[1].text.strip('"'), source[begin:cut].strip(), source[cut:offsets[-1]].strip("\n"),
                 tokens[0].line)


def _types_of(source: str, tokens: Sequence[Token], offsets: Sequence[int], begin: int) -> Iterator[_Part]:
    """A part for each type of a TYPE, as other tools keep them; the comment before stands with the first."""
    comment = source[begin:offsets[0]].strip()
    inner = tokens[1:-1]
    for first, end in _statements(inner):
        if end - first > 1:
            before = offsets[first] + len(tokens[first].text)
            text = source[before:offsets[end] + len(tokens[end].text)].strip("\n")
            head = f"TYPE{text if text[:1].isspace() else f' {text}'}\nEND_TYPE"
            yield _Part("TYPE", inner[first].text.strip('"'), f"{comment}\n{head}".strip(), "", inner[first].line)
            comment = ""


def _head_end(tokens: Sequence[Token]) -> int:
    """Where the head of a unit without variables ends: behind its name and the type of its result."""
    at = 2
    if at < len(tokens) and tokens[at].key == ":":
        at += 2
    return min(at, len(tokens) - 1)


# PLCopen's elements.


@dataclass(frozen=True, slots=True)
class _Variable:
    name: str
    type: list[Token]
    initial: str
    address: str


def _element(name: str, /, **attributes: str) -> ElementTree.Element:
    return ElementTree.Element(f"{{{_TC6}}}{name}", attributes)


def _add(parent: ElementTree.Element, name: str, /, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, f"{{{_TC6}}}{name}", attributes)


def _add_tasks(resource: ElementTree.Element, programs: Sequence[_Part], cycle_ms: int | None) -> None:
    if programs:
        task = _add(resource, "task", name="task0", interval=f"T#{cycle_ms or 100}ms", priority="0")
        for number, one in enumerate(programs):
            _add(task, "pouInstance", name=f"instance{number}", typeName=one.name)


def _add_pou(pous: ElementTree.Element, part: _Part) -> None:
    pou = _add(pous, "pou", name=part.name, pouType=_POU_TYPES[part.word])
    interface = _add(pou, "interface")
    tokens = _tokens(part.head)
    first = next((at for at, one in enumerate(tokens) if one.key in _SECTIONS), len(tokens))
    if first > 2 and tokens[2].key == ":":
        _add_type(_add(interface, "returnType"), tokens[3:first], part)
    elif first > 2:
        raise NotWritable(f"line {part.line}: {tokens[2].text} of {part.name} has no place in PLCopen XML")
    _add_sections(interface, part)
    text = ElementTree.SubElement(_add(_add(pou, "body"), "ST"), f"{{{_XHTML}}}p")
    text.text = part.body


def _add_sections(parent: ElementTree.Element, part: _Part) -> None:
    tokens = _tokens(part.head)
    at = 0
    while at < len(tokens):
        if tokens[at].key not in _SECTIONS:
            at += 1
            continue
        word = tokens[at].key
        end = next(number for number in range(at, len(tokens)) if tokens[number].key == "END_VAR")
        begin, flags = at + 1, dict[str, str]()
        while tokens[begin].key.upper() in _FLAGS:
            flags[tokens[begin].key.lower()] = "true"
            begin += 1
        section = _add(parent, _SECTIONS[word], **flags)
        for one in _declarations(tokens[begin:end], part):
            _add_variable(section, one, part)
        at = end + 1


def _declarations(tokens: Sequence[Token], part: _Part) -> Iterator[_Variable]:
    """`a, b AT %X : TYPE := value;`, one for each name."""
    for begin, end in _statements(tokens):
        yield from _declaration(tokens[begin:end - (tokens[end - 1].key == ";")], part)


def _statements(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Begin and end of what a `;` ends, which belongs to it, or an END_STRUCT without one."""
    begin = 0
    for at, depth in enumerate(_depths(tokens)):
        key, behind = tokens[at].key, tokens[at + 1].key if at + 1 < len(tokens) else ""
        if not depth and (key == ";" or (key == "END_STRUCT" and behind != ";")):
            yield begin, at + 1
            begin = at + 1


def _declaration(tokens: Sequence[Token], part: _Part) -> Iterator[_Variable]:
    colon = next((at for at, one in enumerate(tokens) if one.key == ":"), None)
    if colon is None:
        if tokens:
            raise NotWritable(f"line {part.line}: a declaration of {part.name} has no type")
        return
    address = next((one.text for one in tokens[:colon] if one.kind == "address"), "")
    assign = next((at for at, depth in enumerate(_depths(tokens)) if tokens[at].key == ":=" and not depth), len(tokens))
    for one in tokens[:colon]:
        if one.kind == "name":
            yield _Variable(one.text.strip('#"'), list(tokens[colon + 1:assign]), _join(tokens[assign + 1:]), address)


def _depths(tokens: Sequence[Token]) -> Iterator[int]:
    """How many brackets and structures are open behind each token."""
    depth = 0
    for one in tokens:
        depth += (one.key in ("STRUCT", "(", "[")) - (one.key in ("END_STRUCT", ")", "]"))
        yield depth


def _join(tokens: Sequence[Token]) -> str:
    return re.sub(r" ?([()\[\],.]) ?", r"\1", " ".join(one.text for one in tokens)).replace(",", ", ")


def _add_type(parent: ElementTree.Element, tokens: Sequence[Token], part: _Part) -> None:
    key = tokens[0].key.upper() if tokens else ""
    if add := _TYPES.get(key):
        add(parent, tokens, part)
    elif len(tokens) == 1 and key in _ELEMENTARY:
        _add(parent, key)
    elif len(tokens) > 1 and tokens[1].key == "(" and any(one.key == ".." for one in tokens):
        _add_subrange(parent, tokens, part)
    elif key not in _REFERENCES and all(one.kind == "name" or one.key == "." for one in tokens):
        _add(parent, "derived", name="".join(one.text.strip('"') for one in tokens))
    else:
        raise NotWritable(f"line {part.line}: the type `{_join(tokens)}` of {part.name or 'a variable'} has no place "
                          "in PLCopen XML; write TwinCAT's objects instead")


def _add_text_type(parent: ElementTree.Element, tokens: Sequence[Token], _: _Part) -> None:
    length = {"length": _join(tokens[2:-1])} if len(tokens) > 1 else {}
    _add(parent, tokens[0].key.lower(), **length)


def _add_struct(parent: ElementTree.Element, tokens: Sequence[Token], part: _Part) -> None:
    struct = _add(parent, "struct")
    for one in _declarations(tokens[1:-1], part):
        _add_variable(struct, one, part)


def _add_variable(parent: ElementTree.Element, one: _Variable, part: _Part) -> None:
    variable = _add(parent, "variable", name=one.name, **({"address": one.address} if one.address else {}))
    _add_type(_add(variable, "type"), one.type, part)
    _add_value(variable, one.initial)


def _add_array(parent: ElementTree.Element, tokens: Sequence[Token], part: _Part) -> None:
    close = next((at for at, one in enumerate(tokens) if one.key == "OF"), len(tokens) - 1)
    array = _add(parent, "array")
    for bounds in _join(tokens[2:close - 1]).split(","):
        low, _, high = bounds.partition("..")
        _add(array, "dimension", lower=low.strip(), upper=high.strip())
    _add_type(_add(array, "baseType"), tokens[close + 1:], part)


def _add_values(parent: ElementTree.Element, tokens: Sequence[Token], _part: _Part) -> None:
    values = _add(_add(parent, "enum"), "values")
    for text in _join(tokens[1:next(at for at, one in enumerate(tokens) if one.key == ")")]).split(","):
        name, _, number = text.partition(":=")
        _add(values, "value", name=name.strip(), **({"value": number.strip()} if number else {}))


def _add_subrange(parent: ElementTree.Element, tokens: Sequence[Token], part: _Part) -> None:
    low, _, high = _join(tokens[2:-1]).partition("..")
    kind = "subrangeUnsigned" if tokens[0].key.upper().startswith("U") else "subrangeSigned"
    held = _add(parent, kind)
    _add(held, "range", lower=low.strip(), upper=high.strip())
    _add_type(_add(held, "baseType"), tokens[:1], part)


def _add_value(parent: ElementTree.Element, initial: str) -> None:
    if initial:
        _add(_add(parent, "initialValue"), "simpleValue", value=initial)


_REFERENCES = ("POINTER", "REFERENCE", "REF_TO")
_TYPES = {"STRING": _add_text_type, "WSTRING": _add_text_type, "ARRAY": _add_array, "STRUCT": _add_struct,
          "(": _add_values}
