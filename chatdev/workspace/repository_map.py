"""A map of software that is too large to be shown: the files that a request is about in full, what others define, and
how large everything is, within a number of tokens."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from chatdev.paths import bundled_table
from chatdev.workspace.python_facts import outline
from chatdev.workspace.snapshot import is_test

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
