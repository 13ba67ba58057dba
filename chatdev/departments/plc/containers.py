"""Files in which engineering tools keep Structured Text: TwinCAT objects, PLCopen XML (TC6 2.01), CODESYS 2.3 exports,
or plain text. What they hold is one text for the reader, with each line's place in the file.

XML is read by expat: a document type is refused, so that no entity is ever expanded; size and depth have limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from chatdev.departments.plc.source_file import SourceText, decode_source
from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Diagnostic, Findings

MOST_BYTES = 20_000_000
"""Of one file."""
_MOST_DEPTH = 200
_MOST_ELEMENTS = 500_000
_XML = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:[?!]|[A-Za-z_])")
_PLCOPEN = "plcopen.org"
_MSBUILD = "schemas.microsoft.com/developer/msbuild"
_START = Span(1, 1, 1, 1)
_GRAPHICAL = ("LD", "FBD", "SFC", "IL", "CFC", "NWL")


class WrongContainer(ValueError):
    """A file is no container that can be read; the diagnostic says what it is, where, and what to do."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass(frozen=True, slots=True)
class Piece:
    """A text with the place of its first character in the file. `title` says in which part of its tool's editor it
    stands, with lines counted from 1 there; a `made` text is not in the file: all of it stands for that place."""

    text: str
    line: int = 1
    column: int = 1
    title: str = ""
    made: bool = False


@dataclass(slots=True)
class Container:
    """What a file holds: pieces of text, notes on what is not read, names of units whose body is not (written in a
    graphical language), and what it says of the task (milliseconds from scan to scan, and what runs)."""

    pieces: list[Piece] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    graphical: list[str] = field(default_factory=list)
    tests: list[tuple[str, Piece]] = field(default_factory=list)
    """The names and texts of TEST blocks (`unit_tests.py`)."""
    cycle_ms: int | None = None
    entry: str = ""
    written: SourceText | None = None
    """Of a file of plain text, as it stands there."""

    def note(self, code: str, place: Element | Span, **facts: object) -> None:
        """Say something of a place in the file."""
        span = place if isinstance(place, Span) else Span(place.line, place.column, place.line, place.column)
        self.notes.append(_tell(code, span, **facts))


@dataclass(slots=True)
class Element:
    """An element of XML by its local name, with the place of its text (else of itself)."""

    name: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list[Element] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    starts: bool = False

    @property
    def text(self) -> str:
        """Its own characters."""
        return "".join(self.parts)

    def find(self, *path: str) -> Element | None:
        """The first element of this path below it."""
        found: Element | None = self
        for name in path:
            found = next((one for one in found.children if one.name == name), None) if found else None
        return found

    def all(self, *names: str) -> list[Element]:
        """Its children of these names."""
        return [one for one in self.children if one.name in names]

    def below(self, *names: str) -> Iterator[Element]:
        """All of these names below it, in their order."""
        for one in self.children:
            if one.name in names:
                yield one
            yield from one.below(*names)


