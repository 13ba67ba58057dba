"""The values of literals: `16#8A04`, `INT#5`, `T#1m30s`, `1.5E3`, `'it$'s'`."""

from __future__ import annotations

import re
from fractions import Fraction

from chatdev.departments.plc.st.core import Value

_UNITS: dict[str, int | Fraction] = {
    "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1, "us": Fraction(1, 1000),
    "ns": Fraction(1, 1_000_000)}
_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ms|us|ns|d|h|m|s)")
_SIEMENS = {"B": "BYTE", "W": "WORD", "DW": "DWORD", "LW": "LWORD", "DINT": "DINT", "L": "DINT"}
_ESCAPES = {"L": "\n", "N": "\n", "P": "\f", "R": "\r", "T": "\t"}
MOST_DIGITS = 64


class BadLiteral(Exception):
    """A literal that says no value; the text tells why."""


def read_number(text: str) -> int | float:
    """The value of `12`, `1_000`, `16#FF`, `2#1010` or `1.5E3`."""
    if len(text) > 2 * MOST_DIGITS:
        raise BadLiteral(f"it has more than {2 * MOST_DIGITS} characters")
    plain = text.replace("_", "")
    if "#" in plain:
        base, digits = plain.split("#", 1)
        if base not in ("2", "8", "10", "16"):
            raise BadLiteral(f"the base {base} is none of 2, 8, 10, 16")
        try:
            return int(digits, int(base))
        except ValueError:
            raise BadLiteral(f"'{digits}' has other digits than those of base {base}") from None
    if any(sign in plain for sign in ".eE"):
        value = float(plain)
        if value in (float("inf"), float("-inf")):
            raise BadLiteral("it is larger than any REAL or LREAL")
        return value
    return int(plain)


def read_time(text: str) -> int:
    """The milliseconds of `T#1m30s`, `TIME#-1.5s`, `T#1h_30m`."""
    if len(text) > 2 * MOST_DIGITS:
        raise BadLiteral(f"it has more than {2 * MOST_DIGITS} characters")
    digits = text.split("#", 1)[1].replace("_", "").lower()
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    total, end, last = Fraction(0), 0, Fraction(2 ** 31)
    for part in _PARTS.finditer(digits):
        if part.start() != end:
            break
        if _UNITS[part[2]] >= last:
            raise BadLiteral("its units go from long to short, each once, as in T#1h30m")
        last = Fraction(_UNITS[part[2]])
        total, end = total + Fraction(part[1]) * last, part.end()
    if end != len(digits) or not digits:
        raise BadLiteral("a duration has numbers with units d, h, m, s, ms, as in T#1m30s or T#250ms")
    if total.denominator != 1:
        raise BadLiteral("a duration counts in whole milliseconds here")
    if total >= 2 ** 31:
        raise BadLiteral("a TIME ends at T#24d20h31m23s647ms")
    return sign * int(total)


def read_typed(text: str) -> tuple[str, Value]:
    """The type and the value of `INT#5`, `WORD#16#FF`, `BOOL#1`, `W#16#8001`; the type is in upper case."""
    prefix, rest = text.split("#", 1)
    type_name = _SIEMENS.get(prefix.upper(), prefix.upper())
    if rest.upper() in ("TRUE", "FALSE"):
        return type_name, rest.upper() == "TRUE"
    sign = -1 if rest.startswith("-") else 1
    return type_name, sign * read_number(rest.lstrip("+-"))


def read_string(text: str) -> str:
    """The characters of `'it$'s$N'`."""
    def undo(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 16)) if len(code) == 2 else _ESCAPES.get(code.upper(), code)

    return re.sub(r"\$([0-9A-Fa-f]{2}|.)", undo, text[1:-1])
