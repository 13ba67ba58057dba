"""A program in Structured Text as files of engineering tools: TwinCAT objects, or PLCopen XML (TC6 2.01).

What the reader of containers (`containers.py`) makes of the files is the same program. What PLCopen's schema has no
element for – methods, properties, interfaces, EXTENDS, PRIVATE and the like – stands in its `addData`, by the names
that CODESYS and TwinCAT give them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from uuid import UUID, uuid5
from xml.etree import ElementTree

from chatdev.departments.plc.source_parts import (
    ACCESS,
    NotWritable,
    Part,
    depths_of,
    split_parts,
    statements_of,
    tokens_of,
)
from chatdev.departments.plc.st.diagnostics import Findings
from chatdev.departments.plc.st.parse_unit import parse_source
from chatdev.departments.plc.st.syntax import Literal
from chatdev.departments.plc.st.tokens import Token

_SECTIONS = {"VAR_INPUT": "inputVars", "VAR_OUTPUT": "outputVars", "VAR_IN_OUT": "inOutVars", "VAR": "localVars",
             "VAR_TEMP": "tempVars", "VAR_EXTERNAL": "externalVars", "VAR_STAT": "localVars",
             "VAR_INST": "localVars", "VAR_GLOBAL": "globalVars"}
_POU_TYPES = {"PROGRAM": "program", "FUNCTION_BLOCK": "functionBlock", "FUNCTION": "function"}
_FLAGS = ("CONSTANT", "RETAIN", "PERSISTENT")
_PASSED = (*ACCESS, "NON_RETAIN")
_ELEMENTARY = ("BOOL", "BYTE", "WORD", "DWORD", "LWORD", "SINT", "INT", "DINT", "LINT", "USINT", "UINT", "UDINT",
               "ULINT", "REAL", "LREAL", "TIME", "DATE", "DT", "TOD")
_NAMESPACE = UUID("6f1c4f0e-3d0b-5b61-9b0e-6a2c6d1f7a10")
_TC6 = "http://www.plcopen.org/xml/tc6_0201"
_XHTML = "http://www.w3.org/1999/xhtml"
_VENDOR = "http://www.3s-software.com/plcopenxml"
_FILES = {"TYPE": ("DUT", "TcDUT"), "VAR_GLOBAL": ("GVL", "TcGVL"), "INTERFACE": ("Itf", "TcIO")}


def write_twincat(source: str, entry: str = "", cycle_ms: int | None = None) -> dict[str, str]:
    """TwinCAT's objects by the names of their files, with the task that calls the entry where there is one. Raises
    NotWritable."""
    found = dict[str, str]()
    for part in _join_lists(split_parts(source)):
        kind, ending = _FILES.get(part.word, ("POU", "TcPOU"))
        found[f"{part.name}.{ending}"] = _object_file(_write_object(kind, part, part.name, 2))
    for number, (program, milliseconds) in enumerate(_tasks_of(source, entry, cycle_ms)):
        task = f"PlcTask{number or ''}"
        found[f"{task}.TcTTO"] = _object_file(
            f'  <Task Name="{task}" Id="{_identity(task)}">\n'
            f"    <CycleTime>{milliseconds * 1000}</CycleTime>\n    <Priority>{20 + number}</Priority>\n"
            f"    <PouCall>\n      <Name>{program}</Name>\n    </PouCall>\n  </Task>\n")
    return found


def write_plcopen(source: str, name: str, entry: str = "", cycle_ms: int | None = None) -> str:
    """PLCopen XML with all of a program, whose task runs the entry. Raises NotWritable."""
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
    parts = split_parts(source)
    for number, (program, milliseconds) in enumerate(_tasks_of(source, entry, cycle_ms)):
        task = _add(resource, "task", name=f"task{number}", interval=f"T#{milliseconds}ms", priority=str(number))
        _add(task, "pouInstance", name=f"instance{number}", typeName=program)
    for part in parts:
        if part.word == "TYPE":
            _add_data_type(data_types, part)
        elif part.word == "VAR_GLOBAL":
            _add_sections(resource, part, {"name": part.name} if part.name else {})
        elif part.word != "INTERFACE":
            _add_pou(pous, part)
    for part in parts:
        if part.word == "INTERFACE":
            _add_interface(root, part)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


# TwinCAT's objects.


def _join_lists(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts, with one list of global variables of each name; one without a name is given one."""
    lists: dict[str, Part] = {}
    for number, part in enumerate(parts):
        if part.word != "VAR_GLOBAL":
            yield part
            continue
        name = part.name or f"GVL_{number}"
        before = f"{lists[name].head}\n" if name in lists else ""
        lists[name] = replace(part, name=name, head=before + part.head)
    yield from lists.values()


