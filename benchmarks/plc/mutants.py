"""Faults put into right programs of Structured Text: each changes one place as somebody might have written it."""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chatdev.departments.plc.st.core import Routine, Scalar
from chatdev.departments.plc.st.diagnostics import Findings
from chatdev.departments.plc.st.reading import read_program
from chatdev.departments.plc.st.tokens import Token, split_tokens

_SWAPS = {"AND": "OR", "OR": "AND", "XOR": "OR", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=",
          "+": "-", "-": "+", "*": "+", "/": "*", "MOD": "/", "TRUE": "FALSE", "FALSE": "TRUE"}
_BLOCKS = {"r_trig": "F_TRIG", "f_trig": "R_TRIG", "ton": "TOF", "tof": "TON", "tp": "TON", "sr": "RS", "rs": "SR"}
_CONDITIONS = {"IF": "THEN", "ELSIF": "THEN", "WHILE": "DO", "UNTIL": "END_REPEAT"}
_BEFORE_STATEMENT = (";", "THEN", "ELSE", "DO", "REPEAT", ":", "END_VAR")
_UNITS = ("FUNCTION", "FUNCTION_BLOCK", "PROGRAM", "TYPE")


@dataclass(frozen=True, slots=True)
class StMutant:
    """A source with one fault; `change` shows the line before and after."""

    operator: str
    source: str
    line: int
    change: str


@dataclass(frozen=True, slots=True)
class _Edit:
    operator: str
    start: int
    end: int
    new: str
    line: int


def write_mutants(source: str, most: int, seed: str = "") -> list[StMutant]:
    """Up to so many mutants that can be read, of one operator after another; the same at every call."""
    by_operator = defaultdict[str, list[_Edit]](list)
    for edit in _Finder(source).edits():
        by_operator[edit.operator].append(edit)
    dice, found = random.Random(f"{seed} {len(source)}"), list[StMutant]()
    for edits in by_operator.values():
        dice.shuffle(edits)
    turns = itertools.zip_longest(*by_operator.values())
    for edit in (one for turn in turns for one in turn if one):
        changed = source[:edit.start] + edit.new + source[edit.end:]
        if len(found) < most and read_program(changed).program:
            found.append(StMutant(edit.operator, changed, edit.line, _show(source, changed, edit.line)))
    return found


def _show(source: str, changed: str, line: int) -> str:
    before, after = (text.splitlines()[line - 1].strip() for text in (source, changed))
    return f"{before} → {after or '(nothing)'}"


class _Finder:
    """Finds the places."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._starts = [0, *itertools.accumulate(len(line) for line in source.splitlines(keepends=True))]
        self._tokens = [one for one in split_tokens(source, Findings()) if one.kind not in ("assert", "end")]
        self._in_body = self._find_bodies()
        program = read_program(source).program
        assert program is not None
        self._alike = _group_alike([one for one in program.routines.values() if not one.standard])

    def edits(self) -> Iterator[_Edit]:
        """All of them, in the order of the text."""
        for number, token in enumerate(self._tokens):
            before = self._tokens[number - 1] if number else token
            yield from self._change_token(token, before, number)
            if self._in_body[number]:
                yield from self._change_statement(token, before, number)

    def _change_token(self, token: Token, before: Token, number: int) -> Iterator[_Edit]:
        is_free = self._in_body[number] or before.key == ":="
        if is_free and token.key in _SWAPS:
            yield self._put("constant" if token.key in ("TRUE", "FALSE") else "operator", token, _SWAPS[token.key])
        elif is_free and token.kind == "time":
            yield self._put("time", token, _double(token.text))
        elif is_free and token.kind in ("integer", "real"):
            yield self._put("constant", token, _raise(token.text))
        elif self._in_body[number] and token.key == "NOT":
            yield self._put("dropped NOT", token, "")
        elif not self._in_body[number] and token.key in _BLOCKS:
            yield self._put("standard block", token, _BLOCKS[token.key])
        elif self._in_body[number] and token.kind == "name" and before.key != "." and not self._is_label(number):
            yield from (self._put("variable", token, other) for other in self._alike.get(token.key, ())[:1])

    def _change_statement(self, token: Token, before: Token, number: int) -> Iterator[_Edit]:
        if token.key in _CONDITIONS:
            last = self._find(number, (_CONDITIONS[token.key],))
            first = self._tokens[number + 1]
            start, end = self._offset(first), self._offset(self._tokens[last])
            yield _Edit("negated condition", start, end, f"NOT ({self._source[start:end].strip()}) ", first.line)
        elif token.kind == "name" and before.key in _BEFORE_STATEMENT:
            last = self._find(number, (";",))
            if any(one.key in (":=", "(") for one in self._tokens[number:last]):
                end = self._offset(self._tokens[last]) + 1
                yield _Edit("dropped statement", self._offset(token), end, "", token.line)

    def _find_bodies(self) -> list[bool]:
        found, inside = [], False
        for token in self._tokens:
            if token.key in _UNITS or token.key.startswith("VAR"):
                inside = False
            found.append(inside)
            inside = inside or token.key == "END_VAR"
        return found

    def _is_label(self, number: int) -> bool:
        """Whether a name is that of an argument, of an instance that is called, or is written."""
        return number + 1 < len(self._tokens) and self._tokens[number + 1].key in (":=", "=>", "(", ".")

    def _find(self, number: int, keys: Sequence[str]) -> int:
        return next((at for at in range(number, len(self._tokens)) if self._tokens[at].key in keys),
                    len(self._tokens) - 1)

    def _offset(self, token: Token) -> int:
        return self._starts[token.line - 1] + token.column - 1

    def _put(self, operator: str, token: Token, new: str) -> _Edit:
        start = self._offset(token)
        return _Edit(operator, start, start + len(token.text), new, token.line)


def _group_alike(routines: Sequence[Routine]) -> dict[str, list[str]]:
    """For each variable the other ones of its routine that have its type."""
    found: dict[str, list[str]] = {}
    for routine in routines:
        for one in routine.variables:
            others = [other.written or other.name for other in routine.variables
                      if other is not one and other.type == one.type and isinstance(one.type, Scalar)]
            number = routine.variables.index(one)
            found.setdefault(one.name, others[number:] + others[:number])
    return found


def _double(text: str) -> str:
    """The first number of a time, twice."""
    return re.sub(r"\d+", lambda digits: str(2 * int(digits[0]) or 1), text, count=1)


def _raise(text: str) -> str:
    """A number and one."""
    number = text.replace("_", "")
    return str(int(number) + 1) if number.isdecimal() else repr(float(number) + 1.0)
