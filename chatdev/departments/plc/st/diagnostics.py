"""What the checker says of a source: where, what was found, what is allowed, and what to do about it.

The sentences are data beside this module (`messages.yaml`), one for each code.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from chatdev.departments.plc.st.core import Span
from chatdev.paths import bundled_table

Severity = Literal["error", "gap", "warning"]
"""Of a program with a `gap` some part is read and has no meaning here: no run comes past it, and what depends on it is
not verified."""
MOST_ERRORS = 25
"""After so many errors the reading ends: what follows is most often one mistake seen again and again."""
MOST_WARNINGS = 100
"""More are not noted."""
_SHOWN_WIDTH = 160
_MOST_COMPARED = 300  # names, with one that nothing has


@dataclass(frozen=True, slots=True)
class Fix:
    """A change of the text that certainly mends a finding: from `line`, `column` up to the place before `end_line`,
    `end_column` stands `text` then. An insertion begins where it ends."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str

    @classmethod
    def instead(cls, span: Span, text: str) -> Fix:
        """The text in the place of what the span covers."""
        return cls(span.line, span.column, span.end_line, span.end_column + 1, text)

    @classmethod
    def before(cls, span: Span, text: str) -> Fix:
        """The text in front of the span."""
        return cls(span.line, span.column, span.line, span.column, text)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding, of a gap the first of its kind. `code` names its sentence in `messages.yaml`; `hint` is the remedy,
    or empty; `fix` is the remedy that needs no thought, where there is one."""

    severity: Severity
    code: str
    message: str
    span: Span
    hint: str = ""
    fix: Fix | None = None


class TooManyErrors(Exception):
    """The source has more errors than are worth a look, or one behind which nothing can be read."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """From line `start` of the text on stands what a file has from its own line `line` on."""

    start: int
    file: str
    line: int


class Findings:
    """The diagnostics of one reading. `places` say what of the text stands in which file, where there are several:
    each may have as many errors as one alone."""

    def __init__(self, places: Sequence[FilePlace] = ()) -> None:
        self._places = places
        self._errors_of = Counter[str]()
        self.cut = False
        """Whether the text was read up to some place only, so that names may be missing."""
        self._found: dict[tuple[int, int, str], tuple[Diagnostic, Mapping[str, Any]]] = {}  # unrendered, facts
        self._unreadable: set[int] = set()
        self._errors = self._kept_errors = self._gaps = 0

    def report(self, code: str, span: Span, fix: Fix | None = None, /, **facts: Any) -> None:
        """Add the finding `code`; the facts go into its sentence. The same one at the same place counts once."""
        row = messages()[code]
        severity: Severity = "warning" if row.get("warning") else "gap" if row.get("gap") else "error"
        place = (span.line, span.column, code)
        if severity == "gap":
            place = (0, 0, f"{code} {facts}")  # one of a kind is enough
        if span.line in self._unreadable or place in self._found or not self._is_room(severity, span.line):
            return
        if self._places:
            facts = self._name_line(facts, span.line)
        self._found[place] = Diagnostic(severity, code, row["says"], span, row.get("hint", ""), fix), facts
        if row.get("last"):
            raise TooManyErrors

    def _is_room(self, severity: Severity, line: int) -> bool:
        """Whether one more is noted. Raises TooManyErrors for a text of one file that has enough."""
        if severity != "error":
            self._gaps += severity == "gap"
            return severity == "gap" or len(self._found) - self._kept_errors - self._gaps < MOST_WARNINGS
        if not self._places and self._errors == MOST_ERRORS:
            raise TooManyErrors
        self._errors += 1
        file = self._place_of(line).file if self._places else ""
        self._errors_of[file] += 1
        if self._errors_of[file] > MOST_ERRORS:
            return False
        self._kept_errors += 1
        return True

    def _name_line(self, facts: Mapping[str, Any], here: int) -> dict[str, Any]:
        """The facts with a line of the text as that of its file, which is named if it is not that of line `here`."""
        line = facts.get("line")
        if not isinstance(line, int) or not line:
            return dict(facts)
        there = self._place_of(line)
        own = there.line + line - there.start
        return {**facts, "line": own if there.file == self._place_of(here).file else f"{own} of {there.file}"}

    def _place_of(self, line: int) -> FilePlace:
        return self._places[max(0, bisect_right(self._places, line, key=lambda one: one.start) - 1)]

    def spoil(self, line: int) -> None:
        """Report nothing else of this line: it has something that cannot be read."""
        self._unreadable.add(line)

    def split_files(self, source: str) -> Iterator[tuple[int, str]]:
        """The text of each file of a source, with its first line."""
        starts = [one.start for at, one in enumerate(self._places) if at and one.file != self._places[at - 1].file]
        lines = source.split("\n") if starts else [source]
        for start, end in pairwise([1, *starts, len(lines) + 1]):
            yield start, "\n".join(lines[start - 1:end - 1])

    @contextmanager
    def one_file(self) -> Iterator[None]:
        """What ends the reading of one file of several ends that of no other."""
        try:
            yield
        except TooManyErrors:
            if not self._places:
                raise
            self.cut = True

    @property
    def files(self) -> int:
        """Of how many files the text is, at most; 0 for one that is no file's."""
        return len(self._places)

    @property
    def failed(self) -> bool:
        """Whether there is an error among them."""
        return self._errors > 0

    def in_order(self) -> tuple[Diagnostic, ...]:
        """All of them as the source goes; only now their sentences are made."""
        said = (replace(found, message=_render(found.message, facts), hint=_render(found.hint, facts))
                for found, facts in self._found.values())
        return tuple(sorted(said, key=lambda found: (found.span.line, found.span.column)))


def format_diagnostics(source: str, diagnostics: Sequence[Diagnostic]) -> str:
    """A text that shows each diagnostic with its line of the source and a caret below the place."""
    lines = source.splitlines()
    return "\n".join(_format(lines, diagnostic) for diagnostic in diagnostics)


def find_nearest(name: str, known: Sequence[str]) -> str:
    """The known name that `name` was probably meant to be, or nothing. Of many names only those are looked at that
    begin alike and are about as long."""
    written = {one.lower(): one for one in known}
    key = name.lower()
    likely = sorted(written, key=lambda one: (one[:1] != key[:1], abs(len(one) - len(key))))[:_MOST_COMPARED]
    found = get_close_matches(key, likely, n=1, cutoff=0.6)
    return written[found[0]] if found else ""


@functools.cache
def messages() -> dict[str, dict[str, Any]]:
    """All that can be said: code -> `says`, `hint`, `warning` or `gap` (whether it is one)."""

    rows: dict[str, dict[str, Any]] = bundled_table(Path(__file__).with_name("messages.yaml"))
    return rows


def _render(source: str, facts: Mapping[str, Any]) -> str:
    from chatdev.tools.base import template

    return str(template(source).render(facts)).strip() if source else ""


def _format(lines: Sequence[str], diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    head = f"{span}: {diagnostic.severity}: {diagnostic.message}"
    hint = f"\n  hint: {diagnostic.hint}" if diagnostic.hint else ""
    if not 0 < span.line <= len(lines):
        return head + hint
    start = max(0, span.column - _SHOWN_WIDTH // 2)
    shown = "".join(c if c.isprintable() else " " for c in lines[span.line - 1][start:start + _SHOWN_WIDTH])
    last = span.end_column if span.end_line == span.line else len(lines[span.line - 1])
    width = max(1, min(last, start + len(shown)) - span.column + 1)
    return f"{head}\n  {shown}\n  {' ' * (span.column - 1 - start)}{'^' * width}{hint}"
