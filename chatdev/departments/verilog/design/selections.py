"""Which bits of which signal an expression such as `a`, `a[i]`, `a[7:4]`, `a[i +: 4]` or `a.field` names.

The bits of an array or a structure are counted as those of a stream of it are: what stands leftmost is the highest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from chatdev.departments.verilog.design.records import Part, Value
from chatdev.departments.verilog.design.source import name_of


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
