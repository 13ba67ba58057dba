"""The names of a source, and what each of them means where a routine uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from chatdev.departments.plc.st.bit_layout import Window
from chatdev.departments.plc.st.core import (
    IEC,
    NOWHERE,
    Array,
    Constant,
    Dialect,
    Field,
    Place,
    Record,
    Routine,
    Scalar,
    Section,
    Span,
    Statement,
    Type,
    Unknown,
    Value,
    Variable,
)
from chatdev.departments.plc.st.diagnostics import Findings, Fix, find_nearest
from chatdev.departments.plc.st.functions import UNKNOWN_TYPE
from chatdev.departments.plc.st.instances import DISPATCH, Instance
from chatdev.departments.plc.st.references import Referent
from chatdev.departments.plc.st.syntax import Declaration, Name

MOST_DEPTH = 150
"""So many operators and statements may stand in each other."""
MOST_LOOPS = 18
"""So many loops may stand in each other; Python allows 20."""
MOST_ELEMENTS = 100_000
"""Of a variable, and of all data of a routine."""


OWN_PROGRAM = "the program that is run, by its name"
BASE = "a block that is extended and is not there"
UNBOUND = "an in-out outside of the call of its block"
NO_REFERENT = "a reference or pointer that stands for nothing"
VIEWS = "views of other variables (AT)"
ANYTHING = frozenset((VIEWS, "pointers", "references", DISPATCH, OWN_PROGRAM, BASE, UNBOUND, NO_REFERENT))
"""Why it is not known where something is written."""
OPEN_DIALECTS = ("codesys", "twincat")
"""Those in which the variables of a block may be read from outside, and a function may have blocks of its own."""
OPEN = -1
"""The upper bound of an array whose bounds are those of what it stands for (`ARRAY[*]`); its lower one is 0."""


class Reject(Exception):
    """An expression or statement has no meaning; why is reported."""


class UnknownValue(Exception):
    """A value that has to be known before the program runs is not; the text says why."""


@dataclass(frozen=True)
class Signature:
    """What others see of a routine. `record` is a function block's data, `result` the type of a function."""

    name: str
    written: str
    kind: Literal["function", "block", "program", "member"]
    variables: tuple[Variable, ...]
    result: Type | None = None
    record: Record | None = None
    span: Span = NOWHERE
    result_name: str = ""

    def of_section(self, *sections: str) -> tuple[Variable, ...]:
        """The variables of these sections, in their order. Every call of the routine asks, so each answer is kept."""
        if sections not in self._by_sections:
            self._by_sections[sections] = tuple(one for one in self.variables if one.section in sections)
        return self._by_sections[sections]

    @cached_property
    def _by_sections(self) -> dict[tuple[str, ...], tuple[Variable, ...]]:
        return {}


@dataclass(frozen=True, slots=True)
class TimedProgram:
    """A program that a task runs every so many milliseconds; of two that are due at once the one with the lower `rank`
    comes first."""

    name: str
    interval_ms: int | None
    rank: tuple[int, int]


