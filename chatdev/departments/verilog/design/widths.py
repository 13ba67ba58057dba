"""Widths that do not fit: signals that get more bits than they have, or give fewer than are taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from chatdev.departments.verilog.design.reads import Names, selection_of, strip_conversions
from chatdev.departments.verilog.design.records import Assignment, Value
from chatdev.departments.verilog.design.source import name_of


@dataclass(frozen=True, slots=True)
class Misfit:
    """In line `line` a signal meets something of `other` bits and has `has` (with those beside it in `{…}`). Either may
    be meant so."""

    signal: str
    line: int
    has: int
    other: int


def find_misfits(assignments: Iterable[Assignment], names: Names, value: Value) -> tuple[Misfit, ...]:
    """Every signal whose width does not fit where it is used; each once, in the order of the source. Sums may overflow,
    and constants may be wide as long as their value fits. `value` evaluates constants."""
    finder = _Finder(names, value)
    found: dict[str, Misfit] = {}
    for assignment in assignments:
        for misfit in finder.check(assignment):
            found.setdefault(misfit.signal, misfit)
    return tuple(found.values())


class _Finder:
    def __init__(self, names: Names, value: Value) -> None:
        self._names, self._value, self._needs = names, value, _BitsNeeded(value)
        self._checked = set[tuple[int, int]]()

    def check(self, assignment: Assignment) -> Iterator[Misfit]:
        line = assignment.lines.first
        if assignment.value is not None:
            yield from self._check_value(assignment, line)
            yield from self._check_inside(assignment.value, line)
        for condition in assignment.conditions:
            way = id(condition.decision), condition.branch
            if way in self._checked:  # as many assignments stand behind one condition
                continue
            self._checked.add(way)
            expressions = condition.decision.expressions_for(condition.branch)
            for expression in expressions:
                yield from self._check_inside(expression, condition.lines[0])
            for label in expressions[1:]:
                yield from self._check_comparison(expressions[0], label, condition.lines[-1])

    def _check_value(self, assignment: Assignment, line: int) -> Iterator[Misfit]:
        """What is taken is wider than the targets, or a plain signal and narrower."""
        if not assignment.exact or name_of(assignment.value.kind) == "Call":
            return
        width, needs = sum(target.width for target in assignment.targets), self._needs(assignment.value)
        if needs > width:
            for target in assignment.targets:
                yield Misfit(target.signal, line, width, needs)
        elif needs < width:
            for signal in self._plain_signals(assignment.value):
                yield Misfit(signal, line, needs, width)

    def _check_inside(self, expression: Any, line: int) -> Iterator[Misfit]:
        """Compared or combined with something wider, or an index that is not there."""
        nodes: list[Any] = []
        expression.visit(nodes.append)
        for node in nodes:
            kind = getattr(getattr(node, "kind", None), "_name_", "")
            if kind == "BinaryOp" and name_of(node.op) in _EVEN:
                yield from self._check_comparison(node.left, node.right, line)
            elif kind in {"ElementSelect", "RangeSelect"}:
                yield from self._check_index(node, line)

    def _check_comparison(self, one: Any, other: Any, line: int) -> Iterator[Misfit]:
        for left, right in ((one, other), (other, one)):
            needs = self._needs(right)
            width = int(strip_conversions(left).type.bitstreamWidth)
            if width < needs:
                for signal in self._plain_signals(left):
                    yield Misfit(signal, line, width, needs)

    def _check_index(self, node: Any, line: int) -> Iterator[Misfit]:
        selected = selection_of(node, self._value)
        name = self._names(selected.symbol) if selected else None
        ends = [self._value(end) for end in ([node.selector] if name_of(node.kind) == "ElementSelect"
                                             else [node.left, node.right])]
        if selected and name and not selected.exact and selected.symbol.type.isIntegral and None not in ends:
            highest = max(int(end) for end in ends if end is not None)
            yield Misfit(name, line, selected.width, highest + 1)

    def _plain_signals(self, expression: Any) -> list[str]:
        """The signals of which an expression consists: of one, or of several side by side."""
        expression = strip_conversions(expression)
        if name_of(expression.kind) == "Concatenation":
            return [found for operand in expression.operands for found in self._plain_signals(operand)]
        selected = selection_of(expression, self._value)
        name = self._names(selected.symbol) if selected else None
        whole = selected is not None and selected.exact and selected.width == selected.symbol.type.bitstreamWidth
        return [name] if name and whole else []


class _BitsNeeded:
    """The bits that the value of an expression needs when sums do not overflow."""

    def __init__(self, value: Value) -> None:
        self._value = value

    def __call__(self, expression: Any) -> int:
        expression = strip_conversions(expression)
        constant = self._value(expression)
        if constant is not None:
            return 1 if constant.hasUnknown else max(1, int(constant.getActiveBits()))
        parts = _PARTS.get(name_of(expression.kind))
        found = parts(expression) if parts else []
        return max(map(self, found)) if found else int(expression.type.bitstreamWidth)


def _operands(expression: Any) -> list[Any]:
    operator = name_of(expression.op)
    if operator in _WIDENING:
        return [expression.left, expression.right]
    return [expression.left] if "Shift" in operator else []


def _operand(expression: Any) -> list[Any]:
    return [expression.operand] if name_of(expression.op) in {"BitwiseNot", "Plus", "Minus"} else []


_EVEN = {"Equality", "Inequality", "CaseEquality", "CaseInequality", "LessThan", "LessThanEqual", "GreaterThan",
         "GreaterThanEqual", "BinaryAnd", "BinaryOr", "BinaryXor", "BinaryXnor"}
_WIDENING = {"Add", "Subtract", "BinaryAnd", "BinaryOr", "BinaryXor", "BinaryXnor"}
_PARTS: dict[str, Callable[[Any], list[Any]]] = {
    "BinaryOp": _operands, "UnaryOp": _operand, "ConditionalOp": lambda found: [found.left, found.right],
}
