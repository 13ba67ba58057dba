"""A source text as pyslang sees it: elaborated, or refused with the compiler's words, and its expressions evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from chatdev.departments.verilog.design.reads import Names, Reader, Reads
from chatdev.departments.verilog.design.records import Assignment, Part, Value
from chatdev.departments.verilog.design.source import Source, import_pyslang
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
