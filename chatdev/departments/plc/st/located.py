"""Variables that something besides the program writes: inputs of the controller (`AT %IX0.0`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chatdev.departments.plc.st.core import Assign, Place, Statement, Unknown
from chatdev.departments.plc.st.instances import is_lost
from chatdev.departments.plc.st.scope import Scope
from chatdev.departments.plc.st.syntax import Declaration, Unit


def as_inputs(declarations: Sequence[Declaration]) -> list[Declaration]:
    """Declarations of the entry or of global variables: what lies at an input's address has any value in each scan."""
    return [replace(one, section="input") if _is_input(one) else one for one in declarations]


def forget_inputs(unit: Unit, scope: Scope) -> list[Statement]:
    """The inputs of the controller that a block or a program which is not the entry reads: nothing is known of them."""
    if unit.kind not in ("block", "program") or scope.world.is_run(unit.name.key):
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


def _is_input(one: Declaration) -> bool:
    return one.section == "local" and one.address.startswith("%I")
