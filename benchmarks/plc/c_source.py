"""A program as C99, for other verifiers (ESBMC, CBMC) and for very long runs. It means what the machine does."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from chatdev.departments.plc.simulation.layout import FieldTypes, all_variables, begin, chain, operand_type, terms
from chatdev.departments.plc.st import core
from chatdev.departments.plc.st.core import Scalar
from chatdev.tools.base import template

LONGEST_CYCLE = 1000
"""Milliseconds from one scan to the next that a verifier of the C code is told to expect."""
MOST_NESTED = 90
"""Statements within each other, as in `python_source.py`."""


def emit_c(program: core.Program) -> str:
    """The source of `init(struct state *)` and `scan(const struct inputs *, struct state *)`; variables are members
    `v_…` of the two. In-outs of the entry are inputs, read anew in each scan.

    Raises Untranslatable for text (STRING).
    """
    data = CData(program)
    entry = program.entry
    kept = [variable for variable in all_variables(program, entry) if data.is_kept(entry, variable)]
    members = data.members(iter(kept))
    taken = [variable for variable in kept if variable.section in ("input", "in_out")]
    name = data.routine(entry.name)
    routines: list[tuple[str, list[str]]] = []
    while len(routines) < len(data.routines):
        for called in list(data.routines)[len(routines):]:  # by the last ones
            routines.append(_CRoutine(data, program.routines.get(called, entry)).write())
    initial = [line for variable in kept
               for line in data.fill(f"d->{variable_name(variable.name)}", variable.type, variable.initial)[1:]]
    source: str = template(Path(__file__).with_suffix(".j2").read_text(encoding="utf-8")).render(
        types=data.types, inputs=data.members(iter(taken)), state=members, routines=routines, initial=initial,
        taken=[variable_name(variable.name) for variable in taken], entry=name, longest_cycle=LONGEST_CYCLE)
    return source


class _CRoutine:
    """Writes one function: its head, and the lines of its body."""

    def __init__(self, data: CData, routine: core.Routine) -> None:
        self._data = data
        self._routine = routine
        self._lines = CLines()
        self._expressions = CExpressions(data, routine, self._lines)
        self._loops: list[tuple[core.Loop, str]] = []
        self._labels: set[str] = set()

    def write(self) -> tuple[str, list[str]]:
        """Head and body."""
        head = f"static {self._result()} {self._data.routine(self._routine.name)}({', '.join(self._parameters())})"
        for variable in all_variables(self._data.program, self._routine):
            is_parameter = variable.section in ("in_out", "input") and self._routine.kind == "function"
            if self._data.is_kept(self._routine, variable) or is_parameter or variable.section == "in_out":
                continue
            name = variable_name(variable.name)
            self._lines.add(f"{self._data.type(variable.type)} {name};")
            for line in self._data.fill(name, variable.type, variable.initial):
                self._lines.add(line)
        self._body(self._routine.body)
        self._return()
        return head, self._lines.lines

    def _result(self) -> str:
        result = self._routine.of_section("result")
        return self._data.type(result[0].type) if self._routine.kind == "function" else "void"

    def _parameters(self) -> Iterable[str]:
        if self._routine.kind == "function":
            found = self._data.members(iter(self._routine.of_section("input")))
            return [member.removesuffix(";") for member in found] or ["void"]
        if self._routine is self._data.program.entry:
            return ["struct state *d"]
        return [f"{self._data.block(self._routine)} *d",
                *(f"{self._data.type(variable.type)} *{variable_name(variable.name)}"
                  for variable in self._routine.of_section("in_out"))]

    def _body(self, body: Iterable[core.Statement]) -> None:
        for statement in body:
            self._WRITERS[type(statement)](self, statement)

    def _assign(self, statement: core.Assign) -> None:
        target = statement.target
        value = self._expressions.write(statement.value)
        if isinstance(target, core.Bit):
            self._assign_bit(target, value)
        else:
            value = self._expressions.guard(value, target.type, statement.span)
            self._lines.add(f"{self._expressions.place(target)} = {value};")

    def _assign_bit(self, target: core.Bit, value: str) -> None:
        type_ = target.place.type
        assert isinstance(type_, core.Scalar)
        place = self._expressions.place(target.place)
        wide, mask = f"uint{type_.bits}_t", f"UINT64_C({(1 << target.type.bits) - 1 << target.index})"
        self._lines.add(f"{place} = ({c_type(type_)})({wide})((({wide}){place} & ~{mask}) | "
                        f"(({wide}){value} << {target.index}));")

    def _branch(self, branch: core.Branch) -> None:
        """A chain of ELSIF, nested in the core, is written without recursion."""
        self._lines.add(f"if ({self._expressions.write(branch.condition)}) {{")
        self._body(branch.then)
        closing = 1
        while len(branch.otherwise) == 1 and isinstance(inner := branch.otherwise[0], core.Branch):
            self._lines.add("} else {")
            self._lines.add(f"if ({self._expressions.write(inner.condition)}) {{")
            self._body(inner.then)
            closing += 1
            branch = inner
        if branch.otherwise:
            self._lines.add("} else {")
            self._body(branch.otherwise)
        for _ in range(closing):
            self._lines.add("}")

    def _loop(self, loop: core.Loop) -> None:
        counter, label = self._lines.name(), self._lines.name()
        self._lines.add(f"for (uint32_t {counter} = 0;;) {{")
        if not loop.tests_first:
            self._lines.add(f"if ({counter} != 0) {{")
        self._lines.add(f"if (!({self._expressions.write(loop.condition)})) break;")
        if not loop.tests_first:
            self._lines.add("}")
        self._lines.add(f"{counter}++;")
        self._lines.check(f"{counter} <= {core.MOST_TURNS}", f"loop with more than {core.MOST_TURNS} turns", loop.span)
        self._loops.append((loop, label))
        self._body(loop.body)
        self._loops.pop()
        if label in self._labels:
            self._lines.add(f"{label}: ;")
        self._body(loop.after)
        self._lines.add("}")

    def _jump(self, jump: core.Jump) -> None:
        if jump.to == "exit":
            self._lines.add("break;")
        elif jump.to == "continue":
            self._labels.add(self._loops[-1][1])
            self._lines.add(f"goto {self._loops[-1][1]};")
        else:
            self._return()

    def _return(self) -> None:
        result = "".join(f" {variable_name(variable.name)}" for variable in self._routine.of_section("result"))
        self._lines.add(f"return{result if self._routine.kind == 'function' else ''};")

    def _invoke(self, call: core.Invoke) -> None:
        routine = self._data.program.routines[call.block]
        types = {variable.name: variable.type for variable in routine.variables}
        instance = self._lines.name()
        self._lines.add(f"{self._data.block(routine)} *const {instance} = &{self._expressions.place(call.instance)};")
        for name, value in call.inputs:
            code = self._expressions.guard(self._expressions.write(value), types[name], call.span)
            self._lines.add(f"{instance}->{variable_name(name)} = {code};")
        bound = dict(call.in_outs)
        places = [f"&{self._expressions.place(bound[one.name])}" for one in routine.of_section("in_out")]
        self._lines.add(f"{self._data.routine(call.block)}({', '.join([instance, *places])});")
        for place, name in call.outputs:
            code = self._expressions.guard(f"{instance}->{variable_name(name)}", place.type, call.span)
            self._lines.add(f"{self._expressions.place(place)} = {code};")

    def _assert(self, assertion: core.Assert) -> None:
        text = f"{plain_text(assertion.name)} at {assertion.span}"
        self._lines.add(f'PLC_ASSERT({self._expressions.write(assertion.condition)}, "{text}");')

    def _forget(self, statement: core.Forget) -> None:
        self._lines.check("0", f"gap: {statement.why}", statement.span)

    _WRITERS: Mapping[type, Callable[..., None]] = {
        core.Forget: _forget, core.Assign: _assign, core.Branch: _branch, core.Loop: _loop, core.Jump: _jump,
        core.Invoke: _invoke, core.Assert: _assert}


# Expressions of the core as C99, without undefined behaviour: integers are reckoned in unsigned types.

DEEPEST = 60
"""Operators and indices within each other; what stands deeper is kept in a constant before."""
_JOINED = {"and": "&", "or": "|", "xor": "^"}
_COMPARED = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class CLines:
    """The lines of a function, indented by its braces, with names for its intermediate values."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._indent = 1
        self._names = 0

    def add(self, text: str) -> None:
        """A line; one that begins or ends with a brace changes the indent."""
        self._indent -= text.startswith("}")
        self.lines.append("    " * min(self._indent, 20) + text)
        self._indent += text.endswith("{")

    def name(self) -> str:
        """A name that the function has not had yet."""
        self._names += 1
        return f"t{self._names}"

    def keep(self, type_: str, code: str) -> str:
        """A constant with this value."""
        name = self.name()
        self.add(f"const {type_} {name} = {code};")
        return name

    def check(self, condition: str, what: str, span: core.Span) -> None:
        """What has to hold here at run time."""
        self.add(f'PLC_CHECK({condition}, "{plain_text(what)} at {span}");')


