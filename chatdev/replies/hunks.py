"""Changes to a text, each put where its old lines stand and nowhere else: hunks of patches, patches without a fence,
and search/replace blocks."""

from __future__ import annotations

import difflib
import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from chatdev.replies.fences import REPLACE, SEARCH, fence_of, indentation, lines_of
from chatdev.replies.patch import (
    BEGIN,
    END,
    EXTENDED,
    FILE,
    GIT,
    HUNK,
    FilePatch,
    Hunk,
    HunkLine,
    begins_patch,
    is_pair,
    is_signature,
)
from chatdev.replies.problem import ReplyProblem, Unreadable, unreadable

_MOST_HUNKS = 300  # of one file; each takes a walk through it
_AROUND = 3  # lines that are shown above and below the one that differs
_WIDTH = 100  # characters of a line that is shown
_COMPARED = 50  # lines that are compared character by character with one that is nowhere in its file
_MOST_COMPARED = 3  # hunks of a file; comparing takes its time
_LONGEST = 300  # characters of a line that is compared so
_ALIKE = 0.6
_WORD = re.compile(r"\w+")


def apply_hunks(text: str, patch: FilePatch, path: str) -> str:
    """The text with every hunk in it, in order. Raises Unreadable with all hunks that fit nowhere, or in several
    places."""
    if len(patch.hunks) > _MOST_HUNKS:
        raise unreadable("too_many_hunks", path=path, count=len(patch.hunks))
    draft = _Draft(text, path, patch.hunks)
    problems: list[ReplyProblem] = []
    for number in range(len(patch.hunks)):
        try:
            draft.apply(number)
        except Unreadable as error:
            problems += error.problems
    if problems:
        raise Unreadable(*problems)
    return draft.text


def stands_in(text: str, patch: FilePatch) -> bool:
    """Whether every hunk has lines that must be there, and they are in the text."""
    lines = lines_of(text)
    return all(hunk.old and places_of(lines, [line.text for line in hunk.old], str.strip) for hunk in patch.hunks)


