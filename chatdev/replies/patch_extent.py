"""Extent of an unfenced patch within a reply's text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chatdev.replies.fences import fence_of
from chatdev.replies.patch import BEGIN, END, EXTENDED, FILE, GIT, HUNK, begins_patch, is_pair, is_signature


class Extent(NamedTuple):
    """The index of the line behind a patch, and whether the patch is whole."""

    end: int
    closed: bool


def extent_at(lines: Sequence[str], start: int) -> Extent | None:
    """The extent of the patch that begins at a line of prose; None when none does."""
    if not begins_patch(lines, start):
        return None
    if BEGIN.match(lines[start]) or FILE.match(lines[start]):
        end = next((index for index in range(start, len(lines)) if END.match(lines[index])), None)
        return Extent(len(lines), closed=False) if end is None else Extent(end + 1, closed=True)
    return _Diff(lines).extent(start)


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