class CExpressions:
    """Writes the expressions of one routine among its `lines`."""

    def __init__(self, data: CData, routine: core.Routine, lines: CLines) -> None:
        self._data = data
        self._routine = routine
        self._lines = lines
        self._fields = FieldTypes(data.program)
        self._variables = {variable.name: variable for variable in all_variables(data.program, routine)}
        self._depth = 0

    def write(self, expression: core.Expression) -> str:
        """The source of its value: an atom, a call, or something in brackets."""
        if self._depth == DEEPEST and isinstance(expression.type, core.Scalar):
            self._depth = 0
            name = self._lines.keep(c_type(expression.type), self.write(expression))
            self._depth = DEEPEST
            return name
        self._depth += 1
        code = self._WRITERS[type(expression)](self, expression)
        self._depth -= 1
        return code

    def guard(self, code: str, target: core.Type, span: core.Span) -> str:
        """The same value, after a look at the subrange's bounds if `target` is one."""
        if not isinstance(target, core.Scalar) or target.low is None or target.high is None:
            return code
        name = self._lines.keep(c_type(target), code)
        self._lines.check(f"{name} >= {literal(target.low)} && {name} <= {literal(target.high)}",
                          f"value outside of {target.low}..{target.high}", span)
        return name

    def place(self, place: core.Place) -> str:
        """A place, to read and to write."""
        variable = self._variables[place.root]
        code = variable_name(place.root)
        if variable.section == "in_out" and self._routine is not self._data.program.entry:
            code = f"(*{code})"
        elif self._data.is_kept(self._routine, variable):
            code = f"d->{code}"
        type_: core.Type = variable.type
        for step in place.steps:
            if isinstance(step, str):
                assert isinstance(type_, core.Record)
                code, type_ = f"{code}.{variable_name(step)}", self._fields.of(type_)[step]
            else:
                assert isinstance(type_, core.Array)
                code, type_ = f"{code}.at[{self._index(step, type_, place.span)}]", type_.element
        return code

    def _index(self, step: core.Expression, array: core.Array, span: core.Span) -> str:
        if isinstance(step, core.Constant) and array.low <= step.value <= array.high:
            return str(step.value - array.low)
        name = self._lines.keep("int64_t", f"(int64_t){self.write(step)}")
        where = span if step.span == core.NOWHERE else step.span
        self._lines.check(f"{name} >= {literal(array.low)} && {name} <= {literal(array.high)}",
                          f"index outside of {array.low}..{array.high}", where)
        return f"{name} - {literal(array.low)}"

    def _constant(self, constant: core.Constant) -> str:
        if isinstance(constant.type, core.Scalar):
            return scalar_literal(constant.value, constant.type)
        name = self._lines.name()
        self._lines.add(f"{self._data.type(constant.type)} {name};")
        for line in self._data.fill(name, constant.type, constant.value):
            self._lines.add(line)
        return name

    def _bit(self, bit: core.Bit) -> str:
        type_ = bit.place.type
        assert isinstance(type_, core.Scalar)
        part = f"(({wide_type(type_)}){self.place(bit.place)} >> {bit.index} & {(1 << bit.type.bits) - 1}u)"
        return f"({part} != 0)" if bit.type.kind == "bool" else f"(({c_type(bit.type)}){part})"

    def _operation(self, operation: core.Operation) -> str:
        operator = operation.operator
        type_ = operand_type(operation)
        if operator in ("and_then", "or_else"):
            return self._shortcut(operation)
        if operator in _JOINED:
            joint = f" {_JOINED[operator]} "
            return f"({c_type(operation.type)})({joint.join(self.write(part) for part in chain(operation, operator))})"
        if operator in _COMPARED:
            left, right = map(self.write, operation.operands)
            return f"({left} {_COMPARED[operator]} {right})"
        if operator == "not":
            code = self.write(operation.operands[0])
            return f"(!{code})" if type_.kind == "bool" else f"({c_type(type_)})(~{code})"
        return self._real(operation) if type_.kind == "real" else self._integer(operation, type_)

    def _shortcut(self, operation: core.Operation) -> str:
        """What is looked at in the right operand is looked at only if the left one does not decide."""
        name = self._lines.name()
        left, right = operation.operands
        self._lines.add(f"bool {name} = {self.write(left)};")
        self._lines.add(f"if ({name if operation.operator == 'and_then' else f'!{name}'}) {{")
        self._lines.add(f"{name} = {self.write(right)};")
        self._lines.add("}")
        return name

    def _integer(self, operation: core.Operation, type_: core.Scalar) -> str:
        wide = wide_type(type_)
        if operation.operator == "neg":
            return narrow(f"0u - ({wide}){self.write(operation.operands[0])}", type_)
        if operation.operator == "*":
            return narrow(" * ".join(f"({wide}){self.write(part)}" for part in chain(operation, "*")), type_)
        if operation.operator in ("+", "-"):
            parts = "".join(f" {sign} ({wide}){self.write(part)}" for sign, part in terms(operation))
            return narrow(parts.removeprefix(" + "), type_)
        return narrow(self._divide(operation, type_), type_)

    def _divide(self, operation: core.Operation, type_: core.Scalar) -> str:
        """A quotient, a remainder or a power, which has no divisor."""
        divisor = operation.operands[1]
        left, right = map(self.write, operation.operands)
        if operation.operator == "**":
            return f"plc_power((int64_t){left}, (int64_t){right})"
        if not (isinstance(divisor, core.Constant) and divisor.value):
            right = self._lines.keep(c_type(type_), right)
            self._lines.check(f"{right} != 0", "division by zero", operation.span)
        is_quotient = operation.operator == "/"
        if type_.signed:
            return f"plc_{'quotient' if is_quotient else 'remainder'}({left}, {right})"
        return f"{left} {'/' if is_quotient else '%'} {right}"

    def _real(self, operation: core.Operation) -> str:
        codes = [self.write(part) for part in operation.operands]
        if operation.operator == "neg":
            return f"(-{codes[0]})"
        exact = f"pow({codes[0]}, {codes[1]})" if operation.operator == "**" else \
            f"({codes[0]} {operation.operator} {codes[1]})"
        return f"({c_type(operation.type)}){exact}"

    def _convert(self, conversion: core.Convert) -> str:
        source, target = conversion.operand.type, conversion.type
        assert isinstance(source, core.Scalar)
        code = self.write(conversion.operand)
        if target.kind == "bool":
            return f"({code} != 0)"
        if target.kind != "real" and source.kind == "real":
            return narrow(f"plc_whole(rint({code}))", target)
        return f"({c_type(target)}){code}" if target.kind == "real" else narrow(f"{code}", target)

    def _call(self, call: core.Call) -> str:
        if call.function == "CYCLE_TIME":
            return "cycle_time"
        operands = [self._lines.keep(self._data.type(operand.type), self.write(operand)) for operand in call.operands]
        type_, text = c_type(call.type), FUNCTION_TEXTS[call.function]
        while call.function in PAIRWISE and len(operands) > 2:
            operands[:2] = [self._lines.keep(type_, text(call.type, operands[:2]))]
        return f"({type_})({text(call.type, operands)})"

    def _apply(self, call: core.Apply) -> str:
        """Called in a line of its own, as a fault within it comes before those of what stands behind it."""
        inputs = self._data.program.routines[call.routine].of_section("input")
        codes = [self.guard(self.write(operand), variable.type, call.span)
                 for operand, variable in zip(call.operands, inputs, strict=True)]
        return self._lines.keep(self._data.type(call.type), f"{self._data.routine(call.routine)}({', '.join(codes)})")

    def _unknown(self, unknown: core.Unknown) -> str:
        """Something: no run that is compared comes to it."""
        return f"({self._data.type(unknown.type)})0"

    _WRITERS: Mapping[type, Callable[..., str]] = {
        core.Constant: _constant, core.Place: place, core.Bit: _bit, core.Operation: _operation,
        core.Convert: _convert, core.Call: _call, core.Apply: _apply, core.Unknown: _unknown}


