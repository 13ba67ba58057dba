"""Search/replace blocks: changes to a file of any language, as old lines and the new lines in their place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from chatdev.replies.fences import indentation, lines_of
from chatdev.replies.problem import Unreadable

_SEARCH = re.compile(r"\s*<{5,9}\s*SEARCH\s*:?\s*", re.IGNORECASE)
_DIVIDER = re.compile(r"\s*={5,9}\s*")
_REPLACE = re.compile(r"\s*>{5,9}\s*REPLACE\s*", re.IGNORECASE)
_COUNTED = 20  # matches are counted up to here
_MOST_CHANGES = 300  # of one file; each takes a walk through it
_WIDEST = 120  # columns; lines that move deeper would make a file many times as long as what came


@dataclass(frozen=True, slots=True)
class Change:
    """Old lines and the new ones in their place, with their line ends."""

    search: tuple[str, ...]
    replace: tuple[str, ...]


def is_search_replace(content: str) -> bool:
    """Whether `content` consists of search/replace blocks."""
    first = next((line for line in lines_of(content) if line.strip()), "")
    return _SEARCH.fullmatch(first) is not None


def read_changes(content: str, path: str) -> list[Change]:
    """The changes in `content`. Raises Unreadable when a block is not complete."""
    changes: list[Change] = []
    parts: list[list[str]] = []
    for line in lines_of(content):
        if not parts:
            if _SEARCH.fullmatch(line):
                parts = [[]]
            elif line.strip():
                raise Unreadable(f"{path}: this line is outside <<<<<<< SEARCH … >>>>>>> REPLACE: {_quoted(line)}")
        elif len(parts) == 1 and _DIVIDER.fullmatch(line):
            parts.append([])
        elif len(parts) == 2 and _REPLACE.fullmatch(line):
            changes.append(Change(tuple(parts[0]), tuple(parts[1])))
            parts = []
        else:
            parts[-1].append(line)
    if parts:
        missing = "=======" if len(parts) == 1 else ">>>>>>> REPLACE"
        raise Unreadable(f"{path}: a SEARCH block has no {missing} line")
    return changes


def apply_changes(text: str, changes: list[Change], path: str) -> str:
    """`text` with every change made, in order. Raises Unreadable when old lines are not found exactly once."""
    if len(changes) > _MOST_CHANGES:
        raise Unreadable(f"{path}: {len(changes)} SEARCH blocks; give the whole file instead")
    problems: list[str] = []
    for change in changes:
        try:
            text = _apply(text, change, path)
        except Unreadable as problem:
            problems += problem.problems
    if problems:
        raise Unreadable(*problems)
    return text


def _apply(text: str, change: Change, path: str) -> str:
    lines = lines_of(text)
    if not any(line.strip() for line in change.search):
        if text.strip():
            raise Unreadable(f"{path}: the SEARCH part is empty; it must hold the lines to replace")
        return "".join(change.replace)
    search, replace = change.search, change.replace
    found = _places(lines, search, _exact)
    if not found:
        found = _places(lines, search, str.rstrip)
    if not found:
        search = _without_blank_ends(search)
        found = _places(lines, search, str.strip)
        if found:
            refuse_width(path, indentation(lines[found[0]]))
            replace = _shifted(replace, search[0], lines[found[0]])
    if len(found) != 1:
        count = f"{_COUNTED} or more" if len(found) >= _COUNTED else str(len(found))
        advice = "give more lines around it" if found else "copy the lines exactly from the file"
        raise Unreadable(f"{path}: the SEARCH lines that begin with {_quoted(search[0])} match {count} times; {advice}")
    start, end = found[0], found[0] + len(search)
    ending = "\r\n" if lines[start].endswith("\r\n") else "\n"
    new = [line.rstrip("\r\n") + ending for line in replace]
    if new and end == len(lines) and not lines[-1].endswith("\n"):
        new[-1] = new[-1].rstrip("\r\n")
    return "".join([*lines[:start], *new, *lines[end:]])


def _exact(line: str) -> str:
    return line.rstrip("\r\n")


def _places(lines: list[str], search: tuple[str, ...], key: Callable[[str], str]) -> list[int]:
    """Line indices at which `search` stands in `lines`, compared by `key`, up to a count."""
    text = "\n" + "\n".join(map(key, lines)) + "\n"
    wanted = "\n" + "\n".join(map(key, search)) + "\n"
    found: list[int] = []
    position = text.find(wanted)
    while position >= 0 and len(found) < _COUNTED:
        found.append(text.count("\n", 0, position))
        position = text.find(wanted, position + 1)
    return found


def _without_blank_ends(search: tuple[str, ...]) -> tuple[str, ...]:
    filled = [index for index, line in enumerate(search) if line.strip()]
    return search[filled[0]:filled[-1] + 1]


def _shifted(replace: tuple[str, ...], searched: str, found: str) -> tuple[str, ...]:
    """`replace`, moved by the difference in indentation between the line searched for and the line found."""
    old, new = indentation(searched), indentation(found)
    return tuple(new + line[len(old):] if line.startswith(old) and line.strip() else line for line in replace)


def refuse_width(path: str, indent: str) -> None:
    """Raise Unreadable when lines should move too deep."""
    if len(indent) > _WIDEST:
        raise Unreadable(f"{path}: lines are indented by {len(indent)} columns; give the whole file, indented less")


def _quoted(line: str) -> str:
    text = line.strip()
    return f"`{text[:80]}`"
