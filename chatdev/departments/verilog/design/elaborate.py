"""A source text as pyslang sees it: elaborated, or refused with the compiler's words; its expressions evaluated; and
widths that do not fit, where signals get more bits than they have, or give fewer than are taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chatdev.departments.verilog.design.records import Assignment, Part, Source, Value, import_pyslang, name_of
from chatdev.departments.verilog.design.statements import Names, Reader, Reads, selection_of, strip_conversions
from chatdev.departments.verilog.target import ANSWER, Target
from chatdev.errors import ToolError

if TYPE_CHECKING:
    from pyslang import SVInt
    from pyslang.ast import Compilation, InstanceSymbol


class DesignError(ToolError):
    """The source is no design that can be elaborated; the text is the compiler's."""


def nesting_error() -> DesignError:
    """What is said of expressions and statements within hundreds of others."""
    return DesignError(f"{ANSWER} is too deeply nested to be traced; split its longest expressions and else-if chains")


def elaborate(text: str, target: Target) -> tuple[Compilation, InstanceSymbol, Source]:
    """The compilation (keep it as long as anything of it), the instance of the module that was to be written, and the
    source; raises DesignError."""
    pyslang = import_pyslang()
    from pyslang.ast import Compilation, CompilationFlags, CompilationOptions

    options = CompilationOptions()
    options.flags = CompilationFlags.AllowUseBeforeDeclare | CompilationFlags.RelaxEnumConversions
    options.topModules = {target.top}
    options.paramOverrides = [f"{name}={value}" for name, value in target.parameters]
    source = Source(text, target, options)
    compilation = Compilation(source.bag)
    try:
        for tree in source.trees():
            compilation.addSyntaxTree(tree)
    except RuntimeError:
        raise nesting_error() from None
    errors = [found for found in compilation.getAllDiagnostics() if found.isError()]
    if errors:
        raise DesignError(source.name_files(pyslang.DiagnosticEngine.reportAll(source.manager, errors).strip()))
    return compilation, compilation.getRoot().topInstances[0], source


def constants(scope: Any) -> Value:
    """An evaluation that knows no signal, only constants."""
    from pyslang.ast import EvalContext

    context = EvalContext(scope)
    return lambda expression: as_number(expression.eval(context))


def as_number(value: Any) -> SVInt | None:
    """A constant as a number; strings, real numbers and arrays are none."""
    found = getattr(value, "value", None)
    return found if isinstance(found, import_pyslang().SVInt) else None


class Evaluation:
    """Expressions evaluated in four states by pyslang, for given values of signals.

    Signals have the values given, and those that `execute` assigns; of any other nothing is known. `body` is that of
    the top module, `values` are bits (0, 1, x, z; the most significant first) by signal; only `signals` are looked at.
    """

    def __init__(self, names: Names, body: Any, values: Mapping[str, str], signals: Iterable[str]) -> None:
        self._names, self._body, self._context = names, body, import_pyslang().ast.EvalContext(body)
        self._context.pushEmptyFrame()
        self._reads = dict[Any, Reads]()
        for signal in signals:
            if signal in values:
                self._bind(self._symbol(signal), values[signal])

    def value(self, expression: Any) -> SVInt | None:
        """The value of an expression, None when it is not known."""
        return as_number(expression.eval(self._context))

    def reads_of(self, expression: Any) -> Reads:
        """What an expression takes its value from; many assignments stand under the same conditions."""
        if expression not in self._reads:
            reader = Reader(self._names, self.value)
            reader.read(expression)
            self._reads[expression] = reader.found
        return self._reads[expression]

    def constant(self, expression: Any) -> Any:
        """The value as pyslang has it; a false one when it is not known."""
        return expression.eval(self._context)

    def copy_for(self, signals: Iterable[str]) -> Evaluation:
        """Another one that starts with what is known of these signals now."""
        known = Evaluation(self._names, self._body, {}, ())
        for signal in signals:
            symbol = self._symbol(signal)
            known.give(symbol, self._context.findLocal(symbol))
        return known

    def give(self, symbol: Any, constant: Any) -> None:
        """Let a variable have a value, or none when that is not known."""
        self._reads.clear()
        self._context.deleteLocal(symbol)
        if constant:
            self._context.createLocal(symbol, constant)

    def forget(self, parts: Iterable[Part]) -> None:
        """Know nothing of these signals any more."""
        self._reads.clear()
        for part in parts:
            self._context.deleteLocal(self._symbol(part.signal))

    def execute(self, assignment: Assignment) -> None:
        """Assign at once; what is not known is forgotten."""
        self._reads.clear()
        if assignment.operation is None and assignment.value is not None:
            self.give(self._symbol(assignment.targets[0].signal), self.constant(assignment.value))
        elif assignment.operation is None or not self.constant(assignment.operation):
            self.forget(assignment.targets)

    def _symbol(self, signal: str) -> Any:
        return self._names.symbols[signal]

    def _bind(self, symbol: Any, bits: str) -> None:
        kind = symbol.type
        if kind.isIntegral and kind.bitWidth == len(bits):
            pyslang = import_pyslang()
            number = pyslang.SVInt(f"{len(bits)}'{'s' if kind.isSigned else ''}b{bits}")
            self._context.createLocal(symbol, pyslang.ConstantValue(number))


# Widths that do not fit: signals that get more bits than they have, or give fewer than are taken.


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
