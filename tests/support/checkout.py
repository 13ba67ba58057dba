"""This checkout: where it lies, its modules and what they import."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = sorted((ROOT / "chatdev").rglob("*.py"))
SOURCES = sorted(path for folder in ("chatdev", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))


def named(path: Path) -> str:
    """The path of a file below the checkout."""
    return path.relative_to(ROOT).as_posix()


def imported(tree: ast.Module) -> Iterator[str]:
    """The full name of everything that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
