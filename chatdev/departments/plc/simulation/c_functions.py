"""The standard functions in C: each row gives an expression of the operands, which are names without effects.

`st/functions.py` says what they mean; a test holds both complete and equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from chatdev.departments.plc.st.core import Scalar

Text = Callable[[Scalar, Sequence[str]], str]
PAIRWISE = ("MIN", "MAX")
"""These are written for two operands; more are taken one by one, from left to right."""


def _absolute(type_: Scalar, names: Sequence[str]) -> str:
    if type_.kind == "real":
        return f"fabs({names[0]})"
    wide = "uint64_t" if type_.bits > 32 else "uint32_t"
    return f"(uint{type_.bits}_t)({names[0]} < 0 ? 0u - ({wide}){names[0]} : ({wide}){names[0]})" if type_.signed \
        else names[0]


def _extreme(sign: str) -> Text:
    return lambda _type, names: f"{names[1]} {sign} {names[0]} ? {names[1]} : {names[0]}"


def _limit(_type: Scalar, names: Sequence[str]) -> str:
    low, value, high = names
    return f"{value} < {low} ? ({high} < {low} ? {high} : {low}) : {high} < {value} ? {high} : {value}"


def _select(_type: Scalar, names: Sequence[str]) -> str:
    return f"{names[0]} ? {names[2]} : {names[1]}"


def _multiplex(_type: Scalar, names: Sequence[str]) -> str:
    choices = "".join(f"{names[0]} == {number} ? {name} : " for number, name in enumerate(names[1:-1]))
    return choices + names[-1]


def _remainder(type_: Scalar, names: Sequence[str]) -> str:
    dividend, divisor = names
    rest = f"plc_remainder({dividend}, {divisor})" if type_.signed else f"{dividend} % {divisor}"
    return f"{divisor} == 0 ? 0 : {rest}"


def _move(_type: Scalar, names: Sequence[str]) -> str:
    return names[0]


def _shift(sign: str) -> Text:
    return lambda type_, names: (f"{names[1]} >= 0 && {names[1]} < {type_.bits} ? "
                                 f"(uint64_t){names[0]} {sign} {names[1]} : 0u")


def _rotate(sign: str) -> Text:
    return lambda type_, names: f"plc_rotate({names[0]}, {sign}(int64_t){names[1]}, {type_.bits})"


def _whole(function: str) -> Text:
    return lambda type_, names: f"(uint{type_.bits}_t)plc_whole({function}({names[0]}))"


def _real(function: str) -> Text:
    return lambda _type, names: f"{function}({names[0]})"


FUNCTION_TEXTS: Mapping[str, Text] = {
    "ABS": _absolute, "MIN": _extreme("<"), "MAX": _extreme(">"), "LIMIT": _limit, "SEL": _select, "MUX": _multiplex,
    "MOVE": _move, "MOD": _remainder, "SHL": _shift("<<"), "SHR": _shift(">>"), "ROL": _rotate(""), "ROR": _rotate("-"),
    "TRUNC": _whole("trunc"), "ROUND": _whole("rint"), "FLOOR": _whole("floor"), "CEIL": _whole("ceil"),
    "SQRT": _real("sqrt"), "EXP": _real("exp"), "LN": _real("log"), "LOG": _real("log10"), "SIN": _real("sin"),
    "COS": _real("cos"), "TAN": _real("tan"), "ASIN": _real("asin"), "ACOS": _real("acos"), "ATAN": _real("atan"),
}
