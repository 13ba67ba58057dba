"""Search/replace blocks: changes to a file of any language, as old lines and the new lines in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chatdev.replies.fences import REPLACE, SEARCH, indentation, lines_of
from chatdev.replies.problem import ReplyProblem, Unreadable, unreadable

_DIVIDER = re.compile(r"\s*={5,9}\s*")
_ENDS = {1: _DIVIDER, 2: REPLACE}  # what ends the old lines, and the new lines
_MOST_CHANGES = 300  # of one file; each takes a walk through it
_WIDEST = 120  # columns; lines that move deeper would make a file many times as long as what came
COUNTED = 20
"""Matches are counted up to here."""


@dataclass(frozen=True, slots=True)
class Change:
    """Old lines and the new ones in their place, with their line ends."""

    search: tuple[str, ...]
    replace: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchReplace:
    """The changes of a block; `flaw` is why they cannot be read to the end, whatever file they are for."""

    found: tuple[Change, ...]
    flaw: ReplyProblem | None = None

    def require_complete(self, path: str | None) -> None:
        """Raise Unreadable when they have a flaw; `path` is their file, None when it is not known."""
        if self.flaw:
            raise Unreadable(self.flaw.with_path(path))


def read_changes(content: str) -> SearchReplace | None:
    """The changes in `content`; None when it does not consist of search/replace blocks."""
    lines = lines_of(content)
    first = next((line for line in lines if line.strip()), "")
    return _read_changes(lines) if SEARCH.fullmatch(first) else None


def _read_changes(lines: list[str]) -> SearchReplace:
    changes: list[Change] = []
    parts: list[list[str]] = []  # of the block under way: the old lines, the new lines
    for line in lines:
        if not parts and SEARCH.fullmatch(line):
            parts = [[]]
        elif parts and not _ENDS[len(parts)].fullmatch(line):
            parts[-1].append(line)
        elif len(parts) == 1:
            parts.append([])
        elif parts:
            changes.append(Change(tuple(parts[0]), tuple(parts[1])))
            parts = []
        elif line.strip():
            return SearchReplace(tuple(changes), ReplyProblem("outside_search", {"line": quote(line)}))
    missing = ("", "=======", ">>>>>>> REPLACE")[len(parts)]
    return SearchReplace(tuple(changes), ReplyProblem("search_incomplete", {"missing": missing}) if missing else None)


def apply_changes(text: str, changes: SearchReplace, path: str) -> str:
    """`text` with every change made, in order. Raises Unreadable when old lines are not found exactly once."""
    if len(changes.found) > _MOST_CHANGES:
        raise unreadable("too_many_searches", path=path, count=len(changes.found))
    problems: list[ReplyProblem] = []
    for change in changes.found:
        try:
            text = _apply_change(text, change, path)
        except Unreadable as error:
            problems += error.problems
    if problems:
        raise Unreadable(*problems)
    return text


def _apply_change(text: str, change: Change, path: str) -> str:
    if not any(line.strip() for line in change.search):
        if text.strip():
            raise unreadable("search_empty", path=path)
        return "".join(change.replace)
    lines = lines_of(text)
    places, change = _find_places(lines, change, path)
    if not places:
        raise unreadable("search_not_found", path=path, line=quote(change.search[0]))
    if len(places) > 1:
        raise unreadable("search_ambiguous", path=path, line=quote(change.search[0]), count=len(places),
                         more=len(places) >= COUNTED)
    return "".join(_exchange(lines, places[0], change))


def _exchange(lines: list[str], start: int, change: Change) -> list[str]:
    """The lines with the change made at `start`; the new ones take over the line ends of the old."""
    end = start + len(change.search)
    ending = "\r\n" if lines[start].endswith("\r\n") else "\n"
    new = [without_end(line) + ending for line in change.replace]
    if new and end == len(lines) and not lines[-1].endswith("\n"):
        new[-1] = without_end(new[-1])
    return [*lines[:start], *new, *lines[end:]]


def _find_places(lines: list[str], change: Change, path: str) -> tuple[list[int], Change]:
    """Line indices at which the old lines stand, and the change as it fits there: they are found as they are, without
    the blanks at their ends, or indented otherwise."""
    for key in (without_end, str.rstrip):
        if places := places_of(lines, change.search, key):
            return places, change
    search = _strip_blank_ends(change.search)
    places = places_of(lines, search, str.strip)
    if not places:
        return [], Change(search, change.replace)
    found = lines[places[0]]
    refuse_width(path, indentation(found))
    return places, Change(search, _shifted_lines(change.replace, search[0], found))


def without_end(line: str) -> str:
    """A line without its line end."""
    return line.rstrip("\r\n")


def places_of(lines: Sequence[str], search: Sequence[str], key: Callable[[str], str]) -> list[int]:
    """Line indices at which `search` stands in `lines`, compared by `key`, up to a count."""
    text = "\n" + "\n".join(map(key, lines)) + "\n"
    wanted = "\n" + "\n".join(map(key, search)) + "\n"
    found: list[int] = []
    position = text.find(wanted)
    while position >= 0 and len(found) < COUNTED:
        found.append(text.count("\n", 0, position))
        position = text.find(wanted, position + 1)
    return found


def _strip_blank_ends(search: tuple[str, ...]) -> tuple[str, ...]:
    filled = [index for index, line in enumerate(search) if line.strip()]
    return search[filled[0]:filled[-1] + 1]


def _shifted_lines(replace: tuple[str, ...], searched: str, found: str) -> tuple[str, ...]:
    """`replace`, moved by the difference in indentation between the line searched for and the line found."""
    old, new = indentation(searched), indentation(found)
    return tuple(shift_line(line, old, new) for line in replace)


def shift_line(line: str, old: str, new: str) -> str:
    """The line with the indentation `new` in the place of `old`, if it begins so."""
    return new + line[len(old):] if line.startswith(old) and line.strip() else line


def refuse_width(path: str, indent: str) -> None:
    """Raise Unreadable when lines should move too deep."""
    if len(indent) > _WIDEST:
        raise unreadable("too_deep", path=path, columns=len(indent))


def quote(line: str) -> str:
    """How a problem quotes a line."""
    return line.strip()[:80]