def _object_file(inside: str) -> str:
    return f'<?xml version="1.0" encoding="utf-8"?>\n<TcPlcObject Version="1.1.0.1">\n{inside}</TcPlcObject>\n'


def _write_object(kind: str, part: Part, path: str, depth: int) -> str:
    """A unit, or a member of one, whose identity follows from its path."""
    pad, members = " " * depth, part.members
    declaration = "" if part.word == "ACTION" else f"{pad}  <Declaration>{_cdata(part.head)}</Declaration>\n"
    has_body = kind not in ("DUT", "GVL", "Itf", "Property") and not path.startswith("interface ")
    body = (f"{pad}  <Implementation>\n{pad}    <ST>{_cdata(part.body)}</ST>\n{pad}  </Implementation>\n"
            if has_body else "")
    inner = "".join(_write_object(one.word.capitalize(), one, f"{'interface ' * (kind == 'Itf')}{path}.{one.name}",
                                  depth + 2) for one in members)
    return (f'{pad}<{kind} Name="{part.name}" Id="{_identity(path)}">\n{declaration}{body}{inner}{pad}</{kind}>\n')


def _identity(path: str) -> str:
    return f"{{{uuid5(_NAMESPACE, path)}}}"


def _cdata(text: str) -> str:
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


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


def _tasks_of(source: str, entry: str, cycle_ms: int | None) -> list[tuple[str, int]]:
    """The programs that tasks run, and the milliseconds from scan to scan: as the source says, else the entry."""
    tasks = parse_source(source, Findings()).tasks
    found = [(one.program.text, int(one.interval.value) if isinstance(one.interval, Literal)
              and one.interval.type == "TIME" else cycle_ms or 100) for one in tasks]
    return found or ([(entry, cycle_ms or 100)] if entry else [])


def _add_data_type(data_types: ElementTree.Element, part: Part) -> None:
    tokens = tokens_of(part.head)[1:-1]
    colon = next((at for at, one in enumerate(tokens) if one.key == ":"), 0)
    head = _read_head(tokens_of(f"TYPE {_join(tokens[:colon])}"))
    for declared in _declarations(tokens[colon - 1:], part):
        held = _add(data_types, "dataType", name=part.name)
        _add_type(_add(held, "baseType"), declared.type, part)
        _add_value(held, declared.initial)
        if head.extends:
            inheritance = _add(_add_data(_add(held, "addData"), "datatypeinheritance"), "Inheritance")
            _add(inheritance, "Extends").text = head.extends[0]


def _add_pou(pous: ElementTree.Element, part: Part) -> None:
    pou = _add(pous, "pou", name=part.name, pouType=_POU_TYPES[part.word])
    _add_head(pou, part)
    if actions := [one for one in part.members if one.word == "ACTION"]:
        held = _add(pou, "actions")
        for one in actions:
            _add_body(_add(held, "action", name=one.name), one)
    _add_body(pou, part)
    more = _add(pou, "addData")
    for one in part.members:
        if one.word != "ACTION":
            _add_member(_add_data(more, one.word.lower()), one)
    _add_text(more, part)


def _add_interface(root: ElementTree.Element, part: Part) -> None:
    held = _add(_add_data(_find_or_add(root, "addData"), "interface"), "Interface", name=part.name)
    for word, name in (("METHOD", "Methods"), ("PROPERTY", "Properties")):
        if members := [one for one in part.members if one.word == word]:
            group = _add(held, name)
            for one in members:
                _add_member(group, one, has_body=False)
    more = _add(held, "addData")
    _add_heritage(more, _read_head(tokens_of(part.head)))
    _add_text(more, part)


def _add_member(parent: ElementTree.Element, part: Part, has_body: bool = True) -> None:
    """A METHOD, or a PROPERTY with its accessors."""
    member = _add(parent, part.word.capitalize(), name=part.name)
    _add_head(member, part)
    for one in part.members:
        accessor = _add(member, f"{one.name}Accessor")
        _add_sections(_add(accessor, "interface"), one)
        if has_body:
            _add_body(accessor, one)
        _add_text(_add(accessor, "addData"), one)
    if has_body and part.word == "METHOD":
        _add_body(member, part)
    _add_text(_add(member, "addData"), part)


def _add_head(owner: ElementTree.Element, part: Part) -> None:
    """The type of the result, the variables, and what the schema has no element for."""
    interface, head = _add(owner, "interface"), _read_head(tokens_of(part.head))
    if head.result:
        _add_type(_add(interface, "returnType"), head.result, part)
    _add_sections(interface, part)
    if head.words or head.extends or head.implements:
        _add_heritage(_add(interface, "addData"), head)


