"""Numbers as a controller reckons with them, for the Python that `python_source.py` generates.

Python's integers have no width and its `float` has 64 bits; what differs from that stands here.
"""

from __future__ import annotations

import math
from ctypes import c_float

from chatdev.departments.plc.st.core import Scalar, Value

EXACT_BITS = 53
"""Integers up to this many bits are floats without rounding."""


def single(number: float) -> float:
    """The nearest number of 32 bits, ties to even; too large ones are infinite."""
    return c_float(number).value


def single_from_integer(number: int) -> float:
    """An integer as REAL, rounded once. What the 64 bits in between would drop is kept as one sticky bit."""
    spare = max(0, abs(number).bit_length() - EXACT_BITS)
    head, tail = divmod(abs(number), 1 << spare)
    return math.copysign(single(math.ldexp(head | (tail > 0), spare)), number)


def wrap(number: int, bits: int, signed: bool) -> int:
    """The low `bits` of an integer, in two's complement if `signed`."""
    low = number & (1 << bits) - 1
    return low - (1 << bits) if signed and low >> bits - 1 else low


def quotient(dividend: int, divisor: int) -> int:
    """Division that truncates towards zero."""
    size = abs(dividend) // abs(divisor)
    return size if (dividend < 0) == (divisor < 0) else -size


def remainder(dividend: int, divisor: int) -> int:
    """What truncating division leaves: it has the sign of the dividend."""
    size = abs(dividend) % abs(divisor)
    return -size if dividend < 0 else size


def integer_power(base: int, exponent: int) -> int:
    """The low 64 bits of a power; with a negative exponent what truncates to an integer: 0, except for 1 and -1."""
    if exponent < 0:
        return base ** -exponent if base in (1, -1) else 0
    return pow(base, exponent, 1 << 64)


def divide(dividend: float, divisor: float) -> float:
    """Division of IEEE 754: by zero it gives infinity or NaN."""
    if divisor:
        return dividend / divisor
    if not dividend or math.isnan(dividend):
        return math.nan
    return math.copysign(math.inf, math.copysign(1.0, dividend) * math.copysign(1.0, divisor))


def power(base: float, exponent: float) -> float:
    """`base ** exponent` as C's `pow`: NaN and infinity where Python raises."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    except ValueError:
        return math.inf if base == 0 else math.nan


def nearest_integer(number: float) -> int:
    """The nearest integer, ties to even; 0 for NaN and infinity."""
    return round(number) if math.isfinite(number) else 0


def convert(value: Value, source: Scalar, target: Scalar) -> Value:
    """A value in another scalar type, as `core.Convert` says. Raises ValueError for text."""
    if "string" in (source.kind, target.kind):
        raise ValueError(f"{source.name} to {target.name}: text is not converted")
    if target.kind == "bool":
        return value != 0
    if target.kind != "real":
        return wrap(nearest_integer(value) if source.kind == "real" else int(value), target.bits, target.signed)
    if target.bits == 64:
        return float(value)
    return single(value) if source.kind == "real" else single_from_integer(int(value))