class _Fit(NamedTuple):
    """A place for a hunk: the index of its first line, and the indentation there in the place of the hunk's."""

    start: int
    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the text with its end, and whether a hunk has brought it."""

    text: str
    is_new: bool = False


class _Draft:
    """The text while the hunks of a patch are brought into it."""

    def __init__(self, text: str, path: str, hunks: Sequence[Hunk]) -> None:
        self._path, self._hunks = path, hunks
        lines = lines_of(text)
        self._is_unended = bool(lines) and not lines[-1].endswith("\n")
        self._ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
        self._lines = [_Line(without_end(line) + self._ending if line is lines[-1] else line) for line in lines]
        self._given = [line.text for line in self._lines]
        self._by_numbers = _starts(hunks)
        self._lost = 0  # hunks that fit nowhere
        self._doubtful: list[Unreadable] = []  # what would be wrong with hunks that only their numbers placed

    @property
    def text(self) -> str:
        """The text as it is now."""
        text = "".join(line.text for line in self._lines)
        return without_end(text) if self._is_unended else text

    def apply(self, number: int) -> None:
        """Bring a hunk into the text. Raises Unreadable when it is not clear where."""
        hunk = self._hunks[number]
        if not hunk.old:
            self._append(number, hunk)
        else:
            self._put(self._place(number, hunk), hunk)

    def _append(self, number: int, hunk: Hunk) -> None:
        """A hunk that only adds lines, to a text that is empty, or to the end of one."""
        if not hunk.ends_file and any(line.text.strip() for line in self._lines):
            raise unreadable("hunk_only_adds", path=self._path, hunk=number + 1, line=quote(hunk.added[0]))
        self._lines = self._lines if hunk.ends_file else []
        self._put(_Fit(len(self._lines)), hunk)

    def _put(self, fit: _Fit, hunk: Hunk) -> None:
        """The lines of the hunk in their place; those that stay, stay as the file has them."""
        refuse_width(self._path, fit.new)
        at, new = fit.start, list[_Line]()
        for line in hunk.lines:
            if line.sign == "+":
                new.append(_Line(shift_line(line.text, fit.old, fit.new) + self._ending, is_new=True))
            else:
                new += [self._lines[at]] * (line.sign == " ")
                at += 1
        if at == len(self._lines) and hunk.unended:
            self._is_unended = bool(hunk.unended & {"+", " "})
        self._lines[fit.start:at] = new

    def _place(self, number: int, hunk: Hunk) -> _Fit:
        """The only place at which the hunk can be meant."""
        lines = [line.text for line in self._lines]
        looseness, fits = _fits(lines, hunk.old)
        if looseness and number and _fits(self._given, hunk.old)[0] < looseness:
            fits = []  # it is meant for lines that a hunk before it has changed
        if hunk.ends_file:
            fits = [fit for fit in fits if fit.start + len(hunk.old) == len(lines)] or fits
        if len(fits) == 1:
            self._doubt(number, fits[0].start)
            return fits[0]
        if not fits:
            raise self._fits_nowhere(number, hunk)
        return self._choose(number, hunk, fits)

    def _choose(self, number: int, hunk: Hunk, fits: Sequence[_Fit]) -> _Fit:
        """One of several places, if anything but their lines decides."""
        several = unreadable("hunk_ambiguous", path=self._path, hunk=number + 1, line=quote(hunk.old[0].text),
                             places=[fit.start + 1 for fit in fits], more=len(fits) >= COUNTED)
        start = self._by_numbers[number] if self._by_numbers else -1
        if self._stands_at(start, hunk.old):
            self._doubtful.append(several)
            return _Fit(start)
        left = self._near_anchors(fits, hunk.anchors) or self._given_only(fits, len(hunk.old))
        if len(left) != 1:
            raise several
        return left[0]

    def _stands_at(self, start: int, old: Sequence[HunkLine]) -> bool:
        """Whether the lines stand there as they are."""
        there = self._lines[start:start + len(old)] if start >= 0 else []
        return [without_end(line.text) for line in there] == [line.text for line in old]

    def _doubt(self, number: int, start: int) -> None:
        """Let numbers decide no longer, if they are wrong of a hunk that needs none. Raises Unreadable where they have
        decided already."""
        if self._by_numbers and self._by_numbers[number] != start:
            self._by_numbers = ()
            if self._doubtful:
                raise self._doubtful[0]

    def _given_only(self, fits: Sequence[_Fit], length: int) -> list[_Fit]:
        """The places without lines that hunks have brought."""
        return [fit for fit in fits if not any(line.is_new for line in self._lines[fit.start:fit.start + length])]

    def _near_anchors(self, fits: Sequence[_Fit], anchors: Sequence[str]) -> list[_Fit]:
        """The places below the lines that stand behind `@@`, each in the part of the text that the one before it
        heads."""
        parts = [range(len(self._lines))] if anchors else []
        for anchor in anchors:
            parts = [self._part(at) for part in parts for at in part if self._is_anchor(at, anchor)][:COUNTED]
        return [fit for fit in fits if any(fit.start in part for part in parts)]

    def _is_anchor(self, at: int, anchor: str) -> bool:
        return self._lines[at].text.strip().startswith(anchor)

    def _part(self, at: int) -> range:
        """What a line heads: it, and what is indented deeper below it."""
        depth = len(indentation(self._lines[at].text))
        end = next((index for index in range(at + 1, len(self._lines)) if self._lines[index].text.strip()
                    and len(indentation(self._lines[index].text)) <= depth), len(self._lines))
        return range(at, end)

    def _fits_nowhere(self, number: int, hunk: Hunk) -> Unreadable:
        """The problem, with the place where most of the lines stand, and the first one there that differs."""
        lines = [without_end(line.text) for line in self._lines]
        self._lost += 1
        start = _nearest(lines, [line.text for line in hunk.old], compares=self._lost <= _MOST_COMPARED)
        if start is None:
            return unreadable("hunk_not_found", path=self._path, hunk=number + 1, line=quote(_longest(hunk)), at=0,
                              lines=[])
        index = _first_difference(lines, start, hunk.old)
        at = min(max(start + index, 0), len(lines))
        shown = range(max(at - _AROUND, 0), min(at + _AROUND + 1, len(lines)))
        return unreadable("hunk_not_found", path=self._path, hunk=number + 1, at=at + 1,
                          line=hunk.old[index].text[:_WIDTH].rstrip(),
                          lines=[f"{place + 1}: {lines[place][:_WIDTH]}".rstrip() for place in shown])


def _fits(lines: Sequence[str], old: Sequence[HunkLine]) -> tuple[int, list[_Fit]]:
    """The places where old lines stand, by the strictest way of comparing that finds any, and how loose that is, from
    0 on."""
    wanted = [line.text for line in old]
    if places := places_of(lines, wanted, without_end):
        return 0, list(map(_Fit, places))
    if places := places_of(lines, wanted, str.rstrip):
        return 1, list(map(_Fit, places))
    moved = [fit for at in places_of(lines, wanted, str.strip) if (fit := _fit_at(at, lines, old))]
    unmoved = [fit for fit in moved if fit.old == fit.new]
    return (2, unmoved) if unmoved else (3, moved)


def _starts(hunks: Sequence[Hunk]) -> Sequence[int]:
    """The index at which each hunk begins when those before it are in the text, if the headers name one for each and
    all that they say agrees; else nothing."""
    gains = accumulate((len(hunk.added) - sum(line.sign == "-" for line in hunk.old) for hunk in hunks), initial=0)
    starts: list[int] = []
    for hunk, gain in zip(hunks, gains, strict=False):
        numbers, gone = hunk.numbers, len(hunk.old)
        come = sum(line.sign != "-" for line in hunk.lines)
        if numbers is None or (numbers.gone, numbers.come) != (gone, come):
            return ()
        start = numbers.new - (come > 0)
        if start != numbers.old - (gone > 0) + gain or (starts and start < starts[-1]):
            return ()
        starts.append(start)
    return starts


def _fit_at(at: int, lines: Sequence[str], old: Sequence[HunkLine]) -> _Fit | None:
    """Shift of a hunk's indentation at a place that matches it up to blanks; None if its lines shift differently. A
    context line may also lack its leading blank."""
    pairs = [(indentation(line.text), indentation(there)) for line, there in zip(old, lines[at:], strict=False)
             if line.text.strip() and not (line.sign == " " and line.other.rstrip() == there.rstrip())]
    if not pairs:
        return _Fit(at)
    first, new = min(pairs, key=lambda pair: len(pair[0]))
    is_alike = all(one.startswith(first) and other == new + one[len(first):] for one, other in pairs)
    return _Fit(at, first, new) if is_alike else None


def _nearest(lines: Sequence[str], old: Sequence[str], *, compares: bool) -> int | None:
    """The index at which the old lines would begin where most of them stand, or, if it `compares`, where one is most
    like its own; None when nothing is like them."""
    places: dict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        if len(places[line.strip()]) < COUNTED:
            places[line.strip()].append(index)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(old):
        for index in places.get(line.strip(), ()) if line.strip() else ():
            votes[index - offset] += min(len(line.strip()), _WIDTH)
    if votes:
        return min(votes, key=lambda start: (-votes[start], start))
    if not compares:
        return None
    offset, line = max(enumerate(old), key=lambda numbered: len(numbered[1].strip()))
    words = set(_WORD.findall(line))
    related = heapq.nlargest(_COMPARED, places, lambda one: len(words.intersection(_WORD.findall(one[:_LONGEST]))))
    alike = difflib.get_close_matches(line.strip()[:_LONGEST], related, 1, _ALIKE)
    return places[alike[0]][0] - offset if alike else None


def _first_difference(lines: Sequence[str], start: int, old: Sequence[HunkLine]) -> int:
    """The number, from 0, of the first old line that is not what stands at its place; by its blanks, if only these
    differ."""
    there = [lines[at] if 0 <= at < len(lines) else None for at in range(start, start + len(old))]
    texts = [line.text for line in old]
    for key in (str.strip, str.rstrip):
        for index, (text, line) in enumerate(zip(texts, there, strict=True)):
            if line is None or key(text) != key(line):
                return index
    return 0


def _longest(hunk: Hunk) -> str:
    return max((line.text for line in hunk.old), key=lambda text: len(text.strip()))


# Extent of a patch, or of search/replace blocks, without a fence in a reply's text.


class Extent(NamedTuple):
    """The index of the line behind a patch, and whether the patch is whole."""

    end: int
    closed: bool


def extent_at(lines: Sequence[str], start: int) -> Extent | None:
    """The extent of the patch, or of the search/replace blocks, that begin at a line of prose; None when none do."""
    if SEARCH.fullmatch(lines[start]):
        return _extent_of_changes(lines, start)
    if not begins_patch(lines, start):
        return None
    if BEGIN.match(lines[start]) or FILE.match(lines[start]):
        end = next((index for index in range(start, len(lines)) if END.match(lines[index])), None)
        return Extent(len(lines), closed=False) if end is None else Extent(end + 1, closed=True)
    return _Diff(lines).extent(start)


def _extent_of_changes(lines: Sequence[str], start: int) -> Extent:
    """The search/replace block that begins there, and those that follow it with nothing but blank lines between."""
    while True:
        closing = next((index for index in range(start, len(lines)) if REPLACE.fullmatch(lines[index])), None)
        if closing is None:
            return Extent(len(lines), closed=False)
        end = closing + 1
        start = next((index for index in range(end, len(lines)) if lines[index].strip()), len(lines))
        if start == len(lines) or not SEARCH.fullmatch(lines[start]):
            return Extent(end, closed=True)


class _Diff:
    """Goes through a unified diff in prose. The counts in the header of a hunk tell whether what stands behind it can
    be prose, and whether the reply was cut in it; they do not end the hunk, for models miscount."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._left: tuple[int, int] | None = None
        """Old and new lines that the newest hunk still has by its header; None where that says nothing."""

    def extent(self, start: int) -> Extent:
        """From its first line on."""
        index = end = start
        while index < len(self._lines) and not is_signature(self._lines, index):
            if self._is_header(index):
                self._open(index)
            elif self._is_signed(index):
                self._count(self._lines[index][0])
            else:
                index = self._resume(index)
                continue
            index = end = index + 1
        is_cut = end == len(self._lines) and self._left is not None and max(self._left) > 0
        return Extent(end, closed=not is_cut)

    def _is_header(self, index: int) -> bool:
        line = self._lines[index].rstrip()
        return bool(line[:1] not in ("", " ", "+") and (
            is_pair(self._lines, index) or HUNK.fullmatch(line) or GIT.fullmatch(line) or EXTENDED.fullmatch(line)))

    def _is_signed(self, index: int) -> bool:
        line = self._lines[index]
        return line[:1] in (" ", "+", "-", "\\") and bool(line.strip())

    def _open(self, index: int) -> None:
        found = HUNK.fullmatch(self._lines[index].rstrip())
        self._left = (int(found["gone"] or 1), int(found["come"] or 1)) if found and found["old"] else None

    def _count(self, sign: str, times: int = 1) -> None:
        if self._left:
            old, new = self._left
            self._left = old - times * (sign in " -"), new - times * (sign in " +")

    def _resume(self, index: int) -> int:
        """The line with which the diff goes on behind one that has not its form, or the end of all lines. Blank lines
        belong to it, and others without a sign where signed ones follow in the same paragraph."""
        is_blank, behind = not self._lines[index].strip(), index
        while behind < len(self._lines) and (not self._lines[behind].strip()) == is_blank and not (
                self._is_signed(behind) or self._is_header(behind) or fence_of(self._lines[behind])):
            behind += 1
        if behind == len(self._lines):
            return behind
        is_complete = self._left is not None and max(self._left) <= 0
        if self._is_header(behind) or (self._is_signed(behind) and not is_complete):
            self._count(" ", behind - index)
            return behind
        return len(self._lines)


# Search/replace blocks: changes to a file of any language, as old lines and the new lines in their place.

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
