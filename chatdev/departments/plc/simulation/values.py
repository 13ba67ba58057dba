"""Values that come from outside, held against the declared types, and their texts; and numbers as a controller reckons
with them, for the Python that `python_source.py` generates."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_float
from typing import Any

from chatdev.departments.plc.simulation.layout import duplicate
from chatdev.departments.plc.st import core
from chatdev.departments.plc.st.core import Scalar, Value
from chatdev.departments.plc.st.functions import write_moment
from chatdev.departments.plc.st.tokens import BadLiteral, read_time

_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
_DURATION = re.compile(r"(?:t|time)#(-?)((?:[\d_]{1,20}(?:\.\d{1,20})?(?:ms|[dhms])_?){1,5})", re.IGNORECASE)
_PART = re.compile(r"([\d_.]+)(ms|[dhms])", re.IGNORECASE)
_INTEGER = re.compile(r"(?:[a-z]\w{0,9}#)?(-?)(?:(2|8|16)#)?([\dA-F_]{1,80})", re.IGNORECASE)


class WrongValue(ValueError):
    """A value that does not fit its variable; the text says which, what was given and what is allowed."""


def bounds(type_: core.Scalar) -> tuple[int, int]:
    """The smallest and the largest value of a type of integers, time or bits, or of a subrange."""
    if type_.low is not None and type_.high is not None:
        return type_.low, type_.high
    half = 1 << type_.bits - 1
    return (-half, half - 1) if type_.signed else (0, 2 * half - 1)


def fit(value: Any, type_: core.Type, where: str, before: core.Value = None) -> core.Value:
    """A value as the core has it, that of its own. What a mapping leaves out of a record is taken from `before`.

    Raises WrongValue, with `where` as the name of the variable."""
    if isinstance(type_, core.Array):
        return _fit_array(value, type_, where, before)
    if isinstance(type_, core.Record):
        return _fit_record(value, type_, where, before)
    if type_.kind in ("int", "bits", "time", "enum", "opaque"):
        return _fit_integer(value, type_, where)
    if not _PLAIN[type_.kind](value):
        raise WrongValue(f"{where}: {value!r} is no {type_.name}, which is {_WORDS[type_.kind]}")
    if type_.kind == "real":
        number = single(value) if type_.bits == 32 else float(value)
        if math.isinf(number) and not math.isinf(value):
            raise WrongValue(f"{where}: {value!r} is too large for {type_.name}")
        return number
    return bool(value) if type_.kind == "bool" else value[:type_.high]


_WORDS: Mapping[core.Kind, str] = {"bool": "true or false", "real": "a number", "string": "a text"}
_PLAIN: Mapping[core.Kind, Callable[[Any], bool]] = {
    "bool": lambda value: isinstance(value, int) and value in (0, 1),
    "real": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str)}


def _fit_integer(value: Any, type_: core.Scalar, where: str) -> int:
    names = [name.lower() for name in type_.names]
    if isinstance(value, str) and value.lower() in names:
        return names.index(value.lower()) + (type_.low or 0)
    low, high = bounds(type_)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        allowed = f"{low} to {high}" + (f", or one of {', '.join(type_.names)}" if names else "")
        raise WrongValue(f"{where}: {value!r} is no {type_.name}, which goes from {allowed}")
    return value


def _fit_array(value: Any, type_: core.Array, where: str, before: core.Value) -> list[core.Value]:
    size = type_.high - type_.low + 1
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != size:
        given = f"{len(value)} values" if isinstance(value, Sequence) and not isinstance(value, str) else repr(value)
        raise WrongValue(f"{where}: {given} given; an array from {type_.low} to {type_.high} takes a list of {size}")
    old = before or [None] * size
    return [fit(part, type_.element, f"{where}[{number}]", old[number - type_.low])
            for number, part in enumerate(value, type_.low)]


def _fit_record(value: Any, type_: core.Record, where: str, before: core.Value) -> dict[str, core.Value]:
    if not isinstance(value, Mapping):
        raise WrongValue(f"{where}: {value!r} is no {type_.name}; give its parts by their names")
    types = {part.name: part.type for part in type_.fields}
    whole: dict[str, core.Value] = duplicate(before) if before else {p.name: duplicate(p.initial) for p in type_.fields}
    for name, part in value.items():
        key = str(name).lower()
        if key not in types and key not in whole:
            raise WrongValue(f"{where} has no part {name}; it has {', '.join(types)}")
        if key in types:
            whole[key] = fit(part, types[key], f"{where}.{name}", whole.get(key))
    return whole


def read_text(text: str, type_: core.Scalar, where: str) -> core.Value:
    """The value that a cell of a table means: TRUE, 1, 16#FF, 2.5, T#1s500ms, the name of an enumeration's value.

    Raises WrongValue."""
    text = text.strip()
    word = text.rpartition("#")[2].lower()
    if type_.kind == "string":
        return text
    if type_.kind == "bool" and word in ("true", "false", "0", "1"):
        return word in ("true", "1")
    if type_.kind == "real":
        return fit(_read_float(text), type_, where)
    if type_.kind == "enum" and word in [name.lower() for name in type_.names]:
        return fit(word, type_, where)
    value = _read_time(text, type_) if type_.kind == "time" else None
    return fit(_read_integer(text) if value is None else value, type_, where)


def write_text(value: core.Value, type_: core.Scalar) -> str:
    """The text of a value, which `read_text` reads again."""
    if type_.kind == "bool":
        return "TRUE" if value else "FALSE"
    if type_.kind == "time":
        return write_moment(value, type_.name)
    if type_.kind == "enum" and 0 <= (number := int(value) - (type_.low or 0)) < len(type_.names):
        return type_.names[number]
    return str(value)


def _read_time(text: str, type_: Scalar) -> int | None:
    """The count of a time that is written as one; None for a number."""
    value = _read_duration(text) if type_.name == "TIME" else None
    return _read_moment(text, type_) if value is None and "#" in text else value


def _read_moment(text: str, type_: Scalar) -> int | None:
    """The count of a literal of a duration, a date or a time of day."""
    try:
        name, value = read_time(text)
    except BadLiteral:
        return None
    return value if name == type_.name else value * 10**6 if (name, type_.name) == ("TIME", "LTIME") else None


def _read_float(text: str) -> float | str:
    try:
        return float(text.rpartition("#")[2])
    except ValueError:
        return text


def _read_integer(text: str) -> int | str:
    """The number, or the text as it is where it is none."""
    found = _INTEGER.fullmatch(text)
    try:
        return int(f"{found[1]}{found[3]}".replace("_", ""), int(found[2] or 10)) if found else text
    except ValueError:
        return text


def _read_duration(text: str) -> int | None:
    found = _DURATION.fullmatch(text)
    if not found:
        return None
    try:
        size = sum(float(number.replace("_", "")) * _UNITS[unit.lower()] for number, unit in _PART.findall(found[2]))
    except ValueError:
        return None
    return -round(size) if found[1] else round(size)


# Numbers as a controller reckons with them, for the Python that `python_source.py` generates.

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
    """A value in another scalar type, as `core.Convert` says. Raises ValueError for text as a number."""
    if source.kind == target.kind == "string":
        return value[:target.high]
    if "string" in (source.kind, target.kind):
        raise ValueError(f"{source.name} to {target.name}: text is not converted")
    if target.kind == "bool":
        return value != 0
    if target.kind != "real":
        return wrap(nearest_integer(value) if source.kind == "real" else int(value), target.bits, target.signed)
    if target.bits == 64:
        return float(value)
    return single(value) if source.kind == "real" else single_from_integer(int(value))
