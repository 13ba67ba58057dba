"""Let the controller start anew between scans, where a program keeps values beyond that (RETAIN, PERSISTENT).

A warm start gives every variable its initial value but those that are kept (IEC 61131-3:2013, 6.5.6). An input
`RESTART()` says before which scans one happens, so that a run can have it in a column, and a proof has to hold whenever
it happens. A program that keeps nothing begins after a restart as it began at first, and needs no such input.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chatdev.departments.plc.st.core import (
    Array,
    Assign,
    Branch,
    Constant,
    Expression,
    Place,
    Program,
    Record,
    Statement,
    Type,
    Value,
    Variable,
)
from chatdev.departments.plc.st.functions import BOOL, SCALARS, is_opaque

RESTART = Variable("restart()", BOOL, False, "input", "RESTART()")
"""Whether the controller starts anew before a scan."""
_LOST = ("output", "local")
_INDEX = SCALARS["dint"]


def add_restarts(program: Program) -> Program:
    """The program whose scans begin by that, if it keeps anything."""
    kept = [one for one in program.entry.variables if one.section in _LOST]
    if not any(one.is_retained or _retains(one.type) for one in kept):
        return program
    begins = tuple(step for one in kept if not one.is_retained
                   for step in _begin_anew(Place(one.name, (), one.type), one.initial))
    variables = program.entry.variables
    behind = max((place for place, one in enumerate(variables, 1) if one.section == "input"), default=0)
    entry = replace(program.entry, variables=(*variables[:behind], RESTART, *variables[behind:]),
                    body=(Branch(Place(RESTART.name, (), BOOL), begins, ()), *program.entry.body))
    return replace(program, entry=entry, routines={**program.routines, entry.name: entry})


def _retains(type_: Type) -> bool:
    """Whether a part of a value is kept: a variable of a function block that is declared so."""
    if isinstance(type_, Array):
        return _retains(type_.element)
    return isinstance(type_, Record) and any(part.is_retained or _retains(part.type) for part in type_.fields)


def _begin_anew(place: Place, initial: Value) -> Iterator[Statement]:
    """What gives a variable its initial value, but for what of it is kept."""
    type_ = place.type
    if is_opaque(type_):
        return
    if not _retains(type_):
        yield Assign(place, Constant(initial, type_))
    elif isinstance(type_, Array):
        for index, value in enumerate(initial, type_.low):
            yield from _begin_anew(_part(place, Constant(index, _INDEX), type_.element), value)
    elif isinstance(type_, Record):
        for part in type_.fields:
            if not part.is_retained:
                yield from _begin_anew(_part(place, part.name, part.type), initial.get(part.name, part.initial))


def _part(place: Place, step: str | Expression, type_: Type) -> Place:
    return Place(place.root, (*place.steps, step), type_)
