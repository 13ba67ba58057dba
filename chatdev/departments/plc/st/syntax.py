"""The syntax tree of Structured Text: what is written, with nothing looked up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from chatdev.departments.plc.st.core import NOWHERE, Section, Span, Value

# expressions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """A value. `type` is its type's name in upper case where it is written (`INT#5`) or plain (BOOL, TIME, STRING); a
    number without one takes the type that its place asks for."""

    value: Value
    type: str
    span: Span


@dataclass(frozen=True, slots=True)
class Name:
    """A name, in lower case as `key`; one in double quotes may be a text in some dialects."""

    key: str
    text: str
    span: Span
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """`base.name`, `base.3` or `base.%X3` (the key is then the number), and the enumeration's value `Type#Name`."""

    base: Node
    key: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Subscript:
    """`base[index, …]`."""

    base: Node
    indices: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Target:
    """`base^`: what a pointer points to; of THIS and SUPER the instance itself."""

    base: Node
    span: Span


@dataclass(frozen=True, slots=True)
class Address:
    """`%IX0.0`: a place in the controller's memory."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """`neg` or `not`."""

    operator: str
    operand: Node
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator, by its name in the core, between two operands."""

    operator: str
    left: Node
    right: Node
    span: Span


@dataclass(frozen=True, slots=True)
class Assigning:
    """An assignment within an expression: `a := b := c`, `(a := b)`."""

    target: Node
    value: Node
    span: Span
    in_brackets: bool = False


@dataclass(frozen=True, slots=True)
class Argument:
    """`value`, `name := value`, or `name => place`."""

    name: str
    value: Node
    is_output: bool
    span: Span
    negates: bool = False


@dataclass(frozen=True, slots=True)
class Invocation:
    """`callee(arguments)`: of a function, or as a statement of a function block's instance."""

    callee: Node
    arguments: tuple[Argument, ...]
    span: Span


Node: TypeAlias = "Literal | Name | Member | Subscript | Target | Address | Unary | Binary | Assigning | Invocation"

# statements ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assignment:
    """With the sign `:=`; `S=` and `R=` set and reset a BOOL, `REF=` lets a reference stand for a variable, and `+=`
    tells that the value is that of an operator which was written before the `=`."""

    target: Node
    value: Node
    span: Span
    sign: OneOf[":=", "S=", "R=", "REF=", "+="] = ":="


@dataclass(frozen=True, slots=True)
class CallStatement:
    call: Invocation
    span: Span


