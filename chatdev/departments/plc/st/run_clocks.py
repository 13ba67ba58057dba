"""Let time run for every timer of a program: each scan begins by adding to the time that a timer has not seen yet.

So a timer that is called in some scans only counts the time between them, too, as the clock of a controller does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from chatdev.departments.plc.st.core import (
    Apply,
    Array,
    Assign,
    Constant,
    Expression,
    Place,
    Program,
    Record,
    Routine,
    Type,
)
from chatdev.departments.plc.st.functions import SCALARS

_CLOCK, _SINCE = "time_since_call__", "since"
_TIME, _INDEX = SCALARS["time"], SCALARS["dint"]
_KEPT = ("input", "output", "local")


def run_clocks(program: Program, standard: Mapping[str, Routine]) -> Program:
    """The program whose scans begin by that, if it has timers."""
    kept = [variable for variable in program.entry.variables if variable.section in _KEPT]
    places = [place for variable in kept for place in _timers(variable.name, (), variable.type, program)]
    if not places:
        return program
    ticks = tuple(Assign(place, Apply(_CLOCK, (place,), _TIME)) for place in places)
    entry = replace(program.entry, body=(*ticks, *program.entry.body))
    return replace(program, entry=entry, routines={**program.routines, entry.name: entry, _CLOCK: standard[_CLOCK]})


def _timers(root: str, steps: tuple[str | Expression, ...], type_: Type, program: Program) -> Iterator[Place]:
    """Where the timers in a variable keep the time since their last call."""
    if isinstance(type_, Array):
        if next(_timers(root, steps, type_.element, program), None) is not None:
            for index in range(type_.low, type_.high + 1):
                yield from _timers(root, (*steps, Constant(index, _INDEX)), type_.element, program)
    elif isinstance(type_, Record):
        is_standard = type_.block in program.routines and program.routines[type_.block].standard
        for part in type_.fields:
            if is_standard and part.name == _SINCE:
                yield Place(root, (*steps, _SINCE), _TIME)
            else:
                yield from _timers(root, (*steps, part.name), part.type, program)
