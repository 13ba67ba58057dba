"""Write out what is done before the first scan: FB_init of the instances of function blocks, as in CODESYS and TwinCAT.

A block gets members that construct an instance: as one of the block that it extends, then the instances that it has,
then by its own FB_init (Beckhoff, TwinCAT 3, "Behavior with derived function blocks"). A program constructs its
instances and the global ones when it runs for the first time, a function its own in each call. All of it is syntax,
which then means what it means everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Findings
from chatdev.departments.plc.st.elaborate_heritage import find_chain
from chatdev.departments.plc.st.syntax import (
    Argument,
    ArrayOf,
    Assignment,
    CallStatement,
    Declaration,
    EnumOf,
    Foreign,
    If,
    Initials,
    Invocation,
    Literal,
    Member,
    Name,
    Node,
    SourceFile,
    Step,
    StructOf,
    Subscript,
    TypeName,
    TypeNode,
    Unary,
    Unit,
)

_INIT = "fb_init"
_MOST_INSTANCES = 200
"""Of one array that are constructed."""
_MOST_DEPTH = 50
"""So many structures and arrays may stand in each other."""
_KEPT = ("input", "output", "local")


@dataclass(frozen=True, slots=True)
class _Instance:
    """An instance of a block: how it is named, and what its FB_init is given (nothing where that is not known)."""

    place: Node
    block: str
    arguments: Sequence[Argument] | None
    initials: Initials | None = None


def add_construction(source: SourceFile, entry: str, findings: Findings) -> Sequence[Unit]:
    """The units of a source, with what constructs their instances; `entry` is the lower-case name of the one that is
    run, if that is known. An instance that cannot be constructed is a gap."""
    declared = (one for unit in source.units for part in (unit, *unit.members) for one in part.declarations)
    is_given = any(_is_given(one.type) for one in (*declared, *source.globals))
    if not is_given and not any(member.name.key == _INIT for unit in source.units for member in unit.members):
        return source.units
    return _Construction(source, findings).write(entry)


class _Construction:
    """Finds which blocks of a source need it, and writes it."""

    def __init__(self, source: SourceFile, findings: Findings) -> None:
        self._source = source
        self._findings = findings
        self._units = {unit.name.key: unit for unit in source.units}
        self._types = {name.key: one.type for one in source.types for name in one.names}
        self._needs: dict[str, bool] = {}
        self._constants = _find_constants(source)

    def write(self, entry: str) -> Sequence[Unit]:
        """All units, those that need it with more members and statements."""
        used = {one.block for unit in self._source.units for one in self._instances(unit)}
        found: list[Unit] = []
        for unit in self._source.units:
            key = unit.name.key
            unit = self._begin_calls(replace(unit, members=tuple(map(self._begin_calls, unit.members))))
            if unit.kind == "block" and self._is_constructed(key):
                unit = replace(unit, members=(*unit.members, *self._members(unit)))
            if key == entry or unit.kind == "program" or (not entry and unit.kind == "block" and key not in used):
                unit = self._begin(unit, is_run=key == entry or not entry)
            found.append(unit)
        return found

    def _chain(self, key: str) -> Iterator[Unit]:
        return find_chain(key, self._units)

    def _is_constructed(self, key: str) -> bool:
        """Whether an instance of a block has an FB_init, or has instances that have one."""
        if key not in self._needs:
            self._needs[key] = False  # while it is looked for: a block within itself is an error of its own
            self._needs[key] = any(
                _find_init(unit) or any(self._is_constructed(one.block) for one in self._instances(unit))
                for unit in self._chain(key))
        return self._needs[key]

    def _lacks_init(self, key: str) -> bool:
        """Whether the FB_init of a block is that of one which is not there."""
        chain = list(self._chain(key))
        return chain[-1].base is not None and not any(map(_find_init, chain))

    def _instances(self, unit: Unit) -> Iterator[_Instance]:
        """The instances among the variables that a unit declares and keeps."""
        yield from self._declared(one for one in unit.declarations if one.section in _KEPT and unit.kind != "function")

    def _declared(self, declarations: Iterable[Declaration]) -> Iterator[_Instance]:
        for one in declarations:
            for name in one.names if one.type is not None else ():
                yield from self._find(name, one.type, one.initial)

    def _begin_calls(self, unit: Unit) -> Unit:
        """A unit that constructs, in each call, the instances that last as long as it; one that a method keeps
        (VAR_INST) is a gap."""
        is_short = unit.kind not in ("block", "program", "interface")
        fresh = [one for one in unit.declarations if one.section == "temp" or (is_short and one.section == "local")]
        steps = self._construct(self._declared(one for one in fresh if not one.is_kept))
        for one in self._declared(one for one in fresh if one.is_kept):
            steps += self._construct((replace(one, arguments=None),))
        return replace(unit, body=(*steps, *unit.body)) if steps else unit

    def _find(self, place: Node, type_: TypeNode | None, initials: Initials | None = None,
              depth: int = 0) -> Iterator[_Instance]:
        """The instances in a place of a type."""
        if isinstance(type_, TypeName) and type_.name.key in self._units:
            if self._units[type_.name.key].kind == "block":
                yield _Instance(place, type_.name.key, type_.arguments or (), initials)
        elif isinstance(type_, TypeName) and type_.name.key in self._types and depth < _MOST_DEPTH:
            yield from self._find(place, self._types[type_.name.key], None, depth + 1)
        elif isinstance(type_, StructOf):
            for part in type_.parts:
                for name in part.names:
                    yield from self._find(Member(place, name.key, name.text, name.span), part.type, None, depth + 1)
        elif isinstance(type_, ArrayOf):
            yield from self._find_elements(place, type_, initials, depth)

    def _find_elements(self, place: Node, array: ArrayOf, initials: Initials | None, depth: int) -> Iterator[_Instance]:
        inner = next(self._find(place, array.element, None, depth + 1), None)
        if inner is None:
            return
        ranges = [self._range_of(pair) for pair in array.bounds]
        count = math.prod(map(len, filter(None, ranges)))
        parts = _expand(initials, count) if initials is not None else [None] * count
        if None in ranges or count > _MOST_INSTANCES or parts is None:
            yield _Instance(place, inner.block, None)
            return
        given: Sequence[Sequence[Argument] | None] = array.given or [None] * count
        if len(given) != count:
            self._findings.report("array-arguments", place.span, given=len(given), count=count)
        elements = (Subscript(place, tuple(Literal(index, "", place.span) for index in indices), place.span)
                    for indices in product(*filter(None, ranges)))
        for element, part, arguments in zip(elements, parts, given, strict=False):
            found = self._find(element, array.element, part, depth + 1)
            yield from found if arguments is None else (replace(one, arguments=arguments) for one in found)

    def _range_of(self, bounds: tuple[Node, Node] | None) -> range | None:
        """The indices between two numbers, or constants that are numbers; None where they are not known here, or too
        many."""
        low, high = (self._number_of(one) for one in bounds or (None, None))
        return None if low is None or high is None or high - low >= _MOST_INSTANCES else range(low, high + 1)

    def _number_of(self, node: Node | None) -> int | None:
        value = self._constants.get(node.key) if isinstance(node, Name) else node
        return value.value if isinstance(value, Literal) and isinstance(value.value, int) else None

    def _members(self, unit: Unit) -> Iterator[Unit]:
        """What constructs an instance of a block: all of it, the instances in it, and its own FB_init."""
        key, span = unit.name.key, unit.name.span
        init = next((found for one in self._chain(key) if (found := _find_init(one))), None)
        inputs = [one for one in init.declarations if one.section == "input"] if init else _flags(span)
        body: list[Step] = []
        if unit.base is not None and self._is_constructed(unit.base.key):
            base = next((found for one in self._chain(unit.base.key) if (found := _find_init(one))), None)
            wanted = [one for one in base.declarations if one.section == "input"] if base else _flags(span)
            body.append(_call(_own(f"@construct_{unit.base.key}", span), _pass_on(wanted)))
        body.append(_call(_own(f"@inner_{key}", span), ()))
        own = _find_init(unit)
        if own is not None:
            body.append(_call(_own(f"@init_{key}", span), _pass_on(inputs)))
            yield replace(own, name=_own(f"@init_{key}", span))
        yield _method(_own(f"@inner_{key}", span), (), self._construct(self._instances(unit)), span)
        yield _method(_own(f"@construct_{key}", span), tuple(inputs), body, span)

    def _construct(self, instances: Iterable[_Instance]) -> list[Step]:
        """The calls that construct instances; what they begin with in their declaration stands behind them."""
        found: list[Step] = []
        for one in instances:
            if not self._is_constructed(one.block):
                if one.arguments:
                    self._findings.report("gap-init", one.place.span)
                continue
            if one.arguments is None:
                self._findings.report("gap-init", one.place.span)
                found.append(Foreign("FB_init", one.place.span))
                continue
            flags = (Argument("", Literal(True, "BOOL", one.place.span), False, one.place.span),
                     Argument("", Literal(False, "BOOL", one.place.span), False, one.place.span))
            callee = Member(one.place, f"@construct_{one.block}", "FB_init", one.place.span)
            arguments = one.arguments
            if arguments and self._lacks_init(one.block):
                self._findings.report("gap-init", one.place.span)
                arguments = ()
            found.append(_call(callee, (*flags, *arguments)))
            for name, initial in one.initials.names if one.initials else ():
                if initial.value is not None:
                    target = Member(one.place, name.key, name.text, name.span)
                    found.append(Assignment(target, initial.value, name.span))
        return found

    def _begin(self, unit: Unit, is_run: bool) -> Unit:
        """A unit that constructs its instances, and the global ones, when it runs for the first time."""
        span = unit.name.span
        instances = [one for part in self._chain(unit.name.key) for one in self._instances(part)]
        if is_run:
            instances += self._declared(one for one in self._source.globals if one.section in _KEPT)
        steps = self._construct(instances)
        init = _find_init(unit) if unit.kind == "block" else None
        if init is not None:
            steps.append(self._begin_itself(unit, init))
        if not steps:
            return unit
        done = Name(f"@constructed_{unit.name.key}", "@constructed", span)
        flag = Declaration((done,), TypeName(Name("bool", "BOOL", span)), None, "local", span)
        steps.append(Assignment(done, Literal(True, "BOOL", span), span))
        first = If(((Unary("not", done, span), tuple(steps)),), (), span)
        return replace(unit, declarations=(*unit.declarations, flag), body=(first, *unit.body))


    def _begin_itself(self, unit: Unit, init: Unit) -> Step:
        """The FB_init of a block that is run by itself: what it would be given is not known, if that is more than two
        flags."""
        span = unit.name.span
        if len([name for one in init.declarations if one.section == "input" for name in one.names]) > len(_flags(span)):
            self._findings.report("gap-init", span)
            return Foreign("FB_init", span)
        given = tuple(Argument("", Literal(one, "BOOL", span), False, span) for one in (True, False))
        return _call(_own(f"@init_{unit.name.key}", span), given)


def _is_given(type_: TypeNode | None) -> bool:
    """Whether an instance, or elements of an array, are given arguments of FB_init."""
    if isinstance(type_, ArrayOf):
        return bool(type_.given) or _is_given(type_.element)
    return isinstance(type_, TypeName) and bool(type_.arguments)


def _expand(initials: Initials, count: int) -> list[Initials | None] | None:
    """What each of so many elements begins with; None where that is not written one by one."""
    found: list[Initials | None] = []
    for times, part in initials.parts:
        number = times.value if isinstance(times, Literal) else 1
        if (times is not None and not isinstance(times, Literal)) or not isinstance(number, int) or number > count:
            return None
        found += [part] * number
    return (found + [None] * count)[:count] if initials.parts else None


def _find_constants(source: SourceFile) -> dict[str, Node | None]:
    """The values of constants by their names; nothing for a name that has several, or is an enumeration's value too."""
    found: dict[str, Node | None] = {}
    declared = [*source.globals, *(one for unit in source.units for one in unit.declarations)]
    named = ((name.key, one.initial) for one in declared if one.section == "constant" for name in one.names)
    for key, initial in named:
        found[key] = initial.value if initial and key not in found else None
    return found | dict.fromkeys(_find_values((*source.types, *declared)), None)


