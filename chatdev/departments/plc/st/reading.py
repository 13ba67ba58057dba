"""Read Structured Text: a program, or one condition about a program."""

from __future__ import annotations

import functools
import gc
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from chatdev.departments.plc.st.core import (
    IEC,
    Array,
    Dialect,
    Expression,
    Program,
    Record,
    Routine,
    Span,
    Type,
    Unknown,
    Variable,
)
from chatdev.departments.plc.st.diagnostics import Diagnostic, FilePlace, Findings, TooManyErrors
from chatdev.departments.plc.st.elaborate_expression import elaborate_as
from chatdev.departments.plc.st.elaborate_source import elaborate_source, make_program
from chatdev.departments.plc.st.functions import BOOL
from chatdev.departments.plc.st.parse_expression import parse_expression
from chatdev.departments.plc.st.parse_unit import parse_source
from chatdev.departments.plc.st.scope import MOST_DEPTH, Reject, Scope, World
from chatdev.departments.plc.st.tokens import Cursor, SyntaxStop, Token, split_tokens

MOST_CHARACTERS = 4_000_000
"""Of one file."""
_START = Span(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of a source. The program is None if there is an error among the diagnostics, which stand as the source
    goes, warnings among them."""

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]
    contents: Mapping[str, int] = field(default_factory=dict)
    """How many there are of each kind: functions, function blocks, programs, types, global variables."""

    @property
    def gaps(self) -> tuple[Diagnostic, ...]:
        """What is read and has no meaning here."""
        return tuple(one for one in self.diagnostics if one.severity == "gap")

    @property
    def summary(self) -> str:
        """The contents in words: "3 functions, 2 types"."""
        return ", ".join(f"{count} {name if count > 1 else name.removesuffix('s')}"
                         for name, count in self.contents.items() if count)


@dataclass(frozen=True, slots=True)
class Condition:
    """What came of a condition's text: an expression of type BOOL, or None with the errors that tell why."""

    expression: Expression | None
    diagnostics: tuple[Diagnostic, ...]


def read_program(source: str, entry: str | None = None, dialect: Dialect = IEC, places: Sequence[FilePlace] = (),
                 needs_entry: bool = True, together: bool = False) -> Reading:
    """Check a source and give its meaning. `entry` names the routine that is run in every scan; without one it is that
    of the first TASK, the PROGRAM, else the last function block that no other one uses. A source of functions, types
    and global variables has none: with `needs_entry` that is an error, else a library without a program. `places` are
    those of several files that the source is joined of. With `together` the programs of all tasks are run, interleaved
    by interval and priority, where these are known (`tasks.py`); else only the entry."""
    findings = Findings(places)
    program = None
    contents: dict[str, int] = {}
    with suppress(TooManyErrors), _without_collection():
        try:
            program = _read(source, entry, dialect, findings, needs_entry, contents, together)
        except RecursionError:
            findings.report("too-deep", _START, most=MOST_DEPTH)
    diagnostics = findings.in_order()
    return Reading(None if findings.failed else program, diagnostics, contents)


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
    return elaborate_source(parse_source(source, findings, (dialect,)), findings, {}, is_standard=True,
                            dialect=Dialect(dialect)).routines  # type: ignore[arg-type]  # one of its names


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


def _read(source: str, entry: str | None, dialect: Dialect, findings: Findings, needs_entry: bool,
          contents: dict[str, int], together: bool) -> Program | None:
    if len(source) > MOST_CHARACTERS * max(1, findings.files):
        findings.report("too-long", _START, found=len(source), most=MOST_CHARACTERS)
        return None
    if not source.strip():
        findings.report("empty", _START)
        return None
    if "\0" in source:
        findings.report("binary", _START)
        return None
    syntax = parse_source(source, findings, dialect.defines)
    contents |= {name: sum(unit.kind == kind for unit in syntax.units) for name, kind in _CONTENTS.items()}
    contents |= {"types": len(syntax.types), "global variables": sum(len(one.names) for one in syntax.globals)}
    world = elaborate_source(syntax, findings, standard_blocks(dialect.name), dialect=dialect, entry=entry,
                             together=together)
    if findings.failed:
        return None
    return make_program(world, entry, source, needs_entry)


_CONTENTS = {"functions": "function", "function blocks": "block", "programs": "program", "interfaces": "interface"}


def _read_condition(text: str, program: Program, findings: Findings) -> Expression:
    tokens = split_tokens(text.rstrip().removesuffix(";"), findings)
    cursor = Cursor(_drop_prefix(tokens, ("instance", program.entry.name)), findings, allows_foreign=True)
    node = parse_expression(cursor)
    if cursor.token.kind != "end":
        raise cursor.stop("unexpected", what="a condition", key=cursor.token.key)
    variables = {variable.name: variable for variable in program.entry.variables}
    world = World(findings, program.dialect, namespaces=program.namespaces)
    for variable in variables.values():
        _note_values(variable.type, world)
    scope = Scope(world, variables | _moved_names(program), sees_all=True)
    condition = elaborate_as(node, BOOL, scope, "a condition")
    if (unknown := _find_unknown(condition)) is not None:
        raise scope.reject("unverified", node.span, why=unknown.why)
    return condition


def _moved_names(program: Program) -> dict[str, Variable]:
    """The variables of the entry AT addresses, which are global ones with another name, by their own."""
    owner = program.entry.name.partition("@")[0]
    return {one.name.removeprefix(f"{owner}."): one for one in program.globals if one.name.startswith(f"{owner}.")}


def _find_unknown(expression: Expression) -> Unknown | None:
    """A part of which nothing is known."""
    if isinstance(expression, Unknown):
        return expression
    parts = getattr(expression, "operands", None) or [getattr(expression, "operand", None)]
    return next((found for one in parts if one is not None and (found := _find_unknown(one))), None)


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
