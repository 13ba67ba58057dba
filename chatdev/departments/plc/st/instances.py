"""The instances of function blocks that may stand behind a variable of an INTERFACE, where all of them are known.

A program that is run is a closed world: its own variables and the global ones hold all instances that last. Each one of
a block that implements an interface has a number in its data (`@id`), which never changes, and a variable of an
interface holds such a number, or 0 for none. A call by way of it is one by cases of the number. Instances that last no
longer than a call have the number `NAMELESS`: what becomes of it is not known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chatdev.departments.plc.st.core import Array, Constant, Place, Record, Scalar, Type, Value, Variable
from chatdev.departments.plc.st.functions import LINT
from chatdev.departments.plc.st.syntax import Declaration, Member, Name, Target, Unit

ID = "@id"
NAMELESS = 1
"""The number of an instance that does not last, or is not one of the program that is run."""
DISPATCH = "dynamic dispatch"
MOST_INSTANCES = 1000
"""Of blocks that implement interfaces in one program; those beyond have no number of their own."""
MOST_CASES = 32
"""Of one call."""
_FIRST = 2
_NUMBERED = (DISPATCH, "by its number")


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a block by its number, and where it lies among the variables of the entry."""

    number: int
    place: Place
    block: str

    @property
    def key(self) -> str:
        """The name by which routines other than the entry have it as an in-out."""
        steps = "".join(f".{one}" if isinstance(one, str) else f"[{one.value}]" for one in self.place.steps
                        if isinstance(one, str | Constant))
        return f"@at.{self.place.root}{steps}"

    @property
    def names(self) -> set[str]:
        """Those of the variables on the way to it."""
        return {self.place.root, *(one for one in self.place.steps if isinstance(one, str))}


def numbered_type(name: str) -> Scalar:
    """The type of a variable of an interface, or of a block seen as one, in a closed world."""
    return Scalar(name, "opaque", 64, signed=False, names=_NUMBERED)


def is_numbered(type_: Type) -> bool:
    """Whether a value stands for an instance by its number."""
    return isinstance(type_, Scalar) and type_.names == _NUMBERED and type_.kind == "opaque"


def is_lost(type_: Type) -> bool:
    """Whether nothing is kept of the values of a type."""
    return isinstance(type_, Scalar) and type_.kind == "opaque" and not is_numbered(type_)


def holds_number(type_: Type) -> bool:
    """Whether variables of interfaces are among the values of a type."""
    if isinstance(type_, Array):
        return holds_number(type_.element)
    if isinstance(type_, Record):
        return any(part.name != ID and holds_number(part.type) for part in type_.fields)
    return is_numbered(type_)


def holds_identity(type_: Type) -> bool:
    """Whether values of a type hold instances with numbers, so that a copy is another instance."""
    if isinstance(type_, Array):
        return holds_identity(type_.element)
    return isinstance(type_, Record) and any(part.name == ID or holds_identity(part.type) for part in type_.fields)


def identity() -> Variable:
    """The variable of a block that holds the number of the instance."""
    return Variable(ID, numbered_type(ID), NAMELESS, "local")


def number_instances(variables: Sequence[Variable], entry: str) -> tuple[Instance, ...]:
    """The instances with numbers that variables of the entry and global ones hold; none where the `entry` is one of
    them itself, as its variables are then not only those of the run."""
    found: list[Instance] = []
    for variable in variables:
        for place, record in _records(Place(variable.name, (), variable.type)):
            if record.block == entry:
                return ()
            if len(found) < MOST_INSTANCES and any(part.name == ID for part in record.fields):
                found.append(Instance(_FIRST + len(found), place, record.block))
    return tuple(found)


def _records(place: Place) -> Iterator[tuple[Place, Record]]:
    """The instances of blocks in a place; of large arrays only where they may have numbers."""
    if isinstance(place.type, Array) and isinstance(place.type.element, Array | Record):
        for index in range(place.type.low, place.type.high + 1):
            yield from _records(Place(place.root, (*place.steps, Constant(index, LINT)), place.type.element))
    elif isinstance(place.type, Record):
        if place.type.block:
            yield place, place.type
        for part in place.type.fields:
            yield from _records(Place(place.root, (*place.steps, part.name), part.type))


def begin_numbered(variable: Variable, instances: Sequence[Instance]) -> Variable:
    """A variable whose instances begin with their numbers."""
    own = [one for one in instances if one.place.root == variable.name]
    if not own:
        return variable
    initial = _unshare(variable.initial)
    for one in own:
        value, type_ = initial, variable.type
        for step in one.place.steps:
            value, type_ = _enter(value, type_, step)
        value[ID] = one.number
    return replace(variable, initial=initial)


def _enter(value: Value, type_: Type, step: object) -> tuple[Value, Type]:
    """A part of a value, with its type."""
    if isinstance(type_, Array) and isinstance(step, Constant):
        return value[step.value - type_.low], type_.element
    assert isinstance(type_, Record)
    part = next(part for part in type_.fields if part.name == step)
    return value.setdefault(part.name, _unshare(part.initial)), part.type


def _unshare(value: Value) -> Value:
    """The same value, no part of which stands in two places."""
    if isinstance(value, list):
        return [_unshare(one) for one in value]
    return {name: _unshare(one) for name, one in value.items()} if isinstance(value, Mapping) else value


def find_taken(units: Sequence[Unit], others: Sequence[Any] = ()) -> set[str]:
    """The names that stand for whole values somewhere: only instances on whose way such a name lies can come to be what
    a variable of an interface stands for. `this^` is among them where a block hands itself over."""
    found: set[str] = set()
    waiting: list[tuple[Any, bool]] = [(others, False)]
    waiting += [((part.body, part.declarations), False) for unit in units for part in (unit, *unit.members)]
    while waiting:
        one, is_way = waiting.pop()
        if isinstance(one, tuple | list):
            waiting += [(part, is_way) for part in one]
        elif dataclasses.is_dataclass(one):
            if not is_way and isinstance(one, Name | Member | Target):
                found.add("this^" if isinstance(one, Target) else one.key)
            waiting += _inside(one, is_way)
    return found


def _inside(node: Any, is_way: bool) -> Iterator[tuple[Any, bool]]:
    """The parts of a piece of syntax, and whether each is only the way to what stands there."""
    if isinstance(node, Declaration):
        yield (node.type, node.initial), False
        return
    for field in dataclasses.fields(node):
        inner = getattr(node, field.name)
        if field.name == "callee" or (field.name == "base" and isinstance(node, Member)):
            yield inner, True
        elif field.name != "span":
            yield inner, is_way and field.name == "base"
