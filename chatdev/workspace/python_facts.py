"""What is known of one Python file without running it, read in the child of this process; every isolated function
raises SyntaxError for a file that cannot be read."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import chain
from threading import Lock
from typing import Any, TypeGuard

from chatdev.isolation.isolate import isolate


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


# What is known of one Python file without running it, read in the child of this process; every function raises
# SyntaxError for a file that cannot be read.

_GIVEN = {"_", "exit", "quit", "copyright", "credits", "license", "help"}
"""What a program is given at run time, by gettext or by `site`, which the child that reads it does without."""
_MAKERS = {"exec", "globals", "vars", "setattr"}  # a file that uses these may define names unseen
_OTHER_PYTHON = re.compile(r"version_info|py[23]|python[23]", re.IGNORECASE)
_EVERY_ERROR = {"Exception", "BaseException", "NameError"}


@isolate(SyntaxError)
def fault_in_python(source: bytes, path: str) -> tuple[str, int, str] | None:
    """Why a file does not compile: the kind of the error, its line, and what Python says; None when it does."""
    try:
        check(source, path)
    except SyntaxError as error:
        return type(error).__name__, error.lineno or 1, str(error.msg)
    return None


@isolate(SyntaxError)
def imported_names(source: bytes, path: str) -> list[tuple[str, bool]]:
    """Top-level names of the modules that are imported, and whether that may fail (it stands in a `try` that catches
    it)."""
    return list(_imported_names(parse(source, path)))


def _imported_names(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Without recursion: what a model wrote may be nested beyond reason."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, may_fail = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((name, may_fail) for name in _names_of(node))
        elif not (isinstance(node, ast.If) and _is_type_checking(node.test)):
            may_fail = may_fail or (isinstance(node, ast.Try) and any(map(_catches_import_error, node.handlers)))
            waiting += [(child, may_fail) for child in ast.iter_child_nodes(node)]


@isolate(SyntaxError)
def used_names(source: bytes, path: str) -> list[str]:
    """The names and attributes that a file uses, each once."""
    nodes = ast.walk(parse(source, path))
    return sorted({node.attr if isinstance(node, ast.Attribute) else node.id for node in nodes
                   if isinstance(node, ast.Attribute | ast.Name)})


@isolate(SyntaxError)
def keyword_texts(source: bytes, path: str, keywords: list[str]) -> list[str]:
    """The texts that calls are given by one of these keywords."""
    given = (word for node in ast.walk(parse(source, path)) if isinstance(node, ast.Call) for word in node.keywords)
    return [str(word.value.value) for word in given if word.arg in keywords and _is_text(word.value)]


def _names_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The top-level names of what an import statement imports; none for a relative import."""
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    return [node.module.split(".")[0]] if node.module and not node.level else []


