"""Finding code that was left for later, for `software.complete` and for the measure of completeness.

A Python function is a placeholder when its body, docstring aside, is only `pass`, `...` or `raise NotImplementedError`,
unless it is abstract, an overload or part of a Protocol, where such a body is the right one. Comments that announce
missing work count in every language. (ChatDev §4 measures completeness by placeholders; its script looked for the
letters "pass" and "todo", which also stand in `bypass` and `TodoList`.)
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.function import tool
from chatdev.workspace.python_source import parse

# `TODO` counts in capitals only: a to-do list may be spoken of
_MARKERS = re.compile(r"\b(TODO|FIXME|XXX)\b")
_WORDS = re.compile(r"\b(not (yet )?implemented|implement(ation)? (me|here|goes here)|placeholder|"
                    r"(add )?your code here)\b", re.IGNORECASE)
_COMMENT = re.compile(r"(?://|#|--|\(\*|/\*|<!--)(?P<text>.*)")
_SOURCES = {".js", ".ts", ".jsx", ".tsx", ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".go", ".rs", ".sh", ".html",
            ".css", ".v", ".sv", ".st", ".rb", ".php", ".cs", ".kt", ".swift"}
_ALLOWED_DECORATORS = {"abstractmethod", "abstractproperty", "overload"}
_SHOWN = 20
_Function = ast.FunctionDef | ast.AsyncFunctionDef


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
            found += _comment_placeholders(path, text)
    return found


def _python_placeholders(path: str, text: str) -> Iterator[Placeholder]:
    try:
        tree = parse(text, path)
    except SyntaxError:
        yield from _comment_placeholders(path, text)
        return
    yield from (Placeholder(path, f.lineno, f"`{f.name}` has no body yet") for f in _empty_functions(tree))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and _announces_work(token.string):
            yield Placeholder(path, token.start[0], token.string.strip())


def _empty_functions(tree: ast.Module) -> Iterator[_Function]:
    exempt = {child for cls in ast.walk(tree) if isinstance(cls, ast.ClassDef) and _is_protocol(cls)
              for child in cls.body}
    found = [node for node in ast.walk(tree) if isinstance(node, _Function) and node not in exempt
             and not _may_be_empty(node) and _is_empty(node.body)]
    yield from sorted(found, key=lambda function: function.lineno)


def _is_empty(body: list[ast.stmt]) -> bool:
    rest = body[1:] if _is_constant(body[0], str) else body
    return all(isinstance(s, ast.Pass) or _is_constant(s, type(...)) or _raises_not_implemented(s) for s in rest)


def _is_constant(statement: ast.stmt, kind: type) -> bool:
    return (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, kind))


def _raises_not_implemented(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Raise) or statement.exc is None:
        return False
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _may_be_empty(function: _Function) -> bool:
    return any(_name(decorator) in _ALLOWED_DECORATORS for decorator in function.decorator_list)


def _is_protocol(cls: ast.ClassDef) -> bool:
    return any(_name(base) == "Protocol" for base in cls.bases)


def _name(node: ast.expr) -> str:
    """The last part of a dotted or subscripted name."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _comment_placeholders(path: str, text: str) -> Iterator[Placeholder]:
    for number, line in enumerate(text.splitlines(), start=1):
        comment = _COMMENT.search(line)
        if comment and _announces_work(comment["text"]):
            yield Placeholder(path, number, line.strip()[:100])


def _announces_work(comment: str) -> bool:
    """Whether a comment announces missing work."""
    return bool(_MARKERS.search(comment) or _WORDS.search(comment))
