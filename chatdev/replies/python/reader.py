"""Reading Python: text in, plain data out, in the child of this process (`isolation/`). Syntax trees are handled here
and nowhere else in this package."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from typing import Literal

from chatdev.isolation.isolate import isolate
from chatdev.replies.elision import is_elision
from chatdev.replies.fences import indentation
from chatdev.replies.python.outline import Import, Kind, Outline, Statement
from chatdev.workspace.python_source import parse

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # what Python itself takes for a line
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_WITH_BODIES = ast.mod, ast.stmt, ast.ExceptHandler, ast.match_case
_BUILTINS = frozenset(dir(builtins))


class NotPython(Exception):
    """A text that Python cannot parse, such as `line 3: invalid syntax`; `line` counts from 1, 0 when it is unknown."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(why, line)
        self.why, self.line = why, line

    def __str__(self) -> str:
        return f"line {self.line}: {self.why}" if self.line else self.why


@isolate(NotPython)
def read(text: str) -> Outline:
    """`text` as a whole module. Raises NotPython."""
    return _outline(LINE.findall(text), _body(text))


@isolate(NotPython)
def read_lines(lines: list[str]) -> Outline:
    """The module of these lines, with their ends. Raises NotPython."""
    return _outline(lines, _body("".join(lines)))


@isolate(NotPython)
def read_part(text: str) -> Outline:
    """`text` as part of a module: methods may be indented, and lines may stand for code left out.

    Raises NotPython, for the text as it is, when no reading parses.
    """
    try:
        return read(text)
    except NotPython as error:
        first = error
    lines = LINE.findall(text)
    filled = [f"{indentation(line)}...\n" if is_elision(line) else line for line in lines]
    for variant in (filled, ["if True:\n", *lines], ["if True:\n", *filled]):
        try:
            body = _body("".join(variant))
        except NotPython:
            continue
        return _outline(variant, _unwrap_frame(body) if variant[0] == "if True:\n" else body)
    raise first


def fault(text: str) -> str | None:
    """Why Python cannot parse `text`, as `line 3: '(' was never closed`; None when it can."""
    try:
        _parse(text)
    except NotPython as error:
        return str(error)
    return None


@isolate(NotPython)
def _parse(text: str) -> None:
    _body(text)


def _body(text: str) -> list[ast.stmt]:
    try:
        return parse(text).body
    except SyntaxError as error:
        raise NotPython(str(error.msg), error.lineno or 0) from None


