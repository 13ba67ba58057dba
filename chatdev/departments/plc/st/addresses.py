"""Addresses of the controller's memory (`%MW4`, `%QX1.2`), and which variables lie in the same of it.

A variable AT an address is one of all routines, whoever declares it, and so is an address in a statement. What a number
counts differs: bytes in TwinCAT ("Addresses", Beckhoff TC3 PLC) and TIA Portal; in CODESYS the things of its size, and
bytes in that of a bit ("Addresses", CODESYS Development System 3.5; devices may be set otherwise). The standard leaves
it open: there inputs and outputs of each size have a memory of their own, as in OpenPLC (matiec), and of overlapping
memory (%M) nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chatdev.departments.plc.st.bit_layout import Layout, NoLayout, Window, carry, check_overlap
from chatdev.departments.plc.st.core import Assign, Place, Section, Statement, Type, Unknown, Variable, initial_value
from chatdev.departments.plc.st.diagnostics import Findings
from chatdev.departments.plc.st.elaborate_place import opaque_type
from chatdev.departments.plc.st.functions import BOOL, SCALARS, describe_type
from chatdev.departments.plc.st.instances import is_lost
from chatdev.departments.plc.st.references import find_addresses
from chatdev.departments.plc.st.scope import Scope, World
from chatdev.departments.plc.st.syntax import Address, Declaration, Name, SourceFile, TypeName, Unit

_ADDRESS = re.compile(r"%([IQM])([XBWDL]?)(\d+(?:\.\d+)*)")
_SIZES = {"X": 1, "B": 8, "W": 16, "D": 32, "L": 64}
_TYPES = {"X": "bool", "B": "byte", "W": "word", "D": "dword", "L": "lword"}
OVERLAPPING = "variables whose addresses overlap"
_ALL = 1 << 40
"""More bits than there are."""


@dataclass(frozen=True, slots=True)
class Spot:
    """An address: its area (I, Q, M), the size that its letter says (X, B, W, D, L), and its numbers."""

    area: str
    size: str
    numbers: tuple[int, ...]

    @property
    def bits(self) -> int:
        """What the letter says."""
        return _SIZES[self.size]

    def extents(self, bits: int, dialect: str) -> list[tuple[str, int, int]]:
        """Where so many bits from here on may lie: the name of a memory, their first bit in it, and the one behind the
        last. A place that is not known is all of it."""
        if dialect == "iec" and self.area != "M":
            return [self._own_memory(bits)]
        ways = {"siemens": (8,), "twincat": (8,), "codesys": (self.bits,)}.get(dialect, (self.bits, 8))
        memories = [f"{self.area} of {'bytes' if way == 8 else 'sizes'}" for way in ways] if len(ways) > 1 else [
            self.area]
        is_bit = self.size == "X" and len(self.numbers) == 2
        if not is_bit and (self.size == "X" or len(self.numbers) > 1):
            return [(memory, 0, _ALL) for memory in memories]
        firsts = [8 * self.numbers[0] + self.numbers[1] if is_bit else self.numbers[0] * way for way in ways]
        return [(memory, first, first + bits) for memory, first in zip(memories, firsts, strict=True)]

    def _own_memory(self, bits: int) -> tuple[str, int, int]:
        """In the memory of its size; numbers before the last one say in which part of that."""
        if self.size == "X" and len(self.numbers) == 2:
            first = 8 * self.numbers[0] + self.numbers[1]
            return f"{self.area}X", first, first + bits
        first = self.numbers[-1] * self.bits
        return f"{self.area}{self.size} {self.numbers[:-1]}", first, first + bits


def read_address(text: str) -> Spot | None:
    """An address with all of its numbers; None for another one (`%I*`)."""
    found = _ADDRESS.fullmatch(text.upper())
    if found is None:
        return None
    return Spot(found[1], found[2] or "X", tuple(int(one) for one in found[3].split(".")))


# What routines declare or use becomes global variables.


def locate(source: SourceFile, world: World) -> SourceFile:
    """The source in which variables of routines AT addresses, and addresses in statements, are global variables. Their
    names by routine and the name that it has for them are noted."""
    entry, dialect = world.entry, world.dialect.name
    used = _direct(source.units)
    if not used and not any(_find_located(source)):
        return source
    if dialect == "iec":
        _warn_of_sizes((*_find_located(source), *map(_declare_address, used)), world.findings)
    taken = [extent for one in _find_located(source) for _ in one.names for extent in _extents(one, dialect)]
    taken += [extent for one in used if (spot := read_address(one.text)) for extent in spot.extents(spot.bits, dialect)]
    moved: list[Declaration] = []
    names: dict[str, dict[str, str]] = {}
    units = [_move(unit, unit.name.key == entry, taken, dialect, moved, names) for unit in source.units]
    more = [_declare_address(one) for one in used]
    by_name = {one.name.key: one for one in units}
    world.located = {unit.name.key: _find_inherited(unit, names, by_name) for unit in units}
    return replace(source, units=units, globals=[*source.globals, *moved, *more])


def _find_located(source: SourceFile) -> Iterator[Declaration]:
    parts = [source.globals, *(unit.declarations for unit in source.units)]
    return (one for part in parts for one in part if one.address)


def _direct(units: Sequence[Unit]) -> list[Address]:
    """The addresses in statements, each once."""
    found = {one.text.upper(): one for one in find_addresses(units) if read_address(one.text)}
    return list(found.values())


def _move(unit: Unit, is_entry: bool, taken: Sequence[tuple[str, int, int]], dialect: str, moved: list[Declaration],
          names: dict[str, dict[str, str]]) -> Unit:
    """A routine without the variables that are global ones; of the one that is run only those that something else may
    lie upon."""
    if unit.kind not in ("block", "program"):
        return unit
    kept: list[Declaration] = []
    for one in unit.declarations:
        extents = _extents(one, dialect) if one.section == "local" else []
        if not extents or (is_entry and not _is_met(extents, taken)):
            kept.append(one)
            continue
        own = names.setdefault(unit.name.key, {})
        own |= {name.key: f"{unit.name.key}.{name.key}" for name in one.names}
        moved.append(replace(one, names=tuple(
            Name(own[name.key], name.text if is_entry else f"{unit.name.text}.{name.text}", name.span)
            for name in one.names)))
    return replace(unit, declarations=tuple(kept))


def _extents(one: Declaration, dialect: str) -> list[tuple[str, int, int]]:
    """Where a variable may lie, by what is written."""
    spot = read_address(one.address)
    scalar = SCALARS.get(one.type.name.key) if isinstance(one.type, TypeName) else None
    return spot.extents(max(scalar.bits, spot.bits) or _ALL if scalar else _ALL, dialect) if spot else []


def _is_met(extents: Sequence[tuple[str, int, int]], taken: Sequence[tuple[str, int, int]]) -> bool:
    """Whether something besides a variable lies where it may lie."""
    return any(sum(memory == own and low < end and first < high for memory, low, high in taken) > 1
               for own, first, end in extents)


def _declare_address(address: Address) -> Declaration:
    """A global variable that is what lies at an address of a statement."""
    spot = read_address(address.text)
    assert spot is not None
    text = address.text.upper()
    type_ = TypeName(Name(_TYPES[spot.size], _TYPES[spot.size].upper(), address.span))
    return Declaration((Name(text.lower(), text, address.span),), type_, None, "local", address.span, address=text)


def _find_inherited(unit: Unit, names: Mapping[str, Mapping[str, str]], units: Mapping[str, Unit]) -> Mapping[str, str]:
    """The names that a routine has for such variables, those of the blocks that it extends among them."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    one: Unit | None = unit
    while one is not None and one.name.key not in seen:
        seen.add(one.name.key)
        found = {**names.get(one.name.key, {}), **found}
        one = units.get(one.base.key) if one.base else None
    return found


