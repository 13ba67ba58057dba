"""Random inputs that come to interesting places: the numbers that the program itself names, the bounds of the types,
and values that are held for a while, as a person or a process holds them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from chatdev.departments.plc.simulation.layout import all_variables, walk
from chatdev.departments.plc.simulation.values import bounds, fit
from chatdev.departments.plc.st import core

_HOLDS = (0.0, 0.5, 0.9, 0.97)
"""How likely an input keeps its value in a scan: each has one of these for `_PHASE` scans."""
_PHASE = 40
_NAMED, _NEAR = 0.5, 0.8
"""How likely a number is one that the program names (or lies beside it), and below which it is at least a small one."""
_SMALL = 20


def random_inputs(program: core.Program, seed: int = 0) -> Iterator[dict[str, core.Value]]:
    """The inputs and in-outs of the entry for scan after scan, without end; the same ones for the same seed."""
    dice = random.Random(seed)
    named = _named_numbers(program)
    variables = [variable for variable in all_variables(program, program.entry)
                 if variable.section in ("input", "in_out")]
    values = {variable.name: _draw(variable.type, named, dice) for variable in variables}
    holds: dict[str, float] = {}
    scan = 0
    while True:
        if scan % _PHASE == 0:
            holds = {variable.name: dice.choice(_HOLDS) for variable in variables}
        for variable in variables:
            if dice.random() >= holds[variable.name]:
                values[variable.name] = _draw(variable.type, named, dice)
        yield values.copy()
        scan += 1


def _named_numbers(program: core.Program) -> list[float]:
    """The numbers in the program's own code and initial values, in order."""
    routines = [routine for routine in program.routines.values() if not routine.standard]
    found: set[float] = {0, 1}
    for routine in routines:
        constants = [(node.value, node.type) for node in walk(routine.body) if isinstance(node, core.Constant)]
        constants += [(variable.initial, variable.type) for variable in routine.variables]
        found |= {value for value, type_ in constants if isinstance(type_, core.Scalar)
                  and type_.kind not in ("bool", "string")}
    return sorted(found)


def _draw(type_: core.Type, named: list[float], dice: random.Random) -> Any:
    if isinstance(type_, core.Array):
        return [_draw(type_.element, named, dice) for _ in range(type_.low, type_.high + 1)]
    if isinstance(type_, core.Record):
        return {part.name: _draw(part.type, named, dice) for part in type_.fields}
    if type_.kind == "bool":
        return dice.random() < 0.5
    if type_.kind == "string":
        return ""
    return _draw_real(type_, named, dice) if type_.kind == "real" else _draw_integer(type_, named, dice)


def _draw_real(type_: core.Scalar, named: list[float], dice: random.Random) -> core.Value:
    chance = dice.random()
    if chance < _NAMED:
        value = dice.choice(named) + dice.choice((0.0, 0.0, 0.1, -0.1, 1.0, -1.0))
    else:
        value = dice.uniform(-_SMALL, _SMALL) if chance < _NEAR else dice.uniform(min(named) - 1, max(named) * 2 + 1)
    return fit(value, type_, "")


def _draw_integer(type_: core.Scalar, named: list[float], dice: random.Random) -> int:
    low, high = bounds(type_)
    chance = dice.random()
    if chance < _NAMED:
        value = round(dice.choice(named)) + dice.choice((0, 0, -1, 1))
    elif chance < _NEAR:
        value = dice.randint(max(low, -_SMALL), min(high, _SMALL)) if low <= _SMALL and high >= -_SMALL else low
    else:
        value = dice.choice((low, high, dice.randint(low, high)))
    return min(max(value, low), high)
