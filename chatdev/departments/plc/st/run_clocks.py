"""Let time run for every timer of a program, and for the clock of the controller: each scan begins by adding to them.

So a timer that is called in some scans only counts the time between them, too, as the clock of a controller does. What
`TIME()` and `LTIME()` give is counted by a global variable that nobody declared; an input `TIME()` tells, in the first
scan, how many milliseconds the controller ran before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from chatdev.departments.plc.st.core import (
    Apply,
    Array,
    Assign,
    Branch,
    Call,
    Constant,
    Convert,
    Expression,
    Operation,
    Place,
    Program,
    Record,
    Routine,
    Type,
    Variable,
)
from chatdev.departments.plc.st.functions import BOOL, SCALARS

_CLOCK, _SINCE = "time_since_call__", "since"
UPTIME = Variable("@time()", SCALARS["lint"], 0, "local")
"""How many milliseconds the controller runs: what TIME() and LTIME() are made of."""
_BEFORE = Variable("time()", SCALARS["lint"], 0, "input", "TIME()")
_HAS_BEGUN = Variable("@time.begun", BOOL, False, "local")
_TIME, _INDEX = SCALARS["time"], SCALARS["dint"]
_KEPT = ("input", "output", "local")


def run_clocks(program: Program, standard: Mapping[str, Routine]) -> Program:
    """The program whose scans begin by that, if it has timers or asks for the time."""
    if UPTIME in program.globals:
        program = _count_uptime(program)
    kept = [variable for variable in program.entry.variables if variable.section in _KEPT]
    places = [place for variable in kept for place in _timers(variable.name, (), variable.type, program)]
    if not places:
        return program
    ticks = tuple(Assign(place, Apply(_CLOCK, (place,), place.type)) for place in places)
    entry = replace(program.entry, body=(*ticks, *program.entry.body))
    return replace(program, entry=entry, routines={**program.routines, entry.name: entry, _CLOCK: standard[_CLOCK]})


def _count_uptime(program: Program) -> Program:
    """The program that counts how long the controller runs: before the first scan any time."""
    uptime, before, has_begun = (Place(one.name, (), one.type) for one in (UPTIME, _BEFORE, _HAS_BEGUN))
    begins = Assign(uptime, before), Assign(has_begun, Constant(True, BOOL))
    passed = Operation("+", (uptime, Convert(Call("CYCLE_TIME", (), _TIME), SCALARS["lint"])), SCALARS["lint"])
    entry = replace(program.entry, variables=(*program.entry.variables, _BEFORE, _HAS_BEGUN),
                    body=(Branch(has_begun, (), begins), Assign(uptime, passed), *program.entry.body))
    return replace(program, entry=entry, routines={**program.routines, entry.name: entry})


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
                yield Place(root, (*steps, _SINCE), part.type)
            else:
                yield from _timers(root, (*steps, part.name), part.type, program)
