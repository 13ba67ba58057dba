"""The languages of `languages.yaml`: which one software is in, and which of its files start it; and a map of software
that is too large to be shown: the files that a request is about in full, what others define, and how large everything
is, within a number of tokens."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict

from chatdev.paths import bundled_table
from chatdev.workspace.file_tree import EntryPoint, find_entry, is_test
from chatdev.workspace.python_facts import has_main_guard, outline

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


# A map of software that is too large to be shown: the files that a request is about in full, what others define,
# and how large everything is, within a number of tokens.

_CHARACTERS = 3  # of a token, on the safe side for code
_FOR_FILES, _FOR_SYMBOLS = 0.6, 0.75  # of the room: up to there files in full, up to there what others define
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_PATH = re.compile(r"(?<![\w./-])[\w./-]++")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_MOST_WORDS, _FEW_FILES, _MOST_FILES_OF_A_WORD = 200, 3, 0.2  # a word that a fifth of the files hold says nothing
_NAMED, _IN_ITS_PATH, _FOR_A_TEST = 100.0, 4.0, 0.5  # what counts for a file
_MOST_SYMBOLS, _LONGEST_LINE = 40, 2000
_LARGEST_PARSED = 500_000  # bytes


@dataclass(frozen=True, slots=True)
class RepositoryMap:
    """`full`: the paths of the files to show in full; `others`: a line for each other file or folder; `is_whole`: the
    files that are shown are all."""

    full: tuple[str, ...]
    others: str
    is_whole: bool


def map_repository(files: Mapping[str, str | bytes], request: str, tokens: int) -> RepositoryMap:
    """Overview of `files` for the agent that carries out a request, in about `tokens` tokens."""
    texts = {path: text for path, content in files.items() if (text := _text(content)) is not None}
    room = tokens * _CHARACTERS
    if texts.keys() == files.keys() and sum(map(_shown_size, texts, texts.values())) <= room:
        return RepositoryMap(tuple(sorted(files)), "", is_whole=True)
    scores = rank_files(texts, request)
    ranked = sorted((path for path in texts if scores[path]), key=lambda path: (-scores[path], path))
    full, used = _choose(ranked, texts, room * _FOR_FILES)
    lines = _describe_files([path for path in ranked if path not in full], texts, room * _FOR_SYMBOLS - used)
    used += sum(map(len, lines.values()))
    rest = _describe_rest({path: files[path] for path in files.keys() - full - lines.keys()}, room - used)
    return RepositoryMap(tuple(sorted(full)), "\n".join([*lines.values(), *rest]), is_whole=False)


def rank_files(texts: Mapping[str, str], request: str) -> Mapping[str, float]:
    """Relevance of each file to a request: named in it, or with its rare words in path or text."""
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(request)))[:_MOST_WORDS]
    lower = {path: text.lower() for path, text in texts.items()}
    in_paths = {path: _words_of(path) for path in texts}
    scores = dict.fromkeys(texts, 0.0)
    for word in words:
        _add_scores(scores, lower, word, 1.0)
        _add_scores(scores, in_paths, word, _IN_ITS_PATH)
    for path in filter(is_test, texts):
        scores[path] *= _FOR_A_TEST
    names = {word.strip(".") for word in _PATH.findall(request)}
    for path in filter(lambda path: names & {path, PurePosixPath(path).name}, texts):
        scores[path] += _NAMED
    return scores


def _add_scores(scores: dict[str, float], known: Mapping[str, Container[str]], word: str, worth: float) -> None:
    """Share what a word is worth among the files that have it, unless it says nothing."""
    found = [path for path, words in known.items() if word in words]
    if len(found) <= max(_FEW_FILES, len(scores) * _MOST_FILES_OF_A_WORD):
        for path in found:
            scores[path] += worth / len(found)


def symbols_of(path: str, text: str) -> list[str]:
    """What a file defines, in its order: functions and classes of Python with their methods and arguments, in other
    languages the names that patterns find."""
    if path.endswith(".py"):
        return outline(text) if len(text) <= _LARGEST_PARSED else []
    patterns = _patterns().get(PurePosixPath(path).suffix.lower(), ())
    lines = (line[:_LONGEST_LINE] for line in text.splitlines())
    return list(dict.fromkeys(found[1] for line in lines for pattern in patterns if (found := pattern.search(line))))


@functools.cache
def _patterns() -> Mapping[str, list[re.Pattern[str]]]:
    table = bundled_table(Path(__file__).with_name("symbols.yaml"))["languages"]
    return {suffix: [re.compile(pattern) for pattern in row["lines"]] for row in table for suffix in row["suffixes"]}


def _choose(ranked: list[str], texts: Mapping[str, str], room: float) -> tuple[set[str], int]:
    """The files to show in full: those of the highest rank that fit; and their characters."""
    chosen, used = set(), 0
    for path in ranked:
        size = _shown_size(path, texts[path])
        if used + size <= room:
            chosen.add(path)
            used += size
    return chosen, used


def _describe_files(paths: list[str], texts: Mapping[str, str], room: float) -> dict[str, str]:
    """A line for each of the files, with what it defines, as far as they fit."""
    lines: dict[str, str] = {}
    used = 0
    for path in paths:
        symbols = symbols_of(path, texts[path])[:_MOST_SYMBOLS]
        line = f"{path}  {_count_lines(texts[path])}{': ' if symbols else ''}{'; '.join(symbols)}"
        used += len(line)
        if used > room:
            break
        lines[path] = line
    return lines


def _describe_rest(files: Mapping[str, str | bytes], room: float) -> list[str]:
    """A line for each file; where that is too much, for each folder, those below one another put together."""
    lines = [f"{path}  {_size(content)}" for path, content in sorted(files.items())]
    if sum(map(len, lines)) <= room:
        return lines
    for level in range(max(path.count("/") for path in files), -1, -1):
        folders: dict[str, list[str | bytes]] = defaultdict(list)
        for path, content in files.items():
            folders["/".join(path.split("/")[:-1][:level])].append(content)
        lines = [f"{folder}/  {_count_files(contents)}" if folder else f"(all)  {_count_files(contents)}"
                 for folder, contents in sorted(folders.items())]
        if sum(map(len, lines)) <= room:
            return lines
    return lines[-1:]


def _count_files(contents: list[str | bytes]) -> str:
    lines = sum(len(text.splitlines()) for content in contents if (text := _text(content)) is not None)
    return f"{len(contents)} file{'s' * (len(contents) != 1)}, {lines} lines"


def _text(content: str | bytes) -> str | None:
    """A content as text; None for what is none."""
    if isinstance(content, str):
        return content
    try:
        return None if b"\0" in content else content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _size(content: str | bytes) -> str:
    text = _text(content)
    return f"{len(content)} bytes, no text" if text is None else _count_lines(text)


def _count_lines(text: str) -> str:
    count = len(text.splitlines())
    return f"{count} line{'s' * (count != 1)}"


def _shown_size(path: str, text: str) -> int:
    """The characters of a file as it is shown."""
    return len(path) + len(text) + 16


def _words_of(path: str) -> set[str]:
    """The words in a path: `src/TaskList.py` has src, tasklist, task, list and py."""
    whole = re.split(r"[/.\-\s]+", path)
    return {word.lower() for part in whole for word in (part, *part.split("_"), *_PART.findall(part))}
