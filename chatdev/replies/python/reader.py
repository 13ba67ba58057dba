"""Reading Python: text in, plain data out, in the child of this process (`isolation/`). A module is its statements,
their lines and what each says; syntax trees are handled here and nowhere else in this package."""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from chatdev.isolation.isolate import isolate
from chatdev.replies.fences import indentation
from chatdev.replies.languages import is_elision
from chatdev.workspace.python_facts import functions, parse

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


# A Python module as plain data: its statements, their lines, what each says, no syntax tree; and parts of one.

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
