"""Software as a value: which files it consists of at one moment, and which of them starts it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from chatdev.workspace.file_tree import read_tree
from chatdev.workspace.python_source import parse


class Software(Mapping[str, bytes]):
    """Files by relative POSIX path, sorted, never changing; equal when the contents are.

    >>> software = Software({"main.py": b"print(1)\\n"})
    >>> software.files, software.lines, software.main
    (('main.py',), 1, 'main.py')
    """

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self._files = MappingProxyType(dict(sorted((files or {}).items())))

    @classmethod
    def load(cls, folder: Path | str) -> Software:
        """The software in `folder` (without git metadata, links and caches); raises WorkspaceError."""
        return cls(read_tree(Path(folder)))

    def __getitem__(self, path: str) -> bytes:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __hash__(self) -> int:
        return hash(tuple(self._files.items()))

    def __repr__(self) -> str:
        return f"Software({', '.join(self._files) or 'empty'})"

    @property
    def files(self) -> tuple[str, ...]:
        """The paths, sorted."""
        return tuple(self._files)

    @property
    def lines(self) -> int:
        """Lines of all text files together."""
        return sum(len(content.splitlines()) for content in self._files.values() if b"\0" not in content)

    @property
    def main(self) -> str | None:
        """The file that starts it, as far as one can tell (see `find_entry`)."""
        return find_entry(self).path

    def text(self, path: str) -> str:
        """One file as text; bytes that are no UTF-8 are replaced."""
        return self._files[path].decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class EntryPoint:
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


def find_entry(files: Mapping[str, bytes]) -> EntryPoint:
    """main.py (the one nearest to the root), else a `__main__.py`, else the only file with a main guard, else the
    only file; tests and set-up scripts do not count."""
    programs = _program_files(files)
    names = {PurePosixPath(path).name: path for path in reversed(programs)}
    if path := names.get("main.py") or names.get("__main__.py"):
        return EntryPoint(path)
    with_guard = [path for path in programs if _has_main_guard(files[path])]
    candidates = with_guard or [path for path in programs if PurePosixPath(path).name != "__init__.py"]
    return EntryPoint(candidates[0]) if len(candidates) == 1 else EntryPoint(None, tuple(candidates))


def _program_files(files: Mapping[str, bytes]) -> list[str]:
    """The Python files that are neither tests nor set-up scripts, those nearest to the root first."""
    found = (path for path in files if path.endswith(".py") and not is_test(path))
    return sorted(found, key=lambda path: (path.count("/"), path))


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
