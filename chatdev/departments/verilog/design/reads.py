"""Which bits of which signals an expression takes its value from.

With nothing known, all that it may read; with values, only what counts: the chosen side of `?:`, the element that an
index points to, and of `a & b` the side that is 0 (were the result wrong, each side that forces it would be wrong).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from chatdev.departments.verilog.design.records import Part, Value, bits, is_true
from chatdev.departments.verilog.design.selections import Names, is_constant, selection_of
from chatdev.departments.verilog.design.source import import_pyslang, name_of


@dataclass(slots=True)
class Reads:
    """What was read, in order and without repetition. `selects` chose between `data`; `calls` holds calls of functions,
    `constants` the symbols of parameters and values of enumerations."""

    data: dict[Part, None] = field(default_factory=dict)
    selects: dict[Part, None] = field(default_factory=dict)
    calls: dict[Any, None] = field(default_factory=dict)
    constants: dict[Any, None] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[Part, ...]:
        """All that was read."""
        return tuple(self.data | self.selects)

    def add(self, other: Reads) -> None:
        """Take in what was read after this."""
        self.data |= other.data
        self.selects |= other.selects
        self.calls |= other.calls
        self.constants |= other.constants


class Reader:
    """Collects in `found` what expressions read."""

    def __init__(self, names: Names, value: Value) -> None:
        self._names, self._value = names, value
        self.found = Reads()
        self._into = self.found.data

    def read(self, expression: Any, low: int = 0, width: int | None = None) -> None:
        """Note what `width` bits of the expression from bit `low` on are made of; by default all."""
        width = expression.type.bitstreamWidth - low if width is None else width
        selection = selection_of(expression, self._value)
        if selection is not None:
            self._note(self._names.part(selection.narrow(low, width)))
            self._read_all(selection.indices)
            if is_constant(selection.symbol):
                self.found.constants[selection.symbol] = None
        else:
            _READERS.get(name_of(expression.kind), Reader._read_parts)(self, expression, low, width)

    def _note(self, part: Part | None) -> None:
        if part is not None and part.width > 0:
            self._into[part] = None

    def _read_all(self, expressions: Iterable[Any]) -> None:
        for expression in expressions:
            self.read(expression)

    def _read_concatenation(self, expression: Any, low: int, width: int) -> None:
        at = 0
        for operand in reversed(list(expression.operands)):
            size = operand.type.bitstreamWidth
            first, last = max(low, at), min(low + width, at + size)
            if first < last:
                self.read(operand, first - at, last - first)
            at += size

    def _read_conversion(self, expression: Any, low: int, width: int) -> None:
        operand = expression.operand
        if not (expression.type.isIntegral and operand.type.isIntegral):
            return self.read(operand)
        size = operand.type.bitWidth
        if low < size:
            return self.read(operand, low, min(width, size - low))
        return self.read(operand, size - 1, 1) if operand.type.isSigned else None

    def _read_conditional(self, expression: Any, low: int, width: int) -> None:
        values = [self._value(condition.expr) for condition in expression.conditions]
        outer, self._into = self._into, self.found.selects
        self._read_all(condition.expr for condition in expression.conditions)
        self._into = outer
        known = [value for value in values if value is not None and not value.hasUnknown]
        if any(not is_true(value) for value in known):
            sides = [expression.right]
        else:
            sides = [expression.left, *([] if len(known) == len(values) else [expression.right])]
        for side in sides:
            self.read(side, low, width)

    def _read_unary(self, expression: Any, low: int, width: int) -> None:
        if name_of(expression.op) in {"BitwiseNot", "Plus"}:
            self.read(expression.operand, low, width)
        else:
            self.read(expression.operand)

    def _read_binary(self, expression: Any, low: int, width: int) -> None:
        operator = name_of(expression.op)
        if operator in _LOGICAL:
            low, width = 0, 1
        sides = self._sides_that_count(expression, operator, low, width)
        for side in sides:
            if operator in _BITWISE:
                self.read(side, low, width)
            elif operator in _CARRYING:
                self.read(side, 0, low + width)
            else:
                self.read(side)

    def _sides_that_count(self, expression: Any, operator: str, low: int, width: int) -> list[Any]:
        """The one side whose value alone makes the result what it is, or both."""
        sides = [expression.left, expression.right]
        forced = _FORCES.get(operator)
        if forced is None:
            return sides
        for side in sides:
            value = self._value(side)
            if value is not None and self._forces(value, operator, forced, (low, width)):
                return [side]
        return sides

    @staticmethod
    def _forces(value: Any, operator: str, forced: str, part: tuple[int, int]) -> bool:
        if operator in _LOGICAL:
            return is_true(value) == (forced == "1") and (forced == "1" or not value.hasUnknown)
        low, width = part
        return set(bits(value)[::-1][low:low + width]) == {forced}

    def _read_call(self, expression: Any, _low: int, _width: int) -> None:
        if not expression.isSystemCall:
            self.found.calls[expression] = None
        self._read_all(expression.arguments)

    def _read_assignment(self, expression: Any, low: int, width: int) -> None:
        """An argument that is written: what it is written to is no value that it takes."""

    def _read_parts(self, expression: Any, _low: int, _width: int) -> None:
        """Whatever else there is: all bits of all signals named in it."""
        action = import_pyslang().ast.VisitAction

        def visit(node: Any) -> Any:
            if node is not expression and name_of(node.kind) in _VALUES:
                self.read(node)
                return action.Skip
            return action.Advance

        expression.visit(visit)


_LOGICAL = {"LogicalAnd", "LogicalOr"}
_BITWISE = {"BinaryAnd", "BinaryOr", "BinaryXor", "BinaryXnor"}
_CARRYING = {"Add", "Subtract"}  # a bit depends on those to its right
_FORCES = {"LogicalAnd": "0", "BinaryAnd": "0", "LogicalOr": "1", "BinaryOr": "1"}
_READERS: dict[str, Callable[[Reader, Any, int, int], None]] = {
    "Concatenation": Reader._read_concatenation,
    "Conversion": Reader._read_conversion,
    "ConditionalOp": Reader._read_conditional,
    "UnaryOp": Reader._read_unary,
    "BinaryOp": Reader._read_binary,
    "Call": Reader._read_call,
    "Assignment": Reader._read_assignment,
}
_VALUES = {"NamedValue", "HierarchicalValue", "ElementSelect", "RangeSelect", "MemberAccess", "Call"}
