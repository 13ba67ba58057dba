"""Read Structured Text: a program, or one condition about a program; and mend what is certainly meant otherwise than it
is written: a missing `;`, `=` for `:=`, an END_… that ends nothing."""

from __future__ import annotations

import functools
import gc
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from chatdev.departments.plc.st.core import IEC, Array, Dialect, Expression, Program, Record, Routine, Span, Type
from chatdev.departments.plc.st.diagnostics import Diagnostic, Findings, Fix, TooManyErrors
from chatdev.departments.plc.st.elaborate_expression import elaborate_as
from chatdev.departments.plc.st.elaborate_unit import elaborate_source, make_program
from chatdev.departments.plc.st.functions import BOOL
from chatdev.departments.plc.st.parse_statement import parse_expression
from chatdev.departments.plc.st.parse_unit import parse_source
from chatdev.departments.plc.st.scope import Reject, Scope, World
from chatdev.departments.plc.st.tokens import Cursor, SyntaxStop, Token, split_tokens

MOST_CHARACTERS = 1_000_000
_START = Span(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of a source. The program is None if there is an error among the diagnostics, which stand as the source
    goes, warnings among them."""

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """What came of a condition's text: an expression of type BOOL, or None with the errors that tell why."""

    expression: Expression | None
    diagnostics: tuple[Diagnostic, ...]


def read_program(source: str, entry: str | None = None, dialect: Dialect = IEC) -> Reading:
    """Check a source and give its meaning. `entry` names the routine that is run in every scan; without one it is the
    PROGRAM, else the last function block that no other one uses."""
    findings = Findings()
    program = None
    with suppress(TooManyErrors), _without_collection():
        program = _read(source, entry, dialect, findings)
    diagnostics = findings.in_order()
    return Reading(None if findings.failed else program, diagnostics)


def read_condition(text: str, program: Program) -> Condition:
    """What a property says of a program, as an expression over the variables of its entry.

    All data of function blocks is seen. `==`, `!=`, `-->` (implication) and a `;` at the end are let be, and names may
    have the entry's name or `instance` before them, with a dot.
    """
    findings = Findings()
    expression = None
    with suppress(Reject, SyntaxStop, TooManyErrors):
        expression = _read_condition(text, program, findings)
    return Condition(None if findings.failed else expression, findings.in_order())


@functools.cache
def standard_blocks(dialect: str = IEC.name) -> dict[str, Routine]:
    """The standard function blocks, as `standard.st` says them for a dialect, by lower-case names."""
    findings = Findings()
    source = Path(__file__).with_name("standard.st").read_text(encoding="utf-8")
    return elaborate_source(parse_source(source, findings, (dialect,)), findings, {}, is_standard=True).routines


@contextmanager
def _without_collection() -> Iterator[None]:
    """What is read is kept, so a search for what is not takes as long as the reading and finds nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _read(source: str, entry: str | None, dialect: Dialect, findings: Findings) -> Program | None:
    if len(source) > MOST_CHARACTERS:
        findings.report("too-long", _START, found=len(source), most=MOST_CHARACTERS)
        return None
    if not source.strip():
        findings.report("empty", _START)
        return None
    if "\0" in source:
        findings.report("binary", _START)
        return None
    syntax = parse_source(source, findings, dialect.defines)
    world = elaborate_source(syntax, findings, standard_blocks(dialect.name), dialect=dialect)
    if findings.failed:
        return None
    return make_program(world, entry, source)


def _read_condition(text: str, program: Program, findings: Findings) -> Expression:
    tokens = split_tokens(text.rstrip().removesuffix(";"), findings)
    cursor = Cursor(_drop_prefix(tokens, ("instance", program.entry.name)), findings, allows_foreign=True)
    node = parse_expression(cursor)
    if cursor.token.kind != "end":
        raise cursor.stop("unexpected", what="a condition", key=cursor.token.key)
    variables = {variable.name: variable for variable in program.entry.variables}
    world = World(findings, program.dialect)
    for variable in variables.values():
        _note_values(variable.type, world)
    scope = Scope(world, variables, sees_all=True)
    return elaborate_as(node, BOOL, scope, "a condition")


def _drop_prefix(tokens: list[Token], prefixes: Container[str]) -> list[Token]:
    """The tokens without an owner's name and its dot before a name."""
    kept: list[Token] = []
    for token in tokens:
        owned = token.kind == "name" and len(kept) > 1 and kept[-1].key == "." and kept[-2].key in prefixes
        if owned and (len(kept) == 2 or kept[-3].key != "."):
            del kept[-2:]
        kept.append(token)
    return kept


def _note_values(type_: Type, world: World) -> None:
    """Make the values of enumerations known that a variable may have."""
    if isinstance(type_, Array):
        _note_values(type_.element, world)
    elif isinstance(type_, Record):
        for part in type_.fields:
            _note_values(part.type, world)
    elif type_.kind == "enum" and type_.name.lower() not in world.types:
        first = type_.low or 0
        world.types[type_.name.lower()] = type_, first
        for number, name in enumerate(type_.names, first):
            world.values.setdefault(name.lower(), []).append((type_, number))


# Mend what is certainly meant otherwise than it is written: a missing `;`, `=` for `:=`, an END_… that ends
# nothing.

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
