"""The languages of `languages.yaml`: which one software is in, and which of its files start it."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict

from chatdev.paths import bundled_table
from chatdev.workspace.python_facts import has_main_guard
from chatdev.workspace.snapshot import EntryPoint, find_entry, is_test

_TABLE = Path(__file__).with_name("languages.yaml")
_PACKAGING = ("setup.py", "setup.cfg", "pyproject.toml")

_TEST = re.compile(r"(?:^|[._-])(?:test|spec)s?[._-]|[a-z]Tests?\.\w+$")


class Declared(BaseModel):
    """A file that may name the start, and the pattern of which one group finds it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    pattern: str


class TestRun(BaseModel):
    """How tests are run where a file of such a path holds something; `needs` is the program for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: str
    holds: str
    needs: str
    run: tuple[str, ...]
    failed: str = ""


class Language(BaseModel):
    """One row of `languages.yaml`, where the fields are explained."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    suffixes: tuple[str, ...]
    also: tuple[str, ...] = ()
    unless: frozenset[str] = frozenset()
    needs: tuple[str, ...]
    install: str
    shows: tuple[str, ...] = ()
    starts: str = ""
    takes: str = ""
    named: tuple[str, ...] = ()
    declared: Declared | None = None
    links: Mapping[str, str] = {}
    adds: Mapping[str, str] = {}
    build: tuple[tuple[str, ...], ...] = ()
    run: tuple[str, ...]
    command: str = ""
    memory: int
    seconds: float = 3.0
    env: Mapping[str, str] = {}
    windows: str = ""
    missing: str = ""
    crash: str = ""
    no_display: str = ""
    noise: str = ""
    page: str = ""
    driven: tuple[str, ...] = ()
    library: tuple[tuple[str, ...], ...] | None = None
    tests: tuple[TestRun, ...] = ()

    def sources(self, files: Mapping[str, bytes]) -> list[str]:
        """Its source files without tests, those nearest to the top first."""
        suffixes = {*self.suffixes, *self.also}
        return sorted((path for path in files if PurePosixPath(path).suffix in suffixes and not is_test_file(path)),
                      key=lambda path: (path.count("/"), path))

    def entry(self, files: Mapping[str, bytes]) -> EntryPoint:
        """The source that starts the program: the declared one, else the first that bears a known name, else the only
        one that could, or the only one of these that no other source takes in."""
        sources = self.sources(files)
        if (path := self._declared_entry(files)) in sources:
            return EntryPoint(path)
        candidates = [path for path in sources if self.may_start(files[path])]
        for name in self.named:
            if bearers := [path for path in candidates if PurePosixPath(path).name == name]:
                return EntryPoint(bearers[0])
        taken = {PurePosixPath(path).stem for source in sources for path in self._paths_in(files[source])}
        free = [path for path in candidates if PurePosixPath(path).stem not in taken]
        return EntryPoint(free[0]) if len(free) == 1 else EntryPoint(None, tuple(candidates))

    def _paths_in(self, source: bytes) -> Iterator[str]:
        """The paths of sources that this one takes in."""
        return captures(self.takes, source.decode("utf-8", errors="replace")) if self.takes else iter(())

    def may_start(self, source: bytes) -> bool:
        """Whether a program may start in this source."""
        return matches(self.starts, source.decode("utf-8", errors="replace"))

    def _declared_entry(self, files: Mapping[str, bytes]) -> str | None:
        if self.declared is None:
            return None
        text = files.get(self.declared.file, b"").decode("utf-8", errors="replace")
        return next(captures(self.declared.pattern, text), None)


@functools.cache
def _table() -> dict[str, Any]:
    """`languages` (name -> row), and `others` that are not judged (name -> suffixes)."""
    table: dict[str, Any] = bundled_table(_TABLE)
    return table


@functools.cache
def languages() -> tuple[Language, ...]:
    """All rows, in the order in which they are tried."""
    return tuple(Language(name=name, **row) for name, row in _table()["languages"].items())


def has_python(files: Mapping[str, bytes]) -> bool:
    """Whether there is Python in the software; then that is its language, whatever else there is."""
    return any(path.endswith(".py") for path in files)


def language_of(files: Mapping[str, bytes]) -> Language | None:
    """The language of the table that the software is in; None for Python, and for what nobody here can start."""
    if has_python(files):
        return None
    suffixes = {PurePosixPath(path).suffix for path in files if not is_test_file(path)}
    return next((language for language in languages()
                 if not suffixes.isdisjoint(language.suffixes) and language.unless.isdisjoint(files)), None)


def is_startable(files: Mapping[str, bytes]) -> bool:
    """Whether `chatdev play` knows what to start or to show."""
    language = language_of(files)
    return (language.entry(files) if language else find_entry(files)).path is not None


def is_library(files: Mapping[str, bytes]) -> bool:
    """Whether Python software is meant to be imported, or is nothing but tests: it need not start."""
    sources = [path for path in files if path.endswith(".py")]
    packaged = any(PurePosixPath(path).name in _PACKAGING for path in files)
    return packaged or any(path.endswith("/__init__.py") for path in sources) or all(map(is_test, sources))


def importable_modules(files: Mapping[str, bytes]) -> dict[str, str]:
    """The modules of a Python library by their names, each with the folder it is imported from. Scripts, which act when
    they are imported, are none."""
    packages = {str(PurePosixPath(path).parent) for path in files if path.endswith("/__init__.py")}
    modules = (PurePosixPath(path) for path in sorted(files) if _is_module(path, files[path]))
    return dict(_name_and_root(module, packages) for module in modules
                if str(module.parent) in (packages or {".", "src"}))


def _is_module(path: str, source: bytes) -> bool:
    """Whether a file is a module that does nothing but define things."""
    is_source = path.endswith(".py") and not path.endswith("__main__.py") and not is_test(path)
    return is_source and not has_main_guard(source)


def _name_and_root(module: PurePosixPath, packages: Collection[str]) -> tuple[str, str]:
    """The name by which a module is imported, and from which folder."""
    root = next((parent for parent in module.parents if str(parent) not in packages), PurePosixPath())
    parts = module.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts), str(root)


def page_entry(files: Mapping[str, bytes]) -> str | None:
    """The path of the page that a browser opens, where the software is one."""
    language = language_of(files)
    return language.entry(files).path if language and language.page else None


def unsupported_languages(files: Mapping[str, bytes]) -> list[str]:
    """The names of languages in which there are files, but no judge for them."""
    suffixes = {PurePosixPath(path).suffix for path in files}
    return [name for name, own in _table()["others"].items() if not suffixes.isdisjoint(own)]


def matches(pattern: str, text: str) -> bool:
    """Whether `pattern` occurs in `text`; `^` is the start of a line. The empty pattern occurs everywhere."""
    return re.search(pattern, text, re.MULTILINE) is not None


def captures(pattern: str, text: str) -> Iterator[str]:
    """What the groups of `pattern` caught in `text`, in order."""
    return (name for match in re.finditer(pattern, text, re.MULTILINE) for name in match.groups() if name)


def is_test_file(path: str) -> bool:
    """Whether a file is one of the tests, or helps them, in any language."""
    return is_test(path) or _TEST.search(PurePosixPath(path).name) is not None
