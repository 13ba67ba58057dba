"""Bring a value to the type that its place asks for, two operands to one type, and a number without a type to one."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from chatdev.departments.plc.st.coerce_instance import coerce_instance, coerce_whole, is_interface, pass_unknown
from chatdev.departments.plc.st.core import (
    Call,
    Constant,
    Convert,
    Expression,
    Operation,
    Scalar,
    Type,
    Value,
)
from chatdev.departments.plc.st.functions import (
    DINT,
    FUNCTIONS,
    GREATEST_REAL,
    INT,
    LINT,
    LOOSE_INT,
    LOOSE_REAL,
    LREAL,
    NANOSECONDS,
    SCALARS,
    Fit,
    base_of,
    describe_type,
    fit,
    fit_constant,
    is_loose,
    is_opaque,
    keep_bits,
    number_type,
    range_of,
    unite,
)
from chatdev.departments.plc.st.scope import OPEN_DIALECTS, Reject, Scope

_FOLDS: dict[str, Callable[[Any, Any], Value]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul}


def coerce(expression: Expression, target: Type, scope: Scope, what: str) -> Expression:
    """The expression as a value of the type `target`; `what` names in words what it is for. Raises Reject, with the
    error reported, if it is none."""
    source = expression.type
    if is_interface(target):
        return coerce_instance(expression, target, scope, what)
    if is_opaque(source) or is_opaque(target):
        return pass_unknown(expression, target)
    if not isinstance(source, Scalar) or not isinstance(target, Scalar):
        return coerce_whole(expression, target, scope, what)
    if is_loose(source):
        number = fit_constant(expression, target) if isinstance(expression, Constant) else None
        number = number or _turn_sign(expression, target, scope)
        return number or _coerce_loose(expression, target, scope, what)
    judged = fit(source, target)
    if judged == "no" and scope.world.dialect.name in OPEN_DIALECTS:
        judged = _judge_openly(source, target)
    if judged == "no":
        raise _reject_type(expression, source, target, scope, what)
    if judged == "risky":
        _warn(expression, target, scope)
    return convert(expression, target)


def _judge_openly(source: Scalar, target: Scalar) -> Fit:
    """What CODESYS and TwinCAT take beside that, with a warning: an LREAL as a REAL, an enumeration as a bit string or
    as another enumeration."""
    is_number = source.kind == "enum" and target.kind in ("bits", "enum", "int")
    if is_number and target.kind == "bits" and (source.low or 0) >= 0 and (source.high or 0) < 1 << target.bits:
        return "fits"
    return "risky" if is_number or source.kind == target.kind == "real" else "no"


def _turn_sign(expression: Expression, target: Scalar, scope: Scope) -> Constant | None:
    """A negative number as one without sign, which CODESYS and TwinCAT take with a warning."""
    if scope.world.dialect.name not in OPEN_DIALECTS or target.kind not in ("int", "bits") or target.signed or not (
            isinstance(expression, Constant) and isinstance(expression.value, int)
            and -(1 << target.bits - 1) <= expression.value < 0):
        return None
    scope.report("risky-conversion", expression.span, found="a negative number", wanted=describe_type(target),
                 conversion="")
    return Constant(keep_bits(expression.value, target), base_of(target), expression.span)


def _unite_enumerations(left: Scalar, right: Scalar) -> Scalar | None:
    return unite(number_type(left), number_type(right)) if left.kind == right.kind == "enum" else None


def meet(left: Expression, right: Expression, scope: Scope | None) -> tuple[Expression, Expression, Scalar] | None:
    """Two operands in one type, which may still be that of a loose number; nothing if there is none. Without a scope no
    warning is given."""
    left_type, right_type = left.type, right.type
    if not isinstance(left_type, Scalar) or not isinstance(right_type, Scalar):
        return None
    if left_type is right_type and left_type.bits and left_type.low is None:
        return left, right, left_type
    if is_loose(left_type) or is_loose(right_type):
        return _meet_number(left, right, scope)
    united = unite(left_type, right_type)
    if united is None and scope is not None and scope.world.dialect.name in OPEN_DIALECTS:
        united = _unite_enumerations(left_type, right_type)
    if united is None:
        return None
    for one in (left, right):
        _warn_if_risky(one, united, scope)
    return convert(left, united), convert(right, united), united


def fold(sign: str, left: Expression, right: Expression, type_: Scalar) -> Constant | None:
    """The number that an operation on two numbers which meet in a type gives, if it is known exactly."""
    if not isinstance(left, Constant) or not isinstance(right, Constant):
        return None
    if not is_loose(type_) and not _is_exact(type_, left, right):
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
    return f"{number_type(source).name}_TO_{target.name}"


def _is_exact(type_: Scalar, left: Constant, right: Constant) -> bool:
    return type_.kind in ("int", "time") and left.type == right.type


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


def _meet_number(left: Expression, right: Expression, scope: Scope | None
                 ) -> tuple[Expression, Expression, Scalar] | None:
    """The same where one of them at least is loose."""
    if is_loose(left.type) and is_loose(right.type):
        return left, right, LOOSE_REAL if LOOSE_REAL in (left.type, right.type) else LOOSE_INT
    loose, other = (right, left) if is_loose(right.type) else (left, right)
    assert isinstance(other.type, Scalar)
    type_ = base_of(other.type)
    number = fit_constant(loose, type_) if isinstance(loose, Constant) else None
    if number is not None:  # most often
        return (left, number, type_) if loose is right else (number, right, type_)
    united = _meet_loose(loose, other, type_, scope)
    if united is None:
        return None
    if united == LOOSE_REAL:
        return left, right, united
    return convert(left, united), convert(right, united), united


def _meet_loose(loose: Expression, other: Expression, type_: Scalar, scope: Scope | None) -> Scalar | None:
    """Where a loose number meets a value of a type: there, if the type holds it; an integer beside a fraction becomes a
    real, of which is not known yet how wide it is; what is too large makes the other one wider."""
    if loose.type == LOOSE_REAL and type_.kind == "int":
        return LOOSE_REAL
    united: Scalar | None = type_
    if resolve(loose, type_) is None:
        number = settle(loose).type
        united = unite(number, type_) if isinstance(number, Scalar) and type_.kind in ("int", "real") else None
    _warn_if_risky(other if united == type_ else loose, united, scope)
    _warn_within(loose, united, scope)
    return united


def _coerce_loose(expression: Expression, target: Scalar, scope: Scope, what: str) -> Expression:
    found = resolve(expression, target)
    if found is not None:
        _warn_within(expression, target, scope)
        return found
    if isinstance(expression, Constant):
        raise _reject_number(expression, target, scope, what)
    wrong = next((one for one in _numbers(expression) if fit_constant(one, target) is None), None)
    if wrong is not None and (expression.type == LOOSE_INT or target.kind == "real"):
        raise _reject_number(wrong, target, scope, what)
    return coerce(settle(expression), target, scope, what)


def _numbers(expression: Expression) -> Iterator[Constant]:
    """The numbers without a type in a loose expression."""
    if isinstance(expression, Constant):
        yield expression
    elif isinstance(expression, Call | Operation):
        for at, one in enumerate(expression.operands):
            if is_loose(one.type) and shares_type(expression, at):
                yield from _numbers(one)


def _reject_number(number: Constant, target: Scalar, scope: Scope, what: str) -> Reject:
    is_whole = isinstance(number.value, int) and target.kind in ("int", "bits")
    if is_whole or target.kind == "real":
        greatest = GREATEST_REAL.get(target.bits, 0.0)
        low, high = range_of(target) if is_whole else (-greatest, greatest)
        return scope.reject("out-of-range", number.span, value=number.value, type=target.name, low=low, high=high)
    return _reject_type(number, number.type, target, scope, what)


def _warn_within(loose: Expression, target: Scalar | None, scope: Scope | None) -> None:
    """Warn of the values of a type in a loose expression that lose digits where it becomes one of a type."""
    if target is not None and not is_loose(target) and isinstance(loose, Call | Operation):
        for at, one in enumerate(loose.operands):
            if shares_type(loose, at):
                _warn_within(one, target, scope)
                _warn_if_risky(one, target, scope)


def _warn_if_risky(expression: Expression, target: Scalar | None, scope: Scope | None) -> None:
    source = expression.type
    if scope and target is not None and isinstance(source, Scalar) and not is_loose(source) and not is_loose(target) \
            and source != target and fit(source, target) == "risky":
        _warn(expression, target, scope)


def _warn(expression: Expression, target: Scalar, scope: Scope) -> None:
    """Warn that a value may change in another type, unless it is known and does not."""
    source = expression.type
    assert isinstance(source, Scalar)
    number = fit_constant(expression, target) if isinstance(expression, Constant) else None
    if number is None or number.value != expression.value:  # type: ignore[union-attr]  # then it is a constant
        scope.report("risky-conversion", expression.span, found=describe_type(source), wanted=describe_type(target),
                     conversion=conversion_name(source, target))


def _reject_type(expression: Expression, source: Type, target: Scalar, scope: Scope, what: str) -> Reject:
    shown = expression.value if isinstance(expression, Constant) and is_loose(source) else ""
    conversion = conversion_name(source, target) if isinstance(source, Scalar) else ""
    return scope.reject("type-mismatch", expression.span, found=describe_type(source), what=what,
                        wanted=describe_type(target), constant=shown, conversion=conversion)


# Numbers without a type of their own, and what is reckoned from them: each takes the type that its place needs.

_WHOLE = (INT, DINT, LINT, SCALARS["ulint"])


def resolve(expression: Expression, target: Scalar) -> Expression | None:
    """An expression in the type `target`, which the operands of a loose one take; nothing where one of its numbers is
    none of the type, or its function does not take the type."""
    if not is_loose(expression.type):
        return convert(expression, target)
    if isinstance(expression, Constant):
        return fit_constant(expression, target)
    if not isinstance(expression, Call | Operation) or not _may_be(expression, target):
        return None
    operands: list[Expression] = []
    for at, one in enumerate(expression.operands):
        found = resolve(one, target) if shares_type(expression, at) else one
        if found is None:
            return None
        operands.append(found)
    return replace(expression, operands=tuple(operands), type=target)


def convert(expression: Expression, target: Scalar) -> Expression:
    """The expression in another type, with the conversion said if there is one."""
    source = expression.type
    if not isinstance(source, Scalar):
        return expression
    if target.kind == source.kind == "string":
        return _cut(expression, source, target)
    if _plain(source) == _plain(target):
        return expression
    if source.kind == target.kind == "time":
        return rescale(expression, target)
    if is_loose(source):
        return resolve(expression, target) or convert(settle(expression), target)
    if isinstance(expression, Constant) and _keeps_value(source, target):
        number = fit_constant(expression, target)
        if number is not None:
            return number
    return Convert(expression, target, expression.span)


def _cut(expression: Expression, source: Scalar, target: Scalar) -> Expression:
    """A text of as many characters as its place has at the most."""
    if target.high is None or (source.high is not None and source.high <= target.high):
        return expression
    if isinstance(expression, Constant):
        return Constant(expression.value[:target.high], target, expression.span)
    return Convert(expression, target, expression.span)


def rescale(expression: Expression, target: Scalar) -> Expression:
    """A duration or moment counted in the unit of another one."""
    source = expression.type
    assert isinstance(source, Scalar)
    have, want = NANOSECONDS[source.name], NANOSECONDS[target.name]
    if isinstance(expression, Constant):
        return Constant(keep_bits(_truncate(expression.value * have, want) if have < want else
                                  expression.value * (have // want), target), target, expression.span)
    if have == want:
        return Convert(expression, target, expression.span)
    wide = LINT if source.signed else SCALARS["ulint"]
    sign, factor = ("*", have // want) if have > want else ("/", want // have)
    count = Operation(sign, (Convert(expression, wide, expression.span), Constant(factor, wide)), wide, expression.span)
    return Convert(count, target, expression.span)


def _truncate(number: int, by: int) -> int:
    return number // by if number >= 0 else -(-number // by)


def settle(expression: Expression) -> Expression:
    """The expression; a loose one takes the first of INT, DINT, LINT and ULINT that holds its numbers, or LREAL."""
    if not is_loose(expression.type):
        return expression
    types = () if expression.type == LOOSE_REAL else _WHOLE
    found = next((found for one in types if (found := resolve(expression, one))), None) or resolve(expression, LREAL)
    assert found is not None
    return found


def shares_type(expression: Call | Operation, at: int) -> bool:
    """Whether the operand at a position has the type of the result, as the first one of SEL has not."""
    if isinstance(expression, Operation):
        return True
    parameter = FUNCTIONS[expression.function].parameter(at)
    return parameter is not None and not parameter[1]


def _may_be(expression: Call | Operation, target: Scalar) -> bool:
    """Whether a loose expression that is no number can have the type."""
    if expression.type == LOOSE_REAL and target.kind != "real":
        return False
    return isinstance(expression, Operation) or target.kind in FUNCTIONS[expression.function].kinds


def _keeps_value(source: Scalar, target: Scalar) -> bool:
    """Whether a constant that fits is the same number in the other type."""
    return source.kind in ("int", "bits", "real", "enum") and target.kind in ("int", "real") and (
        target.kind == "real" or source.kind != "real")


def _plain(type_: Scalar) -> tuple[str, str, int, bool]:
    return type_.name, type_.kind, type_.bits, type_.signed