def _add_heritage(more: ElementTree.Element, head: _Head) -> None:
    if head.extends or head.implements:
        inheritance = _add(_add_data(more, "pouinheritance"), "Inheritance")
        for word, names in (("Extends", head.extends), ("Implements", head.implements)):
            for name in names:
                _add(inheritance, word).text = name
    if head.words:
        _add(_add_data(more, "accessmodifiers"), "AccessModifiers", **{one.capitalize(): "true" for one in head.words})


def _add_text(more: ElementTree.Element, part: Part) -> None:
    """The declarations as written, which tell more than the elements: comments, pragmas, arguments of FB_init."""
    held = _add(_add_data(more, "interfaceasplaintext"), "InterfaceAsPlainText")
    ElementTree.SubElement(held, f"{{{_XHTML}}}xhtml").text = part.head


def _add_body(owner: ElementTree.Element, part: Part) -> None:
    ElementTree.SubElement(_add(_add(owner, "body"), "ST"), f"{{{_XHTML}}}p").text = part.body


def _add_data(more: ElementTree.Element, name: str) -> ElementTree.Element:
    return _add(more, "data", name=f"{_VENDOR}/{name}", handleUnknown="implementation")


def _find_or_add(parent: ElementTree.Element, name: str) -> ElementTree.Element:
    found = parent.find(f"{{{_TC6}}}{name}")
    return _add(parent, name) if found is None else found


@dataclass(frozen=True, slots=True)
class _Head:
    """What stands before the variables of a routine."""

    words: Sequence[str]
    extends: Sequence[str]
    implements: Sequence[str]
    result: Sequence[Token]


def _read_head(tokens: Sequence[Token]) -> _Head:
    """Of `FUNCTION_BLOCK ABSTRACT name EXTENDS base IMPLEMENTS a, b` or `METHOD PUBLIC name : type`."""
    end = next((at for at, one in enumerate(tokens) if one.key in _SECTIONS), len(tokens))
    at, names = 1, {"EXTENDS": list[str](), "IMPLEMENTS": list[str]()}
    while at + 1 < end and tokens[at].key.upper() in ACCESS and tokens[at + 1].kind == "name":
        at += 1
    words = [one.key.upper() for one in tokens[1:at]]
    colon = next((number for number in range(at, end) if tokens[number].key == ":"), end)
    here, is_new = list[str](), True
    for one in tokens[at + 1:colon]:
        if one.key.upper() in names:
            here, is_new = names[one.key.upper()], True
        elif one.key == ",":
            is_new = True
        elif is_new:
            here.append(one.text)
            is_new = False
        else:
            here[-1] += one.text
    result = [one for one in tokens[colon + 1:end] if one.key != ";"]
    return _Head(words, names["EXTENDS"], names["IMPLEMENTS"], result)


def _add_sections(parent: ElementTree.Element, part: Part, named: Mapping[str, str] = MappingProxyType({})) -> None:
    tokens = tokens_of(part.head)
    at = 0
    while at < len(tokens):
        if tokens[at].key not in _SECTIONS:
            at += 1
            continue
        word = tokens[at].key
        end = next(number for number in range(at, len(tokens)) if tokens[number].key == "END_VAR")
        begin, flags = at + 1, dict(named)
        while tokens[begin].key.upper() in (*_FLAGS, *_PASSED) and tokens[begin + 1].key not in (":", ","):
            if tokens[begin].key.upper() in _FLAGS:
                flags[tokens[begin].key.lower()] = "true"
            begin += 1
        section = _add(parent, _SECTIONS[word], **flags)
        for one in _declarations(tokens[begin:end], part):
            _add_variable(section, one, part)
        at = end + 1


def _declarations(tokens: Sequence[Token], part: Part) -> Iterator[_Variable]:
    """`a, b AT %X : TYPE := value;`, one for each name."""
    for begin, end in statements_of(tokens):
        yield from _declaration(tokens[begin:end - (tokens[end - 1].key == ";")], part)


def _declaration(tokens: Sequence[Token], part: Part) -> Iterator[_Variable]:
    colon = next((at for at, one in enumerate(tokens) if one.key == ":"), None)
    if colon is None:
        if tokens:
            raise NotWritable(f"line {part.line}: a declaration of {part.name} has no type")
        return
    address = next((one.text for one in tokens[:colon] if one.kind == "address"), "")
    assign = next((at for at, depth in enumerate(depths_of(tokens)) if tokens[at].key == ":=" and not depth),
                  len(tokens))
    for one in tokens[:colon]:
        if one.kind == "name":
            yield _Variable(one.text.strip('#"'), list(tokens[colon + 1:assign]), _join(tokens[assign + 1:]), address)


