"""Bring a value to the type that its place asks for, and two operands to one type."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from chatdev.tools.plc.st.core import Constant, Convert, Expression, Scalar, Type, Value
from chatdev.tools.plc.st.scalars import (
    GREATEST_REAL,
    LOOSE_INT,
    LOOSE_REAL,
    describe_type,
    fit,
    fit_constant,
    is_loose,
    range_of,
    settle,
    unite,
)
from chatdev.tools.plc.st.scope import Reject, Scope

_FOLDS: dict[str, Callable[[Any, Any], Value]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul}


def coerce(expression: Expression, target: Type, scope: Scope, what: str) -> Expression:
    """The expression as a value of the type `target`; `what` names in words what it is for. Raises Reject, with the
    error reported, if it is none."""
    source = expression.type
    if not isinstance(source, Scalar) or not isinstance(target, Scalar):
        if source == target:
            return expression
        raise scope.reject("type-mismatch", expression.span, found=describe_type(source), what=what,
                           wanted=describe_type(target), conversion="", constant="")
    if isinstance(expression, Constant) and is_loose(source):
        return _coerce_number(expression, target, scope, what)
    judged = fit(source, target)
    if judged == "no":
        raise _reject_type(expression, source, target, scope, what)
    if judged == "risky":
        scope.report("risky-conversion", expression.span, found=describe_type(source), wanted=describe_type(target),
                     conversion=conversion_name(source, target))
    return convert(expression, target)


def convert(expression: Expression, target: Scalar) -> Expression:
    """The expression in another type, with the conversion said if there is one."""
    source = expression.type
    if not isinstance(source, Scalar) or _plain(source) == _plain(target):
        return expression
    if isinstance(expression, Constant) and (is_loose(source) or _keeps_value(source, target)):
        number = fit_constant(expression, target)
        if number is not None:
            return number
        expression = settle(expression)
    return Convert(expression, target, expression.span)


def meet(left: Expression, right: Expression) -> tuple[Expression, Expression, Scalar] | None:
    """Two operands in one type, which may still be that of a loose number; nothing if there is none."""
    if not isinstance(left.type, Scalar) or not isinstance(right.type, Scalar):
        return None
    if is_loose(left.type) and is_loose(right.type):
        return left, right, LOOSE_REAL if LOOSE_REAL in (left.type, right.type) else LOOSE_INT
    return _meet_numbers(left, right, left.type, right.type)


def _meet_numbers(left: Expression, right: Expression, left_type: Scalar,
                  right_type: Scalar) -> tuple[Expression, Expression, Scalar] | None:
    """The same of two operands of which one at the most is loose."""
    if isinstance(left, Constant) and is_loose(left_type):
        return _meet_number(left, right, left, right_type)
    if isinstance(right, Constant) and is_loose(right_type):
        return _meet_number(left, right, right, left_type)
    united = unite(left_type, right_type)
    if united is None:
        return None
    return convert(left, united), convert(right, united), united


def fold(sign: str, left: Expression, right: Expression) -> Constant | None:
    """The number that an operation on two numbers gives, if it is known exactly."""
    if not isinstance(left, Constant) or not isinstance(right, Constant):
        return None
    type_ = left.type
    if not isinstance(type_, Scalar) or not _is_exact(type_, right.type):
        return None
    value = _compute(sign, left.value, right.value)
    if isinstance(value, float):
        return Constant(value, LOOSE_REAL, left.span) if math.isfinite(value) else None
    if value is None or not _is_within(value, type_):
        return None
    return Constant(value, LOOSE_INT if is_loose(type_) else type_, left.span)


def conversion_name(source: Scalar, target: Scalar) -> str:
    """The function that converts, or nothing."""
    if "string" in (source.kind, target.kind) or target.kind == "enum" or is_loose(source):
        return ""
    return f"{'INT' if source.kind == 'enum' else source.name}_TO_{target.name}"


def _is_exact(type_: Scalar, other: Type) -> bool:
    return type_ == LOOSE_REAL or (type_.kind in ("int", "time") and (is_loose(type_) or type_ == other))


def _is_within(value: int, type_: Scalar) -> bool:
    if is_loose(type_):
        return value.bit_length() <= 64
    low, high = range_of(type_)
    return low <= value <= high


def _compute(sign: str, left: Any, right: Any) -> Value | None:
    if sign in _FOLDS:
        return _FOLDS[sign](left, right)
    if not right:
        return None
    if sign == "/" and isinstance(left, float | int) and (isinstance(left, float) or isinstance(right, float)):
        return left / right
    if sign in ("/", "mod"):
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if sign == "/" else left - quotient * right
    return None


def _keeps_value(source: Scalar, target: Scalar) -> bool:
    """Whether a constant that fits is the same number in the other type."""
    return source.kind in ("int", "bits", "real", "enum") and target.kind in ("int", "real") and (
        target.kind == "real" or source.kind != "real")


def _plain(type_: Scalar) -> tuple[str, str, int, bool]:
    return type_.name, type_.kind, type_.bits, type_.signed


def _meet_number(left: Expression, right: Expression, loose: Constant,
                 type_: Scalar) -> tuple[Expression, Expression, Scalar] | None:
    """The number takes the other operand's type; one with a fraction, or too large, makes the other one wider."""
    number = fit_constant(loose, type_)
    if number is None and type_.kind in ("int", "real"):
        number_type = settle(loose).type
        united = unite(number_type, type_) if isinstance(number_type, Scalar) else None
        if united is None:
            return None
        type_ = united
        number = fit_constant(loose, united)
    if number is None:
        return None
    return (number, convert(right, type_), type_) if loose is left else (convert(left, type_), number, type_)


def _coerce_number(number: Constant, target: Scalar, scope: Scope, what: str) -> Expression:
    constant = fit_constant(number, target)
    if constant is not None:
        return constant
    is_whole = isinstance(number.value, int) and target.kind in ("int", "bits")
    if is_whole or target.kind == "real":
        greatest = GREATEST_REAL.get(target.bits, 0.0)
        low, high = range_of(target) if is_whole else (-greatest, greatest)
        raise scope.reject("out-of-range", number.span, value=number.value, type=target.name, low=low, high=high)
    raise _reject_type(number, number.type, target, scope, what)


def _reject_type(expression: Expression, source: Type, target: Scalar, scope: Scope, what: str) -> Reject:
    shown = expression.value if isinstance(expression, Constant) and is_loose(source) else ""
    conversion = conversion_name(source, target) if isinstance(source, Scalar) else ""
    return scope.reject("type-mismatch", expression.span, found=describe_type(source), what=what,
                        wanted=describe_type(target), constant=shown, conversion=conversion)


