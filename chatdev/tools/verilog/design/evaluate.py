"""The values of a design's expressions for given values of its signals, in four states, by pyslang's own evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from chatdev.tools.verilog.design.design import Design
from chatdev.tools.verilog.design.elaborate import integral
from chatdev.tools.verilog.design.records import Assignment, Part

if TYPE_CHECKING:
    from pyslang import SVInt


class Evaluation:
    """Signals with values: those given, and those that `carry_out` assigns; of any other nothing is known."""

    def __init__(self, design: Design, values: Mapping[str, str], signals: Iterable[str]) -> None:
        """`values` are bits (0, 1, x, z; the most significant first) by signal; only `signals` are looked at."""
        from pyslang.ast import EvalContext

        self._design, self._context = design, EvalContext(design.body)
        self._context.pushEmptyFrame()
        for signal in signals:
            if signal in values:
                self._bind(self._symbol(signal), values[signal])

    def value(self, expression: Any) -> SVInt | None:
        """The value of an expression, None when it cannot be told."""
        return integral(expression.eval(self._context))

    def constant(self, expression: Any) -> Any:
        """The value as pyslang has it; a false one when it cannot be told."""
        return expression.eval(self._context)

    def within(self, signals: Iterable[str]) -> Evaluation:
        """Another one that starts with what is known of these signals now."""
        inner = Evaluation(self._design, {}, ())
        for signal in signals:
            symbol = self._symbol(signal)
            inner.give(symbol, self._context.findLocal(symbol))
        return inner

    def give(self, symbol: Any, constant: Any) -> None:
        """Let a variable have a value, or none when that cannot be told."""
        self._context.deleteLocal(symbol)
        if constant:
            self._context.createLocal(symbol, constant)

    def forget(self, parts: Iterable[Part]) -> None:
        """Know nothing of these signals any more."""
        for part in parts:
            self._context.deleteLocal(self._symbol(part.signal))

    def carry_out(self, assignment: Assignment) -> None:
        """Assign at once; what cannot be told is forgotten."""
        if assignment.whole is None and assignment.taken is not None:
            self.give(self._symbol(assignment.targets[0].signal), self.constant(assignment.taken))
        elif assignment.whole is None or not self.constant(assignment.whole):
            self.forget(assignment.targets)

    def _symbol(self, signal: str) -> Any:
        return self._design.names.symbols[signal]

    def _bind(self, symbol: Any, bits: str) -> None:
        import pyslang

        kind = symbol.type
        if kind.isIntegral and kind.bitWidth == len(bits):
            number = pyslang.SVInt(f"{len(bits)}'{'s' if kind.isSigned else ''}b{bits}")
            self._context.createLocal(symbol, pyslang.ConstantValue(number))
