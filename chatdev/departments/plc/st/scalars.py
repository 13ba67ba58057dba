"""The elementary types: their ranges, and which of them goes into which without being told."""

from __future__ import annotations

import functools
import struct
from dataclasses import replace
from math import isfinite
from typing import Literal

from chatdev.departments.plc.st.core import Array, Constant, Record, Scalar, Type, Value

BOOL = Scalar("BOOL", "bool", 1, signed=False)
INT, DINT, LINT = (Scalar(name, "int", bits) for name, bits in (("INT", 16), ("DINT", 32), ("LINT", 64)))
REAL, LREAL = Scalar("REAL", "real", 32), Scalar("LREAL", "real", 64)
TIME = Scalar("TIME", "time", 32)
STRING = Scalar("STRING", "string", 0)
SCALARS = {one.name.lower(): one for one in (
    BOOL, Scalar("SINT", "int", 8), INT, DINT, LINT,
    *(Scalar(name, "int", bits, signed=False) for name, bits in (("USINT", 8), ("UINT", 16), ("UDINT", 32),
                                                                 ("ULINT", 64))),
    *(Scalar(name, "bits", bits, signed=False) for name, bits in (("BYTE", 8), ("WORD", 16), ("DWORD", 32),
                                                                  ("LWORD", 64))),
    REAL, LREAL, TIME, STRING)}
UNSUPPORTED = frozenset((
    "date", "time_of_day", "tod", "date_and_time", "dt", "ltime", "ldate", "ltod", "ldt", "wstring", "char", "wchar",
    "variant", "any", "any_num", "any_int", "any_real", "any_bit", "lstring", "s5time", "timer", "counter", "void"))
_INTEGERS = tuple(SCALARS[name] for name in ("usint", "sint", "uint", "int", "udint", "dint", "ulint", "lint"))
"""From the narrowest on."""
GREATEST_REAL = {32: 3.4028234663852886e38, 64: 1.7976931348623157e308}
"""By its bits."""
LOOSE_INT, LOOSE_REAL = Scalar("ANY_INT", "int", 0), Scalar("ANY_REAL", "real", 0)
"""Of a number without a type of its own. No expression that leaves the checker has one of them."""

Fit = Literal["fits", "risky", "no"]


def is_loose(type_: Type) -> bool:
    """Whether it is a number's that takes the type its place asks for."""
    return isinstance(type_, Scalar) and type_.bits == 0 and type_.kind != "string"


def base_of(type_: Scalar) -> Scalar:
    """The type without a subrange's limits; an enumeration stays."""
    return replace(type_, low=None, high=None) if type_.low is not None and type_.kind == "int" else type_


def range_of(type_: Scalar) -> tuple[int, int]:
    """The least and the greatest integer of a type of numbers that are integers."""
    if type_.low is not None and type_.high is not None:
        return type_.low, type_.high
    if type_.signed:
        return -(1 << type_.bits - 1), (1 << type_.bits - 1) - 1
    return 0, (1 << type_.bits) - 1


def fit(source: Scalar, target: Scalar) -> Fit:
    """Whether a value goes into another type without being told: with all of its values, with a risk (a sign or a bit
    pattern is seen as something else, or digits are lost), or not at all."""
    source, target = base_of(source), base_of(target)
    if source == target:
        return "fits"
    return _FITS.get((source.kind, target.kind), _no_fit)(source, target)


def unite(left: Scalar, right: Scalar) -> Scalar | None:
    """The type in which two operands meet. An integer meets another one, a bit string (the unsigned number of its bits)
    or an enumeration in the narrowest integer type that holds all values of both, INT and UINT in DINT; of others the
    one goes into the other. Nothing where there is no such type, as of LINT and ULINT."""
    left, right = base_of(left), base_of(right)
    if left == right:
        return left
    if "int" in (left.kind, right.kind) and {left.kind, right.kind} <= {"int", "bits", "enum"}:
        return _narrowest(left, right)
    for judged in ("fits", "risky"):
        if fit(right, left) == judged:
            return left
        if fit(left, right) == judged:
            return right
    return None


def fit_constant(constant: Constant, target: Scalar) -> Constant | None:
    """A number that has no type of its own as one of the type `target`, or nothing where it is none."""
    value = constant.value
    if target.kind == "real":
        return _fit_real(constant, target)
    if not isinstance(value, int):
        return None
    if target.kind == "bool":
        return Constant(bool(value), target, constant.span) if value in (0, 1) else None
    if target.kind in ("time", "string"):
        return None
    if target.kind == "enum" and not target.names[max(value - (target.low or 0), 0):][:1] > ("",):
        return None
    low, high = range_of(target)
    return Constant(value, base_of(target), constant.span) if low <= value <= high else None


def _fit_real(constant: Constant, target: Scalar) -> Constant | None:
    """The nearest REAL or LREAL; nothing for what is beyond the greatest."""
    number = round_real(constant.value, target)
    return Constant(number, base_of(target), constant.span) if isfinite(number) else None


def round_real(value: float, type_: Scalar) -> Value:
    """The nearest number of the type: 32 bits for REAL."""
    if type_.bits != 32:
        return float(value)
    try:
        return struct.unpack("<f", struct.pack("<f", float(value)))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def describe_type(type_: Type) -> str:
    """A type as its author would write it."""
    if isinstance(type_, Array):
        return f"ARRAY[{type_.low}..{type_.high}] OF {describe_type(type_.element)}"
    if isinstance(type_, Record):
        return type_.name.upper() if type_.block else type_.name
    if is_loose(type_):
        return "a number" if type_.kind == "real" else "an integer"
    if type_.kind == "int" and type_.low is not None:
        return f"{type_.name} ({type_.low}..{type_.high})"
    return type_.name


@functools.cache
def _narrowest(left: Scalar, right: Scalar) -> Scalar | None:
    """The narrowest integer type that holds all values of both; an enumeration's are those of INT."""
    lows, highs = zip(*(range_of(INT if one.kind == "enum" else one) for one in (left, right)), strict=True)
    held = (one for one in _INTEGERS if range_of(one)[0] <= min(lows) and max(highs) <= range_of(one)[1])
    return next(held, None)


def _no_fit(_source: Scalar, _target: Scalar) -> Fit:
    return "no"


def _integer_to_integer(source: Scalar, target: Scalar) -> Fit:
    if source.signed == target.signed or target.signed:
        room = target.bits - (target.signed and not source.signed)
        if source.bits <= room:
            return "fits"
    return "risky" if source.bits <= target.bits else "no"


def _integer_to_real(source: Scalar, target: Scalar) -> Fit:
    return "fits" if source.bits <= (24 if target.bits == 32 else 53) else "risky"


def _wider(source: Scalar, target: Scalar) -> Fit:
    return "fits" if source.bits <= target.bits else "no"


def _bits_to_integer(source: Scalar, target: Scalar) -> Fit:
    if source.bits > target.bits:
        return "no"
    return "fits" if source.bits <= target.bits - target.signed else "risky"


def _integer_to_bits(source: Scalar, target: Scalar) -> Fit:
    if source.bits > target.bits:
        return "no"
    return "risky" if source.signed else "fits"


def _enum_to_integer(_source: Scalar, target: Scalar) -> Fit:
    return _integer_to_integer(INT, target)


_FITS = {
    ("int", "int"): _integer_to_integer, ("int", "real"): _integer_to_real, ("real", "real"): _wider,
    ("bits", "bits"): _wider, ("bits", "int"): _bits_to_integer, ("int", "bits"): _integer_to_bits,
    ("enum", "int"): _enum_to_integer,
}
