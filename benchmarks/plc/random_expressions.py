"""Random expressions of Structured Text that are well typed, out of the names that are in scope."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from chatdev.departments.plc.st.core import Scalar
from chatdev.departments.plc.st.functions import SCALARS, fit, unite

NUMBERS = ("SINT", "INT", "DINT", "LINT", "USINT", "UINT", "UDINT", "ULINT")
BITS = ("BYTE", "WORD", "DWORD", "LWORD")
REALS = ("REAL", "LREAL")
MOMENTS = ("DATE_AND_TIME", "TIME_OF_DAY")
ELEMENTARY = ("BOOL", *NUMBERS, *BITS, *REALS, "TIME", "LTIME", *MOMENTS)
MODES = ("Idle", "Busy", "Halted")
"""The values of the enumeration that every program has."""
_COMPARISONS = ("<", "<=", "=", "<>", ">", ">=")
_FLOATS = ("0.0", "0.5", "1.5", "2.5", "-2.25", "100.1", "1.0E10", "3.0E38", "1.0E-40")
_TIMES = ("T#0ms", "T#1ms", "T#100ms", "T#250ms", "T#1s", "T#1m", "T#24d")
_LITERALS = {"TIME": _TIMES, "LTIME": ("LTIME#0ns", "LTIME#1us", "LTIME#250ms", "LTIME#100000d"),
             "DATE_AND_TIME": ("DT#1970-01-01-00:00:00", "DT#2024-02-29-23:59:59", "DT#2100-01-01-12:30:00"),
             "TIME_OF_DAY": ("TOD#00:00:00", "TOD#12:30:00.5", "TOD#23:59:59.999")}
_CAREFUL = 0.85
"""How often a divisor or an index is made to fit."""


def scalar_of(name: str) -> Scalar:
    """The elementary type of a name."""
    return SCALARS[name.lower()]


@dataclass
class Scope:
    """What may stand in an expression or be written: places by type, functions by the type of their result (with the
    types of their inputs), and arrays of elementary types with their bounds."""

    places: dict[str, list[str]] = field(default_factory=dict)
    written: dict[str, list[str]] = field(default_factory=dict)
    functions: dict[str, list[tuple[str, tuple[str, ...]]]] = field(default_factory=dict)
    arrays: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)

    def add(self, type_: str, *names: str, writable: bool = True) -> None:
        """Variables of a type."""
        self.places.setdefault(type_, []).extend(names)
        if writable:
            self.written.setdefault(type_, []).extend(names)


class ExpressionWriter:
    """Writes expressions over a scope, whose types are the only ones that conversions come from."""

    def __init__(self, dice: random.Random, scope: Scope) -> None:
        self._dice = dice
        self.scope = scope

    def write(self, type_: str, depth: int) -> str:
        """An expression of an elementary type or of `Mode`, with at most `depth` operators within each other."""
        if depth <= 0 or self._dice.random() < 0.25:
            return self._leaf(type_)
        ways = self._ways(type_)
        return self._dice.choice(ways)(type_, depth - 1)

    def index(self, low: int, high: int) -> str:
        """An index of an array, which seldom lies outside of it."""
        if self._dice.random() < 0.4:
            return str(self._dice.randint(low, high))
        type_ = self._dice.choice([one for one in ("INT", "DINT", "SINT") if self.scope.written.get(one)])
        if self._dice.random() < _CAREFUL:
            return f"LIMIT({low}, {self.write(type_, 1)}, {high})"
        return self._dice.choice(self.scope.written[type_])

    def literal(self, type_: str) -> str:
        """A constant, with its type said."""
        if type_ == "Mode":
            return self._dice.choice(MODES)
        if type_ == "BOOL":
            return self._dice.choice(("TRUE", "FALSE"))
        if type_ in _LITERALS:
            return self._dice.choice(_LITERALS[type_])
        if type_ in REALS:
            return f"{type_}#{self._dice.choice(_FLOATS)}"
        return self._whole(type_)

    def _whole(self, type_: str) -> str:
        scalar = scalar_of(type_)
        signed = scalar.signed and scalar.kind == "int"
        low, high = (-(1 << scalar.bits - 1), (1 << scalar.bits - 1) - 1) if signed else (0, (1 << scalar.bits) - 1)
        value = self._dice.choice((0, 1, 2, 3, 5, 7, 10, 100, high, low, high // 2 + 1, self._dice.randint(low, high)))
        if value < 0:
            return f"{type_}#{value}"
        return f"{type_}#16#{value:X}" if self._dice.random() < 0.2 else f"{type_}#{value}"

    def _leaf(self, type_: str) -> str:
        places = self.scope.places.get(type_, [])
        arrays = self.scope.arrays.get(type_, [])
        if arrays and self._dice.random() < 0.2:
            name, low, high = self._dice.choice(arrays)
            return f"{name}[{self._dice.randint(low, high)}]"
        return self._dice.choice(places) if places and self._dice.random() < 0.8 else self.literal(type_)

    # the ways to make a value of a kind ----------------------------------------------------------------------------

    def _ways(self, type_: str) -> list[Callable[[str, int], str]]:
        common: list[Callable[[str, int], str]] = [self._choose, self._choose]
        if self.scope.functions.get(type_):
            common += [self._apply, self._apply]
        if self.scope.arrays.get(type_):
            common.append(self._element)
        if type_ == "Mode":
            return common
        common += [self._convert, self._convert, self._widen]
        return common + self._own_ways(type_)

    def _own_ways(self, type_: str) -> list[Callable[[str, int], str]]:
        if type_ == "BOOL":
            return [self._logic, self._logic, self._compare, self._compare, self._compare, self._bit, self._shortcut]
        if type_ in BITS:
            return [self._logic, self._logic, self._logic, self._shift, self._shift, self._add, self._multiply,
                    self._part]
        if type_ in ("TIME", "LTIME"):
            return [self._add, self._add, self._order, self._scale, self._between, self._uptime]
        if type_ in MOMENTS:
            return [self._later, self._later, self._order]
        own = [self._add, self._add, self._multiply, self._divide, self._order, self._negate]
        return [*own, self._root] if type_ in REALS else [*own, self._rest, self._shift]

    def _two(self, sign: str, type_: str, depth: int) -> str:
        return f"({self.write(type_, depth)} {sign} {self.write(type_, depth)})"

    def _add(self, type_: str, depth: int) -> str:
        return self._two(self._dice.choice("+-"), type_, depth)

    def _multiply(self, type_: str, depth: int) -> str:
        return self._two("*", type_, depth)

    def _scale(self, type_: str, depth: int) -> str:
        numbers = [one for one in ("SINT", "INT", "DINT") if self.scope.places.get(one)]
        if not numbers:
            return self._add(type_, depth)
        return f"({self.write(type_, depth)} * {self._leaf(self._dice.choice(numbers))})"

    def _between(self, type_: str, depth: int) -> str:
        """The time between two moments, or a sum of two durations that are counted otherwise."""
        moments = [one for one in MOMENTS if self.scope.places.get(one)]
        if type_ == "LTIME":
            return f"({self.write(type_, depth)} + {self.write('TIME', depth)})"
        return self._two("-", self._dice.choice(moments), depth) if moments else self._add(type_, depth)

    def _later(self, type_: str, depth: int) -> str:
        return f"({self.write(type_, depth)} {self._dice.choice('+-')} {self.write('TIME', depth)})"

    def _divide(self, type_: str, depth: int) -> str:
        return self._share("/", type_, depth)

    def _rest(self, type_: str, depth: int) -> str:
        return self._share("MOD", type_, depth)

    def _share(self, sign: str, type_: str, depth: int) -> str:
        divisor = self.write(type_, depth)
        if type_ not in REALS and self._dice.random() < _CAREFUL:
            divisor = f"SEL({divisor} = {type_}#0, {divisor}, {type_}#1)"
        return f"({self.write(type_, depth)} {sign} {divisor})"

    def _negate(self, type_: str, depth: int) -> str:
        if type_ not in REALS and not scalar_of(type_).signed:
            return self._add(type_, depth)
        return self._dice.choice(("(-{})", "ABS({})")).format(self.write(type_, depth))

    def _root(self, type_: str, depth: int) -> str:
        return f"SQRT({self.write(type_, depth)})"

    def _order(self, type_: str, depth: int) -> str:
        many = [self.write(type_, depth) for _ in range(self._dice.randint(2, 3))]
        if len(many) == 3 and self._dice.random() < 0.5:
            return f"LIMIT({', '.join(many)})"
        return f"{self._dice.choice(('MIN', 'MAX'))}({', '.join(many)})"

    def _choose(self, type_: str, depth: int) -> str:
        if self._dice.random() < 0.7:
            return f"SEL({self.write('BOOL', depth)}, {self.write(type_, depth)}, {self.write(type_, depth)})"
        many = [self.write(type_, depth - 1) for _ in range(self._dice.randint(2, 4))]
        return f"MUX({self._number()}, {', '.join(many)})"

    def _number(self) -> str:
        small = [one for one in ("SINT", "INT", "DINT") if self.scope.places.get(one)]
        return self._leaf(self._dice.choice(small)) if small else "1"

    def _logic(self, type_: str, depth: int) -> str:
        if self._dice.random() < 0.25:
            return f"(NOT {self.write(type_, depth)})"
        return self._two(self._dice.choice(("AND", "OR", "XOR")), type_, depth)

    def _shortcut(self, type_: str, depth: int) -> str:
        return self._two(self._dice.choice(("AND_THEN", "OR_ELSE")), type_, depth)

    def _shift(self, type_: str, depth: int) -> str:
        count = self._number() if self._dice.random() < 0.5 else str(self._dice.choice((0, 1, 3, 7, 8, 31, 64)))
        return f"{self._dice.choice(('SHL', 'SHR', 'ROL', 'ROR'))}({self.write(type_, depth)}, {count})"

    def _compare(self, _type: str, depth: int) -> str:
        other = self._dice.choice([one for one in self.scope.places if one in ELEMENTARY or one == "Mode"])
        signs = ("=", "<>") if other in ("BOOL", "Mode") else _COMPARISONS
        return self._two(self._dice.choice(signs), other, depth)

    def _bit(self, type_: str, depth: int) -> str:
        owners = [one for one in (*BITS, *NUMBERS) if self.scope.places.get(one)]
        if not owners:
            return self._compare(type_, depth)
        owner = self._dice.choice(owners)
        return f"{self._dice.choice(self.scope.places[owner])}.{self._dice.randrange(scalar_of(owner).bits)}"

    def _part(self, type_: str, depth: int) -> str:
        """A byte or word of a wider one."""
        bits = scalar_of(type_).bits
        owners = [one for one in (*BITS, *NUMBERS) if self.scope.places.get(one) and scalar_of(one).bits > bits]
        if not owners:
            return self._logic(type_, depth)
        owner = self._dice.choice(owners)
        part = f"%{type_[0]}{self._dice.randrange(scalar_of(owner).bits // bits)}"
        return f"{self._dice.choice(self.scope.places[owner])}.{part}"

    def _uptime(self, type_: str, _depth: int) -> str:
        return f"{type_}()"

    def _convert(self, type_: str, depth: int) -> str:
        others = [one for one in self.scope.places if one in ELEMENTARY and one != type_]
        if not others:
            return self._leaf(type_)
        other = self._dice.choice(others)
        if other in REALS and type_ in NUMBERS and self._dice.random() < 0.5:
            whole = f"{self._dice.choice(('TRUNC', 'ROUND', 'FLOOR', 'CEIL'))}({self.write(other, depth)})"
            return whole if type_ == "DINT" else f"DINT_TO_{type_}({whole})"
        return f"{other}_TO_{type_}({self.write(other, depth)})"

    def _widen(self, type_: str, depth: int) -> str:
        """A value of other types that goes into this one without being told, with all of its values or not: two that
        meet in a type that does."""
        target = scalar_of(type_)
        names = [one for one in self.scope.places if one in ELEMENTARY]
        pairs = [(one, other) for one in names for other in names
                 if (met := unite(scalar_of(one), scalar_of(other))) and fit(met, target) != "no"]
        inner = self.write(type_, depth)
        if pairs:
            one, other = self._dice.choice(pairs)
            return f"SEL({self.write('BOOL', depth)}, {self._leaf(one)}, {self._leaf(other)})"
        return f"({inner} + {self._dice.randint(0, 9)})" if type_ in NUMBERS else inner

    def _apply(self, type_: str, depth: int) -> str:
        name, inputs = self._dice.choice(self.scope.functions[type_])
        return f"{name}({', '.join(self._argument(one, min(depth, 1)) for one in inputs)})"

    def _argument(self, type_: str, depth: int) -> str:
        if type_ in ELEMENTARY or type_ == "Mode":
            return self.write(type_, depth)
        return self._dice.choice(self.scope.places[type_])

    def _element(self, type_: str, _depth: int) -> str:
        name, low, high = self._dice.choice(self.scope.arrays[type_])
        return f"{name}[{self.index(low, high)}]"
