"""What the standard functions mean to the solver, row by row as in `st/functions.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import z3

from chatdev.departments.plc.proof.terms import (
    BOOL,
    NEAREST,
    Inexpressible,
    Term,
    choose,
    convert,
    lift,
    operate,
    to_integer,
)
from chatdev.departments.plc.st.core import Scalar

Meaning = Callable[[Scalar, Sequence[Term], Sequence[Scalar]], Term]
"""Takes the type of the result, the operands, and their types."""


def _absolute(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    if type_.kind == "real":
        return z3.fpAbs(lift(values[0], type_))
    return choose(_less(values[0], 0, type_), operate("neg", [values[0]], type_, type_), values[0], type_)


def _less(one: Term, other: Term, type_: Scalar) -> Term:
    return operate("<", [one, other], type_, BOOL)


def _minimum(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    least = values[0]
    for value in values[1:]:
        least = choose(_less(value, least, type_), value, least, type_)
    return least


def _maximum(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    greatest = values[0]
    for value in values[1:]:
        greatest = choose(_less(greatest, value, type_), value, greatest, type_)
    return greatest


def _limit(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
    low, value, high = values
    return _minimum(type_, (_maximum(type_, (value, low), types), high), types)


def _select(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    return choose(values[0], values[2], values[1], type_)


def _multiplex(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
    number, *inputs = values
    result = inputs[-1]
    for index, value in reversed(list(enumerate(inputs[:-1]))):
        result = choose(operate("=", [number, index], types[0], BOOL), value, result, type_)
    return result


def _remainder(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    dividend, divisor = values
    is_zero = operate("=", [divisor, 0], type_, BOOL)
    return 0 if is_zero is True else choose(is_zero, 0, operate("mod", [dividend, divisor], type_, type_), type_)


def _move(_type: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    return values[0]


def _shift(to_left: bool) -> Meaning:
    def mean(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
        """z3 shifts by the vector's own width: the count is brought there once it is known to fit."""
        value, count = lift(values[0], type_), lift(values[1], types[1])
        by = lift(convert(count, types[1], type_), type_)
        fits = z3.ULT(count, type_.bits)
        return z3.If(fits, value << by if to_left else z3.LShR(value, by), z3.BitVecVal(0, type_.bits))
    return mean


def _rotate(to_left: bool) -> Meaning:
    def mean(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
        """Widths are powers of two: the low bits of the count are its remainder, of a negative one, too."""
        by = lift(convert(values[1], types[1], type_), type_) & (type_.bits - 1)
        return (z3.RotateLeft if to_left else z3.RotateRight)(lift(values[0], type_), by)
    return mean


def _whole(rounding: z3.FPRMRef) -> Meaning:
    def mean(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
        return to_integer(lift(values[0], types[0]), type_, rounding)
    return mean


def _root(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    return z3.fpSqrt(NEAREST, lift(values[0], type_))


def _name_only(name: str) -> Meaning:
    def mean(_type: Scalar, _values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
        raise Inexpressible(name)
    return mean


STANDARD: dict[str, Meaning] = {
    "ABS": _absolute, "MIN": _minimum, "MAX": _maximum, "LIMIT": _limit, "SEL": _select, "MUX": _multiplex,
    "MOVE": _move, "MOD": _remainder, "SHL": _shift(to_left=True), "SHR": _shift(to_left=False),
    "ROL": _rotate(to_left=True), "ROR": _rotate(to_left=False), "TRUNC": _whole(z3.RTZ()), "ROUND": _whole(NEAREST),
    "FLOOR": _whole(z3.RTN()), "CEIL": _whole(z3.RTP()), "SQRT": _root,
    **{name: _name_only(name) for name in ("EXP", "LN", "LOG", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN")},
}
