"""Checked Structured Text in a small core that interpreter, verifier and emitters share.

The checker (`elaborate_unit.py`) makes it out of the syntax tree: names are resolved, every expression has a type,
every conversion is said, `CASE` is a choice of tests and every loop one form. What a construct means is written here
once.

Values are Python's: bool, int (INT, WORD, TIME in milliseconds, an enumeration's number), float, list (an array, from
its lower bound on), dict (a structure or the data of a function block, by lower-case names).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

_NAME = re.compile(r"[^\W\d]\w{0,127}")
Kind = Literal["bool", "int", "bits", "real", "time", "enum", "string", "opaque"]
"""`bits` are BYTE to LWORD: unsigned, without order to speak of. `time` counts a unit: TIME 32 bits, in
milliseconds, LTIME 64 bits, in nanoseconds, both signed but in CODESYS and TwinCAT; DATE and DATE_AND_TIME are seconds
since 1970, TIME_OF_DAY milliseconds since midnight (32 bits without sign), and their L… forms nanoseconds (64 bits).
`opaque` is what is not known: a pointer, a type that is not there; `names` then say why."""
Section = Literal["input", "output", "in_out", "local", "temp", "constant", "result"]
"""`local` keeps its value from one call of a function block to the next; `temp` and all variables of a function begin
anew with each call. `result` is the variable named as its function."""
Value = Any


@dataclass(frozen=True, slots=True)
class Span:
    """Where something stands in a source: lines and columns from 1, the end included."""

    line: int
    column: int
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Scalar:
    """An elementary type. Integers wrap around in two's complement at their width (INT 16, DINT 32); REAL is IEEE 754
    with 32 bits, LREAL with 64, rounded to even. An enumeration is an INT with the `names` of its values from `low`
    on, empty where a number has none; a subrange has bounds that no assignment may leave (`low`, `high`). A STRING
    holds as many characters as `high` says; one without is the value of an expression."""

    name: str
    kind: Kind
    bits: int
    signed: bool = True
    names: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """Elements from `low` to `high`, both included; more dimensions are arrays of arrays."""

    element: Type
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a record, with the value that it begins with; `section` is that of a function block's variable,
    `written` its name as its author wrote it, and a BOOL that `is_bit` takes one bit of memory (BIT)."""

    name: str
    type: Type
    initial: Value
    section: Section = "local"
    written: str = field(default="", compare=False)
    is_bit: bool = False
    is_retained: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Record:
    """A structure, or the data of a function block, of which `block` names the routine (else empty): all its variables
    but `temp` and `in_out` ones. Names are lower case in all of the core. The parts of a UNION lie in one place: each
    has a value of its own here, and what is written to one is carried to the others (`shared_memory.py`)."""

    name: str
    fields: tuple[Field, ...]
    block: str = ""
    is_union: bool = False


Type: TypeAlias = "Scalar | Array | Record"


# expressions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is known."""

    value: Value
    type: Type
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Place:
    """Something that has a value and may be written: a variable of the routine, and the way into it. A step is the name
    of a field, or an index (an integer expression, as written, not counted from the lower bound); an index outside of
    its array is a run-time error."""

    root: str
    steps: tuple[str | Expression, ...]
    type: Type
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Bit:
    """Bit number `index` (0 is the lowest) of an integer or bit string: `word.%X3`, `word.3`; or, of a type BYTE to
    DWORD, so many bits from that one on: `word.%B1` has index 8. It can be written."""

    place: Place
    index: int
    type: Scalar
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator on operands that have one type by now: `neg`, `not` (one operand), `+ - * / mod **`, `and or xor`
    (also of bit strings), `= <> < <= > >=`, `and_then`, `or_else`. All operands are evaluated but those of the last
    two.

    Integers wrap; `/` truncates towards zero and `mod` has the sign of the dividend; a divisor of 0 is a run-time error
    for integers, and gives infinity or NaN for REAL. `+ - * /` of TIME with numbers are said by conversions."""

    operator: str
    operands: tuple[Expression, ...]
    type: Scalar
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Convert:
    """A value in another scalar type: integers and bit strings keep their low bits (and extend by sign if the operand's
    type is signed), REAL to integer rounds half to even and then keeps the low bits (NaN and infinity give 0), BOOL is
    0 or 1, a number is TRUE unless it is 0, TIME counts in milliseconds."""

    operand: Expression
    type: Scalar
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Call:
    """A standard function (`st/functions.py` says what each means; names are upper case). CYCLE_TIME() is the time
    since the scan before, in TIME; interpreter and verifier know it."""

    function: str
    operands: tuple[Expression, ...]
    type: Scalar
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of the source: `operands` are its inputs in the order of its declaration (all of them, defaults
    said)."""

    routine: str
    operands: tuple[Expression, ...]
    type: Type
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is not known, and `why`: a pointer's target, the output of a block that is not there. A proof takes
    it for any value, a run that comes to it ends."""

    why: str
    type: Type
    span: Span = NOWHERE


Expression: TypeAlias = "Constant | Place | Bit | Operation | Convert | Call | Apply | Unknown"


# statements ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign:
    """`target := value`. Whole arrays and records are copied."""

    target: Place | Bit
    value: Expression
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Branch:
    """`IF … THEN … ELSE …`; ELSIF and CASE are branches within the other part, those of CASE all at its selector."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()
    span: Span = NOWHERE
    labels: Span = NOWHERE  # of an arm of CASE


