"""A Python module as plain data: its statements, their lines, what each says, no syntax tree; and parts of one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from chatdev.replies.fences import indentation
from chatdev.workspace.python_facts import functions

Kind = Literal["doc", "import", "function", "class", "assign", "guard", "call", "pass", "ellipsis", "other"]
"""`guard` is `if __name__ == "__main__":`, `call` a lone call, `ellipsis` a lone `...`."""
Import = tuple[str, str, str | None]
"""What an import binds: module, name in it (or nothing), and the name it is given."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a module or class: lines `start` to `end` (from 0, end excluded), decorators included.

    `name` tells definitions and assignments apart; a property's setter is `x.setter`.
    """

    kind: Kind
    name: str
    start: int
    end: int
    members: tuple[Statement, ...] = ()
    """Statements of a class's body."""
    shares_line: bool = False
    """Whether another statement stands on one of its lines."""
    text: str | None = None
    """A fingerprint of a text, a call or another statement without its layout and comments; None when it is nested too
    deeply to tell."""
    header: str | None = None
    """A fingerprint of a class's bases, keywords and decorators; None when they are nested too deeply to tell."""
    one_line: bool = False
    """Whether the body of a class begins on the line where its header ends."""
    filler: Literal["", "pass", "..."] = ""
    """What a function holds in the place of code."""
    is_method: bool = False
    """Whether a function is written as a method."""
    imports: tuple[Import, ...] = ()
    """What a statement that is no definition imports."""
    uses: frozenset[str] = frozenset()
    """Names in an assignment."""
    calls: tuple[str, ...] = ()
    """Names that a lone call calls: its own, or those within a `print`."""

    @property
    def defines(self) -> bool:
        """Whether this is a function or a class."""
        return self.kind in ("function", "class")

    @property
    def acts(self) -> bool:
        """Whether it does something when the module is run."""
        return self.kind in ("guard", "call", "pass", "other")


@dataclass(frozen=True, slots=True)
class Outline:
    """A module: its lines and statements.

    `in_strings` are lines that begin inside a string other than a docstring (re-indenting them would change a value);
    `elided` are lines that stand for code left out, in order; `needs` are names, and attributes of `self`, that are
    used and not defined.
    """

    lines: list[str]
    statements: tuple[Statement, ...]
    in_strings: frozenset[int]
    elided: tuple[int, ...]
    needs: frozenset[str]

    @property
    def size(self) -> int:
        """Lines that are not blank."""
        return sum(1 for line in self.lines if line.strip())

    @property
    def acts(self) -> bool:
        """Whether the module does something when it is run."""
        return any(statement.acts for statement in self.statements)

    @property
    def definitions(self) -> set[str]:
        """Names of the functions and classes, methods given without their class included."""
        return {statement.name for statement in self.statements if statement.defines}

    @property
    def imports(self) -> set[Import]:
        """What is imported outside of functions and classes."""
        return {name for statement in self.statements for name in statement.imports}

    @property
    def top_names(self) -> set[str]:
        """Names that the module defines, assigns or imports at its top."""
        names = {name for statement in self.statements if statement.name for name in statement.name.split(", ")}
        return names | {(given or name or module).split(".")[0] for statement in self.statements
                        if statement.kind == "import" for module, name, given in statement.imports}

    def elisions(self, statement: Statement) -> list[int]:
        """Lines within `statement`, comments at its end included, that stand for code left out."""
        return list(self.elided[bisect_left(self.elided, statement.start):
                                bisect_left(self.elided, self.end_of(statement))])

    def end_of(self, statement: Statement) -> int:
        """The line after `statement` and the comments in its body that no statement follows."""
        own, end = len(indentation(self.lines[statement.start])), statement.end
        for number in range(statement.end, len(self.lines)):
            line = self.lines[number]
            if not line.strip():
                continue
            if not line.lstrip().startswith("#") or len(indentation(line)) <= own:
                break
            end = number + 1
        return end

    def header_end(self, owner: Statement) -> int:
        """The line after the `class …:` line or lines of a class."""
        end = owner.members[0].start
        while end > owner.start + 1 and _says_nothing(self.lines[end - 1]):
            end -= 1
        return end

    def comment_start(self, statement: Statement) -> int:
        """First line of the comment directly above `statement`, or its own first line."""
        start = statement.start
        before = bisect_left(self.elided, start)
        end = self.elided[before - 1] + 1 if before else 0
        while start > end and self.lines[start - 1].lstrip().startswith("#"):
            start -= 1
        return start

    def indent_lines(self, start: int, end: int, indent: str) -> str:
        """Lines, indented so that line `start` has `indent`; lines inside strings keep theirs."""
        old = indentation(self.lines[start])
        lines = self.lines[start:end]
        if old != indent:
            lines = list(self._shift(start, end, old, indent))
        text = "".join(lines)
        return text if text.endswith(("\n", "\r")) else text + "\n"

    def _shift(self, start: int, end: int, old: str, new: str) -> Iterator[str]:
        for number in range(start, end):
            line = self.lines[number]
            stays = number in self.in_strings or not line.strip() or not line.startswith(old)
            yield line if stays else new + line[len(old):]


