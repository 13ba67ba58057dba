"""Where new statements go in a module or a class, and edits by lines: what is not edited stays, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile

from chatdev.replies.fences import indentation
from chatdev.replies.python.outline import Kind, Outline, Statement

_FUTURE = "__future__"
_HEADER = re.compile(r"#!|#.*coding[:=]")  # the interpreter, the encoding: they must stay at the top


@dataclass(frozen=True)
class InsertionPoints:
    """Places in the body of a module, or of the class `owner`: line indices to insert before."""

    outline: Outline
    statements: Sequence[Statement]
    indent: str = ""
    owner: Statement | None = None

    @cached_property
    def texts(self) -> frozenset[str]:
        """Fingerprints of the statements that have no name."""
        return frozenset(statement.text for statement in self.statements if statement.text is not None)

    @property
    def blanks(self) -> int:
        """Blank lines around a definition (PEP 8)."""
        return 1 if self.owner else 2

    @property
    def end(self) -> int:
        """After everything."""
        return self._line_after(self.statements[-1]) if self.owner else len(self.outline.lines)

    @property
    def definitions(self) -> int:
        """For a function or class: at the end of a class; in a module before what the module does when it is run."""
        if self.owner:
            return self.end
        kinds = [statement.kind for statement in self.statements]
        if "guard" in kinds:
            return self._line_before(kinds.index("guard"))
        definitions = [statement for statement in self.statements if statement.defines]
        if definitions:
            return self._line_after(definitions[-1])
        action = next((index for index, statement in enumerate(self.statements) if statement.acts), None)
        return self.end if action is None else self._line_before(action)

    def constants(self, statement: Statement) -> int:
        """For an assignment: with those at the top, or after the definitions when it uses one."""
        names = {other.name for other in self.statements if other.defines}
        if not self.owner and names & statement.uses:
            return self.definitions
        return self._line_after_top("doc", "import", "assign")

    def imports(self, statement: Statement) -> int:
        """For an import: with those at the top."""
        future = all(name and module == _FUTURE for module, name, _ in statement.imports)
        return self._line_after_top("doc") if future else self._line_after_top("doc", "import")

    def _line_after_top(self, *kinds: Kind) -> int:
        """After the statements of these kinds that the body begins with."""
        count = next((index for index, statement in enumerate(self.statements) if statement.kind not in kinds),
                     len(self.statements))
        if count:
            return self._line_after(self.statements[count - 1])
        return self.outline.comment_start(self.statements[0]) if self.owner else self._line_after_header()

    def _line_after_header(self) -> int:
        """After the comments at the top of the file (interpreter, encoding, licence)."""
        lines = self.outline.lines
        end = next((index for index, line in enumerate(lines) if not line.startswith("#")), len(lines))
        if not self.statements or end < self.statements[0].start:
            return end
        return sum(1 for _ in takewhile(_HEADER.match, lines[:2]))  # the comment below them is about the statement

    def _line_before(self, index: int) -> int:
        if index:
            return self._line_after(self.statements[index - 1])
        return self.outline.comment_start(self.statements[0])

    def _line_after(self, statement: Statement) -> int:
        return self.outline.end_of(statement) if statement.defines else statement.end


def module_points(outline: Outline) -> InsertionPoints:
    """The places in the body of the module."""
    return InsertionPoints(outline, outline.statements)


def class_points(outline: Outline, owner: Statement) -> InsertionPoints:
    """The places in the body of a class."""
    return InsertionPoints(outline, owner.members, indentation(outline.lines[owner.members[0].start]), owner)


@dataclass(slots=True)
class Edits:
    """Changes to a text's `lines`, made all at once by `result`; `(start, end, text)` from line 0, end excluded."""

    lines: Sequence[str]
    _edits: list[tuple[int, int, str]] = field(default_factory=list)

    def replace(self, start: int, end: int, text: str) -> None:
        """New text for some lines; it takes over their line ends, or the lack of one at the end of the file."""
        text = self._adapt_line_ends(text)
        if not self.lines[end - 1].endswith(("\n", "\r")):
            text = text.rstrip("\r\n")
        self._edits.append((start, end, text))

    def insert(self, place: int, text: str, blanks: int) -> None:
        """New lines before the line `place`, surrounded by `blanks` blank lines (0: the usual distance)."""
        lead = "\n" * self._lead(place, blanks)
        follows = self.lines[place] if place < len(self.lines) else ""
        if follows.strip() and (blanks or follows.startswith(("def ", "async ", "class ", "@"))):
            text += "\n" * (blanks or 2)
        self._edits.append((place, place, self._adapt_line_ends(lead + text)))

    def _lead(self, place: int, blanks: int) -> int:
        """How many line ends must come before new lines at `place`."""
        if not place:
            return 0
        before = 0
        while before < min(blanks, place) and not self.lines[place - 1 - before].strip():
            before += 1
        ends = place < len(self.lines) or self.lines[-1].endswith(("\n", "\r"))
        return blanks - before + (not ends)

    def result(self) -> str:
        """The text with all edits made."""
        out: list[str] = []
        position = 0
        for start, end, text in sorted(self._edits, key=lambda edit: edit[:2]):
            out += [*self.lines[position:start], text]
            position = end
        return "".join([*out, *self.lines[position:]])

    def _adapt_line_ends(self, text: str) -> str:
        """`text` with the line ends that the file uses."""
        text = text.replace("\r\n", "\n")
        return text.replace("\n", "\r\n") if self.lines[:1] and self.lines[0].endswith("\r\n") else text