def wide_type(type_: core.Scalar) -> str:
    """The type to reckon in: as wide as the type at least, and not smaller than C's `int`."""
    return "uint64_t" if type_.bits > 32 else "uint32_t"


def narrow(code: str, type_: core.Scalar) -> str:
    """The low bits of an integer."""
    cast = f"({c_type(type_)})(uint{type_.bits}_t)" if type_.signed else f"({c_type(type_)})"
    return f"({cast}({code}))"


# The standard functions in C: each row gives an expression of the operands, which are names without effects.

Text = Callable[[Scalar, Sequence[str]], str]
PAIRWISE = ("MIN", "MAX")
"""These are written for two operands; more are taken one by one, from left to right."""


def _absolute(type_: Scalar, names: Sequence[str]) -> str:
    if type_.kind == "real":
        return f"fabs({names[0]})"
    wide = "uint64_t" if type_.bits > 32 else "uint32_t"
    return f"(uint{type_.bits}_t)({names[0]} < 0 ? 0u - ({wide}){names[0]} : ({wide}){names[0]})" if type_.signed \
        else names[0]


def _extreme(sign: str) -> Text:
    return lambda _type, names: f"{names[1]} {sign} {names[0]} ? {names[1]} : {names[0]}"


def _limit(_type: Scalar, names: Sequence[str]) -> str:
    low, value, high = names
    return f"{value} < {low} ? ({high} < {low} ? {high} : {low}) : {high} < {value} ? {high} : {value}"


