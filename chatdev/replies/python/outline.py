"""Python source as its statements and the lines they occupy, so that parts can be exchanged and the rest kept."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from chatdev.replies.elision import is_elision
from chatdev.replies.search_replace import indentation
from chatdev.workspace import python_source

Kind = Literal["doc", "import", "function", "class", "assign", "guard", "ellipsis", "other"]
Function = ast.FunctionDef | ast.AsyncFunctionDef
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # what Python itself takes for a line


@dataclass(frozen=True, slots=True)
class Unit:
    """One statement of a module or class: lines `start` to `end` (from 0, end excluded), decorators included.

    `name` tells definitions and assignments apart; a property's setter is `x.setter`. `shared` says that another
    statement stands on one of its lines.
    """

    kind: Kind
    name: str
    node: ast.stmt
    start: int
    end: int
    members: tuple[Unit, ...] = ()
    shared: bool = False

    @property
    def defines(self) -> bool:
        """Whether this is a function or a class."""
        return self.kind in ("function", "class")


@dataclass(frozen=True, slots=True)
class Code:
    """A parsed module: its lines and statements.

    `in_strings` are lines that begin inside a string other than a docstring (re-indenting them would change a value);
    `elided` are lines that stand for code left out.
    """

    lines: list[str]
    tree: ast.Module
    units: tuple[Unit, ...]
    in_strings: frozenset[int]
    elided: tuple[int, ...]

    @property
    def size(self) -> int:
        """Lines that are not blank."""
        return sum(1 for line in self.lines if line.strip())

    def elisions(self, unit: Unit) -> list[int]:
        """Lines within `unit`, comments at its end included, that stand for code left out."""
        end = self.behind(unit)
        return [line for line in self.elided if unit.start <= line < end]

    def behind(self, unit: Unit) -> int:
        """The line behind `unit` and the comments in its body that no statement follows."""
        own, end = len(indentation(self.lines[unit.start])), unit.end
        for number in range(unit.end, len(self.lines)):
            line = self.lines[number]
            if not line.strip():
                continue
            if not line.lstrip().startswith("#") or len(indentation(line)) <= own:
                break
            end = number + 1
        return end

    def comment_above(self, unit: Unit) -> int:
        """First line of the comment directly above `unit`, or its own first line."""
        start = unit.start
        while start and self.lines[start - 1].lstrip().startswith("#") and start - 1 not in self.elided:
            start -= 1
        return start


def parse(text: str) -> ast.Module:
    """The syntax tree of `text`. Raises SyntaxError for whatever Python cannot parse."""
    return python_source.parse(text)


def fault(text: str) -> str | None:
    """Why Python cannot parse `text`, as `line 3: '(' was never closed`; None when it can."""
    try:
        parse(text)
    except SyntaxError as error:
        return describe(error)
    return None


def describe(error: SyntaxError) -> str:
    """A syntax error as `line 3: invalid syntax`."""
    return f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)


def read(text: str) -> Code:
    """`text` as a whole module. Raises SyntaxError."""
    return code(LINE.findall(text), parse(text).body)


def read_part(text: str) -> Code:
    """`text` as part of a module: methods may be indented, and lines may stand for code left out.

    Raises the SyntaxError of the text as it is when no reading parses.
    """
    try:
        return read(text)
    except SyntaxError as error:
        first = error
    lines = LINE.findall(text)
    filled = [f"{indentation(line)}...\n" if is_elision(line) else line for line in lines]
    for variant in (filled, ["if True:\n", *lines], ["if True:\n", *filled]):
        try:
            tree = parse("".join(variant))
        except SyntaxError:
            continue
        return code(variant, _inner_body(tree, indented=variant[0] == "if True:\n"))
    raise first


def _inner_body(tree: ast.Module, *, indented: bool) -> list[ast.stmt]:
    first = tree.body[0]
    return [*first.body, *tree.body[1:]] if indented and isinstance(first, ast.If) else tree.body


def code(lines: list[str], body: list[ast.stmt]) -> Code:
    """A module of these lines, which were parsed as `body`."""
    tree = ast.Module(body=body, type_ignores=[])
    nodes = list(ast.walk(tree))
    in_strings = frozenset(_lines_in_strings(nodes, _docstrings(nodes)))
    return Code(lines, tree, _units(body), in_strings, tuple(sorted(_elided(lines, tree, nodes))))


def _units(body: Sequence[ast.stmt]) -> tuple[Unit, ...]:
    starts = [_start(node) for node in body]
    ends = [node.end_lineno or 0 for node in body]
    units = []
    for index, node in enumerate(body):
        shared = (index > 0 and ends[index - 1] > starts[index]) or (
            index + 1 < len(body) and starts[index + 1] < ends[index])
        kind, name = _kind(node, first=index == 0)
        members = _units(node.body) if isinstance(node, ast.ClassDef) else ()
        units.append(Unit(kind, name, node, starts[index], ends[index], members, shared))
    return tuple(units)


def _start(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def _kind(node: ast.stmt, *, first: bool) -> tuple[Kind, str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return "function", _function_name(node)
        case ast.ClassDef():
            return "class", node.name
        case ast.Import() | ast.ImportFrom():
            return "import", ""
        case ast.If() if is_main_guard(node):
            return "guard", ""
        case ast.Assign() | ast.AnnAssign() if names := _assigned(node):
            return "assign", names
        case _:
            return _expression_kind(node, first=first), ""


def _expression_kind(node: ast.stmt, *, first: bool) -> Kind:
    if is_ellipsis(node):
        return "ellipsis"
    return "doc" if first and is_text(node) else "other"


def _function_name(node: Function) -> str:
    roles = [decorator.attr for decorator in node.decorator_list
             if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter", "getter")]
    return ".".join([node.name, *roles])


def _assigned(node: ast.Assign | ast.AnnAssign) -> str:
    """The names assigned to, or nothing when something else (`a.b`, `a[0]`) is among the targets."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    flat = [item for target in targets for item in (target.elts if isinstance(target, ast.Tuple) else [target])]
    names = [item.id for item in flat if isinstance(item, ast.Name)]
    return ", ".join(names) if len(names) == len(flat) else ""