def _join(tokens: Sequence[Token]) -> str:
    """Tokens as text, with a space where one helps."""
    found = ""
    for one in tokens:
        needs_space = found and found[-1] not in "([.#" and one.key not in ("(", ")", "[", "]", ",", ".", "^")
        found += f" {one.text}" if needs_space else one.text
    return found


def _add_type(parent: ElementTree.Element, tokens: Sequence[Token], part: Part) -> None:
    key = tokens[0].key.upper() if tokens else ""
    if not _is_open(tokens) and (add := _TYPES.get(key)):
        add(parent, tokens, part)
    elif len(tokens) == 1 and key in _ELEMENTARY:
        _add(parent, key)
    elif len(tokens) > 1 and tokens[1].key == "(" and any(one.key == ".." for one in tokens):
        _add_subrange(parent, tokens, part)
    elif _is_path(tokens):
        _add(parent, "derived", name="".join(one.text.strip('"') for one in tokens))
    elif part.word in ("TYPE", "VAR_GLOBAL"):
        raise NotWritable(f"line {part.line}: the type `{_join(tokens)}` of {part.name or 'a variable'} has no place "
                          "in PLCopen XML; write TwinCAT's objects instead")
    else:  # what it is stands in the declarations as written
        _add(parent, "derived", name=_join(tokens))


def _is_open(tokens: Sequence[Token]) -> bool:
    return any(one.key == "*" and before.key in ("[", ",") for before, one in pairwise(tokens))


def _is_path(tokens: Sequence[Token]) -> bool:
    """Whether it is a name, or names with dots between them."""
    return len(tokens) % 2 == 1 and all(one.kind == "name" for one in tokens[::2]) and all(
        one.key == "." for one in tokens[1::2])


def _add_text_type(parent: ElementTree.Element, tokens: Sequence[Token], _: Part) -> None:
    length = {"length": _join(tokens[2:-1])} if len(tokens) > 1 else {}
    _add(parent, tokens[0].key.lower(), **length)


def _add_struct(parent: ElementTree.Element, tokens: Sequence[Token], part: Part) -> None:
    struct = _add(parent, "struct")
    for one in _declarations(tokens[1:-1], part):
        _add_variable(struct, one, part)


def _add_variable(parent: ElementTree.Element, one: _Variable, part: Part) -> None:
    variable = _add(parent, "variable", name=one.name, **({"address": one.address} if one.address else {}))
    _add_type(_add(variable, "type"), one.type, part)
    _add_value(variable, one.initial)


def _add_array(parent: ElementTree.Element, tokens: Sequence[Token], part: Part) -> None:
    close = next((at for at, one in enumerate(tokens) if one.key == "OF"), len(tokens) - 1)
    array = _add(parent, "array")
    for bounds in _join(tokens[2:close - 1]).split(","):
        low, _, high = bounds.partition("..")
        _add(array, "dimension", lower=low.strip(), upper=high.strip())
    _add_type(_add(array, "baseType"), tokens[close + 1:], part)


def _add_pointer(parent: ElementTree.Element, tokens: Sequence[Token], part: Part) -> None:
    _add_type(_add(_add(parent, "pointer"), "baseType"), tokens[2:], part)


def _add_values(parent: ElementTree.Element, tokens: Sequence[Token], _part: Part) -> None:
    values = _add(_add(parent, "enum"), "values")
    for text in _join(tokens[1:next(at for at, one in enumerate(tokens) if one.key == ")")]).split(","):
        name, _, number = text.partition(":=")
        _add(values, "value", name=name.strip(), **({"value": number.strip()} if number else {}))


def _add_subrange(parent: ElementTree.Element, tokens: Sequence[Token], part: Part) -> None:
    low, _, high = _join(tokens[2:-1]).partition("..")
    kind = "subrangeUnsigned" if tokens[0].key.upper().startswith("U") else "subrangeSigned"
    held = _add(parent, kind)
    _add(held, "range", lower=low.strip(), upper=high.strip())
    _add_type(_add(held, "baseType"), tokens[:1], part)


def _add_value(parent: ElementTree.Element, initial: str) -> None:
    if initial:
        _add(_add(parent, "initialValue"), "simpleValue", value=initial)


_TYPES = {"STRING": _add_text_type, "WSTRING": _add_text_type, "ARRAY": _add_array, "STRUCT": _add_struct,
          "(": _add_values, "POINTER": _add_pointer}
