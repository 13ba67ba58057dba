"""Expressions of the core as Python source.

Every text comes from the core's structure: variables are keys that `repr` quotes, constants that are no plain number or
truth stand in a table, and places in the source are numbers. So nothing that an author wrote is executed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from chatdev.departments.plc.simulation.layout import FieldTypes, all_variables, chain, operand_type, terms
from chatdev.departments.plc.st import core

FaultKind = Literal["index", "division", "loop", "subrange"]
DEEPEST = 60
"""Operators and indices within each other: Python reads 200 brackets, of which an operator may take three. What stands
deeper becomes a function of its own, one of `inner`."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place where a program may fail, with the bounds that hold there."""

    kind: FaultKind
    span: core.Span
    low: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True)
class Watched:
    """An operation on integers whose exact result may lie outside of its type."""

    span: core.Span
    operator: str
    type: core.Scalar


@dataclass(slots=True)
class Tables:
    """What generated source refers to by number: constants `k`, standard functions `f`, routines `r`, and the places of
    faults and asserts."""

    program: core.Program
    constants: list[core.Value] = field(default_factory=list)
    functions: list[core.Call] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    asserts: list[core.Assert] = field(default_factory=list)
    watches_overflow: bool = False
    most_turns: int = core.MOST_TURNS
    watched: list[Watched] = field(default_factory=list)
    routines: dict[str, str] = field(default_factory=dict)

    def constant(self, value: core.Value) -> str:
        """The name of a value that has no literal."""
        self.constants.append(value)
        return f"k{len(self.constants) - 1}"

    def function(self, call: core.Call) -> str:
        """The name of a standard function for operands of these types."""
        self.functions.append(call)
        return f"f{len(self.functions) - 1}"

    def stop(self, site: Site, value: str = "") -> str:
        """A call that ends the scan with a fault."""
        self.sites.append(site)
        return f"stop({len(self.sites) - 1}{value and ', ' + value})"

    def watch(self, watched: Watched, code: str) -> str:
        """The integer of `code`, wrapped round; it is noted if that changes it."""
        self.watched.append(watched)
        return f"watch({len(self.watched) - 1}, {code})"

    def routine(self, name: str) -> str:
        """The name of a routine's function."""
        return self.routines.setdefault(name, f"r{len(self.routines)}")


