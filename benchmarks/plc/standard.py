"""What IEC 61131-3 says of elementary values, written down from its third edition: which type goes into which, and what
operators, standard functions, conversions and standard function blocks give. A yardstick for our own meaning of
Structured Text, of which nothing is used here.

Where the standard leaves a value to the implementer, or we take more than it allows, stands our choice, marked as such;
docs/plc.md lists the choices. REAL and LREAL are IEEE 754 (numpy's).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

Value = Any
SIGNED = {"SINT": 8, "INT": 16, "DINT": 32, "LINT": 64}
UNSIGNED = {"USINT": 8, "UINT": 16, "UDINT": 32, "ULINT": 64}
BITS = {"BYTE": 8, "WORD": 16, "DWORD": 32, "LWORD": 64}
REALS = {"REAL": np.float32, "LREAL": np.float64}
WIDTHS = {**SIGNED, **UNSIGNED, **BITS}
_UNSIGNED_OF = {"BYTE": "USINT", "WORD": "UINT", "DWORD": "UDINT", "LWORD": "ULINT"}

# figure 12: implicit conversions, from each type to the next ones ---------------------------------------------------

_NEXT = {
    "SINT": ("INT",), "INT": ("DINT", "REAL"), "DINT": ("LINT", "LREAL"), "LINT": (),
    "USINT": ("UINT", "INT"), "UINT": ("UDINT", "DINT", "REAL"), "UDINT": ("ULINT", "LINT", "LREAL"), "ULINT": (),
    "REAL": ("LREAL",), "LREAL": (), "BYTE": ("WORD",), "WORD": ("DWORD",), "DWORD": ("LWORD",), "LWORD": (),
    "BOOL": (), "TIME": ()}


class Refused(Exception):
    """The standard gives it no meaning."""


def wider(type_: str) -> set[str]:
    """The types that a value goes into without being told, its own among them."""
    found = {type_}
    for following in _NEXT[type_]:
        found |= wider(following)
    return found


def common(left: str, right: str) -> str:
    """The type in which two operands meet: the first one that both go into. Raises Refused.

    Our choices: a bit string beside an integer is the unsigned number of its bits (the standard wants a conversion by
    name), and an integer beside a REAL is taken as REAL, whatever its width (the standard: LREAL for 32 bits)."""
    if (left in BITS) != (right in BITS) and not {left, right} & {"BOOL", "TIME", *REALS}:
        left, right = _UNSIGNED_OF.get(left, left), _UNSIGNED_OF.get(right, right)
    for real, other in ((left, right), (right, left)):
        if real in REALS and other in WIDTHS and other not in BITS:
            return real
    both = wider(left) & wider(right)
    both = both & {*WIDTHS} or both
    first = [one for one in both if both <= wider(one)]
    if not first:
        raise Refused(f"{left} and {right}")
    return first[0]


# values --------------------------------------------------------------------------------------------------------------


def wrap(number: int, type_: str) -> int:
    """The low bits of a number. Our choice for results that the type does not hold."""
    low = int(number) % (1 << WIDTHS[type_])
    return low - (1 << WIDTHS[type_]) if type_ in SIGNED and low >> WIDTHS[type_] - 1 else low


def convert(value: Value, source: str, target: str) -> Value:
    """`source_TO_target(value)` (table 22 and following): to integers by rounding to the nearest, halves to even; our
    choice is what lies outside of the target: its low bits, 0 of what is no number."""
    if target in REALS:
        with np.errstate(all="ignore"):
            return REALS[target](value)
    if target == "BOOL":
        return bool(value != 0)
    if source in REALS:
        value = int(np.rint(np.float64(value))) if np.isfinite(value) else 0
    return wrap(int(value), target)


def divide(left: int, right: int) -> int:
    """Integer division, "truncated towards zero" (table 29)."""
    return int((abs(left) // abs(right)) * (1 if (left >= 0) == (right > 0) else -1))


def modulo(left: int, right: int) -> int:
    """Table 29: IF IN2 = 0 THEN 0, ELSE IN1 - (IN1 / IN2) * IN2."""
    return 0 if right == 0 else left - divide(left, right) * right


_COMPARISONS: dict[str, Callable[[Value, Value], bool]] = {
    "=": lambda a, b: a == b, "<>": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
_WHOLE: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": divide, "MOD": modulo}
_REAL: dict[str, Callable[[Value, Value], Value]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}
_LOGIC: dict[str, Callable[[int, int], int]] = {
    "AND": lambda a, b: a & b, "OR": lambda a, b: a | b, "XOR": lambda a, b: a ^ b}
SIGNS = (*_WHOLE, *_COMPARISONS, *_LOGIC)


def result_of(sign: str, type_: str) -> str:
    """The type of an operator's result whose operands meet in a type. Raises Refused. Our choices: BOOL has no order,
    and the arithmetic of bit strings is that of the unsigned numbers of their bits."""
    if type_ == "BOOL" and sign in ("<", "<=", ">", ">="):
        raise Refused("the order of BOOL")
    allowed = {*WIDTHS, *REALS} if sign in _WHOLE else {*BITS, "BOOL"} if sign in _LOGIC else {
        *WIDTHS, *REALS, "TIME", "BOOL"}
    if type_ not in allowed or (sign == "MOD" and type_ in REALS):
        raise Refused(f"{sign} of {type_}")
    return "BOOL" if sign in _COMPARISONS else type_


def operate(sign: str, left: Value, right: Value, type_: str) -> Value:
    """An operator on two values of one type."""
    if sign in _COMPARISONS:
        return bool(_COMPARISONS[sign](left, right))
    if sign in _LOGIC:
        return _LOGIC[sign](left, right)
    if type_ in REALS:
        with np.errstate(all="ignore"):
            return _REAL[sign](left, right)
    return wrap(_WHOLE[sign](left, right), type_)


# standard functions (tables 28 to 33) --------------------------------------------------------------------------------


def limit(low: Value, value: Value, high: Value) -> Value:
    """LIMIT: MIN(MAX(IN, MN), MX)."""
    return min(max(value, low), high)


def select(chooses_second: bool, first: Value, second: Value) -> Value:
    """SEL: IN1 where G is TRUE."""
    return second if chooses_second else first


def multiplex(number: int, *inputs: Value) -> Value:
    """MUX: input K, counted from 0. Our choice of one that is not there: the last."""
    return inputs[number] if 0 <= number < len(inputs) else inputs[-1]


def shift(name: str, value: int, count: int, type_: str) -> int:
    """SHL and SHR fill with zeros, ROL and ROR turn round. Our choice of a count below 0: a shift leaves nothing, and a
    turn goes the other way."""
    width = WIDTHS[type_]
    digits = f"{value:0{width}b}"
    if name in ("SHL", "SHR"):
        gone = count if 0 <= count < width else width
        return int(digits[gone:] + "0" * gone if name == "SHL" else "0" * gone + digits[:width - gone], 2)
    turn = (count if name == "ROL" else -count) % width
    return int(digits[turn:] + digits[:turn], 2)


def truncate(value: Value) -> int:
    """TRUNC, to DINT."""
    return wrap(int(np.trunc(np.float64(value))), "DINT") if np.isfinite(value) else 0


# expressions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Literal:
    """A number without a type, which takes the one that it is needed in."""

    text: str

    @property
    def value(self) -> int | float:
        """The number."""
        return float(self.text) if "." in self.text else int(self.text)


@dataclass(frozen=True)
class Variable:
    """A variable with its type."""

    name: str
    type: str


@dataclass(frozen=True)
class Binary:
    """Two operands of an operator."""

    sign: str
    left: Tree
    right: Tree


@dataclass(frozen=True)
class Choice:
    """SEL(condition, first, second), LIMIT, MIN or MAX of three."""

    name: str
    first: Tree
    second: Tree
    third: Tree


Tree: TypeAlias = "Literal | Variable | Binary | Choice"
ANY_INT, ANY_REAL = "an integer", "a real"
"""What is made of literals, or of integers and a real literal: of no type yet."""


def write(tree: Tree) -> str:
    """The tree as Structured Text."""
    if isinstance(tree, Literal):
        return tree.text
    if isinstance(tree, Variable):
        return tree.name
    if isinstance(tree, Binary):
        return f"({write(tree.left)} {tree.sign} {write(tree.right)})"
    return f"{tree.name}({write(tree.first)}, {write(tree.second)}, {write(tree.third)})"


def type_of(tree: Tree) -> str:
    """The type of an expression. Raises Refused."""
    if isinstance(tree, Literal):
        return ANY_REAL if "." in tree.text else ANY_INT
    if isinstance(tree, Variable):
        return tree.type
    met = _meeting(tree)
    if isinstance(tree, Binary):
        result = result_of(tree.sign, "LREAL" if met == ANY_REAL else met)
        return met if met == ANY_REAL and result == "LREAL" else result
    if tree.name == "SEL" and type_of(tree.first) != "BOOL":
        raise Refused(f"{write(tree.first)} as the condition of SEL")
    if tree.name != "SEL" and met == "BOOL":
        raise Refused("the order of BOOL")
    return met


def reckon(tree: Tree, needed: str, values: Mapping[str, Value]) -> Value:
    """The value of an expression where a value of the type `needed` is."""
    if isinstance(tree, Literal):
        return convert(tree.value, "LREAL" if "." in tree.text else "LINT", needed)
    if isinstance(tree, Variable):
        return convert(values[tree.name], tree.type, needed) if needed != tree.type else values[tree.name]
    met = _meeting(tree)
    own = type_of(tree)
    if met == ANY_REAL:
        met = needed if own == ANY_REAL and needed in REALS else "LREAL"
    own = met if own == ANY_REAL else own
    value = _apply(tree, met, values)
    return value if own == needed else convert(value, own, needed)


def _apply(tree: Binary | Choice, met: str, values: Mapping[str, Value]) -> Value:
    if isinstance(tree, Binary):
        return operate(tree.sign, reckon(tree.left, met, values), reckon(tree.right, met, values), met)
    if tree.name == "SEL":
        return select(reckon(tree.first, "BOOL", values), *(reckon(one, met, values)
                                                            for one in (tree.second, tree.third)))
    three = [reckon(one, met, values) for one in (tree.first, tree.second, tree.third)]
    return {"LIMIT": limit, "MIN": lambda *all_: min(all_), "MAX": lambda *all_: max(all_)}[tree.name](*three)


def _meeting(tree: Binary | Choice) -> str:
    """The type in which the operands meet, or that of a literal. Of integers and a real literal it is any real."""
    if isinstance(tree, Binary):
        operands = [tree.left, tree.right]
    else:
        operands = [tree.second, tree.third] if tree.name == "SEL" else [tree.first, tree.second, tree.third]
    types = [type_of(one) for one in operands]
    typed = [one for one in types if one not in (ANY_INT, ANY_REAL)]
    met = typed[0] if typed else ANY_REAL if ANY_REAL in types else ANY_INT
    for one in typed[1:]:
        met = common(met, one)
    for one in typed:
        if common(met, one) != met:
            raise Refused(f"{one} beside {met}")
    if ANY_REAL in types and met not in REALS:
        if met not in (*SIGNED, *UNSIGNED, ANY_REAL):
            raise Refused(f"{met} and a real number")
        return ANY_REAL
    for operand in operands:
        if isinstance(operand, Literal) and not _holds(met, operand.value):
            if met not in (*SIGNED, *UNSIGNED):
                raise Refused(f"{met} and {operand.text}")
            met = common(met, next(name for name in SIGNED if _holds(name, operand.value)))
    return met


def _holds(type_: str, number: float) -> bool:
    """Whether a number is one of the type."""
    if type_ == "BOOL":
        return number in (0, 1)
    return type_ not in WIDTHS or wrap(int(number), type_) == number


# standard function blocks (tables 43 to 46) --------------------------------------------------------------------------


@dataclass
class Edge:
    """R_TRIG and F_TRIG, with the bodies of table 44: Q := CLK AND NOT M; M := CLK, and the same of NOT CLK."""

    falls: bool = False
    m: bool = False

    def call(self, clock: bool) -> bool:
        """Q."""
        seen = clock != self.falls
        q = seen and not self.m
        self.m = seen
        return q


@dataclass
class Latch:
    """SR (S1 wins) and RS (R1 wins), table 43."""

    set_wins: bool
    q: bool = False

    def call(self, sets: bool, resets: bool) -> bool:
        """Q1."""
        self.q = sets or (not resets and self.q) if self.set_wins else not resets and (sets or self.q)
        return self.q


@dataclass
class Counter:
    """CTU, CTD and CTUD of INT, table 45. The inputs of counting are edges; both in one call leave CV."""

    cv: int = 0
    up: Edge = field(default_factory=Edge)
    down: Edge = field(default_factory=Edge)

    def call(self, counts: Sequence[bool], reset: bool, load: bool, preset: int) -> tuple[bool, bool, int]:
        """QU, QD and CV."""
        up, down = self.up.call(counts[0]), self.down.call(counts[1])
        if reset:
            self.cv = 0
        elif load:
            self.cv = preset
        elif up and not down:
            self.cv = min(self.cv + 1, 32767)
        elif down and not up:
            self.cv = max(self.cv - 1, -32768)
        return self.cv >= preset, self.cv <= 0, self.cv


@dataclass
class Timer:
    """TON, TOF and TP by the timing diagrams of figure 15: `began` is when the time that runs began. `preset` does not
    change while it runs."""

    kind: str
    now: int = 0
    began: int | None = None
    before: bool = False
    q: bool = False

    def call(self, given: bool, preset: int, passed: int) -> tuple[bool, int]:
        """Q and ET, `passed` milliseconds after the call before."""
        self.now += passed
        rises, falls = given and not self.before, self.before and not given
        self.before = given
        return {"TON": self._on, "TOF": self._off, "TP": self._pulse}[self.kind](given, rises, falls, preset)

    def _elapsed(self, preset: int) -> int:
        return min(self.now - self.began, preset) if self.began is not None else 0

    def _on(self, given: bool, rises: bool, _falls: bool, preset: int) -> tuple[bool, int]:
        self.began = None if not given else self.now if rises else self.began
        elapsed = self._elapsed(preset)
        return given and elapsed >= preset, elapsed

    def _off(self, given: bool, _rises: bool, falls: bool, preset: int) -> tuple[bool, int]:
        self.began = None if given else self.now if falls else self.began
        elapsed = self._elapsed(preset)
        return given or (self.began is not None and elapsed < preset), elapsed

    def _pulse(self, given: bool, rises: bool, _falls: bool, preset: int) -> tuple[bool, int]:
        runs = self.began is not None and self.now - self.began < preset
        if rises and not runs:
            ended_now = self.q and self.began is not None
            self.began = self.began if ended_now else self.now
        elif not runs and not given:
            self.began = None
        elapsed = self._elapsed(preset)
        self.q = self.began is not None and elapsed < preset
        return self.q, elapsed
