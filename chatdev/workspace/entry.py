"""Which file of a Python program starts it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from chatdev.workspace.python_source import parse


@dataclass(frozen=True, slots=True)
class Entry:
    """The file to start, or None with the `candidates` among which nothing decides."""

    path: str | None
    candidates: tuple[str, ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """What follows the interpreter on the command line; empty when there is nothing to start."""
        if self.path is None:
            return ()
        path = PurePosixPath(self.path)
        if path.name == "__main__.py" and path.parent.name:
            return ("-m", ".".join(path.parent.parts))
        return (self.path,)


def find_entry(files: Mapping[str, bytes]) -> Entry:
    """main.py (the one nearest to the root), else a `__main__.py`, else the only file with a main guard, else the
    only file; tests and set-up scripts do not count."""
    programs = sorted((path for path in files if path.endswith(".py") and not is_test(path)),
                      key=lambda path: (path.count("/"), path))
    for name in ("main.py", "__main__.py"):
        if named := [path for path in programs if PurePosixPath(path).name == name]:
            return Entry(named[0])
    guarded = [path for path in programs if _has_main_guard(files[path])]
    candidates = guarded or [path for path in programs if PurePosixPath(path).name != "__init__.py"]
    return Entry(candidates[0]) if len(candidates) == 1 else Entry(None, tuple(candidates))


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests or the packaging rather than to the program."""
    pure = PurePosixPath(path)
    return (pure.name.startswith("test_") or pure.stem.endswith("_test") or pure.name in ("conftest.py", "setup.py")
            or any(part in ("test", "tests") for part in pure.parts[:-1]))


def _has_main_guard(source: bytes) -> bool:
    try:
        body = parse(source, "").body
    except SyntaxError:
        return False
    return any(isinstance(node, ast.If) and "__name__" in {
        name.id for name in ast.walk(node.test) if isinstance(name, ast.Name)} for node in body)
