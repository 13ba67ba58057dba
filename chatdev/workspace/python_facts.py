"""Single facts of Python source, read in the child of this process."""

from __future__ import annotations

import ast
import json
from io import StringIO

from chatdev.isolation.isolate import isolate
from chatdev.workspace.python_source import literal, parse


def has_main_guard(source: bytes) -> bool:
    """Whether a module asks for its `__name__`, as programs do that can be started; not when it does not parse."""
    try:
        return _asks_for_name(source)
    except SyntaxError:
        return False


@isolate(SyntaxError)
def _asks_for_name(source: bytes) -> bool:
    return any(isinstance(node, ast.If) and "__name__" in {
        name.id for name in ast.walk(node.test) if isinstance(name, ast.Name)} for node in parse(source, "").body)


def definitions(text: str) -> set[str]:
    """Functions and classes of a module; empty when it does not parse."""
    try:
        return _definitions(text)
    except SyntaxError:
        return set()


def functions(text: str) -> list[str]:
    """The source of each function of a module that has no decorators; empty when it does not parse."""
    try:
        return _functions(text)
    except SyntaxError:
        return []


@isolate(SyntaxError)
def _definitions(text: str) -> set[str]:
    return {node.name for node in parse(text).body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


@isolate(SyntaxError)
def _functions(text: str) -> list[str]:
    lines = list(StringIO(text, newline=""))  # as Python counts them
    return [_source(lines, node) for node in parse(text).body
            if isinstance(node, ast.FunctionDef) and not node.decorator_list]


def outline(text: str) -> list[str]:
    """The functions of a module with their arguments, and its classes with their public methods, in their order; empty
    when it does not parse."""
    try:
        return _outline(text)
    except SyntaxError:
        return []


@isolate(SyntaxError)
def _outline(text: str) -> list[str]:
    return [_describe_class(node) if isinstance(node, ast.ClassDef) else
            f"{node.name}({', '.join(one.arg for one in node.args.args)})" for node in parse(text).body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]


def _describe_class(node: ast.ClassDef) -> str:
    names = (one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    methods = ", ".join(name for name in names if not name.startswith("__"))
    return f"{node.name}: {methods}" if methods else node.name


def _source(lines: list[str], node: ast.FunctionDef) -> str:
    """What `ast.get_source_segment` gives, which splits the whole text into lines again for every node."""
    *before, last = lines[node.lineno - 1:node.end_lineno]
    return "".join((*before, last.encode()[:node.end_col_offset].decode()))


@isolate(SyntaxError)
def literal_as_json(source: str) -> str:
    """A Python literal as a JSON text; raises SyntaxError only, also for values that JSON does not have."""
    try:
        return json.dumps(literal(source), allow_nan=False)
    except (ValueError, TypeError) as error:
        raise SyntaxError(str(error)) from None