def _find_values(declarations: Iterable[Declaration]) -> Iterator[str]:
    """The names of the values of enumerations."""
    for one in declarations:
        if isinstance(one.type, EnumOf):
            yield from (name.key for name, _ in one.type.values)


def _find_init(unit: Unit) -> Unit | None:
    return next((one for one in unit.members if one.name.key == _INIT and one.kind == "method"), None)


def _flags(span: Span) -> list[Declaration]:
    """The inputs that every FB_init has: bInitRetains, bInCopyCode."""
    names = (Name("binitretains", "bInitRetains", span), Name("bincopycode", "bInCopyCode", span))
    return [Declaration((name,), TypeName(Name("bool", "BOOL", span)), None, "input", span) for name in names]


def _own(key: str, span: Span) -> Name:
    return Name(key, "FB_init", span)


def _pass_on(inputs: Sequence[Declaration]) -> tuple[Argument, ...]:
    return tuple(Argument(name.key, name, False, name.span) for one in inputs for name in one.names)


def _call(callee: Name | Member, arguments: Sequence[Argument]) -> CallStatement:
    return CallStatement(Invocation(callee, tuple(arguments), callee.span), callee.span)


def _method(name: Name, declarations: tuple[Declaration, ...], body: Sequence[Step], span: Span) -> Unit:
    return Unit("method", name, None, declarations, (), tuple(body), False, span)
