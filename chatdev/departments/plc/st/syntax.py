"""The syntax tree of Structured Text: what is written, with nothing looked up."""

from __future__ import annotations

from collections.abc import Sequence
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
    """A name, in lower case as `key`."""

    key: str
    text: str
    span: Span


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


Node: TypeAlias = "Literal | Name | Member | Subscript | Unary | Binary | Invocation"

# statements ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assignment:
    target: Node
    value: Node
    span: Span


@dataclass(frozen=True, slots=True)
class CallStatement:
    call: Invocation
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
    variable: Name
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
    to: OneOf["exit", "continue", "return"]
    span: Span


@dataclass(frozen=True, slots=True)
class Assertion:
    condition: Node
    name: str
    span: Span


Step: TypeAlias = "Assignment | CallStatement | If | Case | For | While | Leave | Assertion"

# declarations --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Initials:
    """What a variable begins with: an expression, `[1, 4(0)]` as counted parts, or `(a := 1)` as named parts."""

    span: Span
    value: Node | None = None
    parts: tuple[tuple[Node | None, Initials], ...] = ()
    names: tuple[tuple[Name, Initials], ...] = ()


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type by its name; `limits` make a subrange of it."""

    name: Name
    limits: tuple[Node, Node] | None = None


@dataclass(frozen=True, slots=True)
class ArrayOf:
    bounds: tuple[tuple[Node, Node], ...]
    element: TypeNode
    span: Span


@dataclass(frozen=True, slots=True)
class EnumOf:
    values: tuple[tuple[Name, Node | None], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class StructOf:
    parts: tuple[Declaration, ...]
    span: Span


TypeNode: TypeAlias = "TypeName | ArrayOf | EnumOf | StructOf"


@dataclass(frozen=True, slots=True)
class Declaration:
    """Variables, parts of a structure or a type (then one name). A type that cannot be read is None."""

    names: tuple[Name, ...]
    type: TypeNode | None
    initial: Initials | None
    section: Section = "local"
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Unit:
    """A FUNCTION, FUNCTION_BLOCK or PROGRAM. It is `broken` where declarations were lost to errors."""

    kind: OneOf["function", "block", "program"]
    name: Name
    result: TypeNode | None
    declarations: tuple[Declaration, ...]
    externals: tuple[Declaration, ...]
    body: tuple[Step, ...]
    broken: bool
    span: Span


@dataclass(frozen=True, slots=True)
class SourceFile:
    """All that a source declares."""

    types: Sequence[Declaration] = field(default_factory=list)
    globals: Sequence[Declaration] = field(default_factory=list)
    units: Sequence[Unit] = field(default_factory=list)
    broken: bool = False
