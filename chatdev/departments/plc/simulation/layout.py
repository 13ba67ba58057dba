"""What data a program has, and how its expressions hang together: for the emitters of Python and of C."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from chatdev.departments.plc.st import core


class TooDeep(ValueError):
    """A program is nested more deeply than what is generated from it may be; the text says where."""


def all_variables(program: core.Program, routine: core.Routine) -> tuple[core.Variable, ...]:
    """The variables of a routine; the entry has the global ones as well."""
    own = {variable.name for variable in routine.variables}
    more = program.globals if routine is program.entry else ()
    return routine.variables + tuple(variable for variable in more if variable.name not in own)


def begin(program: core.Program, type_: core.Type, initial: core.Value) -> core.Value:
    """A fresh copy of an initial value. The data of a function block also gets the variables that `initial` leaves
    out."""
    if isinstance(type_, core.Array):
        return [begin(program, type_.element, part) for part in initial]
    if not isinstance(type_, core.Record):
        return initial
    data = {part.name: begin(program, part.type, initial.get(part.name, part.initial)) for part in type_.fields}
    return begin_routine(program, program.routines[type_.block]) | data if type_.block else data


def begin_routine(program: core.Program, routine: core.Routine) -> dict[str, core.Value]:
    """The data of a routine before its first call: all variables, those left out that are bound in every call."""
    unbound = (variable for variable in all_variables(program, routine)
               if variable.section != "in_out" or routine is program.entry)
    return {variable.name: begin(program, variable.type, variable.initial) for variable in unbound}


def duplicate(value: core.Value) -> core.Value:
    """A copy that shares no array or record with `value`."""
    if isinstance(value, list):
        return [duplicate(part) for part in value] if value and isinstance(value[0], list | dict) else value[:]
    if isinstance(value, dict):
        return {name: duplicate(part) if isinstance(part, list | dict) else part for name, part in value.items()}
    return value


def overwrite(target: core.Value, value: core.Value) -> None:
    """Copy an array or record into another one, which stays the same object, as do its parts: a place that an in-out is
    bound to may lie in it."""
    parts = enumerate(value) if isinstance(value, list) else list(value.items())
    for key, part in parts:
        if isinstance(part, list | dict):
            overwrite(target[key], part)
        else:
            target[key] = part


class FieldTypes:
    """The types of the parts of structures and of the variables of function blocks, by lower-case names; each record of
    the program is looked through once."""

    def __init__(self, program: core.Program) -> None:
        self._program = program
        self._found: dict[int, tuple[core.Record, dict[str, core.Type]]] = {}

    def of(self, record: core.Record) -> dict[str, core.Type]:
        """Those of all parts of a record."""
        if id(record) not in self._found:
            more = self._program.routines[record.block].variables if record.block else ()
            types = {variable.name: variable.type for variable in more}
            self._found[id(record)] = record, types | {part.name: part.type for part in record.fields}
        return self._found[id(record)][1]


def operand_type(operation: core.Operation) -> core.Scalar:
    """The one type that the operands of an operation have."""
    type_ = operation.operands[0].type
    assert isinstance(type_, core.Scalar)
    return type_


def chain(operation: core.Operation, operator: str) -> list[core.Expression]:
    """The operands of `a op b op c …`, which is nested at the left, so that long ones need no depth."""
    found: list[core.Expression] = []
    left: core.Expression = operation
    while isinstance(left, core.Operation) and left.operator == operator and len(left.operands) > 1:
        found.extend(reversed(left.operands[1:]))
        left = left.operands[0]
    return [left, *reversed(found)]


def terms(operation: core.Operation) -> list[tuple[str, core.Expression]]:
    """The terms of an integer sum, each with its sign."""
    found: list[tuple[str, core.Expression]] = []
    left: core.Expression = operation
    while isinstance(left, core.Operation) and left.operator in ("+", "-") and left.type.bits == operation.type.bits:
        found.append((left.operator, left.operands[1]))
        left = left.operands[0]
    return [("+", left), *reversed(found)]


def walk(node: object) -> Iterator[object]:
    """All statements and expressions below a part of the core, in no special order, types left out."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple):
            waiting.extend(found)
        elif dataclasses.is_dataclass(found) and not isinstance(found, _LEAVES):
            yield found
            waiting.extend(getattr(found, field.name) for field in dataclasses.fields(found))


_LEAVES = (core.Span, core.Scalar, core.Array, core.Record)
