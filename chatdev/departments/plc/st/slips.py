"""Mend what is certainly meant otherwise than it is written: a missing `;`, `=` for `:=`, an END_… that ends nothing.

Only findings that carry a `Fix` are mended; the meaning of a program is never guessed at. Where it is known what a
program is for, what nobody asked for can be left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate

from chatdev.departments.plc.st.core import IEC, Dialect, Span
from chatdev.departments.plc.st.diagnostics import Diagnostic, Findings, Fix, TooManyErrors
from chatdev.departments.plc.st.reading import read_program
from chatdev.departments.plc.st.tokens import Token, split_tokens

_WORD = re.compile(r"\w+")
_UNITS = ("FUNCTION", "FUNCTION_BLOCK", "PROGRAM")
_MOST_READINGS = 20
"""An error may hide those behind it, so a text is read again after it was mended."""


def mend_text(source: str, entry: str | None = None, dialect: Dialect = IEC) -> tuple[str, tuple[Diagnostic, ...]]:
    """The text with all fixes, and the findings that were mended, each where it stood when it was found."""
    mended: list[Diagnostic] = []
    for _ in range(_MOST_READINGS):
        found = [one for one in read_program(source, entry, dialect).diagnostics if one.fix]
        if not found:
            break
        source = _apply(source, found)
        mended += found
    return source, tuple(mended)


def leave_out_strangers(source: str, entry: str, asked: str) -> tuple[str, tuple[Diagnostic, ...]]:
    """The text without the functions, function blocks and programs that its entry does not use and that the requirement
    `asked` does not name, and a finding for each. Where the entry is not there, once, everything stays."""
    found, units = Findings(), list[_Unit]()
    with suppress(TooManyErrors):
        units = list(_split_units(split_tokens(source, Findings(), defines=())))
    by_name = {unit.name: unit for unit in units}
    if entry.lower() in by_name and len(by_name) == len(units):
        needed = _find_needed(by_name, entry.lower(), asked.lower())
        with suppress(TooManyErrors):  # what is left is left out the next time
            for name, unit in by_name.items():
                if name not in needed:
                    found.report("not-asked", unit.span, Fix.instead(unit.span, ""), name=name, entry=entry)
    return _apply(source, found.in_order()), found.in_order()


def _find_needed(units: Mapping[str, _Unit], entry: str, asked: str) -> set[str]:
    """The names of the units that the entry uses, that are asked for, or that one of these uses."""
    words = set(_WORD.findall(asked))
    needed: set[str] = set()
    waiting = [entry, *(name for name in units if words.issuperset(_WORD.findall(name)))]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += units.keys() & units[name].words
    return needed


@dataclass(frozen=True, slots=True)
class _Unit:
    """A function, function block or program in a text that may have errors: all its words, and where it stands."""

    name: str
    words: frozenset[str]
    span: Span


def _split_units(tokens: Sequence[Token]) -> Iterator[_Unit]:
    """Each from its first word, at the beginning of a line, to its END_…; one without such an end is none."""
    start = None
    for at, token in enumerate(tokens):
        if token.key in _UNITS and (at == 0 or tokens[at - 1].line < token.line):
            start = at
        elif start is not None and token.key == f"END_{tokens[start].key}":
            words = frozenset(one.key for one in tokens[start:at])
            yield _Unit(tokens[start + 1].key, words, _join(tokens[start], token))
            start = None


def _join(first: Token, last: Token) -> Span:
    end = last.span
    return Span(first.line, first.column, end.end_line, end.end_column)


def _apply(source: str, found: Sequence[Diagnostic]) -> str:
    """The text with the fixes of the findings, which do not overlap: the later ones first, so that places stay true."""
    starts = [0, *accumulate(len(line) for line in source.split("\n"))]
    begins = [start + number for number, start in enumerate(starts)]
    fixes = [one.fix for one in found if one.fix]
    for fix in sorted(fixes, key=lambda one: (one.line, one.column), reverse=True):
        start, end = begins[fix.line - 1] + fix.column - 1, begins[fix.end_line - 1] + fix.end_column - 1
        source = source[:start] + fix.text + source[end:]
    return source
