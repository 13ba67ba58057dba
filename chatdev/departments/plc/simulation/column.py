"""A column of a trace: a scalar of the entry by its path, `Motor`, `Timer.ET`, `Values[3]` or `Grid[1,2].X`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from chatdev.departments.plc.simulation.layout import FieldTypes, all_variables
from chatdev.departments.plc.simulation.values import WrongValue
from chatdev.departments.plc.st import core

_PATH = re.compile(r"\w{1,200}(?:\.\w{1,200}|\[[-\d, ]{1,100}\]){0,20}")
_STEP = re.compile(r"\.(\w+)|\[([^\]]*)\]")
_MOST_NAMES = 30


@dataclass(frozen=True, slots=True)
class Column:
    """`steps` are names of parts and positions in lists, counted from 0. `is_input` tells that scans are given it."""

    name: str
    root: str
    steps: tuple[str | int, ...]
    type: core.Scalar
    is_input: bool

    def read(self, values: Mapping[str, core.Value]) -> core.Value:
        """Its value among those of all variables."""
        value = values[self.root]
        for step in self.steps:
            value = value[step]
        return value

    def write(self, values: dict[str, core.Value], value: core.Value) -> None:
        """Set it among the values of variables."""
        inner, key = values, self.root
        for step in self.steps:
            inner, key = inner[key], step  # type: ignore[assignment]  # a list by now, and its position
        inner[key] = value


class Columns:
    """Finds the columns of a program."""

    def __init__(self, program: core.Program) -> None:
        self._name = program.entry.written or program.entry.name
        self._variables = {variable.name: variable for variable in all_variables(program, program.entry)}
        self._fields = FieldTypes(program)

    def find(self, name: str) -> Column:
        """The column by a name, in which case does not count. Raises WrongValue, with what there is."""
        text = name.strip()
        variable = self._variables.get(re.split(r"[.\[]", text.lower(), maxsplit=1)[0])
        if variable is None or not _PATH.fullmatch(text):
            known = [one.written or one.name for one in islice(self._variables.values(), _MOST_NAMES)]
            raise WrongValue(f"there is no variable {text!r}; {self._name} has {', '.join(known)}")
        steps, type_ = self._follow_all(variable.type, text)
        if not isinstance(type_, core.Scalar):
            raise WrongValue(f"{text!r} has parts; name one of them, as in {text}{_example(type_)}")
        return Column(text, variable.name, tuple(steps), type_, variable.section in ("input", "in_out"))

    def _follow_all(self, type_: core.Type, text: str) -> tuple[list[str | int], core.Type]:
        """The way into a variable that a column's name says, and the type at its end."""
        steps: list[str | int] = []
        for part, indices in _STEP.findall(text.lower()):
            for step in [part] if part else indices.split(","):
                key, type_ = self._follow(type_, step.strip(), text)
                steps.append(key)
        return steps, type_

    def _follow(self, type_: core.Type, step: str, text: str) -> tuple[str | int, core.Type]:
        if isinstance(type_, core.Array) and re.fullmatch(r"-?\d{1,10}", step):
            if not type_.low <= int(step) <= type_.high:
                raise WrongValue(f"{text!r}: the array goes from {type_.low} to {type_.high}")
            return int(step) - type_.low, type_.element
        if isinstance(type_, core.Record) and step in (types := self._fields.of(type_)):
            return step, types[step]
        known = f"parts {', '.join(part.name for part in type_.fields[:_MOST_NAMES])}" if isinstance(
            type_, core.Record) else "indices" if isinstance(type_, core.Array) else "no parts"
        raise WrongValue(f"{text!r}: there is no {step!r}; it has {known}")


def columns_of(program: core.Program) -> list[Column]:
    """Inputs, in-outs and outputs of the entry, and what else it keeps: all scalars, arrays element by element."""
    order = {"input": 0, "in_out": 1, "output": 2, "local": 3}
    variables = sorted((one for one in all_variables(program, program.entry) if one.section in order),
                       key=lambda one: order[one.section])
    columns = Columns(program)
    return [columns.find(name) for one in variables for name in _leaves(one.written or one.name, one.type)]


def _leaves(name: str, type_: core.Type) -> list[str]:
    if isinstance(type_, core.Array):
        return [leaf for number in range(type_.low, type_.high + 1)
                for leaf in _leaves(f"{name}[{number}]", type_.element)]
    if isinstance(type_, core.Record):
        return [leaf for part in type_.fields for leaf in _leaves(f"{name}.{part.name}", part.type)]
    return [name]


def _example(type_: core.Type) -> str:
    return f"[{type_.low}]" if isinstance(type_, core.Array) else f".{type_.fields[0].name}" if isinstance(
        type_, core.Record) and type_.fields else ""
