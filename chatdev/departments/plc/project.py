"""Files, folders and project files as one program: what is read, joined to one text, with the place of each line.

A name of one file is known in all. What a library has that is not there is a stub, which makes no verdict.
"""

from __future__ import annotations

import os
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PureWindowsPath
from typing import Literal

from chatdev.departments.plc.container_pieces import Container, Piece, end_of
from chatdev.departments.plc.containers import MOST_BYTES, read_container
from chatdev.departments.plc.source_check import SourceCheck, check_source
from chatdev.departments.plc.source_file import NoText, SourceText, tell_file
from chatdev.departments.plc.st.core import IEC, Dialect, Span
from chatdev.departments.plc.st.diagnostics import Diagnostic, FilePlace, Fix
from chatdev.departments.plc.xml_tree import Element, WrongContainer, read_xml
from chatdev.errors import ConfigError
from chatdev.paths import read_named

ENDINGS = (".st", ".iecst", ".exp", ".scl", ".udt", ".db", ".tcpou", ".tcdut", ".tcgvl", ".tcio", ".tctto", ".xml")
"""Of the files that a folder is searched for."""
_SHARED = {".xml": "plcopen.org/xml", ".db": "DATA_BLOCK", ".udt": "TYPE"}
"""Endings that files of other kinds have, too, and what one with a program has near its begin."""
_PROJECT_ENDING = ".plcproj"
_DIALECTS: dict[Literal["iec", "codesys", "twincat", "siemens"], tuple[str, ...]] = {
    "twincat": (".tcpou", ".tcdut", ".tcgvl", ".tcio"), "siemens": (".scl", ".udt", ".db"), "codesys": (".exp",)}
_COMPILED = (".tcpou", ".tcdut", ".tcgvl", ".tcio", ".tctto")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
MOST_FILES = 20_000
MOST_TEXT = 40_000_000
"""Characters of a program."""


@dataclass(frozen=True, slots=True)
class FileSpan:
    """Where something stands: the file, the place in it, and the part of an editor that the line belongs to."""

    file: Path
    span: Span
    title: str = ""
    line: int = 0
    """The line in that part, from 1."""

    @property
    def remark(self) -> str:
        """The part and the line there, for who sees the file in an editor; empty for plain text."""
        return f"{self.title}, line {self.line}" if self.title else ""


