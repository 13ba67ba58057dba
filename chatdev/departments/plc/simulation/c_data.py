"""The data of a program in C: types, names, and the statements that give it its initial values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from chatdev.departments.plc.simulation.layout import all_variables, begin
from chatdev.departments.plc.st import core


class Untranslatable(ValueError):
    """C code is not generated for this; the text says for what, and where."""


class CData:
    """The types and routines that C code needs, in the order in which C wants them."""

    def __init__(self, program: core.Program) -> None:
        self.program = program
        self.types: list[str] = []
        """Their definitions."""
        self.routines: dict[str, str] = {}
        """Names of routines in C, by those in the core."""
        self._names: dict[tuple[str, ...], str] = {}

    def type(self, type_: core.Type) -> str:
        """The name of a type in C."""
        if isinstance(type_, core.Scalar):
            return c_type(type_)
        if isinstance(type_, core.Array):
            return self._define("array", [f"{self.type(type_.element)} at[{type_.high - type_.low + 1}];"])
        if type_.block:
            return self.block(self.program.routines[type_.block])
        return self._define("record", [f"{self.type(part.type)} {variable_name(part.name)};" for part in type_.fields])

    def block(self, routine: core.Routine) -> str:
        """The type of what a function block keeps."""
        return self._define(routine.name, self.members(variable for variable in all_variables(self.program, routine)
                                                       if self.is_kept(routine, variable)))

    def members(self, variables: Iterator[core.Variable]) -> list[str]:
        """Variables as parts of a structure."""
        return [f"{self.type(variable.type)} {variable_name(variable.name)};" for variable in variables]

    def routine(self, name: str) -> str:
        """The name of a routine in C, which is needed from now on."""
        return self.routines.setdefault(name, f"run_{variable_name(name)}")

    def is_kept(self, routine: core.Routine, variable: core.Variable) -> bool:
        """Whether a variable lies in its block's data, and not in one call."""
        bound = variable.section == "in_out" and routine is not self.program.entry
        return routine.kind != "function" and variable.section != "temp" and not bound

    def fill(self, place: str, type_: core.Type, initial: core.Value) -> list[str]:
        """The statements that put an initial value into a place."""
        return [f"memset(&{place}, 0, sizeof {place});",
                *self._leaves(place, type_, begin(self.program, type_, initial))]

    def _leaves(self, place: str, type_: core.Type, value: core.Value) -> Iterator[str]:
        """Those that are not zero."""
        if isinstance(type_, core.Array):
            for number, part in enumerate(value):
                yield from self._leaves(f"{place}.at[{number}]", type_.element, part)
        elif isinstance(type_, core.Record):
            for name, inner in self._parts(type_):
                yield from self._leaves(f"{place}.{variable_name(name)}", inner, value[name])
        elif value or (type_.kind == "real" and math.copysign(1.0, value) < 0):
            yield f"{place} = {scalar_literal(value, type_)};"

    def _parts(self, record: core.Record) -> Iterator[tuple[str, core.Type]]:
        if not record.block:
            yield from ((part.name, part.type) for part in record.fields)
            return
        routine = self.program.routines[record.block]
        yield from ((one.name, one.type) for one in routine.variables if self.is_kept(routine, one))

    def _define(self, name: str, members: list[str]) -> str:
        """A structure with these parts, defined once."""
        key = (name, *members)
        if key not in self._names:
            self._names[key] = f"{variable_name(name)}_{len(self._names)}"
            body = " ".join(members) or "char unused;"
            self.types.append(f"typedef struct {{ {body} }} {self._names[key]};")
        return self._names[key]


def c_type(type_: core.Scalar) -> str:
    """An elementary type in C. Raises Untranslatable for text."""
    if type_.kind == "string":
        raise Untranslatable("C code is not generated for programs with STRING")
    if type_.kind in ("bool", "real"):
        return "bool" if type_.kind == "bool" else "float" if type_.bits == 32 else "double"
    return f"{'' if type_.signed else 'u'}int{type_.bits}_t"


def variable_name(name: str) -> str:
    """A name that is none of C's, from one of the core."""
    return "v_" + re.sub(r"[^A-Za-z0-9_]", lambda found: f"_u{ord(found[0]):x}", name)


def plain_text(text: str) -> str:
    """A text that can stand in a string of C."""
    return re.sub(r"[^\w .,:;<>=()+*/-]", "_", text, flags=re.ASCII)


def literal(number: int) -> str:
    """An integer of up to 64 bits."""
    if number < 0:
        return f"(-{literal(-number - 1)} - 1)" if number in (-(1 << 31), -(1 << 63)) else f"(-{literal(-number)})"
    if number < 1 << 31:
        return str(number)
    return f"UINT64_C({number})" if number >= 1 << 63 else f"INT64_C({number})"


def scalar_literal(value: core.Value, type_: core.Scalar) -> str:
    """A value of an elementary type."""
    if type_.kind == "bool":
        return "true" if value else "false"
    if type_.kind != "real":
        return literal(value)
    if not math.isfinite(value):
        return f"(({c_type(type_)})({'NAN' if math.isnan(value) else 'INFINITY' if value > 0 else '-INFINITY'}))"
    return f"(({c_type(type_)}){value!r})"
