"""Expressions of the core as C99, without undefined behaviour: integers are reckoned in unsigned types.

What may fail is looked at in statements of its own before the statement that needs it, in the order of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chatdev.departments.plc.simulation.c_data import CData, c_type, literal, plain_text, scalar_literal, variable_name
from chatdev.departments.plc.simulation.c_functions import FUNCTION_TEXTS, PAIRWISE
from chatdev.departments.plc.simulation.layout import FieldTypes, all_variables, chain, operand_type, terms
from chatdev.departments.plc.st import core

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
        return f"((({wide_type(type_)}){self.place(bit.place)} >> {bit.index} & 1u) != 0)"

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

    _WRITERS: Mapping[type, Callable[..., str]] = {
        core.Constant: _constant, core.Place: place, core.Bit: _bit, core.Operation: _operation,
        core.Convert: _convert, core.Call: _call, core.Apply: _apply}


def wide_type(type_: core.Scalar) -> str:
    """The type to reckon in: as wide as the type at least, and not smaller than C's `int`."""
    return "uint64_t" if type_.bits > 32 else "uint32_t"


def narrow(code: str, type_: core.Scalar) -> str:
    """The low bits of an integer."""
    cast = f"({c_type(type_)})(uint{type_.bits}_t)" if type_.signed else f"({c_type(type_)})"
    return f"({cast}({code}))"