@dataclass(slots=True)
class World:
    """What all routines of a source share. Names are lower case; `lost` are those whose declaration had an error, and
    `broken` tells that others may be missing, too."""

    findings: Findings
    dialect: Dialect = IEC
    types: dict[str, tuple[Type, Value]] = field(default_factory=dict)
    values: dict[str, list[tuple[Scalar, int]]] = field(default_factory=dict)
    unnamed: set[Scalar] = field(default_factory=set)
    """The enumerations that are written where a variable is declared: `state : (Idle, Busy)`."""
    """The values of all enumerations, by name."""
    signatures: dict[str, Signature] = field(default_factory=dict)
    routines: dict[str, Routine] = field(default_factory=dict)
    standard: Mapping[str, Routine] = field(default_factory=dict)
    standard_used: set[str] = field(default_factory=set)
    globals: dict[str, Variable] = field(default_factory=dict)
    globals_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The global variables that each routine uses, also by way of the blocks that it calls."""
    members_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The variables of its block that each member (method, action) uses, also by way of others."""
    pointees: dict[str, Type] = field(default_factory=dict)
    """What a pointer or reference stands for, by the name of its type."""
    views: dict[str, tuple[str, str, Type]] = field(default_factory=dict)
    """Of views of other variables (AT) that are not followed: of which, why, and the type that is written, by the name
    of the type that stands for it."""
    viewed: dict[str, Mapping[str, Sequence[Window]]] = field(default_factory=dict)
    """By routine, the variables that have other views, and those views."""
    shared: dict[str, Sequence[Window]] = field(default_factory=dict)
    """What lies in the memory of a global variable AT an address, by its name."""
    located: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The variables of routines AT addresses, which are global ones: their names there, by routine and name."""
    instances: tuple[Instance, ...] = ()
    """Those that a variable of an interface may stand for, in a closed world."""
    is_closed: bool = False
    """Whether the variables of interfaces hold numbers of instances."""
    lent: dict[str, Variable] = field(default_factory=dict)
    """These instances by their keys, as variables that routines have as in-outs."""
    reading: list[str] = field(default_factory=list)
    """The routines whose bodies are being read, each for the one before it."""
    crossings: list[int] = field(default_factory=list)
    """How many there were at each call by way of an interface that is being read."""
    taken: Set[str] = frozenset()
    """The names of instances that may come to be what a variable of an interface stands for."""
    names_asked: Callable[[str], list[str] | None] = lambda _interface: None
    """The members that an interface asks for; nothing where they are not all known."""
    find_asked: Callable[[str, str, str], Signature | None] = lambda _interface, _name, _kind: None
    """What an interface says of a member, by its name and kind; nothing if it has none of that name."""
    namespaces: frozenset[str] = frozenset()
    properties: set[str] = field(default_factory=set)
    """The names of all properties of blocks."""
    prepare: Callable[[str], None] = lambda _name: None
    """Read the body of a routine, so that it is known what it uses."""
    tells_enabled: set[str] = field(default_factory=set)
    """The routines that write an ENO which they do not declare."""
    member_names: set[str] = field(default_factory=set)
    specialise: Callable[[Signature, Mapping[str, Type]], str] = lambda signature, _types: signature.name
    """The routine that takes in-outs of these types, where open arrays are among them."""
    find_access: Callable[[str, str], str] = lambda _key, _routine: ""
    """Why a member may not be called in a routine, in a word; "" if it may."""
    find_member: Callable[[str, str, str], str] = lambda _owner, _name, _kind: ""
    """The routine that is a member of a block, found by its name and kind; "" if there is none."""
    find_misfit: Callable[[str, str], str] = lambda _name, _interface: ""
    """What a block or an interface fails to do, in a word, to stand for this interface; "" if it can stand for it, or
    if that is not known, as something is not there."""
    lost: set[str] = field(default_factory=set)
    partial: set[str] = field(default_factory=set)
    """The blocks that extend one which is not there: they may have more members."""
    bound_references: set[tuple[str, str]] = field(default_factory=set)
    """The in-outs of routines that are declared as references; a call may leave them out."""
    read_only: set[tuple[str, str]] = field(default_factory=set)
    """The in-outs of routines that are only read (VAR_IN_OUT CONSTANT)."""
    bases: dict[str, str] = field(default_factory=dict)
    """What a structure or function block extends."""
    broken: bool = False
    cycle_ms: int | None = None
    entry: str = ""
    """The program that will be run, or nothing where there is none."""
    other_programs: frozenset[str] = frozenset()
    """The programs that tasks run beside it."""
    takes_addresses: bool = False
    """Whether a variable may be written by who knows its address."""
    own_task: TimedProgram | None = None
    """The one that runs it, where there is one."""
    together: tuple[TimedProgram, ...] = ()
    """Those that are run with it, the first ones first."""
    sizes: dict[int, tuple[Record, int]] = field(default_factory=dict)
    parts: dict[int, tuple[Record, dict[str, Field]]] = field(default_factory=dict)
    numbers: dict[int, tuple[Scalar, dict[str, int]]] = field(default_factory=dict)

    def is_run(self, name: str) -> bool:
        """Whether a task runs a program, by itself or beside others."""
        return name == self.entry or any(one.name == name for one in self.together)

    def find_shared(self, name: str) -> Variable:
        """A global variable, or an instance that routines share."""
        return self.lent[name] if name in self.lent else self.globals[name]

    def is_taken(self, one: Instance) -> bool:
        """Whether an instance may come to be what a variable of an interface stands for."""
        return "this^" in self.taken or not self.taken.isdisjoint(one.names)

    def closes_circle(self, name: str) -> bool:
        """Whether a routine that is called is being read, and calls itself only by way of an interface."""
        return name in self.reading and any(one > self.reading.index(name) for one in self.crossings)

    def find_part(self, record: Record, name: str) -> Field | None:
        """A part of a structure, or a variable of a function block, by its lower-case name."""
        if id(record) not in self.parts:
            self.parts[id(record)] = record, {part.name: part for part in record.fields}
        return self.parts[id(record)][1].get(name)

    def find_number(self, enumeration: Scalar, name: str) -> int | None:
        """The number of a value of an enumeration, by its lower-case name."""
        if id(enumeration) not in self.numbers:
            named = {one.lower(): number for number, one in enumerate(enumeration.names, enumeration.low or 0) if one}
            self.numbers[id(enumeration)] = enumeration, named
        return self.numbers[id(enumeration)][1].get(name)

    def is_heir(self, given: Type, wanted: Type) -> bool:
        """Whether a structure or function block extends another one."""
        if not isinstance(given, Record) or not isinstance(wanted, Record):
            return False
        key, seen = given.name.lower(), set[str]()
        while key in self.bases and key not in seen:
            seen.add(key)
            key = self.bases[key]
            if key == wanted.name.lower() and bool(given.block) == bool(wanted.block):
                return True
        return False

    def measure(self, type_: Type, name: str, span: Span) -> int:
        """How many scalars a value of the type holds. Raises Reject, with the error reported, if it is too large. Since
        every type is measured as it is declared, none takes long."""
        size = self._count(type_)
        if size > MOST_ELEMENTS:
            self.findings.report("large-array", span, name=name, most=MOST_ELEMENTS)
            raise Reject
        return size

    def _count(self, type_: Type) -> int:
        if isinstance(type_, Array):
            return (type_.high - type_.low + 1) * max(self._count(type_.element), 1)  # also of blocks without variables
        if isinstance(type_, Scalar):
            return 1
        if id(type_) not in self.sizes:
            self.sizes[id(type_)] = type_, sum(self._count(part.type) for part in type_.fields)
        return self.sizes[id(type_)][1]


@dataclass(slots=True)
class Scope:
    """The names that one routine sees, and what is noted while its body is read."""

    world: World
    variables: Mapping[str, Variable]
    is_standard: bool = False
    kind: Literal["function", "block", "program", "member"] = "program"
    routine: str = ""
    """Its name, while its body is read."""
    owner: str = ""
    """The block or program that the routine belongs to, or is."""
    owned: Mapping[str, Variable] = field(default_factory=dict)
    """For a member: the variables of its block."""
    base: str = ""
    """What SUPER^ means."""
    lost: frozenset[str] = frozenset()
    broken: bool = False
    loops: int = 0
    depth: int = 0
    calls: dict[str, Span] = field(default_factory=dict)
    used_globals: set[str] = field(default_factory=set)
    bound_globals: dict[str, tuple[tuple[str, Place], ...]] = field(default_factory=dict)
    counters: list[str] = field(default_factory=list)
    bounds: list[Place] = field(default_factory=list)
    """What the last values and steps of the open FOR are read from."""
    unknown: set[str] = field(default_factory=set)
    sees_all: bool = False
    before: list[Statement] = field(default_factory=list)
    """What has to be done before the statement that is being read: calls of routines that change something."""
    temporaries: list[Variable] = field(default_factory=list)
    """The data of these calls."""
    used_members: dict[str, Variable] = field(default_factory=dict)
    """The variables of its block that a member uses, by the names that they have here."""
    referents: Mapping[str, Referent] = field(default_factory=dict)
    """What its references and pointers stand for, where that is known."""
    bound: Set[str] = frozenset()
    """Its inputs that are references and stand for what a call gives them."""
    viewed: dict[str, list[Window]] = field(default_factory=dict)
    """The variables that have other views (AT), the views with them, by their names."""
    aliases: dict[str, Place] = field(default_factory=dict)
    """Other places that names stand for."""

    def report(self, code: str, span: Span, /, **facts: object) -> None:
        """Report an error or warning."""
        self.world.findings.report(code, span, **facts)

    def reject(self, code: str, span: Span, /, **facts: object) -> Reject:
        """Report an error; the exception is to be raised."""
        self.report(code, span, **facts)
        return Reject()

    def find_values(self, name: str) -> list[tuple[Scalar, int]]:
        """The enumerations that have a value of this name, with its number. Those that are written at the variables of
        the routine and its block come before all others."""
        found = list(dict.fromkeys(self.world.values.get(name, [])))
        if len(found) < 2:
            return found
        own = {_element(one.type) for one in (*self.variables.values(), *self.owned.values())} & self.world.unnamed
        return [one for one in found if one[0] in own] or found

    def find(self, name: str) -> Variable | None:
        """The variable of this name: the routine's own, else a global one."""
        own = self.variables.get(name) or self.used_members.get(name)
        if own is not None:
            return own
        if name in self.owned:
            return self.find_owned(name)
        name = self.world.located.get(self.owner, {}).get(name, name)
        if name not in self.world.globals:
            return None
        variable = self.world.globals[name]
        if constant_of(variable, variable.span) is None:
            self.used_globals |= {one.root for one in self.world.shared.get(name, ())} | {name}
        return variable

    def find_owned(self, name: str) -> Variable:
        """The variable of the block that this routine is a member of, by its name there."""
        variable = self.owned[name]
        inner = f"@{variable.name}"
        if inner not in self.used_members:
            self.used_members[inner] = replace(variable, name=inner)
        return self.used_members[inner]

    def add_temporary(self, written: str, type_: Type, initial: Value) -> Place:
        """A place of which only this routine knows."""
        name = f"@{len(self.temporaries) + 1}.{written.lower()}"
        self.temporaries.append(Variable(name, type_, initial, "temp"))
        return Place(name, (), type_)

    def miss(self, name: str, span: Span) -> Unknown:
        """What a name means that nothing has, in a source of which parts may be missing. Raises Reject where all names
        have to be there."""
        if not self.world.dialect.allows_missing or self.sees_all:
            raise self.reject_unknown(name.lower(), name, span)
        self.report("gap-missing", span, name=name)
        return Unknown(f"'{name}', which is not there", UNKNOWN_TYPE, span)

    def reject_unknown(self, key: str, written: str, span: Span) -> Reject:
        """Report a name that nothing has, once in a routine, unless its declaration may just be unreadable."""
        lost = key in self.lost or key in self.world.lost or self.broken
        if not lost and key not in self.unknown:
            known = [one.written or one.name for one in (*self.variables.values(), *self.world.globals.values())]
            known += self.world.values
            self.report("undeclared", span, name=written, near=find_nearest(written, known),
                        callable=key in self.world.signatures)
        self.unknown.add(key)
        return Reject()


