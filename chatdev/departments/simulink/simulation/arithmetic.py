"""Functions of the generated code: as MATLAB's on real numbers, they give Inf and NaN where Python would raise; and the
code of a Fcn block's expression."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from chatdev.departments.simulink.simulation.expressions import ExpressionFault, Tree

_DEEPEST = 80  # operations of a Fcn block's expression in each other; Python reads parentheses 200 deep


def divide(left: float, right: float) -> float:
    """left / right."""
    try:
        return left / right
    except ZeroDivisionError:
        return math.nan if left == 0 or left != left else math.copysign(math.inf, left) * math.copysign(1.0, right)


def power(base: float, exponent: float) -> float:
    """base ** exponent; NaN where it is complex."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    except ValueError:
        return math.inf if base == 0 else math.nan


def modulo(left: float, right: float) -> float:
    """MATLAB's mod: has the sign of `right`, and is `left` where that is 0."""
    if right == 0 or math.isinf(left) or math.isinf(right):
        return left if right == 0 else math.nan if math.isinf(left) else left if left * right >= 0 else right
    return left % right


def remainder(left: float, right: float) -> float:
    """MATLAB's rem: has the sign of `left`; NaN where `right` is 0."""
    return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)


def logarithm(value: float) -> float:
    """The natural logarithm."""
    return math.log(value) if value > 0 else -math.inf if value == 0 else math.nan


def decimal_logarithm(value: float) -> float:
    """The logarithm to the base 10."""
    return math.log10(value) if value > 0 else -math.inf if value == 0 else math.nan


def root(value: float) -> float:
    """The square root; NaN of what is negative."""
    return math.sqrt(value) if value >= 0 else math.nan


def to_integer(round_it: Callable[[float], int]) -> Callable[[float], float]:
    """A rounding that leaves Inf and NaN as they are."""
    return lambda value: float(round_it(value)) if math.isfinite(value) else value


def round_half_up(value: float) -> int:
    """To the nearest integer, halves away from 0, as MATLAB's round."""
    return math.floor(value + 0.5) if value >= 0 else math.ceil(value - 0.5)


def within_range(function: Callable[..., float]) -> Callable[..., float]:
    """A function that is NaN outside of where it is defined, and Inf where it is too large."""
    def call(*given: float) -> float:
        try:
            return function(*given)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return call


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: within_range(getattr(math, name)) for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
        "atan2", "hypot")},
    "log": logarithm, "log10": decimal_logarithm, "sqrt": root, "power": power, "divide": divide, "mod": modulo,
    "rem": remainder, "floor": to_integer(math.floor), "ceil": to_integer(math.ceil), "fix": to_integer(math.trunc),
    "round_": to_integer(round_half_up), "isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite,
    "single": lambda value: float(numpy.float32(value)),
}
"""What the generated code calls, by name."""


def code_of(tree: Tree, inputs: Sequence[str]) -> str:
    """The code of a Fcn block's expression in `u`, `u(1)`, `u[2]`. Raises ExpressionFault."""
    if tree.depth > _DEEPEST:
        raise ExpressionFault(f"it has more than {_DEEPEST} operations in a row; put parts of it in parentheses")
    if tree.kind in ("name", "call") and tree.value == "u":
        return _element(tree, inputs)
    if tree.kind == "number":
        return repr(tree.value)
    name = str(tree.value if tree.kind in ("name", "call", "unary") else tree.kind)
    form = _FORMS.get((name, len(tree.parts)))
    if form is None:
        raise ExpressionFault(f"{name} is not known in an expression of a Fcn block")
    return form.format(*(code_of(part, inputs) for part in tree.parts))


_FORMS = {
    ("pi", 0): repr(math.pi), ("inf", 0): "inf", ("+", 1): "{}", ("-", 1): "(-{})", ("~", 1): "float(not {})",
    ("/", 2): "divide({}, {})", ("^", 2): "power({}, {})", ("pow", 2): "power({}, {})", ("abs", 1): "abs({})",
    ("ln", 1): "log({})", ("sgn", 1): "sign({})", ("sign", 1): "sign({})",
    ("&&", 2): "float(bool({}) and bool({}))", ("||", 2): "float(bool({}) or bool({}))",
    ("~=", 2): "float({} != {})",
    **{(operator, 2): f"({{}} {operator} {{}})" for operator in "+-*"},
    **{(operator, 2): f"float({{}} {operator} {{}})" for operator in ("<", "<=", ">", ">=", "==", "!=")},
    **{(name, 1): f"{name}({{}})" for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
                                               "exp", "log", "log10", "sqrt", "floor", "ceil")},
    **{(name, 2): f"{name}({{}}, {{}})" for name in ("atan2", "hypot", "power", "rem")},
}
FUNCTIONS["sign"] = lambda value: float((value > 0) - (value < 0))


def _element(tree: Tree, inputs: Sequence[str]) -> str:
    number = tree.parts[0].value if tree.parts and tree.parts[0].kind == "number" else 1 if not tree.parts else None
    if number is None or not 1 <= number <= len(inputs) or number != int(number):
        raise ExpressionFault(f"u has {len(inputs)} elements; write u(1) to u({len(inputs)})")
    return inputs[int(number) - 1]


def linear_table(points: Sequence[float], values: Sequence[float], method: str,
                 extrapolation: str) -> Callable[[float], float]:
    """Interpolation over increasing points: "linear", "flat" or "nearest"; "clip" or "linear" beyond the ends."""
    last = len(points) - 2

    def look_up(at: float) -> float:
        if at != at:
            return at
        if extrapolation == "clip":
            at = min(max(at, points[0]), points[-1])
        left = min(max(bisect_right(points, at) - 1, 0), last)
        if method == "flat":
            return values[-1] if at >= points[-1] else values[left]
        share = (at - points[left]) / (points[left + 1] - points[left])
        if method == "nearest":
            return values[left + (share >= 0.5)]
        return values[left] + share * (values[left + 1] - values[left])

    return look_up