# What lies in one memory.


@dataclass(frozen=True, slots=True)
class _Located:
    """A global variable and where it lies; with `bits` of all if that is not known."""

    variable: Variable
    spot: Spot
    bits: int


def find_shared(declarations: Iterable[Declaration], world: World) -> None:
    """Note which global variables lie in one memory, with what they begin with then. Of those nothing is known where
    the dialect does not say how; they are reported. Of inputs the one that has all the others in it stays an input."""
    dialect = world.dialect.name
    located = [_measure(world.globals[name.key], spot, dialect) for one in declarations
               if (spot := read_address(one.address)) for name in one.names if name.key in world.globals]
    for group in _group(located, dialect):
        try:
            _share(group, world)
        except NoLayout as why:
            _lose(group, world, str(why))


def _measure(variable: Variable, spot: Spot, dialect: str) -> _Located:
    try:
        bits = Layout(dialect).size(variable.type, is_bit=_is_bit(variable.type, spot))
    except NoLayout:
        bits = _ALL
    return _Located(variable, spot, bits)


def _is_bit(type_: Type, spot: Spot) -> bool:
    return type_ == BOOL and spot.size == "X"


def _group(located: Sequence[_Located], dialect: str) -> list[list[_Located]]:
    """Those that overlap, also by way of others."""
    groups: list[tuple[list[tuple[str, int, int]], list[_Located]]] = []
    for one in located:
        extents = one.spot.extents(one.bits, dialect)
        met = [group for group in groups if _overlap(extents, group[0])]
        groups = [group for group in groups if group not in met]
        groups.append((sum((group[0] for group in met), extents), [*(one for group in met for one in group[1]), one]))
    return [members for _, members in groups if len(members) > 1]


