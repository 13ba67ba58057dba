"""Finding code that was left for later, for `software.complete` and for the measure of completeness.

A Python function is a placeholder when its body, docstring aside, is only `pass`, `...` or `raise NotImplementedError`,
unless it is abstract, an overload or part of a Protocol, where such a body is the right one. Comments that announce
missing work count in every language. (ChatDev §4 measures completeness by placeholders; its script looked for the
letters "pass" and "todo", which also stand in `bypass` and `TodoList`.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from chatdev.departments.software.reading.unfinished import unfinished_comments, unfinished_parts
from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.function import tool

_SOURCES = {".js", ".ts", ".jsx", ".tsx", ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".go", ".rs", ".sh", ".html",
            ".css", ".v", ".sv", ".st", ".rb", ".php", ".cs", ".kt", ".swift"}
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Something left for later: where, and what."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


@tool(reads=("software",))
def complete(ctx: ToolContext) -> Verdict:
    """Look for functions without a body and for comments that announce missing work."""
    if not ctx.software:
        return Verdict(False, "There are no files yet.")
    found = placeholders(ctx.software)
    if not found:
        return Verdict(True, "Every function has a body.", score=1.0)
    shown = "\n".join(map(str, found[:_SHOWN]))
    more = f"\nand {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return Verdict(False, shown + more, score=1 / (1 + len(found)), evidence={"placeholders": len(found)})


def placeholders(software: Mapping[str, bytes]) -> list[Placeholder]:
    """All placeholders of a software, file by file. Files that do not parse are judged by their comments alone."""
    found: list[Placeholder] = []
    for path, data in sorted(software.items()):
        suffix = PurePosixPath(path).suffix.lower()
        text = data.decode("utf-8", "replace")
        if suffix == ".py":
            found += _python_placeholders(path, text)
        elif suffix in _SOURCES:
            found += (Placeholder(path, line, what) for line, what in unfinished_comments(text, suffix))
    return found


def _python_placeholders(path: str, text: str) -> Iterator[Placeholder]:
    try:
        found = unfinished_parts(text, path)
    except SyntaxError:
        found = unfinished_comments(text, ".py")
    yield from (Placeholder(path, line, what) for line, what in found)
