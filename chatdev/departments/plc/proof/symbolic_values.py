"""The values of core expressions over terms, with their run-time faults; arrays and records as scalars; a loop as one
turn of any number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import z3

from chatdev.departments.plc.proof import terms
from chatdev.departments.plc.proof.terms import (
    BOOL,
    STANDARD,
    Inexpressible,
    Term,
    both,
    choose,
    either,
    is_known,
    lift,
    negate,
    operate,
)
from chatdev.departments.plc.st import core
from chatdev.departments.plc.st.core import (
    Array,
    Expression,
    Operation,
    Place,
    Program,
    Record,
    Routine,
    Scalar,
    Span,
    Type,
    Value,
    Variable,
)

Parts = Mapping[str, Term]
"""A value by the paths of its scalars below it; a scalar's is {"": term}."""
Cell = tuple[Term, str]
"""A condition, and the path that a place means where the condition holds."""
_FAULTS = {"/": "division", "mod": "division"}
GAP = "$gap "
"""With this begins the name of a value that is not known because a part of the program is not."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that must not happen, where it would, and when it does (in the order of the execution); so many
    summarised loops have come to their end before it."""

    kind: str
    span: Span
    text: str
    term: Term
    loops: int = 0


class Values:
    """A symbolic state, and the values of expressions in it. `guard` is the condition under which what is looked at
    now is executed."""

    def __init__(self, program: Program, cycle: Term, watch_overflow: bool = False) -> None:
        self.program = program
        self.cycle = cycle
        self.watch_overflow = watch_overflow
        self.state: dict[str, Term] = {}
        self.types: dict[str, Scalar] = {}
        self.frame: dict[str, tuple[str, Type]] = {}
        self.guard: Term = True
        self.faults: list[Fault] = []
        self.loops: list[LoopSummary] = []
        self.unknowns: dict[str, Scalar] = {}
        self.overlay: dict[str, Term | None] | None = None
        self.written: set[str] = set()
        self.writes = 0

    # the state ---------------------------------------------------------------------------------------------------

    def declare(self, path: str, type_: Type, values: Parts) -> None:
        """Add the scalars of a variable."""
        for suffix, scalar in scalars_of(self.program, type_, ""):
            self.types[path + suffix] = scalar
            self.write(path + suffix, values[suffix])

    def write(self, path: str, term: Term) -> None:
        """Give a scalar a value; what it had is kept for the branch that is executed now."""
        if self.overlay is not None and path not in self.overlay:
            self.overlay[path] = self.state.get(path)
        self.state[path] = term
        self.written.add(path)
        self.writes += 1

    def fault(self, kind: str, span: Span, term: Term, text: str = "") -> None:
        """Note that something goes wrong where `term` holds. Where it surely does, nothing goes on. That an assertion
        surely holds is noted, too."""
        if is_known(term) and not term and kind != "assertion":
            return
        self.faults.append(Fault(kind, span, text, both(self.guard, term), len(self.loops)))
        if is_known(term) and kind != "overflow" and kind != "assertion":
            self.halt()

    def halt(self) -> None:
        """End the scan here; overridden by what executes statements."""

    # places ------------------------------------------------------------------------------------------------------

    def cells(self, place: Place) -> list[Cell]:
        """What a place may mean; the conditions exclude each other."""
        path, type_ = self.frame[place.root]
        found: list[Cell] = [(True, path)]
        for step in place.steps:
            if isinstance(step, str):
                assert isinstance(type_, Record)
                type_ = parts_of(self.program, type_)[step][0]
                found = [(condition, f"{path}.{step}") for condition, path in found]
            else:
                assert isinstance(type_, Array)
                chosen = self._index(step, type_)
                found = [(both(one, other), path + suffix) for (one, path), (other, suffix) in product(found, chosen)]
                type_ = type_.element
        return found

    def _index(self, index: Expression, array: Array) -> list[Cell]:
        scalar = index.type
        assert isinstance(scalar, Scalar)
        term = self.value(index)
        inside = self._fits(term, scalar, array.low, array.high)
        self.fault("index", index.span, negate(inside), f"{array.low}..{array.high}")
        if is_known(term):
            return [(True, f"[{min(max(term, array.low), array.high)}]")]
        return [(operate("=", [term, at], scalar, BOOL), f"[{at}]")
                for at in range(array.low, array.high + 1) if _holds(at, scalar)]

    def _fits(self, term: Term, scalar: Scalar, low: int, high: int) -> Term:
        """Whether low <= term <= high; a bound that the type cannot exceed is not asked for."""
        wide = Scalar("", "int", max(scalar.bits, 32) * 2)
        number = terms.convert(term, scalar, wide)
        return both(operate(">=", [number, low], wide, BOOL), operate("<=", [number, high], wide, BOOL)) \
            if is_known(term) or not (_holds(low, scalar) and _holds(high, scalar)) \
            else both(operate(">=", [term, low], scalar, BOOL), operate("<=", [term, high], scalar, BOOL))

    def read(self, place: Place) -> Parts:
        """The value at a place."""
        cells = self.cells(place)
        found: dict[str, Term] = {}
        for suffix, scalar in scalars_of(self.program, place.type, ""):
            term = self.state[cells[-1][1] + suffix]
            for condition, path in reversed(cells[:-1]):
                term = choose(condition, self.state[path + suffix], term, scalar)
            found[suffix] = term
        return found

    def assign(self, place: Place, parts: Parts, span: Span) -> None:
        """Write a value to a place."""
        self.hold_limits(place.type, parts, span)
        for condition, path in self.cells(place):
            for suffix, term in parts.items():
                at = path + suffix
                self.write(at, choose(condition, term, self.state[at], self.types[at]))

    def hold_limits(self, type_: Type, parts: Parts, span: Span) -> None:
        """Note that a value may lie outside of the subrange that it is given to, if it is one."""
        if isinstance(type_, Scalar) and type_.low is not None and type_.high is not None:
            self.fault("subrange", span, negate(self._fits(parts[""], type_, type_.low, type_.high)),
                       f"{type_.low}..{type_.high}")

    # expressions -------------------------------------------------------------------------------------------------

    def value(self, expression: Expression) -> Term:
        """The term of an expression of a scalar type."""
        return self.parts(expression)[""]

    def parts(self, expression: Expression) -> Parts:
        """The value of an expression of any type."""
        if isinstance(expression, core.Constant):
            return dict(values_of(self.program, expression.type, expression.value))
        if isinstance(expression, Place):
            return self.read(expression)
        if isinstance(expression, core.Apply):
            return self.apply(expression)
        if isinstance(expression, core.Unknown):
            return dict(self.any_parts(expression.why, expression.type))
        return {"": self._scalar(expression)}

    def any_parts(self, why: str, type_: Type) -> Iterator[tuple[str, Term]]:
        """The scalars of a value of which nothing is known."""
        for suffix, scalar in scalars_of(self.program, type_, ""):
            yield suffix, self.any_value(why, scalar)

    def any_value(self, why: str, scalar: Scalar) -> Term:
        """A value of which nothing is known."""
        name = f"{GAP}{why}#{len(self.unknowns)}"
        self.unknowns[name] = scalar
        return terms.symbol(name, scalar)

    def apply(self, expression: core.Apply) -> Parts:
        """The result of a function of the source; overridden by what executes statements."""
        raise Inexpressible(expression.routine)

    def _scalar(self, expression: core.Bit | core.Operation | core.Convert | core.Call) -> Term:
        if isinstance(expression, core.Bit):
            return self._bit(expression)
        if isinstance(expression, core.Convert):
            source = expression.operand.type
            assert isinstance(source, Scalar)
            return self._known_or_any(lambda: terms.convert(self.value(expression.operand), source, expression.type),
                                      expression)
        if isinstance(expression, core.Operation):
            return self._operation(expression)
        if expression.function == "CYCLE_TIME":
            return self.cycle
        return self._call(expression)

    def _bit(self, bit: core.Bit) -> Term:
        scalar = bit.place.type
        assert isinstance(scalar, Scalar)
        if bit.type.kind != "bool":
            return terms.take_part(self.value(bit.place), bit.index, bit.type)
        mask = terms.wrap(1 << bit.index, scalar)
        return operate("<>", [operate("and", [self.value(bit.place), mask], scalar, scalar), 0], scalar, BOOL)

    def assign_bit(self, bit: core.Bit, term: Term, span: Span) -> None:
        """Write one bit, or a part of a bit string."""
        scalar = bit.place.type
        assert isinstance(scalar, Scalar)
        if bit.type.kind != "bool":
            whole = terms.put_part(self.value(bit.place), term, bit.index, bit.type, scalar)
            self.assign(bit.place, {"": whole}, span)
            return
        mask = terms.wrap(1 << bit.index, scalar)
        before = self.value(bit.place)
        with_it = operate("or", [before, mask], scalar, scalar)
        without = operate("and", [before, terms.wrap(~mask, scalar)], scalar, scalar)
        self.assign(bit.place, {"": choose(term, with_it, without, scalar)}, span)

    def _operation(self, operation: core.Operation) -> Term:
        if operation.operator in ("and_then", "or_else"):
            return self._short(operation)
        scalar = operation.operands[0].type
        assert isinstance(scalar, Scalar)
        operands = [self.value(operand) for operand in operation.operands]
        if scalar.kind != "real":
            self._watch(operation, operands, scalar)
        return self._known_or_any(lambda: operate(operation.operator, operands, scalar, operation.type), operation)

    def _watch(self, operation: core.Operation, operands: list[Term], scalar: Scalar) -> None:
        if operation.operator in _FAULTS:
            zero = either(*(operate("=", [divisor, 0], scalar, BOOL) for divisor in operands[1:]))
            self.fault("division", operation.span, zero)
        if self.watch_overflow and scalar.kind == "int" and operation.operator in ("+", "-", "*", "/", "neg"):
            self.fault("overflow", operation.span, terms.overflows(operation.operator, operands, scalar),
                       operation.operator)

    def _short(self, operation: core.Operation) -> Term:
        """What stands at the right is evaluated only where it decides."""
        stops = operation.operator == "or_else"
        outer = self.guard
        found: list[Term] = []
        for operand in operation.operands:
            term = self.value(operand)
            found.append(term)
            goes_on = negate(term) if stops else term
            if is_known(goes_on) and not goes_on:
                break
            self.guard = both(self.guard, goes_on)
        self.guard = outer
        return either(*found) if stops else both(*found)

    def _call(self, call: core.Call) -> Term:
        operands = [self.value(operand) for operand in call.operands]
        types = [operand.type for operand in call.operands if isinstance(operand.type, Scalar)]

        def mean() -> Term:
            found = STANDARD[call.function](call.type, operands, types)
            return terms.fold(found, call.type) if all(map(is_known, operands)) and not is_known(found) else found
        return self._known_or_any(mean, call)

    def _known_or_any(self, compute: Callable[[], Term], expression: Expression) -> Term:
        """What the solver cannot express may be any value: what is proved then holds all the more."""
        try:
            return compute()
        except Inexpressible as error:
            scalar = expression.type
            assert isinstance(scalar, Scalar)
            name = f"${error}#{len(self.unknowns)}"
            self.unknowns[name] = scalar
            return terms.symbol(name, scalar)