class Expressions:
    """Writes the expressions of one routine. `references` are its in-outs: a whole array or record is a variable
    `p…`, a scalar is the container `p…` at key `q…`."""

    def __init__(self, tables: Tables, routine: core.Routine, references: Mapping[str, int]) -> None:
        self._tables = tables
        self._fields = FieldTypes(tables.program)
        self._types = {variable.name: variable.type for variable in all_variables(tables.program, routine)}
        self._references = references
        self._watches_overflow = tables.watches_overflow and not routine.standard
        self._temporaries = 0
        self._depth = 0
        self.inner: list[str] = []
        """Lines that define what the expressions refer to."""

    def write(self, expression: core.Expression) -> str:
        """The source of its value: an atom, a call, or something in brackets."""
        if self._depth == DEEPEST:
            return self._write_apart(expression)
        self._depth += 1
        code = self._WRITERS[type(expression)](self, expression)
        self._depth -= 1
        return code

    def container(self, place: core.Place) -> tuple[str, str]:
        """Where a place lies: the source of the dict or list, and of the key or position in it."""
        code, type_ = self._root(place.root)
        if not place.steps:
            return code
        inner = f"{code[0]}[{code[1]}]" if code[1] else code[0]
        for step in place.steps[:-1]:
            key, type_ = self._step(step, type_, place.span)
            inner += f"[{key}]"
        return inner, self._step(place.steps[-1], type_, place.span)[0]

    def guard(self, code: str, target: core.Type, span: core.Span) -> str:
        """The same value, after a look at the subrange's bounds if `target` is one."""
        if not isinstance(target, core.Scalar) or target.low is None or target.high is None:
            return code
        name = self._temporary()
        stop = self._tables.stop(Site("subrange", span, target.low, target.high), name)
        return f"({name} if {target.low} <= ({name} := {code}) <= {target.high} else {stop})"

    def _write_apart(self, expression: core.Expression) -> str:
        """A call of a function that gives the value; it sees the variables of the one that it stands in."""
        self._depth = 0
        code = self.write(expression)
        self._depth = DEEPEST
        self.inner.append(f"x{len(self.inner)} = lambda: {code}")
        return f"x{len(self.inner) - 1}()"

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    def _root(self, name: str) -> tuple[tuple[str, str], core.Type]:
        type_ = self._types[name]
        if name not in self._references:
            return ("d", repr(name)), type_
        number = self._references[name]
        return (f"p{number}", f"q{number}" if isinstance(type_, core.Scalar) else ""), type_

    def _step(self, step: str | core.Expression, type_: core.Type, span: core.Span) -> tuple[str, core.Type]:
        """The source of a key or position, and the type of what lies there."""
        if isinstance(step, str):
            assert isinstance(type_, core.Record)
            return repr(step), self._fields.of(type_)[step]
        assert isinstance(type_, core.Array)
        if isinstance(step, core.Constant) and type_.low <= step.value <= type_.high:
            return str(step.value - type_.low), type_.element
        name = self._temporary()
        site = Site("index", span if step.span == core.NOWHERE else step.span, type_.low, type_.high)
        shift = f"{name} - {type_.low}" if type_.low > 0 else f"{name} + {-type_.low}" if type_.low else name
        return (f"{shift} if {type_.low} <= ({name} := {self.write(step)}) <= {type_.high} "
                f"else {self._tables.stop(site, name)}"), type_.element

    def _constant(self, constant: core.Constant) -> str:
        value = constant.value
        if isinstance(value, bool) or (isinstance(value, int) and value >= 0):
            return repr(value)
        if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return f"({value!r})"
        return self._tables.constant(value)

    def _place(self, place: core.Place) -> str:
        code, key = self.container(place)
        return f"{code}[{key}]" if key else code

    def _bit(self, bit: core.Bit) -> str:
        return f"(({self._place(bit.place)} >> {bit.index} & 1) == 1)"

    def _operation(self, operation: core.Operation) -> str:
        operand = operand_type(operation)
        operator = operation.operator
        if operator in _JOINED:
            joint = f" {_JOINED[operator]} "
            return f"({joint.join(self.write(part) for part in chain(operation, operator))})"
        if operator in _COMPARED:
            left, right = map(self.write, operation.operands)
            return f"({left} {_COMPARED[operator]} {right})"
        if operator == "not":
            code = self.write(operation.operands[0])
            return f"(not {code})" if operand.kind == "bool" else wrap_source(f"~{code}", operand)
        return self._real(operation) if operand.kind == "real" else self._integer(operation, operand)

    def _integer(self, operation: core.Operation, type_: core.Scalar) -> str:
        if self._watches_overflow and type_.kind == "int" and operation.operator in ("neg", "+", "-", "*", "/"):
            return self._tables.watch(Watched(operation.span, operation.operator, type_), self._exact(operation))
        if operation.operator in ("neg", "+", "-", "*"):
            return wrap_source(self._unbounded(operation), type_)
        left, right = operation.operands
        if operation.operator == "**":
            return wrap_source(f"integer_power({self.write(left)}, {self.write(right)})", type_)
        if operation.operator == "mod":
            return f"remainder({self.write(left)}, {self._divisor(operation)})"
        return wrap_source(f"quotient({self.write(left)}, {self._divisor(operation)})", type_)

    def _divisor(self, operation: core.Operation) -> str:
        divisor = operation.operands[1]
        code = self.write(divisor)
        if isinstance(divisor, core.Constant) and divisor.value:
            return code
        return f"{code} or {self._tables.stop(Site('division', operation.span))}"

    def _exact(self, operation: core.Operation) -> str:
        """The result of one operation before it wraps round."""
        left = self.write(operation.operands[0])
        if operation.operator == "neg":
            return f"-{left}"
        if operation.operator == "/":
            return f"quotient({left}, {self._divisor(operation)})"
        return f"{left} {operation.operator} {self.write(operation.operands[1])}"

    def _unbounded(self, operation: core.Operation) -> str:
        """A sum or product without its wrapping round: it is enough to do that once, at the end."""
        if operation.operator == "neg":
            return f"-{self.write(operation.operands[0])}"
        if operation.operator == "*":
            return " * ".join(self.write(part) for part in chain(operation, "*"))
        return "".join(f" {sign} {self.write(part)}" for sign, part in terms(operation)).removeprefix(" + ")

    def _real(self, operation: core.Operation) -> str:
        codes = [self.write(part) for part in operation.operands]
        if operation.operator == "neg":
            return f"(-{codes[0]})"
        function = {"/": "divide", "**": "power"}.get(operation.operator)
        exact = f"{function}({', '.join(codes)})" if function else f"{codes[0]} {operation.operator} {codes[1]}"
        return f"single({exact})" if operation.type.bits == 32 else f"({exact})"

    def _convert(self, conversion: core.Convert) -> str:
        source, target = conversion.operand.type, conversion.type
        assert isinstance(source, core.Scalar)
        code = self.write(conversion.operand)
        if target.kind == "bool":
            return f"({code} != 0)" if source.kind != "bool" else code
        if target.kind == "real":
            return _convert_to_real(code, source, target)
        if source.kind == "bool":
            return f"int({code})"
        if source.kind == "real":
            return wrap_source(f"nearest_integer({code})", target)
        kept = source.bits <= target.bits if source.signed == target.signed else source.bits < target.bits
        return code if kept and (target.signed or not source.signed) else wrap_source(code, target)

    def _call(self, call: core.Call) -> str:
        if call.function == "CYCLE_TIME":
            return "clock[0]"
        codes = [self.write(operand) for operand in call.operands]
        return f"{self._tables.function(call)}({', '.join(codes)})"

    def _apply(self, call: core.Apply) -> str:
        inputs = self._tables.program.routines[call.routine].of_section("input")
        codes = [self.write(operand) for operand in call.operands]
        codes = [self.guard(code, variable.type, call.span) for code, variable in zip(codes, inputs, strict=True)]
        return f"{self._tables.routine(call.routine)}({', '.join(codes)})"

    _WRITERS: Mapping[type, Callable[..., str]] = {
        core.Constant: _constant, core.Place: _place, core.Bit: _bit, core.Operation: _operation,
        core.Convert: _convert, core.Call: _call, core.Apply: _apply}


_JOINED = {"and": "&", "or": "|", "xor": "^", "and_then": "and", "or_else": "or"}
_COMPARED = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def wrap_source(code: str, type_: core.Scalar) -> str:
    """An integer's source, with its value brought into the range of a type. `code` may be an open sum or product."""
    mask = (1 << type_.bits) - 1
    half = 1 << type_.bits - 1
    return f"(({code} + {half} & {mask}) - {half})" if type_.signed else f"({code} & {mask})"


def _convert_to_real(code: str, source: core.Scalar, target: core.Scalar) -> str:
    if source.kind == "real":
        return f"single({code})" if target.bits < source.bits else code
    if target.bits == 64 or source.bits <= 16:
        return f"float({code})"
    return f"single({code})" if source.bits <= 32 else f"single_from_integer({code})"