def is_main_guard(node: ast.stmt) -> bool:
    """Whether `node` is `if __name__ == "__main__":`."""
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
        return False
    sides = [node.test.left, *node.test.comparators]
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)


def is_ellipsis(node: ast.stmt) -> bool:
    """Whether `node` is a lone `...`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def is_text(node: ast.stmt) -> bool:
    """Whether `node` is a lone string, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def without_docstring(node: Function | ast.ClassDef) -> list[ast.stmt]:
    """The body of `node` after its docstring."""
    return node.body[1:] if is_text(node.body[0]) else node.body


def _docstrings(nodes: Sequence[ast.AST]) -> set[ast.expr]:
    return {node.body[0].value for node in nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and isinstance(node.body[0], ast.Expr) and is_text(node.body[0])}


def _lines_in_strings(nodes: Sequence[ast.AST], without: Collection[ast.expr] = ()) -> Iterator[int]:
    """Lines that begin inside a string."""
    for node in nodes:
        if isinstance(node, ast.Constant | ast.JoinedStr) and node not in without:
            yield from range(node.lineno, node.end_lineno or node.lineno)


def _elided(lines: list[str], tree: ast.Module, nodes: Sequence[ast.AST]) -> Iterator[int]:
    """Comments that stand for code left out, and each `...` that is not the whole of a body."""
    strings = set(_lines_in_strings(nodes))
    for number, line in enumerate(lines):
        if line.lstrip().startswith("#") and number not in strings and is_elision(line):
            yield number
    for node in nodes:
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body and (node is tree or len(body) > 1 + is_text(body[0])):
                yield from (statement.lineno - 1 for statement in body if is_ellipsis(statement))
