"""The standard functions: what each takes, what it gives, and what it means on Python's values.

Functions that are operators (ADD, GT, AND, …) and conversions (INT_TO_REAL) are no calls in the core; which operator
one is stands here, too. Only a MOD that is 0 for a divisor of 0 (`Dialect.mod_zero`) is a call. The solver's meaning of
the same rows stands in `proof/`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chatdev.departments.plc.st.core import Kind, Scalar, Value
from chatdev.departments.plc.st.scalars import round_real

_NUMBERS: tuple[Kind, ...] = ("int", "real")
_ORDERED: tuple[Kind, ...] = ("int", "bits", "real", "time")
_ALL: tuple[Kind, ...] = ("bool", "int", "bits", "real", "time", "enum", "string")


@dataclass(frozen=True, slots=True)
class StandardFunction:
    """One row. `parameters` are names with their types; those of type "" have one type, of the `kinds`, in which all of
    them meet. `repeats` tells that the last parameter may be given many times. The result has the type `result`, or
    "" the same one. `compute` takes the result's type and the operands' values."""

    parameters: tuple[tuple[str, str], ...]
    kinds: tuple[Kind, ...]
    compute: Callable[[Scalar, Sequence[Value]], Value]
    result: str = ""
    repeats: bool = False

    def parameter(self, index: int) -> tuple[str, str] | None:
        """Name and type of the parameter at a position; names of repeated ones count on."""
        if index < len(self.parameters):
            return self.parameters[index]
        if not self.repeats:
            return None
        name, type_ = self.parameters[-1]
        return f"{name[:-1]}{int(name[-1]) + index - len(self.parameters) + 1}", type_


OPERATORS = {"ADD": "+", "SUB": "-", "MUL": "*", "DIV": "/", "MOD": "mod", "EXPT": "**", "AND": "and", "OR": "or",
             "XOR": "xor", "NOT": "not", "GT": ">", "GE": ">=", "EQ": "=", "LE": "<=", "LT": "<", "NE": "<>"}
"""Functions that are operators, with their names in the core; those of ADD, MUL, AND, OR and XOR take many operands."""


def keep_bits(value: int, type_: Scalar) -> int:
    """The low bits of an integer as a value of a type."""
    low = value & (1 << type_.bits) - 1
    return low - (1 << type_.bits) if type_.signed and low >> type_.bits - 1 else low


def _absolute(type_: Scalar, values: Sequence[Value]) -> Value:
    return abs(values[0]) if type_.kind == "real" else keep_bits(abs(values[0]), type_)


def _minimum(_type: Scalar, values: Sequence[Value]) -> Value:
    """From left to right, the one before if neither is less (which tells what NaN gives)."""
    least = values[0]
    for value in values[1:]:
        least = value if value < least else least
    return least


def _maximum(_type: Scalar, values: Sequence[Value]) -> Value:
    greatest = values[0]
    for value in values[1:]:
        greatest = value if value > greatest else greatest
    return greatest


def _limit(type_: Scalar, values: Sequence[Value]) -> Value:
    """MIN(MAX(IN, MN), MX): the upper limit counts where they cross."""
    low, value, high = values
    return _minimum(type_, (_maximum(type_, (value, low)), high))


def _select(_type: Scalar, values: Sequence[Value]) -> Value:
    return values[2] if values[0] else values[1]


def _multiplex(_type: Scalar, values: Sequence[Value]) -> Value:
    """A number that no input has selects the last one."""
    inputs = values[1:]
    return inputs[values[0]] if 0 <= values[0] < len(inputs) else inputs[-1]


def _shift_left(type_: Scalar, values: Sequence[Value]) -> Value:
    """By as many bits as there are, or by less than none: 0."""
    return keep_bits(values[0] << values[1], type_) if 0 <= values[1] < type_.bits else 0


def _shift_right(type_: Scalar, values: Sequence[Value]) -> Value:
    return values[0] >> values[1] if 0 <= values[1] < type_.bits else 0


def _rotate_left(type_: Scalar, values: Sequence[Value]) -> Value:
    count = values[1] % type_.bits
    return keep_bits(values[0] << count | values[0] >> type_.bits - count, type_)


def _rotate_right(type_: Scalar, values: Sequence[Value]) -> Value:
    return _rotate_left(type_, (values[0], -values[1]))


def _remainder(_type: Scalar, values: Sequence[Value]) -> Value:
    """What truncating division leaves; 0 of a divisor that is 0."""
    dividend, divisor = values
    rest = abs(dividend) % abs(divisor) if divisor else 0
    return -rest if dividend < 0 else rest


def _move(_type: Scalar, values: Sequence[Value]) -> Value:
    return values[0]


def _whole(rounded: Callable[[float], int]) -> Callable[[Scalar, Sequence[Value]], Value]:
    """A real as an integer's low bits; NaN and infinity are 0."""
    return lambda type_, values: keep_bits(rounded(values[0]) if math.isfinite(values[0]) else 0, type_)


def _real(function: Callable[[float], float]) -> Callable[[Scalar, Sequence[Value]], Value]:
    """A function of reals: NaN outside of where it is defined, infinity where it is too large."""
    def compute(type_: Scalar, values: Sequence[Value]) -> Value:
        try:
            return round_real(function(values[0]), type_)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return compute


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: function(value) if value else -math.inf


def _one(compute: Callable[[Scalar, Sequence[Value]], Value], kinds: tuple[Kind, ...] = ("real",),
         result: str = "") -> StandardFunction:
    return StandardFunction((("IN", ""),), kinds, compute, result)


def _shift(compute: Callable[[Scalar, Sequence[Value]], Value]) -> StandardFunction:
    return StandardFunction((("IN", ""), ("N", "DINT")), ("bits",), compute)


FUNCTIONS: dict[str, StandardFunction] = {
    "ABS": _one(_absolute, _NUMBERS),
    "MIN": StandardFunction((("IN1", ""), ("IN2", "")), _ORDERED, _minimum, repeats=True),
    "MAX": StandardFunction((("IN1", ""), ("IN2", "")), _ORDERED, _maximum, repeats=True),
    "LIMIT": StandardFunction((("MN", ""), ("IN", ""), ("MX", "")), _ORDERED, _limit),
    "SEL": StandardFunction((("G", "BOOL"), ("IN0", ""), ("IN1", "")), _ALL, _select),
    "MUX": StandardFunction((("K", "DINT"), ("IN0", ""), ("IN1", "")), _ALL, _multiplex, repeats=True),
    "MOVE": _one(_move, _ALL),
    "MOD": StandardFunction((("IN1", ""), ("IN2", "")), ("int",), _remainder),
    "SHL": _shift(_shift_left), "SHR": _shift(_shift_right),
    "ROL": _shift(_rotate_left), "ROR": _shift(_rotate_right),
    "TRUNC": _one(_whole(math.trunc), result="DINT"), "ROUND": _one(_whole(round), result="DINT"),
    "FLOOR": _one(_whole(math.floor), result="DINT"), "CEIL": _one(_whole(math.ceil), result="DINT"),
    "SQRT": _one(_real(math.sqrt)), "EXP": _one(_real(math.exp)),
    "LN": _one(_real(_logarithm(math.log))), "LOG": _one(_real(_logarithm(math.log10))),
    "SIN": _one(_real(math.sin)), "COS": _one(_real(math.cos)), "TAN": _one(_real(math.tan)),
    "ASIN": _one(_real(math.asin)), "ACOS": _one(_real(math.acos)), "ATAN": _one(_real(math.atan)),
}