def _overlap(some: Sequence[tuple[str, int, int]], others: Sequence[tuple[str, int, int]]) -> bool:
    return any(memory == other and first < high and low < end
               for memory, first, end in some for other, low, high in others)


def _share(group: Sequence[_Located], world: World) -> None:
    """Raises NoLayout where it is not known how they lie upon each other."""
    dialect = world.dialect.name
    windows = [_window(one, dialect, is_same=len({other.spot for other in group}) == 1) for one in group]
    check_overlap(windows, dialect)
    layout = Layout(dialect)
    ends = {one.root: one.first + layout.size(one.type, one.is_bit) for one in windows}
    widest = max(windows, key=lambda one: ends[one.root] - one.first)
    if any(world.globals[one.root].section == "input" for one in windows):
        if any(one.first < widest.first or ends[one.root] > ends[widest.root] for one in windows):
            raise NoLayout("none of these inputs has all the others in it")
        for one in windows:
            section: Section = "input" if one is widest else "local"
            world.globals[one.root] = replace(world.globals[one.root], section=section)
    _begin(windows, world)
    world.shared |= {one.root: windows for one in windows}


def _window(one: _Located, dialect: str, is_same: bool) -> Window:
    extents = one.spot.extents(one.bits, dialect)
    is_known = len(extents) == 1 and extents[0][2] < _ALL
    if not is_same and not is_known:
        raise NoLayout("what the numbers of their addresses count" if len(extents) > 1 else "what their addresses mean")
    first = 0 if is_same else extents[0][1]
    return Window(one.variable.name, (), one.variable.type, first, _is_bit(one.variable.type, one.spot))


def _begin(windows: Sequence[Window], world: World) -> None:
    """Let all begin with what those of them do for which a value is written."""
    dialect = world.dialect.name
    told = [one for one in windows if world.globals[one.root].initial != initial_value(one.type)]
    for one in told:
        for other in windows:
            if other is not one:
                variable = world.globals[other.root]
                world.globals[other.root] = replace(variable, initial=carry(
                    world.globals[one.root].initial, one, variable.initial, other, dialect))


def _lose(group: Sequence[_Located], world: World, why: str) -> None:
    """Nothing is known of variables whose addresses overlap in a way that is not known."""
    names = ", ".join(one.variable.written for one in group[:6])
    for one in group:
        type_ = opaque_type(describe_type(one.variable.type), OVERLAPPING)
        world.globals[one.variable.name] = replace(one.variable, type=type_, initial=0, section="local")
    world.findings.report("gap-overlap", group[0].variable.span, names=names, why=why,
                          open=world.dialect.name == "iec")


def _warn_of_sizes(declarations: Iterable[Declaration], findings: Findings) -> None:
    """Inputs and outputs of several sizes at one place have a memory each by the standard's dialect; elsewhere they
    would be one."""
    taken = [(one, spot, extent) for one in declarations if (spot := read_address(one.address)) and spot.area != "M"
             for extent in _extents(one, "twincat") if extent[2] < _ALL]
    for one, spot, extent in taken:
        met = next((other for other, there, place in taken
                    if there.size != spot.size and _overlap([extent], [place])), None)
        if met is not None:
            findings.report("sizes-apart", one.names[0].span, name=one.names[0].text, other=met.names[0].text)
            return


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
