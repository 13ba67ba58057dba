"""Find what the references and pointers of a routine stand for, where that is one and the same variable all the time.

A reference that only ever gets one variable (`r REF= x;`, `p := ADR(x);`) is another name of it, once it has it. All
others are not followed: what they stand for depends on the run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from chatdev.departments.plc.st.syntax import (
    Address,
    Argument,
    Assignment,
    Declaration,
    For,
    Invocation,
    Literal,
    Member,
    Name,
    Node,
    PointerTo,
    Step,
    Subscript,
    Target,
    Unit,
)

_Given: TypeAlias = "tuple[str, bool, Node | None]"


@dataclass(frozen=True, slots=True)
class Referent:
    """The variable that a reference or pointer stands for; `is_bound` if it does from its declaration on."""

    node: Node
    is_bound: bool


def find_referents(unit: Unit, heirs: Iterable[Unit]) -> dict[str, Referent]:
    """What the references and pointers among the variables of a routine stand for, by their lower-case names. The
    `heirs` are those that have these variables, too: its members, the units that extend it, and theirs."""
    own = {name.key: one for one in unit.declarations if isinstance(one.type, PointerTo)
           and one.section in ("local", "temp") and not one.is_kept for name in one.names}
    if not own:
        return {}
    elsewhere = {one[:2] for heir in heirs for one in _find_given(heir.body)}
    given = _find_given(unit.body)
    found = {key: _find_referent(key, one, given) for key, one in own.items()
             if (key, _is_reference(one)) not in elsewhere}
    return {key: one for key, one in found.items() if one is not None}


def _find_referent(key: str, declaration: Declaration, given: Sequence[_Given]) -> Referent | None:
    """The one variable that a reference or pointer gets in its declaration and body."""
    nodes = [node for name, is_reference, node in given if (name, is_reference) == (key, _is_reference(declaration))]
    nodes += [_first(declaration)] if declaration.initial else []
    bound = [node for node in nodes if not is_nothing(node)]
    paths = {write_path(node) for node in bound}
    if len(paths) != 1 or None in paths or bound[0] is None:
        return None
    return Referent(bound[0], declaration.initial is not None and len(bound) == len(nodes))


def find_addresses(units: Iterable[Unit]) -> Iterator[Address]:
    """The addresses of the controller's memory in the bodies of units and of their members."""
    return (one for unit in units for part in (unit, *unit.members) for one in walk(part.body)
            if isinstance(one, Address))


def find_bound(unit: Unit) -> set[str]:
    """The inputs that are references and stand, all through a call, for what they are given in it: in-outs."""
    inputs = {name.key for one in unit.declarations if one.section == "input" and _is_reference(one)
              for name in one.names}
    return inputs and inputs - {key for key, is_reference, _ in _find_given(unit.body) if is_reference}


def find_names(units: Iterable[Unit], of_members: bool) -> set[str]:
    """The names of variables in the bodies of units, or those behind a dot."""
    kind = Member if of_members else Name
    return {one.key for unit in units for one in walk(unit.body) if isinstance(one, kind)}


def write_path(node: Node | None) -> str | None:
    """A variable or a part of one by its lower-case name, as `a.b[3]`; None where it depends on the run."""
    if isinstance(node, Name):
        return node.key
    if isinstance(node, Target) and isinstance(node.base, Name) and node.base.key == "this":
        return "this^"
    base = write_path(node.base) if isinstance(node, Member | Subscript) else None
    if base is None:
        return None
    if isinstance(node, Member):
        return f"{base}.{node.key}".removeprefix("this^.")
    assert isinstance(node, Subscript)
    if not all(isinstance(one, Literal) for one in node.indices):
        return None
    return f"{base}[{','.join(str(one.value) for one in node.indices if isinstance(one, Literal))}]"


def is_nothing(node: Node | None) -> bool:
    """Whether it is what stands for no variable: 0 or NULL."""
    return (isinstance(node, Literal) and node.value == 0) or (
        isinstance(node, Name) and node.key in ("null", "nullptr"))


def find_addressed(node: Node) -> Node | None:
    """`x` of `ADR(x)` and `REF(x)`."""
    is_address = isinstance(node, Invocation) and isinstance(node.callee, Name) and node.callee.key in ("adr", "ref")
    return node.arguments[0].value if is_address and len(node.arguments) == 1 else None  # type: ignore[union-attr]


def _is_reference(declaration: Declaration) -> bool:
    return isinstance(declaration.type, PointerTo) and declaration.type.is_reference


def _first(declaration: Declaration) -> Node | None:
    """What a declaration lets a reference or pointer stand for."""
    initial = declaration.initial.value if declaration.initial else None
    return initial if initial is None or _is_reference(declaration) or is_nothing(initial) else find_addressed(initial)


def _find_given(steps: Sequence[Step]) -> list[_Given]:
    """The names that may come to stand for something, whether as references, and for what; None where that is not said
    there: a pointer may be assigned another one, or be written by a call or a loop."""
    found: list[_Given] = []
    for part in walk(steps):
        if isinstance(part, Assignment) and part.sign == "REF=":
            found.append((_key(part.target), True, part.value))
        elif isinstance(part, Assignment):
            value = part.value if is_nothing(part.value) else find_addressed(part.value)
            found.append((_key(part.target), False, value))
        elif isinstance(part, Argument | For):
            found.append((_key(part.value if isinstance(part, Argument) else part.variable), False, None))
    return found


def _key(node: Node) -> str:
    return node.key if isinstance(node, Name | Member) else ""


def walk(part: object) -> Iterator[object]:
    """All nodes of a piece of syntax, without recursion."""
    waiting = [part]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple | list):
            waiting += one
        elif dataclasses.is_dataclass(one):
            yield one
            waiting += [getattr(one, field.name) for field in dataclasses.fields(one) if field.name != "span"]
