"""Edits to Python source by lines: what is not edited stays as it is, byte for byte."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass, field

from chatdev.replies.python.outline import Code, Unit
from chatdev.replies.search_replace import indentation


@dataclass(slots=True)
class Edits:
    """Changes to `code`, made all at once by `result`; `(start, end, text)` with lines from 0, end excluded."""

    code: Code
    _edits: list[tuple[int, int, str]] = field(default_factory=list)

    def replace(self, start: int, end: int, text: str) -> None:
        """New text for some lines; it takes over their line ends, or the lack of one at the end of the file."""
        text = self._with_line_ends(text)
        if not self.code.lines[end - 1].endswith(("\n", "\r")):
            text = text.rstrip("\r\n")
        self._edits.append((start, end, text))

    def insert(self, place: int, text: str, blanks: int) -> None:
        """New lines before the line `place`, with so many blank lines around them (0: as close as is usual)."""
        lines = self.code.lines
        before = 0
        while before < blanks and before < place and not lines[place - 1 - before].strip():
            before += 1
        lead = (blanks - before) if place else 0
        if place and place == len(lines) and not lines[-1].endswith(("\n", "\r")):
            lead += 1
        follows = lines[place] if place < len(lines) else ""
        if follows.strip() and (blanks or follows.startswith(("def ", "async ", "class ", "@"))):
            text += "\n" * (blanks or 2)
        self._edits.append((place, place, self._with_line_ends("\n" * lead + text)))

    def result(self) -> str:
        """The text with all edits made."""
        out: list[str] = []
        position = 0
        for start, end, text in sorted(self._edits, key=lambda edit: edit[:2]):
            out += [*self.code.lines[position:start], text]
            position = end
        return "".join([*out, *self.code.lines[position:]])

    def _with_line_ends(self, text: str) -> str:
        """`text` with the line ends that the file uses."""
        text = text.replace("\r\n", "\n")
        return text.replace("\n", "\r\n") if self.code.lines[:1] and self.code.lines[0].endswith("\r\n") else text


def moved(code: Code, start: int, end: int, indent: str) -> str:
    """Lines of `code`, re-indented so that line `start` has `indent`; lines inside strings keep theirs."""
    old = indentation(code.lines[start])
    lines = code.lines[start:end]
    if old != indent:
        lines = [line if start + offset in code.in_strings or not line.strip() or not line.startswith(old)
                 else indent + line[len(old):] for offset, line in enumerate(lines)]
    text = "".join(lines)
    return text if text.endswith(("\n", "\r")) else text + "\n"


def header_end(code: Code, unit: Unit) -> int:
    """The line behind the `class …:` line or lines of a class."""
    end = unit.members[0].start
    while end > unit.start + 1 and (not code.lines[end - 1].strip() or code.lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def code_of(node: ast.AST) -> str | None:
    """A statement without its layout and comments; None when it is nested too deeply to tell."""
    try:
        return ast.dump(node)
    except RecursionError:
        return None


def same_code(one: ast.AST, other: ast.AST) -> bool:
    """Whether two statements are the same but for layout and comments."""
    code = code_of(one)
    return code is not None and code == code_of(other)


def same_header(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two classes have the same bases, keywords and decorators."""
    parts = [[part for name in ("bases", "keywords", "decorator_list") for part in getattr(node, name)]
             for node in (one, other)]
    return len(parts[0]) == len(parts[1]) and all(map(same_code, *parts))


Import = tuple[str, str, str | None]
"""What an import binds: module, name in it (or nothing), and the name it is given."""


def imports_of(code: Code) -> set[Import]:
    """What `code` imports outside of functions and classes."""
    return {name for unit in code.units if not unit.defines for node in ast.walk(unit.node) for name in _imported(node)}


def missing_imports(have: Set[Import], part: Code, unit: Unit) -> str:
    """The text of an import of `part` without what is imported already (`have`); empty when that is all of it."""
    node = unit.node
    wanted = list(zip(getattr(node, "names", []), _imported(node), strict=True))
    missing = [alias for alias, name in wanted if name not in have]
    if len(missing) == len(wanted) and not unit.shared:
        return moved(part, unit.start, unit.end, "")
    if not missing:
        return ""
    if isinstance(node, ast.ImportFrom):
        return ast.unparse(ast.ImportFrom(node.module, missing, node.level)) + "\n"
    return ast.unparse(ast.Import(missing)) + "\n"


def _imported(node: ast.AST) -> list[Import]:
    if isinstance(node, ast.Import):
        return [(alias.name, "", alias.asname) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return [(module, alias.name, alias.asname) for alias in node.names]
    return []
