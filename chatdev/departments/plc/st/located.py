"""Variables that something besides the program writes: inputs of the controller (`AT %IX0.0`), and what other tasks
write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chatdev.departments.plc.st.core import Assign, Place, Routine, Statement, Unknown
from chatdev.departments.plc.st.instances import is_lost
from chatdev.departments.plc.st.scope import Scope, World
from chatdev.departments.plc.st.syntax import Declaration, Unit


def as_inputs(declarations: Sequence[Declaration]) -> list[Declaration]:
    """Declarations of the entry or of global variables: what lies at an input's address has any value in each scan."""
    return [replace(one, section="input") if _is_input(one) else one for one in declarations]


def forget_inputs(unit: Unit, scope: Scope) -> list[Statement]:
    """The inputs of the controller that a block or a program which is not the entry reads: nothing is known of them."""
    if unit.kind not in ("block", "program") or unit.name.key == scope.world.entry:
        return []
    found: list[Statement] = []
    for one in unit.declarations:
        for name in one.names if _is_input(one) else ():
            variable = scope.variables.get(name.key)
            if variable is not None and not is_lost(variable.type):
                scope.report("gap-located", name.span, name=name.text, address=one.address)
                unknown = Unknown("inputs of the controller", variable.type, name.span)
                found.append(Assign(Place(name.key, (), variable.type), unknown, name.span))
    return found


def forget_shared(entry: Routine, world: World) -> Routine:
    """The entry with nothing known, in each scan, of the global variables that programs of other tasks use."""
    used = {name for program in world.other_programs for name in world.globals_of.get(program, ())}
    shared = [one for key, one in world.globals.items() if key in used and one.section == "local"
              and not is_lost(one.type)]
    lost = [Assign(Place(one.name, (), one.type), Unknown("what programs of other tasks write", one.type, one.span),
                   one.span) for one in shared]
    return replace(entry, body=(*lost, *entry.body))


def _is_input(one: Declaration) -> bool:
    return one.section == "local" and one.address.startswith("%I")
