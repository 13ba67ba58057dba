"""The files of a software at one moment, as a value, and which paths a model may name: relative, inside the software,
harmless on every common file system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from chatdev.errors import UnsafePath
from chatdev.workspace.file_tree import read_tree
from chatdev.workspace.python_facts import has_main_guard


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
        """Arguments after the interpreter on the command line; empty without a program to start."""
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
    with_guard = [path for path in programs if has_main_guard(files[path])]
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


MAX_COMPONENT = 255  # bytes of UTF-8, the limit of ext4, APFS and NTFS
MAX_PATH = 1024  # bytes of UTF-8
MAX_LEVELS = 16

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, invisible marks, lone surrogates, line separators
_REFUSED = '<>:"|?*'  # not allowed on Windows; a colon also names drives and alternate data streams
_LIKE_SLASHES = set("/\\\u2044\u2215\u29f5\u29f8\u29f9\u2571\u2572")  # after NFKC, which turns others into real ones
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
_ELSEWHERE = (
    (re.compile(r"^/|^[A-Za-z]:"), "is absolute"),
    (re.compile(r"^(?:\./+)*~"), "points to a home folder"),
    (re.compile(r"/$"), "names a folder"),
)
_GIT = re.compile(r"\.git|git~[0-9]+")


def safe_path(name: str) -> str:
    r"""`name` as a relative POSIX path (`a\b.py` and `./a//b.py` become `a/b.py`).

    Raises UnsafePath when it could leave the software folder, touch git metadata or exist on no common file system.
    """
    _check_characters(name)
    path = name.replace("\\", "/")
    for pattern, why in _ELSEWHERE:
        if pattern.search(path):
            raise _unsafe(name, why)
    components = [component for component in path.split("/") if component not in ("", ".")]
    if not components:
        raise _unsafe(name, "is empty")
    for component in components:
        _check_component(name, component)
    path = "/".join(components)
    if len(components) > MAX_LEVELS:
        raise _unsafe(name, f"has {len(components)} levels, allowed are {MAX_LEVELS}")
    if len(path.encode()) > MAX_PATH:
        raise _unsafe(name, f"is longer than {MAX_PATH} bytes")
    return path


def _check_characters(name: str) -> None:
    hidden = next((char for char in name if unicodedata.category(char) in _HIDDEN), None)
    if hidden is not None:
        raise _unsafe(name, f"contains the invisible character U+{ord(hidden):04X}")


def _check_component(name: str, component: str) -> None:
    """Raise UnsafePath when one component of `name` is refused."""
    plain = unicodedata.normalize("NFKC", component).casefold().rstrip(". ")
    refused = " ".join(sorted(set(component) & set(_REFUSED)))
    faults = (
        (component == "..", "leaves the software folder by '..'"),
        (_GIT.fullmatch(plain), "touches git metadata"),
        (component != component.strip() or component.endswith("."),
         "has a part that begins or ends with a blank or ends with a dot"),
        (component.startswith("-"), "has a part that begins like an option, with '-'"),
        (not plain or set(plain) & _LIKE_SLASHES, "has a part that looks like several"),
        (refused, f"contains {refused}"),
        (_DEVICE.fullmatch(component.split(".")[0].rstrip()), "is a device name on Windows"),
        (len(component.encode()) > MAX_COMPONENT, f"has a part longer than {MAX_COMPONENT} bytes"),
    )
    if why := next((why for found, why in faults if found), None):
        raise _unsafe(name, why)


def _unsafe(name: str, why: str) -> UnsafePath:
    shown = ascii(name if len(name) <= 80 else name[:60] + "…" + name[-19:])
    return UnsafePath(f"the path {shown} {why}; use a short relative path such as src/main.py")


def collisions(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of different paths that cannot exist together everywhere.

    Either both are the same name where case (or the Unicode form) does not count, or the first is a file where the
    second needs a folder.
    """
    files: dict[str, str] = {}
    found = []
    for path in sorted(set(paths)):
        twin = files.setdefault(_fold(path), path)
        if twin != path:
            found.append((twin, path))
    for folded, path in files.items():
        parts = folded.split("/")
        parents = ("/".join(parts[:level]) for level in range(1, len(parts)))
        found += [(files[parent], path) for parent in parents if parent in files]
    return found


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
