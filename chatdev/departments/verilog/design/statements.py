"""From the statements of a process to its assignments, each with the way that leads there."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chatdev.departments.verilog.design.reads import Names, Reader, Reads, selection_of, strip_conversions
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
    Value,
    bits,
    repeated_labels,
    unique,
)
from chatdev.departments.verilog.design.source import Source, name_of

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
        self._loop = outermost or Loop(self._loops, self._context.source.lines_of(statement)[0])
        written = self.walk(statement.body, way)
        self._loop = outermost
        return written

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