def is_open(type_: Type) -> bool:
    """Whether it is an array without bounds of its own, or one of such."""
    return isinstance(type_, Array) and (type_.high == OPEN < type_.low or is_open(type_.element))


def is_bound(type_: Type, given: Type) -> bool:
    """Whether a variable may stand for one of the type `given`."""
    if isinstance(type_, Array) and isinstance(given, Array) and is_open(type_):
        return (type_.high == OPEN or (type_.low, type_.high) == (given.low, given.high)) and is_bound(
            type_.element, given.element)
    return type_ == given


def constant_of(variable: Variable, span: Span) -> Constant | None:
    """The value that stands for a constant that is no array or record."""
    if variable.section == "constant" and isinstance(variable.type, Scalar):
        return Constant(variable.initial, variable.type, span)
    return None


def _element(type_: Type) -> Type:
    return _element(type_.element) if isinstance(type_, Array) else type_


def make_variables(names: Iterable[Name], type_: Type, initial: Value, section: Section, declaration: Declaration,
                    known: Mapping[str, Variable], scope: Scope) -> Iterator[Variable]:
    """The variables of a declaration; names that are taken are reported."""
    for name in names:
        variable = Variable(name.key, type_, initial, section, name.text, name.span, declaration.is_retained)
        if name.key in known:
            _report_twice(variable, known[name.key], declaration, scope)
        else:
            yield variable


def _report_twice(second: Variable, first: Variable, declaration: Declaration, scope: Scope) -> None:
    """A variable has a name that is taken. What says of an input or output once more what is known of it can go."""
    says_nothing = (declaration.section == "local" and len(declaration.names) == 1
                    and first.section in ("input", "output", "in_out")
                    and (second.type, second.initial) == (first.type, first.initial))
    fix = Fix.instead(declaration.span, "") if says_nothing else None
    scope.world.findings.report("declared-twice", second.span, fix, name=second.written, what="variable",
                                line=first.span.line)