def _says_nothing(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


# Parts of a Python file: whether a block is one or a whole new version, and what one looks like.

_WHOLE_SHARE = 0.6  # a program of its own is a new version when it has at least this share of the old lines


def is_part(old: Outline, new: Outline) -> bool:
    """Whether `new` gives only part of `old`.

    It does when it stands for code left out, when definitions, methods or the start of the program are missing (unless
    it is a program that stands on its own and is not much shorter), when it needs names that only `old` has, or when it
    holds nothing but definitions and `old` more than that.
    """
    if new.elided or any(is_stub(function, match) for function, match in _pairs(old.statements, new.statements)):
        return True
    if missing := set(_definitions(old.statements)) - set(_definitions(new.statements)):
        return not _stands_alone(old, new, missing)
    if (old.acts and not new.acts) or new.needs & old.top_names:
        return True
    if _only_definitions(new):
        return not _only_definitions(old)
    return not old.definitions and new.size < _WHOLE_SHARE * old.size


def is_stub(new: Statement, old: Statement | None) -> bool:
    """Whether `new` is a function of only `...` that stands for a real one."""
    return new.filler == "..." and old is not None and old.kind == "function" and old.filler != "..."


def _only_definitions(outline: Outline) -> bool:
    return all(statement.defines or statement.kind == "doc" for statement in outline.statements)


def _pairs(old: Iterable[Statement], new: Iterable[Statement]) -> Iterator[tuple[Statement, Statement | None]]:
    """Every function of `new`, methods included, with the one of the same name in `old`."""
    by_name = {statement.name: statement for statement in old if statement.defines}
    for statement in new:
        match = by_name.get(statement.name)
        if statement.kind == "function":
            yield statement, match
        elif statement.kind == "class" and match is not None:
            yield from _pairs(match.members, statement.members)


def _definitions(statements: Iterable[Statement], prefix: str = "") -> Iterator[str]:
    for statement in statements:
        if statement.defines:
            yield prefix + statement.name
            yield from _definitions(statement.members, f"{prefix}{statement.name}.")


def _stands_alone(old: Outline, new: Outline, missing: set[str]) -> bool:
    """Whether `new` is a whole program: it uses none of the names it leaves out."""
    if not new.acts or new.size < _WHOLE_SHARE * old.size:
        return False
    methods = {name.split(".")[1] for name in missing if "." in name}
    return not (old.top_names | methods) & new.needs


_LINES = range(2, 41)  # the shortest is taken; without any example a small model loses the form


def example_part(software: Mapping[str, bytes]) -> str:
    """One short function of the software as a delivery would bring it: path line and fenced block; empty when there is
    no short Python function. A small model copies examples, and may copy this one without harm."""
    found = sorted(_short_functions(software), key=lambda pair: (len(pair[1].splitlines()), pair))
    if not found:
        return ""
    path, source = found[0]
    return f"{path}\n```python\n{source}\n```"


def _short_functions(software: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for path, data in software.items():
        if path.endswith(".py"):
            for source in functions(data.decode("utf-8", "replace")):
                if len(source.splitlines()) in _LINES and "```" not in source:
                    yield path, source