def _is_type_checking(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
    return not names.isdisjoint({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


@isolate(SyntaxError)
def undefined_uses(source: bytes, path: str) -> list[tuple[str, int]]:
    """The names that a file uses and defines nowhere, each with the line of its first use, by line; none of a file
    that imports `*` or may make names as it runs, and none that is missing where nothing crashes for that."""
    text = source.decode("utf-8", errors="replace")
    if any(f"{maker}(" in text for maker in _MAKERS):
        return []
    from pyflakes.checker import Checker
    from pyflakes.messages import UndefinedName

    tree = parse(source, path)
    try:
        with one_at_a_time:  # it parses annotations that are strings
            messages = Checker(tree, path).messages
    except RecursionError:  # nested beyond what can be looked through
        return []
    harmless = _harmless_places(tree)
    first: dict[str, int] = {}
    for message in messages:
        place = message.lineno, message.col
        if isinstance(message, UndefinedName) and not any(start <= place <= end for start, end in harmless):
            name = str(message.message_args[0])
            first[name] = min(message.lineno, first.get(name, message.lineno))
    return sorted(((name, line) for name, line in first.items() if name not in _GIVEN), key=lambda item: item[1])


def _harmless_places(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """From where to where a name may be missing: texts, and code that is not run or may fail."""
    nodes = list(ast.walk(tree))
    texts = [(node.lineno, node.col_offset) for node in nodes if _is_text(node)]
    parts = chain(_idle_annotations(nodes), filter(_is_for_another_python, nodes), _probing_statements(nodes))
    return [*zip(texts, texts, strict=True),
            *(((part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0)) for part in parts)]


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _idle_annotations(nodes: Sequence[ast.AST]) -> list[ast.expr]:
    """The annotations that are not evaluated: all where a file puts that off, else those of a function's variables."""
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    if any(map(_puts_annotations_off, nodes)):
        given = [node.annotation for node in nodes if isinstance(node, ast.arg | ast.AnnAssign)]
        return [*filter(None, given), *filter(None, [function.returns for function in functions])]
    inside = chain.from_iterable(map(ast.walk, functions))
    return [one.annotation for one in inside if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]


def _puts_annotations_off(node: ast.AST) -> bool:
    return (isinstance(node, ast.ImportFrom) and node.module == "__future__"
            and "annotations" in [alias.name for alias in node.names])


def _is_for_another_python(node: ast.AST) -> TypeGuard[ast.If | ast.IfExp]:
    """Whether it asks which Python runs it: what is no name in ours is one in another."""
    return isinstance(node, ast.If | ast.IfExp) and any(
        _OTHER_PYTHON.search(getattr(part, "attr", getattr(part, "id", ""))) for part in ast.walk(node.test))


def _probing_statements(nodes: Sequence[ast.AST]) -> Iterator[ast.stmt]:
    """The statements that stand alone in a `try` that catches every error without a look at it: they ask what there
    is."""
    for node in nodes:
        if isinstance(node, ast.Try) and len(node.body) == 1 and any(map(_catches_unseen, node.handlers)):
            yield node.body[0]


def _catches_unseen(handler: ast.ExceptHandler) -> bool:
    return handler.name is None and (handler.type is None or getattr(handler.type, "id", "") in _EVERY_ERROR)


@isolate(SyntaxError)
def function_around(source: bytes, path: str, line: int) -> tuple[int, int] | None:
    """The first and the last line of the innermost function that holds the line, decorators included; None where no
    function does."""
    found: tuple[int, int] | None = None
    for node in ast.walk(parse(source, path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first, last = min((node.lineno, *(one.lineno for one in node.decorator_list))), node.end_lineno or 0
            if first <= line <= last and (found is None or first > found[0]):
                found = first, last
    return found


# Reading Python source that may be anything: syntax errors are the only errors, and warnings stay out of the way.

one_at_a_time = Lock()
"""To hold while a library may parse Python; the functions here hold it themselves."""
_ERRORS = ValueError, TypeError, RecursionError, MemoryError, OverflowError  # NUL bytes, lists as keys, deep nesting
_TOO_MUCH = "nested too deeply, or takes too much memory to compile"
_MANY_DOTS = 20_000
_MANY_PARTS = 500
_LONG_NAME = re.compile(r"(?:\.[\s\\]*+\w++[\s\\]*+)++")


def parse(source: bytes | str, path: str = "<unknown>") -> ast.Module:
    """The syntax tree of `source`; raises SyntaxError only."""
    _refuse_endless_names(source, path)
    with _quiet(path):
        return ast.parse(source, path)


def literal(source: str) -> Any:
    """The value of a Python literal; raises SyntaxError only, also when it is no literal."""
    with _quiet("<literal>"):
        return ast.literal_eval(source.strip())


def check(source: bytes, path: str) -> None:
    """Compile `source` without running it; raises SyntaxError only."""
    _refuse_endless_names(source, path)
    with _quiet(path):
        compile(source, path, "exec", dont_inherit=True)


def _refuse_endless_names(source: bytes | str, path: str) -> None:
    """`import a.a.a…` takes Python a time that grows with the square of its length: 10 s for 200 KB."""
    text = source if isinstance(source, str) else source.decode("latin-1")
    if text.count(".") > _MANY_DOTS and any(name[0].count(".") > _MANY_PARTS for name in _LONG_NAME.finditer(text)):
        raise SyntaxError(f"a name of more than {_MANY_PARTS} parts", (path, 1, 1, None))


@contextmanager
def _quiet(path: str) -> Iterator[None]:
    with one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except _ERRORS as error:
            why = _TOO_MUCH if isinstance(error, MemoryError) else str(error) or "nested too deeply"
            raise SyntaxError(why, (path, 1, 1, None)) from error