def read_container(data: bytes, name: str) -> Container:
    """What a file of this name holds. Raises WrongContainer, and NoText for bytes that are no text."""
    if len(data) > MOST_BYTES:
        raise WrongContainer(_tell("file-too-long", most=MOST_BYTES // 1_000_000))
    if is_xml(data):
        root, namespace = read_xml(data)
        if root.name == "TcPlcObject":
            return _read_twincat(root)
        if root.name == "project" and _PLCOPEN in namespace:
            return _read_plcopen(root)
        raise WrongContainer(_tell("foreign-xml", root=root.name[:80], is_project=_MSBUILD in namespace))
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
        if block["test"] is None:
            return block[0]
        line, at = text.count("\n", 0, block.start("body")) + 1, block.start("body")
        found.tests.append((block["test"], Piece(block["body"], line, at - text.rfind("\n", 0, at))))
        return "\n" * block[0].count("\n")

    return _TEST.sub(take, text) if "END_TEST" in text.upper() else text


_TEST = re.compile(r"\(\*.*?\*\)|//[^\n]*"
                   r"|^[ \t]*TEST[ \t]+'(?P<test>(?:\$.|[^'$\n])*)'(?P<body>.*?)\bEND_TEST\b[ \t]*;?",
                   re.IGNORECASE | re.DOTALL | re.MULTILINE)


def is_xml(data: bytes) -> bool:
    """Whether the bytes begin as XML does."""
    head = data[:400]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.decode("utf-16", "ignore").encode()
    return bool(_XML.match(head))


def read_xml(data: bytes) -> tuple[Element, str]:
    """The root of a document, and the names of its namespaces. Raises WrongContainer."""
    return _XmlReader().read(data)


class _XmlReader:
    """A tree with the places of texts."""

    def __init__(self) -> None:
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = False
        parser.StartElementHandler = self._open
        parser.EndElementHandler = self._close
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartCdataSectionHandler = self._open_text
        self._open_elements: list[Element] = []
        self._root: Element | None = None
        self._namespaces: list[str] = []
        self._count = 0

    def read(self, data: bytes) -> tuple[Element, str]:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            place = Span(error.lineno, error.offset + 1, error.lineno, error.offset + 1)
            raise WrongContainer(_tell("broken-xml", place, why=expat.errors.messages[error.code])) from None
        except (LookupError, ValueError) as error:  # an encoding that expat does not know
            if isinstance(error, WrongContainer):
                raise
            raise WrongContainer(_tell("broken-xml", why=str(error)[:200])) from None
        assert self._root is not None
        return self._root, " ".join(self._namespaces)

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open_elements) == _MOST_DEPTH or self._count > _MOST_ELEMENTS:
            raise WrongContainer(_tell("large-xml", self._place, depth=_MOST_DEPTH, most=_MOST_ELEMENTS))
        own = {key: value for key, value in attributes.items() if not key.startswith("xmlns")}
        if self._root is None:
            self._namespaces = [value for key, value in attributes.items() if key.startswith("xmlns")]
        place = self._place
        element = Element(name.rpartition(":")[2], own, place.line, place.column)
        if self._open_elements:
            self._open_elements[-1].children.append(element)
        else:
            self._root = element
        self._open_elements.append(element)

    def _close(self, _name: str) -> None:
        self._open_elements.pop()

    def _open_text(self) -> None:
        element = self._open_elements[-1]
        if not element.text.strip():  # blanks before `<![CDATA[` are no text
            element.parts, element.starts = [], True
            element.line, element.column = self._place.line, self._place.column + len("<![CDATA[")

    def _characters(self, text: str) -> None:
        element = self._open_elements[-1]
        if not element.parts and not element.starts:
            element.starts = True
            element.line, element.column = self._place.line, self._place.column
        element.parts.append(text)

    def _refuse(self, *_: object) -> None:
        raise WrongContainer(_tell("document-type", self._place))

    @property
    def _place(self) -> Span:
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        return Span(line, column, line, column)


def _tell(code: str, span: Span = _START, **facts: object) -> Diagnostic:
    findings = Findings()
    findings.report(code, span, None, **facts)
    return findings.in_order()[0]


# TwinCAT: an object a file, its texts in CDATA.


def _read_twincat(root: Element) -> Container:
    found = Container()
    for one in root.children:
        name = one.attributes.get("Name", "")
        if one.name in ("POU", "Itf"):
            _read_object(one, name, found)
        elif one.name == "DUT":
            _add(one.find("Declaration"), "", found)
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
    word = _unit_word(declaration.text if declaration else "")
    _add(declaration, "declaration", found)
    if word is None:
        found.note("no-unit", pou, name=name)
        return
    for part in pou.all("Method", "Property", "Action"):
        _read_part(part, name, found)
    for part in (one for folder in pou.all("Folder") for one in folder.all("Method", "Property", "Action")):
        _read_part(part, name, found)
    _add_body(pou, name, "body", found)
    _end(f"END_{word}", found)


def _read_part(part: Element, owner: str, found: Container) -> None:
    name = part.attributes.get("Name", "")
    if part.name == "Action":
        found.pieces.append(Piece(f"ACTION {name}:\n", part.line, part.column, made=True))
        _add_body(part, f"{owner}.{name}", name, found)
        _end("END_ACTION", found)
        return
    _add(part.find("Declaration"), f"{name}, declaration", found)
    if part.name == "Method":
        _add_body(part, f"{owner}.{name}", name, found)
        _end("END_METHOD", found)
        return
    for accessor in part.all("Get", "Set"):
        word = accessor.name.upper()
        found.pieces.append(Piece(f"{word}\n", accessor.line, accessor.column, made=True))
        _add(accessor.find("Declaration"), f"{name}.{accessor.name}, declaration", found)
        _add_body(accessor, f"{owner}.{name}", f"{name}.{accessor.name}", found)
        _end(f"END_{word}", found)
    _end("END_PROPERTY", found)


def _add(element: Element | None, title: str, found: Container) -> None:
    if element is not None and element.text.strip():
        found.pieces.append(Piece(_lines(element.text), element.line, element.column, title))


def _add_body(owner: Element, name: str, title: str, found: Container) -> None:
    implementation = owner.find("Implementation")
    if implementation is None:
        return
    if (text := implementation.find("ST")) is not None:
        _add(text, title, found)
    elif implementation.children:
        _note_graphical(implementation.children[0].name, name, implementation, found)


def _note_graphical(language: str, name: str, place: Element, found: Container) -> None:
    found.graphical.append(name)
    found.note("graphical", place, name=name, language=language if language in _GRAPHICAL else "another language")


def _add_globals(gvl: Element, name: str, found: Container) -> None:
    found.pieces.append(Piece(f"NAMESPACE {name}\n", gvl.line, gvl.column, made=True))
    _add(gvl.find("Declaration"), "", found)
    _end("END_NAMESPACE", found)


def _end(word: str, found: Container) -> None:
    """The end that the container does not write stands where the text before it ends."""
    last = found.pieces[-1] if found.pieces else Piece("")
    line, column = end_of(last)
    found.pieces.append(Piece(f"\n{word}\n", line, column, last.title, made=True))


def end_of(piece: Piece) -> tuple[int, int]:
    """Line and column behind a piece."""
    if piece.made:
        return piece.line, piece.column
    lines = piece.text.count("\n")
    last = len(piece.text) - piece.text.rfind("\n") if lines else piece.column + len(piece.text)
    return piece.line + lines, last


_UNIT = re.compile(r"\b(PROGRAM|FUNCTION_BLOCK|FUNCTION|INTERFACE)\b", re.IGNORECASE)
_APART = re.compile(r"\(\*.*?\*\)|//[^\n]*|\{[^{}]*\}|/\*.*?\*/", re.DOTALL)


def _unit_word(declaration: str) -> str | None:
    found = _UNIT.search(_APART.sub(" ", declaration))
    return found[1].upper() if found else None


def _read_task(task: Element, found: Container) -> None:
    """A task's cycle stands in microseconds there."""
    cycle, call = task.find("CycleTime"), task.find("PouCall", "Name")
    if cycle is not None and cycle.text.strip().isdigit() and 0 < int(cycle.text) < 10 ** 10:
        found.cycle_ms = max(1, int(cycle.text) // 1000)
    found.entry = call.text.strip() if call is not None else ""


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


# PLCopen XML, TC6 2.01: declarations are elements, of which text is made; bodies are text.

_POU_WORDS = {"function": "FUNCTION", "functionBlock": "FUNCTION_BLOCK", "program": "PROGRAM"}
_SECTIONS = {"inputVars": "VAR_INPUT", "outputVars": "VAR_OUTPUT", "inOutVars": "VAR_IN_OUT", "localVars": "VAR",
             "tempVars": "VAR_TEMP", "externalVars": "VAR_EXTERNAL", "globalVars": "VAR_GLOBAL"}
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def _read_plcopen(root: Element) -> Container:
    found = Container()
    for one in root.below("dataType"):
        if (base := one.find("baseType")) is not None:
            _make(f"TYPE {_name(one)} : {_type(base, found)}{_initial(one)}; END_TYPE\n", one, found)
    for one in root.below("globalVars"):
        name = one.attributes.get("name", "")
        if name:
            _make(f"NAMESPACE {_name(one)}\n", one, found)
        _add_section(one, found)
        if name:
            _end("END_NAMESPACE", found)
    for pou in root.below("pou"):
        _read_pou(pou, found)
    for task in root.below("task"):
        _read_interval(task, found)
    return found


def _read_pou(pou: Element, found: Container) -> None:
    name, word = _name(pou), _POU_WORDS.get(pou.attributes.get("pouType", ""), "FUNCTION_BLOCK")
    plain = next(pou.below("InterfaceAsPlainText"), None)
    written = next(plain.below("xhtml", "p"), None) if plain else None
    if written is not None and _unit_word(written.text):
        _add(written, "declaration", found)
    else:
        _read_interface(word, pou, found)
    for part in pou.below("Method"):
        _read_method(part, name, found)
    for part in pou.below("action"):
        _make(f"ACTION {_name(part)}:\n", part, found)
        _add_code(part.find("body"), f"{name}.{_name(part)}", _name(part), found)
        _end("END_ACTION", found)
    _add_code(pou.find("body"), name, "body", found)
    _end(f"END_{word}", found)


def _read_interface(word: str, owner: Element, found: Container) -> None:
    """The head of a unit or method, and its variables."""
    interface = owner.find("interface")
    result = interface.find("returnType") if interface else None
    _make(f"{word} {_name(owner)}{f' : {_type(result, found)}' if result else ''}\n", owner, found)
    for section in (interface.children if interface else ()):
        if section.name in _SECTIONS:
            _add_section(section, found)


def _read_method(method: Element, owner: str, found: Container) -> None:
    _read_interface("METHOD", method, found)
    _add_code(method.find("body"), f"{owner}.{_name(method)}", _name(method), found)
    _end("END_METHOD", found)


def _add_code(body: Element | None, name: str, title: str, found: Container) -> None:
    if body is None:
        return
    if (code := body.find("ST")) is not None:
        _add(next(code.below("p", "xhtml"), code), title, found)
        return
    language = next((one.name for one in body.children if one.name in _GRAPHICAL), "")
    if language:
        _note_graphical(language, name, body, found)


def _add_section(section: Element, found: Container) -> None:
    flags = [flag.upper() for flag in ("constant", "retain", "persistent") if section.attributes.get(flag) == "true"]
    _make(" ".join([_SECTIONS[section.name], *flags]) + "\n", section, found)
    for one in section.all("variable"):
        kind = one.find("type")
        address = one.attributes.get("address", "")
        at = f" AT {address}" if re.fullmatch(r"%[\w.*]+", address) else ""
        _make(f"  {_name(one)}{at} : {_type(kind, found) if kind else 'INT'}{_initial(one)};\n", one, found)
    _make("END_VAR\n", section, found)


def _make(text: str, element: Element, found: Container) -> None:
    found.pieces.append(Piece(text, element.line, element.column, made=True))


def _name(element: Element) -> str:
    """The name of what is declared; what is none is refused, as it would be read as something else."""
    name = element.attributes.get("name", "")
    if not _NAME.fullmatch(name):
        raise WrongContainer(_tell("wrong-xml-name", Span(element.line, element.column, element.line, element.column),
                                   name=name[:80], element=element.name))
    return name


def _type(holder: Element, found: Container) -> str:
    """The type that an element holds, as text."""
    kind = next(iter(holder.children), None)
    if kind is None:
        raise WrongContainer(_tell("no-xml-type", Span(holder.line, holder.column, holder.line, holder.column)))
    make = _TYPES.get(kind.name)
    return make(kind, found) if make else kind.name.upper()


def _array(kind: Element, found: Container) -> str:
    bounds = ", ".join(f"{_plain(one, 'lower')}..{_plain(one, 'upper')}" for one in kind.all("dimension"))
    return f"ARRAY[{bounds}] OF {_base(kind, found)}"


def _base(kind: Element, found: Container) -> str:
    base = kind.find("baseType")
    return _type(base, found) if base else "INT"


def _text_type(kind: Element, _: Container) -> str:
    length = _plain(kind, "length")
    return f"{kind.name.upper()}[{length}]" if length else kind.name.upper()


def _subrange(kind: Element, found: Container) -> str:
    limits = kind.find("range")
    return f"{_base(kind, found)} ({_plain(limits, 'lower')}..{_plain(limits, 'upper')})" if limits else _base(
        kind, found)


def _enumeration(kind: Element, _: Container) -> str:
    values = [(_name(one), _plain(one, "value")) for one in kind.below("value") if "name" in one.attributes]
    return f"({', '.join(f'{name} := {value}' if value else name for name, value in values)})"


def _structure(kind: Element, found: Container) -> str:
    parts = [f"{_name(one)} : {_type(held, found)}{_initial(one)};" for one in kind.all("variable")
             if (held := one.find("type"))]
    return f"STRUCT {' '.join(parts)} END_STRUCT"


def _type_name(kind: Element, _: Container) -> str:
    return _name(kind)


def _pointer(kind: Element, found: Container) -> str:
    return f"POINTER TO {_base(kind, found)}"


_TYPES: dict[str, Callable[[Element, Container], str]] = {
    "array": _array, "derived": _type_name, "string": _text_type, "wstring": _text_type, "enum": _enumeration,
    "subrangeSigned": _subrange, "subrangeUnsigned": _subrange, "struct": _structure, "pointer": _pointer}


def _plain(element: Element, attribute: str) -> str:
    """A value on one line, which ends nothing."""
    value = element.attributes.get(attribute, "")
    if not re.fullmatch(r"[^;\n\r]{0,1000}", value):
        raise WrongContainer(_tell("wrong-xml-name", Span(element.line, element.column, element.line, element.column),
                                   name=value[:80], element=element.name))
    return value


def _initial(holder: Element) -> str:
    value = holder.find("initialValue")
    return f" := {_value(value)}" if value and value.children else ""


def _value(holder: Element) -> str:
    """`simpleValue`, `arrayValue` or `structValue`, as text."""
    kind = holder.children[0]
    if kind.name == "simpleValue":
        return _plain(kind, "value")
    parts = []
    for one in kind.all("value"):
        text = _value(one) if one.children else ""
        if kind.name == "structValue":
            parts.append(f"{_plain(one, 'member')} := {text}")
        else:
            count = one.attributes.get("repetitionValue", "1")
            parts.append(text if count == "1" else f"{_plain(one, 'repetitionValue')}({text})")
    return f"({', '.join(parts)})" if kind.name == "structValue" else f"[{', '.join(parts)}]"


def _read_interval(task: Element, found: Container) -> None:
    from chatdev.departments.plc.st.tokens import BadLiteral, read_time

    try:
        type_, milliseconds = read_time(task.attributes.get("interval", ""))
    except (BadLiteral, ValueError, LookupError):
        return
    if milliseconds > 0 and type_ == "TIME":
        found.cycle_ms = found.cycle_ms or int(milliseconds)
    for one in task.below("pouInstance"):
        found.entry = found.entry or one.attributes.get("typeName", "")


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
