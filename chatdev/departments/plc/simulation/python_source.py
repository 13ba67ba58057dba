"""A program as Python source: one function for each routine, on the dicts and lists that hold its data.

A block marks each straight part of its code in `h` when it begins, so that the lines that ran in a scan are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal

from chatdev.departments.plc.simulation.layout import FieldTypes, all_variables, begin, chain, operand_type, terms
from chatdev.departments.plc.st import core

# Expressions.

FaultKind = Literal["index", "division", "loop", "subrange", "gap"]
"""A `gap` is where something is not known, and a run cannot go on."""
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
    why: str = ""


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
    passes_gaps: bool = False
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

    def _unknown(self, unknown: core.Unknown) -> str:
        if not self._tables.passes_gaps:
            return self._tables.stop(Site("gap", unknown.span, why=unknown.why))
        value = begin(self._tables.program, unknown.type, core.initial_value(unknown.type))
        return self._constant(core.Constant(value, unknown.type))

    def _bit(self, bit: core.Bit) -> str:
        code = f"({self._place(bit.place)} >> {bit.index} & {(1 << bit.type.bits) - 1})"
        return f"({code} == 1)" if bit.type.kind == "bool" else code

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
        if target.kind == "string":
            return f"{code}[:{target.high}]"
        if target.kind == "bool":
            return f"({code} != 0)" if source.kind != "bool" else code
        return _convert_to_real(code, source, target) if target.kind == "real" \
            else _convert_to_integer(code, source, target)

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
        core.Convert: _convert, core.Call: _call, core.Apply: _apply, core.Unknown: _unknown}


_JOINED = {"and": "&", "or": "|", "xor": "^", "and_then": "and", "or_else": "or"}
_COMPARED = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def wrap_source(code: str, type_: core.Scalar) -> str:
    """An integer's source, with its value brought into the range of a type. `code` may be an open sum or product."""
    mask = (1 << type_.bits) - 1
    half = 1 << type_.bits - 1
    return f"(({code} + {half} & {mask}) - {half})" if type_.signed else f"({code} & {mask})"


def _convert_to_integer(code: str, source: core.Scalar, target: core.Scalar) -> str:
    if source.kind == "bool":
        return f"int({code})"
    if source.kind == "real":
        return wrap_source(f"nearest_integer({code})", target)
    kept = source.bits <= target.bits if source.signed == target.signed else source.bits < target.bits
    return code if kept and (target.signed or not source.signed) else wrap_source(code, target)


def _convert_to_real(code: str, source: core.Scalar, target: core.Scalar) -> str:
    if source.kind == "real":
        return f"single({code})" if target.bits < source.bits else code
    if target.bits == 64 or source.bits <= 16:
        return f"float({code})"
    return f"single({code})" if source.bits <= 32 else f"single_from_integer({code})"


# Statements, routines and the program.


@dataclass(frozen=True, slots=True)
class Generated:
    """The source, the name of the entry's function, what the source refers to, and the lines that each mark means."""

    source: str
    entry: str
    tables: Tables
    marks: tuple[tuple[int, ...], ...]


def generate(program: core.Program, watches_overflow: bool = False, most_turns: int = core.MOST_TURNS,
             passes_gaps: bool = False) -> Generated:
    """The source of all routines that the entry needs, with a look at each operation on integers if overflow is to be
    noted, and a fault behind so many turns of a loop, and where something is not known, unless that is passed by."""
    tables = Tables(program, watches_overflow=watches_overflow, most_turns=most_turns, passes_gaps=passes_gaps)
    marks: list[set[int]] = []
    entry = tables.routine(program.entry.name)
    lines: list[str] = []
    done = 0
    while done < len(tables.routines):
        for name in list(tables.routines)[done:]:  # those that the last ones call
            lines += _Routine(tables, program.routines.get(name, program.entry), marks).write()
            done += 1
    return Generated("\n".join(lines), entry, tables, tuple(tuple(sorted(found)) for found in marks))


