"""What a container holds: pieces of text for the reader, each with its place in the file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from chatdev.departments.plc.source_file import SourceText, tell_file
from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Diagnostic
from chatdev.departments.plc.xml_tree import Element

GRAPHICAL = ("LD", "FBD", "SFC", "IL", "CFC", "NWL")


@dataclass(frozen=True, slots=True)
class Piece:
    """A text with the place of its first character in the file. `title` says in which part of its tool's editor it
    stands, with lines counted from 1 there; a `made` text is not in the file: all of it stands for that place."""

    text: str
    line: int = 1
    column: int = 1
    title: str = ""
    made: bool = False
    jumps: tuple[tuple[int, int, int], ...] = ()
    """Where the file's columns are others (see `Element.jumps`)."""


@dataclass(slots=True)
class Container:
    """What a file holds: pieces of text, notes on what is not read, names of units whose body is not (written in a
    graphical language), and what tasks run."""

    pieces: list[Piece] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    graphical: list[str] = field(default_factory=list)
    tests: list[tuple[str, Piece]] = field(default_factory=list)
    """The names and texts of TEST blocks (`unit_tests.py`)."""
    tasks: list[tuple[str, int | None, int | None]] = field(default_factory=list)
    """The programs that tasks run, in their order, the milliseconds from scan to scan, and the priority."""
    written: SourceText | None = None
    """Of a file of plain text, as it stands there."""

    def note(self, code: str, place: Element | Span, **facts: object) -> None:
        """Say something of a place in the file."""
        self.notes.append(tell_file(code, place if isinstance(place, Span) else place.span, **facts))


def add_text(element: Element | None, title: str, found: Container) -> None:
    """Put an element's text behind what is there."""
    if element is not None and element.text.strip():
        found.pieces.append(Piece(plain_lines(element.text), element.line, element.column, title,
                                  jumps=tuple(element.jumps)))


def add_made(text: str, element: Element, found: Container) -> None:
    """Put a text that the file does not hold there; it stands for the element."""
    found.pieces.append(Piece(text, element.line, element.column, made=True))


def add_end(word: str, found: Container) -> None:
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


def note_graphical(language: str, name: str, place: Element, found: Container) -> None:
    """Say that a body is not in Structured Text."""
    found.graphical.append(name)
    found.note("graphical", place, name=name, language=language if language in GRAPHICAL else "another language")


_UNIT = re.compile(r"\b(PROGRAM|FUNCTION_BLOCK|FUNCTION|INTERFACE)\b", re.IGNORECASE)
_APART = re.compile(r"\(\*.*?\*\)|//[^\n]*|\{[^{}]*\}|/\*.*?\*/", re.DOTALL)


def unit_word(declaration: str) -> str | None:
    """The word that a unit's declarations begin with; None if there is none."""
    found = _UNIT.search(_APART.sub(" ", declaration))
    return found[1].upper() if found else None


def begins_with(declaration: str, word: str) -> bool:
    """Whether declarations begin with this word, behind comments and pragmas."""
    return _APART.sub(" ", declaration).upper().split(None, 1)[:1] == [word]


def plain_lines(text: str) -> str:
    """The text with line ends of one kind."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