def _select(_type: Scalar, names: Sequence[str]) -> str:
    return f"{names[0]} ? {names[2]} : {names[1]}"


def _multiplex(_type: Scalar, names: Sequence[str]) -> str:
    choices = "".join(f"{names[0]} == {number} ? {name} : " for number, name in enumerate(names[1:-1]))
    return choices + names[-1]


def _remainder(type_: Scalar, names: Sequence[str]) -> str:
    dividend, divisor = names
    rest = f"plc_remainder({dividend}, {divisor})" if type_.signed else f"{dividend} % {divisor}"
    return f"{divisor} == 0 ? 0 : {rest}"


def _move(_type: Scalar, names: Sequence[str]) -> str:
    return names[0]


def _shift(sign: str) -> Text:
    return lambda type_, names: (f"{names[1]} >= 0 && {names[1]} < {type_.bits} ? "
                                 f"(uint64_t){names[0]} {sign} {names[1]} : 0u")


def _rotate(sign: str) -> Text:
    return lambda type_, names: f"plc_rotate({names[0]}, {sign}(int64_t){names[1]}, {type_.bits})"


def _whole(function: str) -> Text:
    return lambda type_, names: f"(uint{type_.bits}_t)plc_whole({function}({names[0]}))"


def _real(function: str) -> Text:
    return lambda _type, names: f"{function}({names[0]})"