def _holds(number: int, scalar: Scalar) -> bool:
    """Whether a number is one of the values of an integer type."""
    return terms.wrap(number, scalar) == number


# Arrays and records as scalars by their paths: `motor.timer.et`, `samples[3]`, `grid[1][2]`.

MOST_SCALARS = 20_000
"""Of one program; more are refused."""


class TooLarge(Exception):
    """A program has more data than can be reasoned about; the text says how much is allowed."""


def entry_variables(program: Program) -> tuple[Variable, ...]:
    """The variables of the entry, the global ones among them."""
    own = {variable.name for variable in program.entry.variables}
    return program.entry.variables + tuple(one for one in program.globals if one.name not in own)


def parts_of(program: Program, record: Record) -> dict[str, tuple[Type, Value]]:
    """The fields of a record with their initial values; of a function block, the variables that it keeps."""
    if not record.block:
        return {part.name: (part.type, part.initial) for part in record.fields}
    return {one.name: (one.type, one.initial) for one in kept_variables(program.routines[record.block])}


def kept_variables(routine: Routine) -> tuple[Variable, ...]:
    """The variables of a function block that its data holds."""
    return routine.of_section("input", "output", "local")


def scalars_of(program: Program, type_: Type, path: str = "") -> Iterator[tuple[str, Scalar]]:
    """All scalars of a type, below a path."""
    if isinstance(type_, Scalar):
        yield path, type_
    elif isinstance(type_, Array):
        for index in range(type_.low, type_.high + 1):
            yield from scalars_of(program, type_.element, f"{path}[{index}]")
    else:
        for name, (part, _) in parts_of(program, type_).items():
            yield from scalars_of(program, part, f"{path}.{name}")


