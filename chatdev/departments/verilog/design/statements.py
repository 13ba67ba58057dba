"""From the statements of a process to its assignments, each with the way that leads there; and which bits of which
signals an expression in them takes its value from, and which ones it names."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from chatdev.departments.verilog.design.records import (
    Assignment,
    CaseDecision,
    Condition,
    Decision,
    IfDecision,
    Kind,
    Lines,
    Loop,
    Part,
    Source,
    Value,
    bits,
    import_pyslang,
    is_true,
    name_of,
    repeated_labels,
    unique,
)

# Which bits of which signals an expression takes its value from, and which ones it names.


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


# Which bits of which signal an expression such as `a`, `a[i]`, `a[7:4]`, `a[i +: 4]` or `a.field` names.


class Selection(NamedTuple):
    """Bits of a value. `exact` is False when an index is unknown: then `low` and `width` are those of all it may be.
    `indices` are the expressions of its indices."""

    symbol: Any
    low: int
    width: int
    exact: bool = True
    indices: tuple[Any, ...] = ()

    def narrow(self, low: int, width: int) -> Selection:
        """Some bits of these, counted from their right end."""
        return Selection(self.symbol, self.low + low, width, True, self.indices) if self.exact else self

    def blur(self) -> Selection:
        """All of these bits, of which some are meant."""
        return self._replace(exact=False)

    def with_index(self, index: Any) -> Selection:
        """The same with one more index."""
        return Selection(self.symbol, self.low, self.width, self.exact, (*self.indices, index))


class Names:
    """The names of signals below the top module, by symbol; loop variables have none."""

    def __init__(self, top: str, loop_variables: frozenset[Any]) -> None:
        self._prefix, self._loop_variables = len(top) + 1, loop_variables
        self._names: dict[Any, str | None] = {}
        self.symbols: dict[str, Any] = {}

    def __call__(self, symbol: Any) -> str | None:
        """None for what is no signal: a parameter, an argument of a function, a loop variable."""
        if symbol not in self._names:
            signal = name_of(symbol.kind) in _SIGNALS and symbol not in self._loop_variables
            name = symbol.hierarchicalPath[self._prefix:] if signal else None
            self._names[symbol] = name
            if name is not None:
                self.symbols[name] = symbol
        return self._names[symbol]

    def part(self, selection: Selection) -> Part | None:
        """None for what is no signal."""
        name = self(selection.symbol)
        return None if name is None else Part(name, selection.low, selection.width)

    def text_of(self, part: Part) -> str:
        """A part as it stands in a source: `q`, `q[3:0]`, `memory[2]`, `memory[2][7]`."""
        kind, text, low = self.symbols[part.signal].type, part.signal, part.low
        while kind.isUnpackedArray and kind.hasFixedRange:
            size = kind.arrayElementType.bitstreamWidth or 1
            first, last = low // size, (low + part.width - 1) // size
            if first != last:  # several elements
                return text if part.width == kind.bitstreamWidth else (
                    f"{text}[{_index_at(kind, last)}:{_index_at(kind, first)}]")
            text += f"[{_index_at(kind, first)}]"
            kind, low = kind.arrayElementType, low % size
        if part.width == kind.bitstreamWidth:
            return text
        right, left = _index_at(kind, low), _index_at(kind, low + part.width - 1)
        return f"{text}[{right}]" if part.width == 1 else f"{text}[{left}:{right}]"


def _index_at(kind: Any, place: int) -> int:
    """The index of a place counted from the right; the place itself in what is no vector."""
    if not kind.hasFixedRange or (kind.isIntegral and kind.fixedRange.width != kind.bitWidth):
        return place
    return int(kind.fixedRange.right + (place if kind.fixedRange.left >= kind.fixedRange.right else -place))


def is_constant(symbol: Any) -> bool:
    """Whether it is a parameter or a value of an enumeration."""
    return name_of(symbol.kind) in {"Parameter", "EnumValue"}


def strip_conversions(expression: Any) -> Any:
    """Without the conversions that the language inserts."""
    while name_of(expression.kind) == "Conversion" and expression.isImplicit:
        expression = expression.operand
    return expression


def selection_of(expression: Any, value: Value) -> Selection | None:
    """None for an expression that names no bits of a signal; `value` tells what is known of indices."""
    finder = _FINDERS.get(name_of(expression.kind))
    return finder(expression, value) if finder else None


def _select_named(expression: Any, _value: Value) -> Selection:
    return Selection(expression.symbol, 0, expression.symbol.type.bitstreamWidth)


def _select_member(expression: Any, value: Value) -> Selection | None:
    base, kind = selection_of(expression.value, value), expression.value.type
    if base is None or not (kind.isIntegral or kind.isUnpackedStruct):
        return base and base.blur()
    width, offset = expression.type.bitstreamWidth, expression.member.bitOffset
    # in a structure that is not packed, pyslang counts from the left
    return base.narrow(offset if kind.isIntegral else kind.bitstreamWidth - offset - width, width)


def _select_element(expression: Any, value: Value) -> Selection | None:
    base = selection_of(expression.value, value)
    if base is None:
        return None
    index = _integer(expression.selector, value)
    return _select_between(base.with_index(expression.selector), expression, (index, index))


def _select_range(expression: Any, value: Value) -> Selection | None:
    base = selection_of(expression.value, value)
    if base is None:
        return None
    left, right = _integer(expression.left, value), _integer(expression.right, value)
    mode = name_of(expression.selectionKind)
    if left is not None and right is not None and mode != "Simple":
        right = left + (right - 1 if mode == "IndexedUp" else 1 - right)
    return _select_between(base.with_index(expression.left), expression, (left, right))


def _select_between(base: Selection, expression: Any, ends: tuple[int | None, int | None]) -> Selection:
    """The bits between two indices of `base`, or all of it when an index is unknown or outside."""
    kind = expression.value.type
    left, right = ends
    if left is None or right is None or not kind.hasFixedRange:
        return base.blur()
    bounds, width = kind.fixedRange, expression.type.bitstreamWidth
    if not (bounds.containsPoint(left) and bounds.containsPoint(right)):
        return base.blur()
    low = min(abs(left - bounds.right), abs(right - bounds.right))
    return base.narrow(low * (width // (abs(left - right) + 1)), width)


def _integer(expression: Any, value: Value) -> int | None:
    found = value(expression)
    return None if found is None or found.hasUnknown else int(found)


_SIGNALS = {"Net", "Variable"}
_FINDERS: dict[str, Callable[[Any, Value], Selection | None]] = {
    "NamedValue": _select_named, "HierarchicalValue": _select_named, "MemberAccess": _select_member,
    "ElementSelect": _select_element, "RangeSelect": _select_range,
}


# From the statements of a process to its assignments, each with the way that leads there.

Way = tuple[Condition, ...]
WrittenSignals = frozenset[str]
"""The signals that a statement writes on every way through it."""


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """What an assignment writes, and the expressions of its indices; see `Place`."""

    part: Part
    exact: bool
    indices: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class DesignContext:
    """What all statements of a design share. `value` evaluates constants only; `subroutines` are those called, by name.
    """

    names: Names
    source: Source
    value: Value
    subroutines: dict[str, Any]

    def reads(self, *expressions: Any) -> Reads:
        """What the expressions may read."""
        reader = Reader(self.names, self.value)
        for expression in expressions:
            reader.read(expression)
        return reader.found

    def targets(self, left: Any) -> list[WrittenPart]:
        """What a left side names."""
        if name_of(left.kind) == "Concatenation":
            return [target for operand in left.operands for target in self.targets(operand)]
        if name_of(left.kind) == "Conversion":
            return self.targets(left.operand)
        selection = selection_of(left, self.value)
        part = self.names.part(selection) if selection else None
        return [WrittenPart(part, selection.exact, selection.indices)] if selection and part else []

    def declaration_lines(self, reads: Reads) -> tuple[int, ...]:
        """The lines in which the constants that were read are declared."""
        return tuple(dict.fromkeys(self.source.line_of(symbol) for symbol in reads.constants))

    def register_call(self, call: Any) -> str:
        """The name of the function that is called; its statements are to be walked as well."""
        name: str = call.subroutine.hierarchicalPath
        self.subroutines[name] = call.subroutine
        return name


class Statements:
    """Collects in `assignments` those of one process; `in_order` tells whether all statements are reached in order."""

    def __init__(self, context: DesignContext, kind: Kind, process: int, result: Any = None) -> None:
        """`result` is the variable that takes what a function returns."""
        self._context, self._kind, self._process, self._result = context, kind, process, result
        self._loop: Loop | None = None
        self._loops = 0
        self._tasks: dict[Any, Any] = {}  # the tasks that are being walked through, with their calls
        self.assignments: list[Assignment] = []
        self.in_order = True

    def walk(self, statement: Any, way: Way = ()) -> WrittenSignals:
        """Note the assignments in the statement; returns the signals that it always writes."""
        walker = _WALKERS.get(name_of(statement.kind))
        return walker(self, statement, way) if walker else frozenset()

    def _walk_list(self, statement: Any, way: Way) -> WrittenSignals:
        return frozenset().union(*(self.walk(part, way) for part in statement.list))

    def _walk_body(self, statement: Any, way: Way) -> WrittenSignals:
        return self.walk(statement.body, way)

    def _walk_delayed(self, statement: Any, way: Way) -> WrittenSignals:
        self.in_order = False
        return self.walk(statement.stmt, way)

    def _walk_disable(self, _statement: Any, _way: Way) -> WrittenSignals:
        self.in_order = False
        return frozenset()

    def _walk_return(self, statement: Any, way: Way) -> WrittenSignals:
        self.in_order = self.in_order and not way
        return self.initialise(self._result, statement.expr, way) if self._result else frozenset()

    def _walk_if(self, statement: Any, way: Way) -> WrittenSignals:
        expressions = [condition.expr for condition in statement.conditions]
        plain = all(condition.pattern is None for condition in statement.conditions)
        text = " && ".join(map(self._context.source.words, expressions))
        condition = self._condition(IfDecision(expressions, plain), text, expressions)
        written = self.walk(statement.ifTrue, (*way, condition))
        if statement.ifFalse is None:
            return frozenset()
        return written & self.walk(statement.ifFalse, (*way, replace(condition, holds=False, branch=1)))

    def _walk_case(self, statement: Any, way: Way) -> WrittenSignals:
        labels = [list(item.expressions) for item in statement.items]
        every, words, written = list(itertools.chain(*labels)), self._context.source.words, []
        decision = CaseDecision(statement.expr, labels, statement.condition)
        plain = replace(self._condition(decision, words(statement.expr), [statement.expr]),
                        repeats=self._lines_of(repeated_labels(every, self._context.value)))
        for number, item in enumerate(statement.items):
            text = f"is {' or '.join(map(words, labels[number]))}"
            condition = self._label_condition(plain, number, text, labels[number])
            written.append(self.walk(item.stmt, (*way, condition)))
        if statement.defaultCase is not None:
            condition = self._label_condition(plain, len(labels), "is none of the cases", every)
            line = self._context.source.lines_of(statement.defaultCase.syntax.parent)[0]
            condition = replace(condition, lines=(*plain.lines, line), declared=plain.declared)
            written.append(self.walk(statement.defaultCase, (*way, condition)))
        complete = statement.defaultCase is not None or self._is_complete(statement)
        return functools.reduce(frozenset.intersection, written) if complete and written else frozenset()

    def _condition(self, decision: Decision, subject: str, expressions: Sequence[Any]) -> Condition:
        reads, lines = self._context.reads(*expressions), self._lines_of(expressions)
        return Condition(subject, subject, True, lines, lines, self._context.declaration_lines(reads), (), reads.parts,
                         tuple(map(self._context.register_call, reads.calls)), 0, decision)

    def _label_condition(self, subject: Condition, branch: int, text: str, labels: Sequence[Any]) -> Condition:
        """The condition of an item of a `case`."""
        label = self._condition(subject.decision, "", labels)
        return replace(subject, text=f"{subject.text} {text}", lines=(*subject.lines, *label.lines), branch=branch,
                       declared=(*subject.declared, *label.declared), reads=unique([*subject.reads, *label.reads]),
                       calls=(*subject.calls, *label.calls))

    def _is_complete(self, statement: Any) -> bool:
        """Whether there is a label for each value."""
        values = [self._context.value(label) for item in statement.items for label in item.expressions]
        known = {bits(value) for value in values if value is not None and not value.hasUnknown}
        return bool(len(known) >= 2 ** strip_conversions(statement.expr).type.bitWidth)

    def _walk_pattern_case(self, statement: Any, way: Way) -> WrittenSignals:
        decision = IfDecision([statement.expr], plain=False)
        condition = self._condition(decision, self._context.source.words(statement.expr), [statement.expr])
        for item in [*(item.stmt for item in statement.items), statement.defaultCase]:
            if item is not None:
                self.walk(item, (*way, condition))
        return frozenset()

    def _walk_loop_body(self, statement: Any, way: Way) -> WrittenSignals:
        outermost = self._loop
        self._loops += outermost is None
        if outermost is None:
            line = self._context.source.lines_of(statement)[0]
            self._loop = Loop(self._loops, line, frozenset(self._variables_of(statement)))
        written = self.walk(statement.body, way)
        self._loop = outermost
        return written

    def _variables_of(self, loop: Any) -> Iterator[str]:
        """What it and the loops within give a first value."""
        loops = list[Any]()
        loop.visit(lambda node: loops.append(node) if name_of(node.kind) == "ForLoop" else None)
        for first in (one for each in loops for one in each.initializers):
            if name_of(first.kind) == "Assignment":
                yield from (target.part.signal for target in self._context.targets(first.left))

    def _walk_declaration(self, statement: Any, way: Way) -> WrittenSignals:
        return self.initialise(statement.symbol, statement.symbol.initializer, way)

    def initialise(self, symbol: Any, value: Any, way: Way = ()) -> WrittenSignals:
        """Note that a whole variable takes a value, if there is one."""
        name = self._context.names(symbol)
        if value is None or name is None:
            return frozenset()
        return self.add(value, [WrittenPart(Part(name, 0, symbol.type.bitstreamWidth), True)], value, way)

    def _walk_expression(self, statement: Any, way: Way) -> WrittenSignals:
        expression = statement.expr
        match name_of(expression.kind):
            case "Assignment" | "UnaryOp":
                return self.assign(statement, expression, way)
            case "Call" if not expression.isSystemCall:
                return self._walk_task(statement, expression, way)
        return frozenset()

    def _walk_task(self, statement: Any, call: Any, way: Way) -> WrittenSignals:
        """Its statements as if they stood here, and what it hands back through its arguments."""
        task = call.subroutine
        if task in self._tasks:
            return frozenset()
        self.in_order = False  # its arguments are no signals, so that nothing is known of them
        self._tasks[task] = call
        written = self.walk(task.body, way)
        for argument in call.arguments:
            if name_of(argument.kind) == "Assignment":
                written |= self.add(statement, self._context.targets(argument.left), None, way)
        del self._tasks[task]
        return written

    def assign(self, node: Any, expression: Any, way: Way = ()) -> WrittenSignals:
        """Note an assignment (`q <= d`, `q += 1`, `q++`) that fills the lines of `node`."""
        if name_of(expression.kind) == "UnaryOp":
            targets = self._context.targets(expression.operand)
            return self.add(node, targets, expression.operand, way, operation=expression)
        targets = self._context.targets(expression.left)
        old = (expression.left,) if expression.isCompound else ()
        return self.add(node, targets, expression.right, way, *old, operation=expression)

    def add(self, node: Any, targets: Sequence[WrittenPart], value: Any, way: Way, *more: Any,
             operation: Any = None) -> WrittenSignals:
        """Note that `targets` take the value of `value`, of `more` and of what the tasks around were given. `operation`
        is what does so when evaluated."""
        if not targets:
            return frozenset()
        given = [argument for call in self._tasks.values() for argument in call.arguments]
        reads = self._context.reads(*([] if value is None else [value]), *more, *given,
                                    *(index for target in targets for index in target.indices))
        first, last = self._context.source.lines_of(node)
        self.assignments.append(Assignment(
            kind=self._kind, targets=unique(target.part for target in targets),
            exact=all(target.exact for target in targets), lines=Lines(first, last),
            text=self._context.source.text(first, last), data=tuple(reads.data), selects=tuple(reads.selects),
            conditions=way, calls=tuple(map(self._context.register_call, reads.calls)),
            declared=self._context.declaration_lines(reads), process=self._process,
            blocking=not getattr(operation, "isNonBlocking", False), loop=self._loop, value=value, operation=operation))
        return frozenset(target.part.signal for target in targets)

    def _lines_of(self, expressions: Iterable[Any]) -> tuple[int, ...]:
        return tuple(line for expression in expressions
                     for first, last in [self._context.source.lines_of(expression)] for line in range(first, last + 1))


_WALKERS: dict[str, Callable[[Statements, Any, Way], WrittenSignals]] = {
    "List": Statements._walk_list,
    "Block": Statements._walk_body,
    **dict.fromkeys(("Timed", "Wait"), Statements._walk_delayed),
    "Conditional": Statements._walk_if,
    "Case": Statements._walk_case,
    "PatternCase": Statements._walk_pattern_case,
    **dict.fromkeys(("ForLoop", "ForeachLoop", "RepeatLoop", "WhileLoop", "DoWhileLoop", "ForeverLoop"),
                    Statements._walk_loop_body),
    "VariableDeclaration": Statements._walk_declaration,
    "ExpressionStatement": Statements._walk_expression,
    "Return": Statements._walk_return,
    "Disable": Statements._walk_disable,
}