def _bits_of(type_: Scalar, names: Sequence[str]) -> str:
    real = "float" if type_.bits == 32 else "double"
    return f"((union {{ {real} real; uint{type_.bits}_t bits; }}){{ .real = {names[0]} }}).bits"


def _of_bits(type_: Scalar, names: Sequence[str]) -> str:
    real = "float" if type_.bits == 32 else "double"
    return f"((union {{ {real} real; uint{type_.bits}_t bits; }}){{ .bits = {names[0]} }}).real"


FUNCTION_TEXTS: Mapping[str, Text] = {
    "ABS": _absolute, "MIN": _extreme("<"), "MAX": _extreme(">"), "LIMIT": _limit, "SEL": _select, "MUX": _multiplex,
    "MOVE": _move, "MOD": _remainder, "SHL": _shift("<<"), "SHR": _shift(">>"), "ROL": _rotate(""), "ROR": _rotate("-"),
    "TRUNC": _whole("trunc"), "ROUND": _whole("rint"), "FLOOR": _whole("floor"), "CEIL": _whole("ceil"),
    "@BITS_OF": _bits_of, "@OF_BITS": _of_bits,
    "SQRT": _real("sqrt"), "EXP": _real("exp"), "LN": _real("log"), "LOG": _real("log10"), "SIN": _real("sin"),
    "COS": _real("cos"), "TAN": _real("tan"), "ASIN": _real("asin"), "ACOS": _real("acos"), "ATAN": _real("atan"),
}


# The data of a program in C: types, names, and the statements that give it its initial values.


class Untranslatable(ValueError):
    """C code is not generated for this; the text says for what, and where."""