@dataclass(slots=True)
class SourceProject:
    """A program of one or more files. `notes` are what is to be said of files apart
    from their program, `unreadable` those that hold none, `graphical` the units whose body is not read, `libraries`
    the names of libraries that the project file refers to, `cycle_ms` and `entry` what its only task says."""

    files: list[Path] = field(default_factory=list)
    notes: dict[Path, list[Diagnostic]] = field(default_factory=dict)
    unreadable: set[Path] = field(default_factory=set)
    containers: dict[Path, Container] = field(default_factory=dict)
    graphical: list[str] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)
    own: set[Path] = field(default_factory=set)
    """The files that are asked about; others are of libraries."""
    cycle_ms: int | None = None
    entry: str = ""
    _texts: list[str] = field(default_factory=list)
    _lines: int = 0
    _length: int = 0
    _starts: list[int] = field(default_factory=list)
    _pieces: list[tuple[Path, Piece]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What the reader reads."""
        return self._pieces[0][1].text if self.is_plain else "".join(self._texts)

    @property
    def places(self) -> tuple[FilePlace, ...]:
        """What of the text stands in which file; nothing where its lines are those of one file."""
        return () if self.is_plain else tuple(FilePlace(start, str(file), piece.line) for start, (file, piece)
                                              in zip(self._starts, self._pieces, strict=True))

    @property
    def dialect(self) -> Literal["iec", "codesys", "twincat", "siemens"]:
        """Whose language it is, by the endings of its files."""
        endings = {file.suffix.lower() for file in self.files if file in self.own}
        return next((name for name, written in _DIALECTS.items() if endings & {*written}), "iec")

    @property
    def has_tests(self) -> bool:
        """Whether a file has TEST blocks."""
        return any(one.tests for one in self.containers.values())

    @property
    def holds_text(self) -> bool:
        """Whether there is something to read."""
        return bool(self._pieces)

    @property
    def is_plain(self) -> bool:
        """Whether it is one file of plain text, whose lines are the reader's."""
        return len(self._pieces) == 1 and self._pieces[0][1] == Piece(self._pieces[0][1].text)

    def locate(self, span: Span) -> FileSpan:
        """The place of what the reader saw at a span."""
        at = max(0, bisect_right(self._starts, span.line) - 1)
        if not self._pieces:
            return FileSpan(self.files[0] if self.files else Path("-"), span)
        file, piece = self._pieces[at]
        inner = span.line - self._starts[at]
        if piece.made:
            return FileSpan(file, Span(piece.line, piece.column, piece.line, piece.column), piece.title)
        last = end_of(piece)[0]
        first = _shift(span.line, span.column, self._starts[at], piece)
        end = _shift(span.end_line, span.end_column, self._starts[at], piece)
        moved = Span(min(first[0], last), first[1], min(end[0], last), end[1])
        return FileSpan(file, moved, piece.title, inner + 1)

    def find(self, span: Span) -> tuple[Path, Span]:
        """The file of a place, and the place in it."""
        found = self.locate(span)
        return found.file, found.span

    def plain_files(self) -> Iterator[tuple[Path, SourceText]]:
        """The files of plain text that are asked about."""
        for file, container in self.containers.items():
            if container.written is not None and file in self.own:
                yield file, container.written

    def name_line(self, line: int) -> str:
        """What a line of the text is called: its number, with its file where there are several."""
        if self.is_plain:
            return str(line)
        found = self.locate(Span(line, 1, line, 1))
        return f"{found.span.line} of {found.file.name}"

    def place(self, one: Diagnostic) -> tuple[Path, Diagnostic]:
        """A diagnostic of the reader, at its place in its file."""
        found = self.locate(one.span)
        message = f"{one.message} [{found.remark}]" if found.remark else one.message
        return found.file, replace(one, span=found.span, message=message, fix=self._move(one.fix, one.span))

    def _move(self, fix: Fix | None, span: Span) -> Fix | None:
        if fix is None or not self._pieces:
            return fix
        at = max(0, bisect_right(self._starts, span.line) - 1)
        piece = self._pieces[at][1]
        if piece.made:
            return None
        line, column = _shift(fix.line, fix.column, self._starts[at], piece)
        end_line, end_column = _shift(fix.end_line, fix.end_column, self._starts[at], piece)
        return replace(fix, line=line, column=column, end_line=end_line, end_column=end_column)

    def with_pieces(self, file: Path, pieces: Sequence[Piece]) -> SourceProject:
        """The same program with more text of a file behind it."""
        whole = replace(self, files=[*self.files], containers={**self.containers}, notes={**self.notes},
                        _texts=[*self._texts], _starts=[*self._starts], _pieces=[*self._pieces])
        whole._append(file, pieces)
        return whole

    def takes(self, container: Container) -> bool:
        """Whether the program is not too long with this."""
        return self._length + sum(len(piece.text) for piece in container.pieces) <= MOST_TEXT

    def add(self, file: Path, container: Container, is_own: bool) -> None:
        """Put what a file holds behind what is there."""
        self.files.append(file)
        self.containers[file] = container
        if is_own:
            self.own.add(file)
        self.notes.setdefault(file, []).extend(container.notes)
        self.graphical.extend(container.graphical)
        self._append(file, container.pieces)

    def add_tasks(self) -> None:
        """What the tasks of all files say, as a CONFIGURATION; the entry and its time where they run one program."""
        tasks = [(file, *task) for file, one in self.containers.items() for task in one.tasks]
        programs = [one for one in tasks if _NAME.fullmatch(one[1])]
        self.cycle_ms = next((cycle_ms for _, _, cycle_ms, _ in programs or tasks if cycle_ms), None)
        if len(programs) == 1:
            self.entry = programs[0][1]
        for number, (file, name, cycle_ms, said) in enumerate(programs):
            priority = number if said is None else said
            timed = f"INTERVAL := T#{cycle_ms}ms, " if cycle_ms else ""
            text = (f"CONFIGURATION tasks\nRESOURCE plc ON plc\nTASK task{number}({timed}PRIORITY := {priority});\n"
                    f"PROGRAM run{number} WITH task{number} : {name};\nEND_RESOURCE\nEND_CONFIGURATION\n")
            self._append(file, [Piece(text, made=True)])

    def _append(self, file: Path, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            text = piece.text if piece.text.endswith("\n") else f"{piece.text}\n"
            self._starts.append(1 + self._lines)
            self._pieces.append((file, piece))
            self._texts.append(text)
            self._lines += text.count("\n")
            self._length += len(text)


def _shift(line: int, column: int, start: int, piece: Piece) -> tuple[int, int]:
    inner = line - start
    more = [more for at, behind, more in piece.jumps if at == inner and behind < column][-1:] or [0]
    return piece.line + inner, column + more[0] + (piece.column - 1 if inner == 0 else 0)


def check_project(project: SourceProject, entry: str | None = None, dialect: Dialect = IEC) -> dict[Path, SourceCheck]:
    """What the checker says of each file, in the order of the program: of its form, then of what it holds. The entry
    stands with all of them."""
    found = check_source(project.text, entry, dialect, project.places, needs_entry=entry is not None) \
        if project.holds_text else SourceCheck("", ())
    return place_check(project, found)


def place_check(project: SourceProject, found: SourceCheck) -> dict[Path, SourceCheck]:
    """A check of the whole text, file by file."""
    by_file: dict[Path, list[Diagnostic]] = {file: list(project.notes.get(file, ())) for file in project.files}
    for one in found.diagnostics:
        file, moved = project.place(one)
        by_file.setdefault(file, []).append(moved)
    return {file: replace(found, diagnostics=tuple(said)) for file, said in by_file.items()}


def read_project(paths: Sequence[Path], libraries: Sequence[Path] = ()) -> SourceProject:
    """The program in these files, folders and project files, beside libraries. What cannot be read is noted, and
    spoils nothing else. Raises ConfigError for a path that is not there, or where nothing is found."""
    project, seen = SourceProject(), set[str]()
    for path, is_own in (*((one, True) for one in paths), *((one, False) for one in libraries)):
        for file in _expand(path, project, is_own):
            if (real := str(file) if str(file) == "-" else os.path.realpath(file)) not in seen:
                seen.add(real)
                _read(file, project, is_own)
    project.add_tasks()
    if not project.files:
        names = ", ".join(map(str, paths))
        raise ConfigError(f"{names}: no program; a folder is searched for files with the endings {', '.join(ENDINGS)}")
    return project


def _read(file: Path, project: SourceProject, is_own: bool) -> None:
    try:
        container = read_container(_read_bytes(file), file.name)
        if not project.takes(container):
            raise WrongContainer(tell_file("program-too-long", most=str(MOST_TEXT // 1_000_000)))
    except (WrongContainer, NoText) as error:
        _refuse(file, error.diagnostic, project, is_own)
    except OSError as error:
        _refuse(file, tell_file("unreadable-file", why=f"cannot read {file}: {error.strerror}"), project, is_own)
    else:
        project.add(file, container, is_own)


def _read_bytes(file: Path) -> bytes:
    """Raises OSError, also for what is no plain file."""
    return sys.stdin.buffer.read(MOST_BYTES + 1) if str(file) == "-" else read_named(file, MOST_BYTES)


def _refuse(file: Path, why: Diagnostic, project: SourceProject, is_own: bool) -> None:
    project.unreadable.add(file)
    _note(file, [why], project, is_own)


def _expand(path: Path, project: SourceProject, is_own: bool) -> Iterator[Path]:
    """The files that a path stands for, in an order that does not depend on the machine."""
    if path.is_dir():
        yield from _search(path, project, is_own)
    elif path.suffix.lower() == _PROJECT_ENDING:
        yield from _project_files(path, project, is_own)
    else:
        yield path


def _search(folder: Path, project: SourceProject, is_own: bool) -> Iterator[Path]:
    found = sorted(_candidates(folder), key=lambda one: one.relative_to(folder).as_posix().lower())
    if len(found) > MOST_FILES:
        raise ConfigError(f"{folder}: it holds {len(found)} files; {MOST_FILES} are the most. Name a folder in it")
    projects = [one for one in found if one.suffix.lower() == _PROJECT_ENDING]
    if len(projects) > 1:
        names = ", ".join(str(one.relative_to(folder)) for one in projects[:5])
        raise ConfigError(f"{folder}: it holds {len(projects)} projects ({names}{', …' if len(projects) > 5 else ''}); "
                          "name one of them")
    if projects:
        yield from _project_files(projects[0], project, is_own)
        return
    for file in found:
        if file.is_symlink() and not file.resolve().is_relative_to(folder.resolve()):
            _note(file, [tell_file("outside-folder")], project, is_own)
        else:
            yield file


def _candidates(folder: Path) -> Iterator[Path]:
    """Files with a program by their endings, outside of hidden folders."""
    for file in folder.rglob("*"):
        ending = file.suffix.lower()
        is_hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if ending in (*ENDINGS, _PROJECT_ENDING) and not is_hidden and (file.is_file() or not file.exists()) and (
                ending not in _SHARED or _holds_program(file)):
            yield file


def _holds_program(file: Path) -> bool:
    """Whether a file begins as one with a program, where files of other kinds have its ending, too."""
    try:
        with file.open("rb") as opened:
            head = opened.read(4000)
    except OSError:
        return False
    word = _SHARED[file.suffix.lower()]
    return word.encode() in head or word.encode("utf-16-le") in head


def _project_files(file: Path, project: SourceProject, is_own: bool) -> Iterator[Path]:
    """What a TwinCAT project compiles; a file that it names outside of its folder is not read."""
    try:
        root, _ = read_xml(file.read_bytes())
    except WrongContainer as error:
        _refuse(file, error.diagnostic, project, is_own)
        return
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from None
    listed = []
    for one in root.below("Compile"):
        name = one.attributes.get("Include", "")
        if PureWindowsPath(name).suffix.lower() in _COMPILED:
            listed.append((name, one))
    for one in root.below("PlaceholderReference", "LibraryReference"):
        project.libraries.append(one.attributes.get("Include", "").partition(",")[0])
    yield from _files_of(file, listed, project, is_own)


def _files_of(file: Path, listed: Iterable[tuple[str, Element]], project: SourceProject, is_own: bool
              ) -> Iterator[Path]:
    folder = file.parent
    missing = []
    for name, place in listed:
        parts = PureWindowsPath(name)
        span = Span(place.line, place.column, place.line, place.column)
        if parts.is_absolute() or parts.drive or ".." in parts.parts:
            missing.append(_at(tell_file("outside-project", name=name), span))
            continue
        found = _match_case(folder, parts.parts)
        if found is None:
            missing.append(_at(tell_file("missing-file", name=name), span))
        else:
            yield found
    if missing:
        _note(file, missing, project, is_own)


def _note(file: Path, said: Iterable[Diagnostic], project: SourceProject, is_own: bool) -> None:
    """Say something of a file that has no text of the program."""
    project.files.append(file)
    project.notes.setdefault(file, []).extend(said)
    if is_own:
        project.own.add(file)


def _at(one: Diagnostic, span: Span) -> Diagnostic:
    return replace(one, span=span)


def _match_case(folder: Path, parts: Sequence[str]) -> Path | None:
    """The file of this path, in which letters may be otherwise in size, as on Windows."""
    here = folder
    for part in parts:
        exact = here / part
        if not exact.exists():
            try:
                near = [one for one in here.iterdir() if one.name.lower() == part.lower()]
            except OSError:
                return None
            if len(near) != 1:
                return None
            exact = near[0]
        here = exact
    return here if here.is_file() else None