@dataclass(frozen=True, slots=True)
class Loop:
    """While `condition` holds: `body`, then `after` (the step of a FOR, which CONTINUE does not skip). With
    `tests_first` False the condition (of REPEAT, turned round) is looked at after the first turn only. More than
    `MOST_TURNS` turns of a loop in one scan are a run-time error."""

    condition: Expression
    body: tuple[Statement, ...]
    after: tuple[Statement, ...] = ()
    tests_first: bool = True
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Jump:
    """EXIT and CONTINUE of the innermost loop, RETURN of the routine."""

    to: Literal["exit", "continue", "return"]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Invoke:
    """A call of a function block: `inputs` are written first (those left out keep what they had), then its body runs on
    the data at `instance`, then `outputs` are copied to their places. `in_outs` are bound to places for the call."""

    instance: Place
    block: str
    inputs: tuple[tuple[str, Expression], ...] = ()
    outputs: tuple[tuple[Place, str], ...] = ()
    in_outs: tuple[tuple[str, Place], ...] = ()
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Assert:
    """`//#ASSERT condition : name`: it has to hold whenever it is reached."""

    condition: Expression
    name: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Forget:
    """Something that is not known happens here (`why`), as a write through a pointer: all data may have any value
    behind it. A run that comes to it ends."""

    why: str
    span: Span = NOWHERE


Statement: TypeAlias = "Assign | Branch | Loop | Jump | Invoke | Assert | Forget"

MOST_TURNS = 10_000
"""Of one loop in one scan, in interpreter and verifier."""


# programs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a routine. `written` is its name as its author wrote it."""

    name: str
    type: Type
    initial: Value
    section: Section
    written: str = ""
    span: Span = NOWHERE
    is_retained: bool = False
    """Whether a restart of the controller leaves it its value (RETAIN, PERSISTENT)."""

    @property
    def is_hidden(self) -> bool:
        """Whether nobody declared it: the data of a call within an expression."""
        return self.name.startswith("@")


def make_record(written: str, name: str, variables: Sequence[Variable]) -> Record:
    """The data of a function block: all that it keeps from one call to the next."""
    return Record(written, tuple(Field(one.name, one.type, one.initial, one.section,
                                       one.written if one.written.lower() == one.name else "",
                                       is_retained=one.is_retained)
                                 for one in variables if one.section not in ("temp", "in_out")), name)


@dataclass(frozen=True, slots=True)
class Routine:
    """A function, function block or program; `standard` ones come from `st/standard.st`. Inputs, outputs and in-outs
    have the order of their declaration."""

    name: str
    kind: Literal["function", "block", "program"]
    variables: tuple[Variable, ...]
    body: tuple[Statement, ...]
    written: str = ""
    standard: bool = False
    span: Span = NOWHERE

    def of_section(self, *sections: Section) -> tuple[Variable, ...]:
        """The variables of these sections, in their order."""
        return tuple(variable for variable in self.variables if variable.section in sections)


@dataclass(frozen=True, slots=True)
class Dialect:
    """`iec` is IEC 61131-3 in its third edition; the others differ where docs/plc.md says so. A MOD by 0 is a run-time
    fault, or `zero`. `defines` are the names that `{IF defined (NAME)}` finds; upper and lower case are the same. With
    `allows_missing` the names of libraries that are not there are gaps, and no errors. `namespaces` are the names of
    lists of global variables and of libraries, which may stand before a name with a dot; `stubs` are units whose body
    is not there, as it is drawn.

    Raises ValueError for a name that is none."""

    name: Literal["iec", "codesys", "twincat", "siemens"] = "iec"
    mod_zero: Literal["fault", "zero"] = "fault"
    defines: tuple[str, ...] = ()
    allows_missing: bool = False
    namespaces: tuple[str, ...] = ()
    stubs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.defines:
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name; give one as in {{IF defined (NAME)}}, without a value")


IEC = Dialect()


@dataclass(frozen=True, slots=True)
class Program:
    """All routines of a source by lower-case names, and the one that is run once in every scan: the PROGRAM, else the
    function block that no other one uses, the last of several. Global variables (VAR_GLOBAL) are variables of the entry
    by their names, and routines that use them have them among their in-outs. `cycle_ms` is the INTERVAL of the TASK
    that runs the entry, where the source has one."""

    entry: Routine
    routines: Mapping[str, Routine]
    source: str = ""
    globals: tuple[Variable, ...] = field(default=())
    dialect: Dialect = IEC
    cycle_ms: int | None = None
    namespaces: frozenset[str] = frozenset()
    """The lower-case names that may stand, with a dot, before those of global variables."""


def initial_value(type_: Type) -> Value:
    """The value that a variable of a type has without being told: 0, FALSE, the lower bound of a subrange, the first
    value of an enumeration, and for arrays and records that of their parts."""
    if isinstance(type_, Array):
        return [initial_value(type_.element) for _ in range(type_.high - type_.low + 1)]
    if isinstance(type_, Record):
        return {part.name: part.initial for part in type_.fields}
    if type_.kind == "string":
        return ""
    start = type_.low if type_.low is not None and not type_.low <= 0 <= (type_.high or 0) else 0
    return {"bool": False, "real": 0.0}.get(type_.kind, start)


def assertions_of(program: Program) -> Iterator[Assert]:
    """All `//#ASSERT` of the routines, in the order of the source within each."""
    for routine in program.routines.values():
        yield from _assertions_in(routine.body)


def _assertions_in(statements: Iterable[Statement]) -> Iterator[Assert]:
    for statement in statements:
        if isinstance(statement, Assert):
            yield statement
        elif isinstance(statement, Branch):
            yield from _assertions_in(statement.then + statement.otherwise)
        elif isinstance(statement, Loop):
            yield from _assertions_in(statement.body + statement.after)