class CData:
    """The types and routines that C code needs, in the order in which C wants them."""

    def __init__(self, program: core.Program) -> None:
        self.program = program
        self.types: list[str] = []
        """Their definitions."""
        self.routines: dict[str, str] = {}
        """Names of routines in C, by those in the core."""
        self._names: dict[tuple[str, ...], str] = {}

    def type(self, type_: core.Type) -> str:
        """The name of a type in C."""
        if isinstance(type_, core.Scalar):
            return c_type(type_)
        if isinstance(type_, core.Array):
            return self._define("array", [f"{self.type(type_.element)} at[{type_.high - type_.low + 1}];"])
        if type_.block:
            return self.block(self.program.routines[type_.block])
        return self._define("record", [f"{self.type(part.type)} {variable_name(part.name)};" for part in type_.fields])

    def block(self, routine: core.Routine) -> str:
        """The type of what a function block keeps."""
        return self._define(routine.name, self.members(variable for variable in all_variables(self.program, routine)
                                                       if self.is_kept(routine, variable)))

    def members(self, variables: Iterator[core.Variable]) -> list[str]:
        """Variables as parts of a structure."""
        return [f"{self.type(variable.type)} {variable_name(variable.name)};" for variable in variables]

    def routine(self, name: str) -> str:
        """The name of a routine in C, which is needed from now on."""
        return self.routines.setdefault(name, f"run_{variable_name(name)}")

    def is_kept(self, routine: core.Routine, variable: core.Variable) -> bool:
        """Whether a variable lies in its block's data, and not in one call."""
        bound = variable.section == "in_out" and routine is not self.program.entry
        return routine.kind != "function" and variable.section != "temp" and not bound

    def fill(self, place: str, type_: core.Type, initial: core.Value) -> list[str]:
        """The statements that put an initial value into a place."""
        return [f"memset(&{place}, 0, sizeof {place});",
                *self._leaves(place, type_, begin(self.program, type_, initial))]

    def _leaves(self, place: str, type_: core.Type, value: core.Value) -> Iterator[str]:
        """Those that are not zero."""
        if isinstance(type_, core.Array):
            for number, part in enumerate(value):
                yield from self._leaves(f"{place}.at[{number}]", type_.element, part)
        elif isinstance(type_, core.Record):
            for name, inner in self._parts(type_):
                yield from self._leaves(f"{place}.{variable_name(name)}", inner, value[name])
        elif value or (type_.kind == "real" and math.copysign(1.0, value) < 0):
            yield f"{place} = {scalar_literal(value, type_)};"

    def _parts(self, record: core.Record) -> Iterator[tuple[str, core.Type]]:
        if not record.block:
            yield from ((part.name, part.type) for part in record.fields)
            return
        routine = self.program.routines[record.block]
        yield from ((one.name, one.type) for one in routine.variables if self.is_kept(routine, one))

    def _define(self, name: str, members: list[str]) -> str:
        """A structure with these parts, defined once."""
        key = (name, *members)
        if key not in self._names:
            self._names[key] = f"{variable_name(name)}_{len(self._names)}"
            body = " ".join(members) or "char unused;"
            self.types.append(f"typedef struct {{ {body} }} {self._names[key]};")
        return self._names[key]


def c_type(type_: core.Scalar) -> str:
    """An elementary type in C. Raises Untranslatable for text."""
    if type_.kind == "string":
        raise Untranslatable("C code is not generated for programs with STRING")
    if type_.kind in ("bool", "real"):
        return "bool" if type_.kind == "bool" else "float" if type_.bits == 32 else "double"
    return f"{'' if type_.signed else 'u'}int{type_.bits}_t"


def variable_name(name: str) -> str:
    """A name that is none of C's, from one of the core."""
    return "v_" + re.sub(r"[^A-Za-z0-9_]", lambda found: f"_u{ord(found[0]):x}", name)


def plain_text(text: str) -> str:
    """A text that can stand in a string of C."""
    return re.sub(r"[^\w .,:;<>=()+*/-]", "_", text, flags=re.ASCII)


def literal(number: int) -> str:
    """An integer of up to 64 bits."""
    if number < 0:
        return f"(-{literal(-number - 1)} - 1)" if number in (-(1 << 31), -(1 << 63)) else f"(-{literal(-number)})"
    if number < 1 << 31:
        return str(number)
    return f"UINT64_C({number})" if number >= 1 << 63 else f"INT64_C({number})"


def scalar_literal(value: core.Value, type_: core.Scalar) -> str:
    """A value of an elementary type."""
    if type_.kind == "bool":
        return "true" if value else "false"
    if type_.kind != "real":
        return literal(value)
    if not math.isfinite(value):
        return f"(({c_type(type_)})({'NAN' if math.isnan(value) else 'INFINITY' if value > 0 else '-INFINITY'}))"
    return f"(({c_type(type_)}){value!r})"
