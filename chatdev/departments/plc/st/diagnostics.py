"""What the checker says of a source: where, what was found, what is allowed, and what to do about it.

The sentences are data beside this module (`messages.yaml`), one for each code.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
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


class Findings:
    """The diagnostics of one reading."""

    def __init__(self) -> None:
        self.cut = False
        """Whether the text was read up to some place only, so that names may be missing."""
        self._found: dict[tuple[int, int, str], Diagnostic] = {}
        self._unreadable: set[int] = set()
        self._errors = 0

    def report(self, code: str, span: Span, fix: Fix | None = None, /, **facts: Any) -> None:
        """Add the finding `code`; the facts go into its sentence. The same one at the same place counts once."""
        if span.line in self._unreadable:
            return
        row = messages()[code]
        severity: Severity = "warning" if row.get("warning") else "gap" if row.get("gap") else "error"
        place = (span.line, span.column, code)
        if severity == "gap":
            place = (0, 0, f"{code} {facts}")  # one of a kind is enough
        if place in self._found or (severity != "error" and len(self._found) - self._errors == MOST_WARNINGS):
            return
        if severity == "error":
            if self._errors == MOST_ERRORS:
                raise TooManyErrors
            self._errors += 1
        self._found[place] = Diagnostic(severity, code, _render(row["says"], facts), span,
                                        _render(row.get("hint", ""), facts), fix)
        if row.get("last"):
            raise TooManyErrors

    def spoil(self, line: int) -> None:
        """Report nothing else of this line: it has something that cannot be read."""
        self._unreadable.add(line)

    @property
    def failed(self) -> bool:
        """Whether there is an error among them."""
        return self._errors > 0

    def in_order(self) -> tuple[Diagnostic, ...]:
        """All of them as the source goes."""
        return tuple(sorted(self._found.values(), key=lambda found: (found.span.line, found.span.column)))


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


def _render(source: str, facts: dict[str, Any]) -> str:
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
