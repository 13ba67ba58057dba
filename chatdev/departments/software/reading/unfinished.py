"""What a file leaves for later, read without running it: functions without a body, and comments that announce work."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from chatdev.isolation.isolate import isolate
from chatdev.workspace.python_source import parse

# `TODO` counts in capitals only, where a comment begins or before a colon: a to-do list may be spoken of
_MARKERS = re.compile(r"^\W*(TODO|FIXME|XXX)\b(?! (list|app|item)s?\b)|\b(TODO|FIXME|XXX):")
_WORDS = re.compile(r"\b(not (yet )?implemented|implement(ation)? (me|here|goes here)|"
                    r"placeholder(?!s? (text|colou?r|image|attribute|styl))|(add )?your code here)\b", re.IGNORECASE)
_HASH = r"(?<!\S)#(?!\{)"
_SLASHES = r"(?<![:\w\"'(=])//|/\*"  # no address: `https://…`, `"//…"`, `url(//…)`
_COMMENT_BEGINS = {".py": _HASH, ".sh": _HASH, ".rb": _HASH, ".php": f"{_HASH}|{_SLASHES}", ".css": r"/\*",
                   ".html": f"<!--|{_SLASHES}", ".st": rf"\(\*|{_SLASHES}"}
"""By the suffix of a file; all others have those of C."""
_ALLOWED_DECORATORS = {"abstractmethod", "abstractproperty", "overload"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@isolate(SyntaxError)
def unfinished_parts(text: str, path: str) -> list[tuple[int, str]]:
    """Line and text of what a Python file leaves for later. Raises SyntaxError."""
    tree = parse(text, path)
    found = [(function.lineno, f"`{function.name}` has no body yet") for function in _empty_functions(tree)]
    try:
        comments = [(token.start[0], token.string.strip())
                    for token in tokenize.generate_tokens(io.StringIO(text).readline)
                    if token.type == tokenize.COMMENT and _announces_work(token.string)]
    except (tokenize.TokenError, SyntaxError):  # it takes less than the compiler does: no `\\` at the end
        comments = unfinished_comments(text, ".py")
    return found + comments


def unfinished_comments(text: str, suffix: str) -> list[tuple[int, str]]:
    """Line and text of comments that announce work, in a file with this suffix."""
    pattern = re.compile(rf"(?:{_COMMENT_BEGINS.get(suffix, _SLASHES)})(?P<text>.*?)(?:\*/|-->|\*\)|$)")
    return [(number, line.strip()[:100]) for number, line in enumerate(text.splitlines(), start=1)
            if (comment := pattern.search(line)) and _announces_work(comment["text"])]


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


def _announces_work(comment: str) -> bool:
    """Whether a comment announces missing work."""
    return bool(_MARKERS.search(comment) or _WORDS.search(comment))
