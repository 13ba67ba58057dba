"""Mend what is certainly meant otherwise than it is written: a missing `;`, `=` for `:=`, an END_… that ends nothing.

Only findings that carry a `Fix` are mended; the meaning of a program is never guessed at.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from chatdev.tools.plc.st.diagnostics import Diagnostic, Fix
from chatdev.tools.plc.st.reading import read_program

_MOST_READINGS = 20
"""An error may hide those behind it, so a text is read again after it was mended."""


def mend_text(source: str, entry: str | None = None) -> tuple[str, tuple[Diagnostic, ...]]:
    """The text with all fixes, and the findings that were mended, each where it stood when it was found."""
    mended: list[Diagnostic] = []
    for _ in range(_MOST_READINGS):
        found = [one for one in read_program(source, entry).diagnostics if one.fix]
        if not found:
            break
        source = _apply(source, [one.fix for one in found if one.fix])
        mended += found
    return source, tuple(mended)


def _apply(source: str, fixes: Sequence[Fix]) -> str:
    """The text with the fixes, which do not overlap: the later ones first, so that places stay true."""
    starts = [0, *accumulate(len(line) for line in source.split("\n"))]
    begins = [start + number for number, start in enumerate(starts)]
    for fix in sorted(fixes, key=lambda one: (one.line, one.column), reverse=True):
        start, end = begins[fix.line - 1] + fix.column - 1, begins[fix.end_line - 1] + fix.end_column - 1
        source = source[:start] + fix.text + source[end:]
    return source
