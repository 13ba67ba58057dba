"""Arrays and records as scalars by their paths: `motor.timer.et`, `samples[3]`, `grid[1][2]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chatdev.departments.plc.st.core import Array, Program, Record, Routine, Scalar, Type, Value, Variable

MOST_SCALARS = 20_000
"""Of one program; more are refused."""


class TooLarge(Exception):
    """A program has more data than can be reasoned about; the text says how much is allowed."""


def entry_variables(program: Program) -> tuple[Variable, ...]:
    """The variables of the entry, the global ones among them."""
    own = {variable.name for variable in program.entry.variables}
    return program.entry.variables + tuple(one for one in program.globals if one.name not in own)


def parts_of(program: Program, record: Record) -> dict[str, tuple[Type, Value]]:
    """The fields of a record with their initial values; of a function block, the variables that it keeps."""
    if not record.block:
        return {part.name: (part.type, part.initial) for part in record.fields}
    return {one.name: (one.type, one.initial) for one in kept_variables(program.routines[record.block])}


def kept_variables(routine: Routine) -> tuple[Variable, ...]:
    """The variables of a function block that its data holds."""
    return routine.of_section("input", "output", "local")


def scalars_of(program: Program, type_: Type, path: str = "") -> Iterator[tuple[str, Scalar]]:
    """All scalars of a type, below a path."""
    if isinstance(type_, Scalar):
        yield path, type_
    elif isinstance(type_, Array):
        for index in range(type_.low, type_.high + 1):
            yield from scalars_of(program, type_.element, f"{path}[{index}]")
    else:
        for name, (part, _) in parts_of(program, type_).items():
            yield from scalars_of(program, part, f"{path}.{name}")


def values_of(program: Program, type_: Type, value: Value, path: str = "") -> Iterator[tuple[str, Value]]:
    """The scalars of a value of a type, below a path. What a record's value leaves out begins as its field says."""
    if isinstance(type_, Scalar):
        yield path, value
    elif isinstance(type_, Array):
        for offset, item in enumerate(value):
            yield from values_of(program, type_.element, item, f"{path}[{type_.low + offset}]")
    else:
        for name, (part, initial) in parts_of(program, type_).items():
            yield from values_of(program, part, value.get(name, initial), f"{path}.{name}")


def count_scalars(program: Program, type_: Type) -> int:
    """How many scalars a type has, found without listing them."""
    if isinstance(type_, Scalar):
        return 1
    if isinstance(type_, Array):
        return (type_.high - type_.low + 1) * count_scalars(program, type_.element)
    return sum(count_scalars(program, part) for part, _ in parts_of(program, type_).values())


def refuse_too_large(program: Program) -> None:
    """Raise TooLarge if the entry has more data than `MOST_SCALARS`."""
    count = sum(count_scalars(program, variable.type) for variable in entry_variables(program))
    if count > MOST_SCALARS:
        raise TooLarge(f"{program.entry.name} has {count:,} scalar variables; at most {MOST_SCALARS:,} can be reasoned "
                       "about: make its arrays smaller")


def nest(type_: Type, flat: Mapping[str, Value], path: str) -> Value:
    """The value of a variable out of its scalars. Function blocks are no inputs, so a record is a structure here."""
    if isinstance(type_, Scalar):
        return flat[path]
    if isinstance(type_, Array):
        return [nest(type_.element, flat, f"{path}[{index}]") for index in range(type_.low, type_.high + 1)]
    return {part.name: nest(part.type, flat, f"{path}.{part.name}") for part in type_.fields}
