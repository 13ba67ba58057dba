"""Slips of the pen in a Python file that are certain, and the file without them; read in the child of this process."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from io import StringIO
from pathlib import PurePosixPath

from chatdev.isolation.isolate import isolate
from chatdev.workspace.python_reading import undefined_uses
from chatdev.workspace.python_source import check, parse


@isolate(SyntaxError)
def mend_python(text: str, path: str, importable: dict[str, list[str]]) -> tuple[str, list[str]]:
    """The text without its slips, and what was added to it or left out of it, told line by line; the text as it is
    where there are none. Raises SyntaxError for a file that cannot be read.

    A first line that is only the name of the file is left out. A name that is used and defined nowhere is imported
    where the standard library has it, with every attribute that is asked of it; `importable` are the names that may be
    so, each with the modules that have it, "" for a module itself.
    """
    mended, slips = _without_name(text, path)
    if forgotten := _forgotten_imports(mended, path, importable):
        mended = _add_lines(mended, path, forgotten)
        slips += [f"added: {line}" for line in forgotten]
    if slips:
        check(mended.encode(), path)
    return mended, slips


def _without_name(text: str, path: str) -> tuple[str, list[str]]:
    first, _, rest = text.lstrip("\n").partition("\n")
    if first.strip() in (path, PurePosixPath(path).name):
        return rest, [f"left out: {first.strip()}"]
    return text, []


def _forgotten_imports(text: str, path: str, importable: Mapping[str, Sequence[str]]) -> list[str]:
    """The import statements that are missing, in the order of their names."""
    names = sorted(name for name, _ in undefined_uses(text.encode(), path) if name in importable)
    if not names:
        return []
    tree = parse(text, path)
    found = (_import_statement(name, importable[name], _attributes_of(name, tree)) for name in names)
    return [statement for statement in found if statement]


def _attributes_of(name: str, tree: ast.Module) -> list[str | None]:
    """What is asked of a name wherever it stands; None where it stands alone."""
    asked = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return [asked.get(id(node)) for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]


def _import_statement(name: str, modules: Iterable[str], attributes: Sequence[str | None]) -> str | None:
    """The statement by which a name has all these attributes; a module is of no use where it stands alone."""
    for module in modules:
        given = getattr(import_module(module), name) if module else import_module(name)
        if all(hasattr(given, one) if one else module for one in attributes):
            return f"from {module} import {name}" if module else f"import {name}"
    return None


def _add_lines(text: str, path: str, lines: Iterable[str]) -> str:
    """The text with these lines before its first statement, behind what has to come first."""
    body = parse(text, path).body
    first = next((node for number, node in enumerate(body) if not _comes_first(node, number)), body[-1])
    around = min(node.lineno for node in (first, *getattr(first, "decorator_list", ())))
    kept = list(StringIO(text, newline=""))  # as Python counts them
    ending = "\r\n" if kept[0].endswith("\r\n") else "\n"
    kept[around - 1:around - 1] = [f"{line}{ending}" for line in lines]
    return "".join(kept)


def _comes_first(node: ast.stmt, number: int) -> bool:
    """Whether it is the docstring, or an import of what is yet to come."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