def _unwrap_frame(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements without the `if True:` around the first of them."""
    first = body[0]
    return [*first.body, *body[1:]] if isinstance(first, ast.If) else body


def _outline(lines: list[str], body: list[ast.stmt]) -> Outline:
    tree = ast.Module(body=body, type_ignores=[])
    nodes = list(ast.walk(tree))
    in_strings = frozenset(_lines_in_strings(nodes, _docstrings(nodes)))
    elided = tuple(sorted(_elided_lines(lines, tree, nodes)))
    return Outline(lines, _statements(body), in_strings, elided, _needs(nodes))


def _statements(body: Sequence[ast.stmt]) -> tuple[Statement, ...]:
    starts = [_start(node) for node in body]
    ends = [node.end_lineno or 0 for node in body]
    last = len(body) - 1
    return tuple(
        _statement(node, starts[index], ends[index], first=index == 0, shares_line=(
            (index > 0 and ends[index - 1] > starts[index]) or (index < last and starts[index + 1] < ends[index])))
        for index, node in enumerate(body))


def _start(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def _statement(node: ast.stmt, start: int, end: int, *, first: bool, shares_line: bool) -> Statement:
    kind: Kind
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return Statement("function", _function_name(node), start, end, shares_line=shares_line,
                             filler=_filler(node), is_method=_is_method(node))
        case ast.ClassDef():
            header = _fingerprint(*node.bases, *node.keywords, *node.decorator_list)
            return Statement("class", node.name, start, end, _statements(node.body), shares_line, header=header,
                             one_line=_is_on_one_line(node))
        case ast.Assign() | ast.AnnAssign() if names := _assigned_names(node):
            uses = frozenset(child.id for child in ast.walk(node) if isinstance(child, ast.Name))
            return Statement("assign", names, start, end, shares_line=shares_line, uses=uses)
        case _:
            kind = _nameless_kind(node, first=first)
            text = _fingerprint(node) if kind in ("doc", "call", "other") else None
            return Statement(kind, "", start, end, shares_line=shares_line, text=text, calls=_calls(node),
                             imports=tuple(name for child in ast.walk(node) for name in _imports(child)))


def _nameless_kind(node: ast.stmt, *, first: bool) -> Kind:
    match node:
        case ast.Import() | ast.ImportFrom():
            return "import"
        case ast.If(test=ast.Compare(left=left, comparators=right)):
            names = {getattr(side, "id", "") for side in (left, *right)}
            return "guard" if "__name__" in names else "other"
        case ast.Expr(value=ast.Call()):
            return "call"
        case ast.Pass():
            return "pass"
    if _is_ellipsis(node):
        return "ellipsis"
    return "doc" if first and _is_text(node) else "other"


def _function_name(node: _Function) -> str:
    roles = [decorator.attr for decorator in node.decorator_list
             if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter", "getter")]
    return ".".join([node.name, *roles])


def _filler(node: _Function) -> Literal["", "pass", "..."]:
    """What the function holds in the place of code, its docstring aside."""
    inner = node.body[1:] if _is_text(node.body[0]) else node.body
    if inner and all(map(_is_ellipsis, inner)):
        return "..."
    return "pass" if all(isinstance(item, ast.Pass) for item in inner) else ""


def _is_on_one_line(node: ast.ClassDef) -> bool:
    ends = [part.end_lineno for part in node.bases] + [keyword.end_lineno for keyword in node.keywords]
    return node.body[0].lineno == max((end for end in ends if end), default=node.lineno)


def _is_method(node: _Function) -> bool:
    first = [*node.args.posonlyargs, *node.args.args][:1]
    decorators = {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}
    bound = bool(first) and first[0].arg in ("self", "cls")
    return bound or bool(decorators & {"staticmethod", "classmethod", "property"})


def _assigned_names(node: ast.Assign | ast.AnnAssign) -> str:
    """The names assigned to, or nothing when something else (`a.b`, `a[0]`) is among the targets."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    flat = [item for target in targets for item in (target.elts if isinstance(target, ast.Tuple) else [target])]
    names = [item.id for item in flat if isinstance(item, ast.Name)]
    return ", ".join(names) if len(names) == len(flat) else ""


def _fingerprint(*nodes: ast.AST) -> str | None:
    """The same for code that differs in layout and comments only; None when it is nested too deeply to tell."""
    try:
        return sha256("\n".join(map(ast.dump, nodes)).encode("utf-8", "surrogatepass")).hexdigest()
    except (RecursionError, ValueError):  # nested too deeply, or with numbers of more digits than Python prints
        return None


def _calls(node: ast.stmt) -> tuple[str, ...]:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name("print"), args=args)):
            calls: list[ast.expr] = args
        case ast.Expr(value=ast.Call() as call):
            calls = [call]
        case _:
            return ()
    return tuple(call.func.id for call in calls if isinstance(call, ast.Call) and isinstance(call.func, ast.Name))


def _imports(node: ast.AST) -> list[Import]:
    if isinstance(node, ast.Import):
        return [(alias.name, "", alias.asname) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return [(module, alias.name, alias.asname) for alias in node.names]
    return []


def _is_ellipsis(node: ast.stmt) -> bool:
    """Whether `node` is a lone `...`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def _is_text(node: ast.stmt) -> bool:
    """Whether `node` is a lone string, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _docstrings(nodes: Sequence[ast.AST]) -> set[ast.expr]:
    return {node.body[0].value for node in nodes
            if isinstance(node, _Function | ast.ClassDef) and isinstance(node.body[0], ast.Expr)
            and _is_text(node.body[0])}


def _lines_in_strings(nodes: Sequence[ast.AST], without: Collection[ast.expr] = ()) -> Iterator[int]:
    """Lines that begin inside a string."""
    for node in nodes:
        if isinstance(node, ast.Constant | ast.JoinedStr) and node not in without:
            yield from range(node.lineno, node.end_lineno or node.lineno)


def _elided_lines(lines: list[str], tree: ast.Module, nodes: Sequence[ast.AST]) -> Iterator[int]:
    """Comments that stand for code left out, and each `...` that is not the whole of a body."""
    strings = set(_lines_in_strings(nodes))
    for number, line in enumerate(lines):
        if line.lstrip().startswith("#") and number not in strings and is_elision(line):
            yield number
    for node in nodes:
        for body in _bodies(node):
            if node is tree or len(body) > 1 + _is_text(body[0]):
                yield from (statement.lineno - 1 for statement in filter(_is_ellipsis, body))


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    if isinstance(node, _WITH_BODIES):
        for field in ("body", "orelse", "finalbody"):
            if body := getattr(node, field, None):
                yield body


def _needs(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Names and attributes of `self` that are used and not defined."""
    used: set[str] = set()
    defined: set[str] = set()
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                (used if isinstance(node.ctx, ast.Load) else defined).add(name)
            case ast.expr() | ast.expr_context():
                pass
            case _:
                if binding := _binding(node):
                    defined.add(binding)
    return frozenset(used - defined - _BUILTINS)


def _binding(node: ast.AST) -> str | None:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.ExceptHandler(name=name) | ast.MatchAs(name=name):
            return name
        case ast.arg(arg=name):
            return name
        case ast.alias(name=name, asname=given):
            return (given or name).split(".")[0]
    return None