class _Routine:
    """Writes one function. A block takes its data `d` and its in-outs, a function its inputs."""

    def __init__(self, tables: Tables, routine: core.Routine, marks: list[set[int]]) -> None:
        self._tables = tables
        self._routine = routine
        self._variables = all_variables(tables.program, routine)
        is_entry = routine is tables.program.entry
        bound = () if is_entry else routine.of_section("in_out")
        self._references = {variable.name: number for number, variable in enumerate(bound)}
        self._expressions = Expressions(tables, routine, self._references)
        self._lines: list[str] = []
        self._indent = 0
        self._marks = marks
        self._is_marked = False
        self._loops: list[core.Loop] = []

    def write(self) -> list[str]:
        """The function, line by line."""
        name = self._tables.routine(self._routine.name)
        inputs = self._routine.of_section("input") if self._routine.kind == "function" else ()
        arguments = [f"i{number}" for number in range(len(inputs))] if self._routine.kind == "function" else ["d"]
        for variable in self._routine.of_section("in_out") if self._references else ():
            number = self._references[variable.name]
            arguments += [f"p{number}", f"q{number}"] if isinstance(variable.type, core.Scalar) else [f"p{number}"]
        self._line(f"def {name}({', '.join(arguments)}):")
        self._begin(inputs)
        begun = len(self._lines)
        self._indent = 0
        self._inner(self._routine.body)
        self._lines[begun:begun] = [f" {line}" for line in self._expressions.inner]
        self._indent = 1
        self._return()
        return self._lines

    def _begin(self, inputs: Iterable[core.Variable]) -> None:
        """Variables that are new in each call."""
        self._indent = 1
        if self._routine.kind == "function":
            self._line("d = {}")
        for number, variable in enumerate(inputs):
            given = f"i{number}" if isinstance(variable.type, core.Scalar) else f"duplicate(i{number})"
            self._line(f"d[{variable.name!r}] = {given}")
        for variable in self._variables:
            in_function = self._routine.kind == "function" and variable.section not in ("input", "in_out")
            if in_function or variable.section == "temp":
                constant = core.Constant(variable.initial, variable.type)
                self._line(f"d[{variable.name!r}] = {self._fresh(constant)}")

    def _fresh(self, constant: core.Constant) -> str:
        """A value that nobody else holds."""
        if isinstance(constant.type, core.Scalar):
            return self._expressions.write(constant)
        initial = begin(self._tables.program, constant.type, constant.value)
        return f"duplicate({self._tables.constant(initial)})"

    def _line(self, text: str) -> None:
        self._lines.append(" " * self._indent + text)

    def _inner(self, body: Sequence[core.Statement], lines: Set[int] = frozenset()) -> None:
        """The statements below a head, and lines that count as run with them."""
        self._indent += 1
        self._is_marked = False
        if lines:
            self._mark(lines)
        for statement in body:
            self._mark(head_lines(statement))
            self._WRITERS[type(statement)](self, statement)
        self._line("pass")
        self._indent -= 1
        self._is_marked = False

    def _mark(self, lines: Set[int]) -> None:
        if self._routine.standard:
            return
        if not self._is_marked:
            self._line(f"h[{len(self._marks)}] = 1")
            self._marks.append(set())
            self._is_marked = True
        self._marks[-1] |= lines

    def _assign(self, statement: core.Assign) -> None:
        target = statement.target
        if isinstance(target, core.Bit):
            self._assign_bit(target, statement.value)
            return
        self._store(target, self._expressions.write(statement.value), statement.span)

    def _store(self, target: core.Place, value: str, span: core.Span) -> None:
        """Put a value, given by its source, into a place."""
        code, key = self._expressions.container(target)
        place = f"{code}[{key}]" if key else code
        if isinstance(target.type, core.Scalar):
            self._line(f"{place} = {self._expressions.guard(value, target.type, span)}")
        else:
            self._line(f"overwrite({place}, {value})")

    def _assign_bit(self, target: core.Bit, value: core.Expression) -> None:
        code, key = self._expressions.container(target.place)
        type_ = target.place.type
        assert isinstance(type_, core.Scalar)
        self._line(f"b = {self._expressions.write(value)}")
        self._line(f"c, e = {code}, {key}")
        mask = (1 << target.type.bits) - 1 << target.index
        self._line(f"c[e] = wrap(c[e] & ~{mask} | b << {target.index}, {type_.bits}, {type_.signed})")

    def _branch(self, branch: core.Branch) -> None:
        """A chain of ELSIF, which is nested in the core, is one of `elif` here and so needs no depth. Wherever it ends,
        all conditions up to there were looked at, so their lines count as run."""
        marked, tested = head_lines(branch), frozenset[int]()
        self._line(f"if {self._expressions.write(branch.condition)}:")
        self._inner(branch.then, _lines(branch.labels))
        while len(branch.otherwise) == 1 and isinstance(inner := branch.otherwise[0], core.Branch):
            tested |= head_lines(inner) - marked
            self._line(f"elif {self._expressions.write(inner.condition)}:")
            self._inner(inner.then, tested | _lines(inner.labels))
            branch = inner
        if branch.otherwise or tested:
            self._line("else:")
            self._inner(branch.otherwise, tested)

    def _loop(self, loop: core.Loop) -> None:
        counter = f"n{len(self._loops)}"
        self._line(f"{counter} = 0")
        first = "" if loop.tests_first else f"{counter} == 0 or "
        self._line(f"while {first}{self._expressions.write(loop.condition)}:")
        self._line(f" {counter} += 1")
        most = self._tables.most_turns
        self._line(f" if {counter} > {most}: {self._tables.stop(Site('loop', loop.span, high=most))}")
        self._loops.append(loop)
        self._inner(loop.body)
        self._loops.pop()
        self._indent += 1
        self._step(loop)
        self._indent -= 1
        self._line(f"spend({counter})")

    def _step(self, loop: core.Loop) -> None:
        """What a turn ends with."""
        for statement in loop.after:
            self._WRITERS[type(statement)](self, statement)

    def _jump(self, jump: core.Jump) -> None:
        if jump.to == "exit":
            self._line("break")
        elif jump.to == "continue":
            self._step(self._loops[-1])
            self._line("continue")
        else:
            for number in range(len(self._loops)):
                self._line(f"spend(n{number})")
            self._return()

    def _return(self) -> None:
        result = "".join(f" d[{variable.name!r}]" for variable in self._routine.of_section("result"))
        self._line(f"return{result if self._routine.kind == 'function' else ''}")

    def _invoke(self, call: core.Invoke) -> None:
        """The block's data is `o` meanwhile."""
        types = {variable.name: variable.type for variable in self._tables.program.routines[call.block].variables}
        self._line(f"o = {self._expressions.write(call.instance)}")
        for name, value in call.inputs:
            code = self._expressions.write(value)
            self._line(f"o[{name!r}] = {self._expressions.guard(code, types[name], call.span)}"
                       if isinstance(types[name], core.Scalar) else f"overwrite(o[{name!r}], {code})")
        bound = dict(call.in_outs)
        arguments = ["o"]
        for variable in self._tables.program.routines[call.block].of_section("in_out"):
            place = bound[variable.name]
            scalar = isinstance(variable.type, core.Scalar)
            arguments += self._expressions.container(place) if scalar else [self._expressions.write(place)]
        self._line(f"{self._tables.routine(call.block)}({', '.join(arguments)})")
        for place, name in call.outputs:
            self._store(place, f"o[{name!r}]", call.span)

    def _forget(self, unknown: core.Forget) -> None:
        passes = self._tables.passes_gaps
        self._line("pass" if passes else self._tables.stop(Site("gap", unknown.span, why=unknown.why)))

    def _assert(self, assertion: core.Assert) -> None:
        self._line(f"if not {self._expressions.write(assertion.condition)}: broken.append({len(self._tables.asserts)})")
        self._tables.asserts.append(assertion)

    _WRITERS: Mapping[type, Callable[..., None]] = {
        core.Assign: _assign, core.Branch: _branch, core.Loop: _loop, core.Jump: _jump, core.Invoke: _invoke,
        core.Assert: _assert, core.Forget: _forget}


def head_lines(statement: core.Statement) -> frozenset[int]:
    """The lines of a statement without those of the statements in it, and without the labels of a CASE."""
    span = statement.span
    if isinstance(statement, core.Branch) and statement.labels == core.NOWHERE:
        return _lines(span) | _lines(statement.condition.span)
    if isinstance(statement, core.Loop):
        return frozenset({span.line}) - {0}
    return _lines(span)


def _lines(span: core.Span) -> frozenset[int]:
    return frozenset(range(span.line, max(span.line, span.end_line) + 1)) - {0}
