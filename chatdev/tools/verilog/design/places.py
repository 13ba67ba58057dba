"""Which bits of which signal an expression such as `a`, `a[i]`, `a[7:4]`, `a[i +: 4]` or `a.field` names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from chatdev.tools.verilog.design.decisions import Value
from chatdev.tools.verilog.design.records import Part


@dataclass(frozen=True, slots=True)
class Place:
    """Bits of a value. `exact` is False when an index is unknown: then `low` and `width` are those of all it may be.
    `indices` are the expressions of its indices."""

    symbol: Any
    low: int
    width: int
    exact: bool = True
    indices: tuple[Any, ...] = ()

    def within(self, low: int, width: int) -> Place:
        """Some bits of these, counted from their right end."""
        return replace(self, low=self.low + low, width=width) if self.exact else self


class Names:
    """The names of signals below the top module, by symbol; loop variables have none."""

    def __init__(self, top: str, loop_variables: frozenset[Any]) -> None:
        self._prefix, self._loop_variables = len(top) + 1, loop_variables
        self._names: dict[Any, str | None] = {}
        self.symbols: dict[str, Any] = {}

    def __call__(self, symbol: Any) -> str | None:
        """None for what is no signal: a parameter, an argument of a function, a loop variable."""
        if symbol not in self._names:
            signal = symbol.kind.name in _SIGNALS and symbol not in self._loop_variables
            name = symbol.hierarchicalPath[self._prefix:] if signal else None
            self._names[symbol] = name
            if name is not None:
                self.symbols[name] = symbol
        return self._names[symbol]

    def part(self, place: Place) -> Part | None:
        name = self(place.symbol)
        return None if name is None else Part(name, place.low, place.width)


def is_constant(symbol: Any) -> bool:
    """Whether it is a parameter or a value of an enumeration."""
    return symbol.kind.name in {"Parameter", "EnumValue"}


def bare(expression: Any) -> Any:
    """Without the conversions that the language inserts."""
    while expression.kind.name == "Conversion" and expression.isImplicit:
        expression = expression.operand
    return expression


def place_of(expression: Any, value: Value) -> Place | None:
    """None for an expression that names no bits of a signal; `value` tells what is known of indices."""
    finder = _FINDERS.get(expression.kind.name)
    return finder(expression, value) if finder else None


def _named(expression: Any, _value: Value) -> Place:
    return Place(expression.symbol, 0, expression.symbol.type.bitstreamWidth)


def _member(expression: Any, value: Value) -> Place | None:
    base = place_of(expression.value, value)
    if base is None or not expression.value.type.isIntegral:
        return base
    return base.within(expression.member.bitOffset, expression.type.bitWidth)


def _element(expression: Any, value: Value) -> Place | None:
    base = place_of(expression.value, value)
    if base is None:
        return None
    index = _integer(expression.selector, value)
    base = replace(base, indices=(*base.indices, expression.selector))
    return _select(base, expression, (index, index))


def _range(expression: Any, value: Value) -> Place | None:
    base = place_of(expression.value, value)
    if base is None:
        return None
    left, right = _integer(expression.left, value), _integer(expression.right, value)
    mode = expression.selectionKind.name
    base = replace(base, indices=(*base.indices, expression.left))
    if left is not None and right is not None and mode != "Simple":
        right = left + (right - 1 if mode == "IndexedUp" else 1 - right)
    return _select(base, expression, (left, right))


def _select(base: Place, expression: Any, ends: tuple[int | None, int | None]) -> Place:
    """The bits between two indices of `base`, or all of it when an index is unknown or outside."""
    kind = expression.value.type
    left, right = ends
    if left is None or right is None or not kind.isIntegral:
        return replace(base, exact=False)
    bounds = kind.fixedRange
    low = min(abs(left - bounds.right), abs(right - bounds.right))
    element = expression.type.bitWidth // (abs(left - right) + 1)
    inside = bounds.containsPoint(left) and bounds.containsPoint(right)
    return base.within(low * element, expression.type.bitWidth) if inside else replace(base, exact=False)


def _integer(expression: Any, value: Value) -> int | None:
    found = value(expression)
    return None if found is None or found.hasUnknown else int(found)


_SIGNALS = {"Net", "Variable"}
_FINDERS: dict[str, Callable[[Any, Value], Place | None]] = {
    "NamedValue": _named, "HierarchicalValue": _named, "MemberAccess": _member, "ElementSelect": _element,
    "RangeSelect": _range,
}