@dataclass(frozen=True, slots=True)
class Alone:
    """A place that stands alone: a property that is asked for what its accessor does, else no statement."""

    target: Node
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    """The arms of IF and ELSIF, in order. A condition that cannot be read is None."""

    arms: tuple[tuple[Node | None, tuple[Step, ...]], ...]
    otherwise: tuple[Step, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Label:
    """A value of CASE, or a range of them."""

    low: Node
    high: Node | None
    span: Span


@dataclass(frozen=True, slots=True)
class Case:
    selector: Node | None
    arms: tuple[tuple[tuple[Label, ...], tuple[Step, ...]], ...]
    otherwise: tuple[Step, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class For:
    variable: Node
    start: Node
    limit: Node
    step: Node | None
    body: tuple[Step, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class While:
    """WHILE, or with `tests_first` False REPEAT, whose condition ends the loop."""

    condition: Node | None
    body: tuple[Step, ...]
    tests_first: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Leave:
    """EXIT, CONTINUE, RETURN, or `RETURN(condition)`."""

    to: OneOf["exit", "continue", "return"]
    span: Span
    condition: Node | None = None


@dataclass(frozen=True, slots=True)
class Assertion:
    condition: Node
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something that is not run here: code of another language, a jump to a label, a label, or statements within a
    __TRY (`body`)."""

    what: str
    span: Span
    jumps_to: str = ""
    label: str = ""
    body: tuple[Step, ...] = ()


Step: TypeAlias = "Assignment | CallStatement | Alone | If | Case | For | While | Leave | Assertion | Foreign"

# declarations --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Initials:
    """What a variable begins with: an expression, `[1, 4(0)]` as counted parts, or `(a := 1)` as named parts; `()` is
    what it begins with by itself. `placed` are parts by the way to them, by names and indices, as in a DATA_BLOCK."""

    span: Span
    value: Node | None = None
    parts: tuple[tuple[Node | None, Initials], ...] = ()
    names: tuple[tuple[Name, Initials], ...] = ()
    placed: tuple[tuple[tuple[Node, ...], Initials], ...] = ()

    @property
    def is_default(self) -> bool:
        """Whether nothing is written in the brackets."""
        return self.value is None and not (self.parts or self.names or self.placed)


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type by its name, without what stands before its last dot; `limits` make a subrange of it, `length` is that of
    a STRING, `arguments` are those of FB_init."""

    name: Name
    limits: tuple[Node, Node] | None = None
    length: Node | None = None
    prefix: str = ""
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class PointerTo:
    """`POINTER TO target`, `REFERENCE TO target`, `REF_TO target`."""

    target: TypeNode
    is_reference: bool
    span: Span


@dataclass(frozen=True, slots=True)
class TypeOf:
    """The type of a constant's value, where none is written."""

    value: Node


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """Bounds that are open (`*`) are None. `given` are the arguments of FB_init of each element, where they are said:
    `ARRAY[0..1] OF Block[(1), (2)]`."""

    bounds: tuple[tuple[Node, Node] | None, ...]
    element: TypeNode
    span: Span
    given: tuple[tuple[Argument, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class EnumOf:
    """An enumeration; `base` is the lower-case name of the type that it is counted in, if that is said."""

    values: tuple[tuple[Name, Node | None], ...]
    span: Span
    base: str = ""


@dataclass(frozen=True, slots=True)
class StructOf:
    """A structure, with the parts of `base` before its own, or a UNION."""

    parts: tuple[Declaration, ...]
    span: Span
    base: Name | None = None
    is_union: bool = False


TypeNode: TypeAlias = "TypeName | ArrayOf | EnumOf | StructOf | PointerTo | TypeOf"


@dataclass(frozen=True, slots=True)
class Declaration:
    """Variables, parts of a structure or a type (then one name). A type that cannot be read is None."""

    names: tuple[Name, ...]
    type: TypeNode | None
    initial: Initials | None
    section: Section = "local"
    span: Span = NOWHERE
    edge: str = ""
    """`r_trig` or `f_trig` of an input that is told its edges (R_EDGE, F_EDGE)."""
    is_kept: bool = False
    """Whether a method's variable lasts as long as the instance (VAR_INST)."""
    is_retained: bool = False
    """Whether a restart of the controller leaves it its value (RETAIN, PERSISTENT)."""
    address: str = ""
    """Where it lies in the controller's memory (`%IX0.0`), if that is said."""
    is_read_only: bool = False
    """Whether it is an in-out that is only read (VAR_IN_OUT CONSTANT)."""
    over: Name | None = None
    """The variable that this one is another view of (`bits AT word : ARRAY[0..15] OF BOOL`)."""


UnitKind: TypeAlias = OneOf["function", "block", "program", "interface", "method", "action", "get", "set"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A FUNCTION, FUNCTION_BLOCK, PROGRAM or INTERFACE, or a member of one: a METHOD, an ACTION, GET or SET of a
    PROPERTY. It is `broken` where declarations were lost to errors. `calls` are the names that something is called or
    entered by."""

    kind: UnitKind
    name: Name
    result: TypeNode | None
    declarations: tuple[Declaration, ...]
    externals: tuple[Declaration, ...]
    body: tuple[Step, ...]
    broken: bool
    span: Span
    members: tuple[Unit, ...] = ()
    base: Name | None = None
    interfaces: tuple[Name, ...] = ()
    words: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Task:
    """A program that a RESOURCE runs, by its type; how often, and with which priority (0 is the highest), where that is
    said."""

    program: Name
    interval: Node | None
    priority: Node | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """All that a source declares."""

    types: Sequence[Declaration] = field(default_factory=list)
    globals: Sequence[Declaration] = field(default_factory=list)
    units: Sequence[Unit] = field(default_factory=list)
    broken: bool = False
    tasks: Sequence[Task] = field(default_factory=list)
    namespaces: frozenset[str] = frozenset()


def names_of_others(units: Iterable[Unit]) -> set[str]:
    """The names that units call or look into, without their own."""
    return {one for unit in units for part in (unit, *unit.members) for one in part.calls if one != unit.name.key}


def sort_by_calls(units: Sequence[Unit], known: Mapping[str, Unit]) -> Iterator[Unit]:
    """Each behind those that it calls by their names, where there is no circle."""
    done: set[str] = set()
    for first in units:
        waiting = [first]
        while waiting:
            unit = waiting[-1]
            if unit.name.key in done:
                waiting.pop()
                continue
            open_ = [known[one] for one in sorted(unit.calls) if one in known and one not in done
                     and known[one].kind == "function" and known[one] not in waiting]
            if open_:
                waiting += open_[:1]
                continue
            waiting.pop()
            done.add(unit.name.key)
            yield unit
