"""Numbers without a type of their own, and what is reckoned from them: each takes the type that its place needs.

`2.5`, and `raw / 2.5` of an integer, are of the type `LOOSE_REAL` until it is known whether they are needed as REAL or
LREAL; `SEL(b, 0, 40000)` is of the type `LOOSE_INT`. No expression that leaves the checker has one of them.
"""

from __future__ import annotations

from dataclasses import replace

from chatdev.departments.plc.st.core import Call, Constant, Convert, Expression, Operation, Scalar
from chatdev.departments.plc.st.functions import FUNCTIONS
from chatdev.departments.plc.st.scalars import DINT, INT, LINT, LOOSE_REAL, LREAL, SCALARS, fit_constant, is_loose

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
    if not isinstance(source, Scalar) or _plain(source) == _plain(target):
        return expression
    if is_loose(source):
        return resolve(expression, target) or convert(settle(expression), target)
    if isinstance(expression, Constant) and _keeps_value(source, target):
        number = fit_constant(expression, target)
        if number is not None:
            return number
    return Convert(expression, target, expression.span)


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
