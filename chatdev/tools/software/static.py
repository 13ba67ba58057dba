"""What can be told of a Python program without running it: syntax errors, and the modules it imports."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from chatdev.workspace.entry import is_test
from chatdev.workspace.python_source import check, parse


@dataclass(frozen=True, slots=True)
class SourceError:
    """A syntax error and its line."""

    path: str
    line: int
    message: str
    source: str


@dataclass(frozen=True, slots=True)
class Imports:
    """Top-level names of imported modules that are not the program's own; `optional` ones may fail (they stand in a
    `try` that catches it), `required` ones may not."""

    required: frozenset[str]
    optional: frozenset[str]

    @property
    def every(self) -> set[str]:
        """All of them."""
        return set(self.required | self.optional)


def syntax_errors(files: Mapping[str, bytes]) -> list[SourceError]:
    """One error for each Python file that does not compile."""
    errors = []
    for path, source in files.items():
        if not path.endswith(".py"):
            continue
        try:
            check(source, path)
        except SyntaxError as error:
            line = error.lineno or 1
            lines = source.decode("utf-8", errors="replace").splitlines()
            errors.append(SourceError(path, line, f"{type(error).__name__}: {error.msg}",
                                      lines[line - 1].strip() if line <= len(lines) else ""))
    return errors


def data_errors(files: Mapping[str, bytes]) -> list[SourceError]:
    """One error for each JSON file that no program could read."""
    errors = []
    for path, source in files.items():
        if not path.endswith(".json"):
            continue
        text = source.decode("utf-8", errors="replace")
        try:
            json.loads(text)
        except ValueError as error:
            line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
            errors.append(SourceError(path, line, f"not valid JSON: {getattr(error, 'msg', error)}",
                                      (text.splitlines() or [""])[line - 1].strip()))
    return errors


def imports(files: Mapping[str, bytes]) -> Imports:
    """The imports of all Python files that are not tests; the files must compile."""
    finder = _Finder()
    own = _own_modules(files)
    for path, source in files.items():
        if path.endswith(".py") and not is_test(path):
            finder.visit(parse(source, path))
    required = frozenset(finder.required - own)
    return Imports(required, frozenset(finder.optional - own - required))


def third_party(names: frozenset[str]) -> frozenset[str]:
    """Those that do not belong to Python itself."""
    return names - sys.stdlib_module_names - {"__main__"}


def requirements(files: Mapping[str, bytes]) -> set[str]:
    """Normalised distribution names listed in requirements.txt (versions, URLs and options are left out)."""
    text = files.get("requirements.txt", b"").decode("utf-8", errors="replace")
    names = (re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\]\s*)?(?:[=<>!~;#].*)?$", line)
             for line in text.splitlines())
    return {normalised(match[1]) for match in names if match}


def normalised(distribution: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _own_modules(files: Mapping[str, bytes]) -> set[str]:
    """Every name under which the program's own files could be imported, whichever folder is on the path."""
    own: set[str] = set()
    for path in files:
        if path.endswith(".py"):
            own |= {*PurePosixPath(path).with_suffix("").parts}
    return own


class _Finder(ast.NodeVisitor):
    """Collects imports, with those that may fail apart."""

    def __init__(self) -> None:
        self.required: set[str] = set()
        self.optional: set[str] = set()
        self._found = self.required

    def visit_Import(self, node: ast.Import) -> None:
        self._found |= {alias.name.split(".")[0] for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module and not node.level:
            self._found.add(node.module.split(".")[0])

    def visit_Try(self, node: ast.Try) -> None:
        outer = self._found
        if any(_catches_import_error(handler) for handler in node.handlers):
            self._found = self.optional
        self.generic_visit(node)
        self._found = outer

    def visit_If(self, node: ast.If) -> None:
        if not ast.unparse(node.test).endswith("TYPE_CHECKING"):
            self.generic_visit(node)


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
    return not names.isdisjoint({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
