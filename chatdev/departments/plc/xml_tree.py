"""XML with the places of its texts, read by expat: a document type is refused, so that no entity is ever expanded; size
and depth have limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from chatdev.departments.plc.source_file import tell_file
from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Diagnostic

_MOST_DEPTH = 200
_MOST_ELEMENTS = 500_000
_XML = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:[?!]|[A-Za-z_])")


class WrongContainer(ValueError):
    """A file is no container that can be read; the diagnostic says what it is, where, and what to do."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


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
    jumps: list[tuple[int, int, int]] = field(default_factory=list)
    """Where columns of the file are others than of the text, as behind `&lt;`: the text's line (from 0), its column
    (from 0), and how many more there are from there to the line's end."""
    reached: tuple[int, int, int] = (0, 0, 0)
    """Line and column that the text has come to, and how many columns more the file has."""

    @property
    def span(self) -> Span:
        """Its place."""
        return Span(self.line, self.column, self.line, self.column)

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
            raise WrongContainer(tell_file("broken-xml", place, why=expat.errors.messages[error.code])) from None
        except (LookupError, ValueError) as error:  # an encoding that expat does not know
            if isinstance(error, WrongContainer):
                raise
            raise WrongContainer(tell_file("broken-xml", why=str(error)[:200])) from None
        assert self._root is not None
        return self._root, " ".join(self._namespaces)

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open_elements) == _MOST_DEPTH or self._count > _MOST_ELEMENTS:
            raise WrongContainer(tell_file("large-xml", self._place, depth=_MOST_DEPTH, most=_MOST_ELEMENTS))
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
            element.parts, element.starts, element.jumps, element.reached = [], True, [], (0, 0, 0)
            element.line, element.column = self._place.line, self._place.column + len("<![CDATA[")

    def _characters(self, text: str) -> None:
        element = self._open_elements[-1]
        if not element.parts and not element.starts:
            element.starts = True
            element.line, element.column = self._place.line, self._place.column
        element.parts.append(text)
        line, column, more = element.reached
        found = self._place.column - column - (1 if line else element.column)
        if found != more:
            element.jumps.append((line, column, found))
        lines = text.count("\n")
        element.reached = (line + lines, len(text) - text.rfind("\n") - 1, 0) if lines else (
            line, column + len(text), found)

    def _refuse(self, *_: object) -> None:
        raise WrongContainer(tell_file("document-type", self._place))

    @property
    def _place(self) -> Span:
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        return Span(line, column, line, column)