def values_of(program: Program, type_: Type, value: Value, path: str = "") -> Iterator[tuple[str, Value]]:
    """The scalars of a value of a type, below a path. What a record's value leaves out begins as its field says."""
    if isinstance(type_, Scalar):
        yield path, value
    elif isinstance(type_, Array):
        for offset, item in enumerate(value):
            yield from values_of(program, type_.element, item, f"{path}[{type_.low + offset}]")
    else:
        for name, (part, initial) in parts_of(program, type_).items():
            yield from values_of(program, part, value.get(name, initial), f"{path}.{name}")


def count_scalars(program: Program, type_: Type) -> int:
    """How many scalars a type has, found without listing them."""
    if isinstance(type_, Scalar):
        return 1
    if isinstance(type_, Array):
        return (type_.high - type_.low + 1) * count_scalars(program, type_.element)
    return sum(count_scalars(program, part) for part, _ in parts_of(program, type_).values())


def refuse_too_large(program: Program) -> None:
    """Raise TooLarge if the entry has more data than `MOST_SCALARS`."""
    count = sum(count_scalars(program, variable.type) for variable in entry_variables(program))
    if count > MOST_SCALARS:
        raise TooLarge(f"{program.entry.name} has {count:,} scalar variables; at most {MOST_SCALARS:,} can be reasoned "
                       "about: make its arrays smaller")


def nest(type_: Type, flat: Mapping[str, Value], path: str) -> Value:
    """The value of a variable out of its scalars. Function blocks are no inputs, so a record is a structure here."""
    if isinstance(type_, Scalar):
        return flat[path]
    if isinstance(type_, Array):
        return [nest(type_.element, flat, f"{path}[{index}]") for index in range(type_.low, type_.high + 1)]
    return {part.name: nest(part.type, flat, f"{path}.{part.name}") for part in type_.fields}


# A loop as one turn of any number.

TURNS = Scalar("DINT", "int", 32)
"""The type of what counts the turns."""
WIDER = 48
"""Bits that the numbers have more in which differences are told."""


@dataclass(frozen=True, eq=False, slots=True)
class Carried:
    """A scalar that a turn may change: when the summarised turns begin, before any of them (a symbol), behind it."""

    name: str
    type: Scalar
    entry: Term
    head: Any
    next: Term


@dataclass(frozen=True, eq=False, slots=True)
class LoopSummary:
    """A summarised loop: where it stands, when it is come to (`guard`), what its turns change, the number of turns
    before the head (a symbol of `TURNS`, at least `first`), what must hold for the turn to begin, when it is the last
    one, the terms of which each ends the scan within it, and the summaries of loops within the turn."""

    span: Span
    guard: Term
    carried: tuple[Carried, ...]
    distances: tuple[tuple[Any, Any, Any], ...]
    turns: Any
    first: int
    begins: Term
    leaves: Term
    stops: tuple[Term, ...]
    inner: tuple[LoopSummary, ...]

    @property
    def completed(self) -> Any:
        """That the loop comes to an end with this turn, if the scan comes to it."""
        ends = z3.And(lift(self.begins, BOOL), lift(self.leaves, BOOL))
        return z3.Implies(lift(self.guard, BOOL), ends)

    @property
    def symbols(self) -> set[str]:
        """The names of what stands for any value."""
        return {one.name for one in self.carried} | {str(self.turns)}


def widen(value: Term, type_: Type) -> Any:
    """A number in so many bits that no difference of two, and no product with a count of turns, wraps."""
    assert isinstance(type_, Scalar)
    extend = z3.SignExt if is_signed(type_) else z3.ZeroExt
    return extend(WIDER, lift(value, type_))


def comparisons_in(condition: Expression, holds: bool = True) -> Iterator[tuple[Expression, Expression]]:
    """The comparisons of integers that hold wherever a condition does (or does not): the smaller value, the larger."""
    if not isinstance(condition, Operation):
        return
    operator, operands = condition.operator, condition.operands
    if operator == "not":
        yield from comparisons_in(operands[0], not holds)
    elif operator in (("and", "and_then") if holds else ("or", "or_else")):
        for operand in operands:
            yield from comparisons_in(operand, holds)
    elif operator in ("<", "<=", ">", ">=") and getattr(operands[0].type, "kind", "") in ("int", "time", "bits"):
        one, other = operands
        yield (one, other) if (operator in ("<", "<=")) == holds else (other, one)


def is_signed(type_: Scalar) -> bool:
    """Whether the lowest value of a type of numbers is negative."""
    return type_.signed and type_.kind != "bits"
