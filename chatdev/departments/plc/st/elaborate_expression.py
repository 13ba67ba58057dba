"""Give expressions their types and their meaning in the core."""

from __future__ import annotations

from chatdev.departments.plc.st.coerce import coerce, fold, meet
from chatdev.departments.plc.st.core import Call, Constant, Expression, Operation, Scalar, Type
from chatdev.departments.plc.st.elaborate_call import elaborate_call
from chatdev.departments.plc.st.elaborate_place import elaborate_place
from chatdev.departments.plc.st.loose import convert, resolve, settle
from chatdev.departments.plc.st.scalars import (
    BOOL,
    DINT,
    LOOSE_INT,
    LOOSE_REAL,
    LREAL,
    REAL,
    SCALARS,
    TIME,
    describe_type,
    is_loose,
    unite,
)
from chatdev.departments.plc.st.scope import MOST_DEPTH, Reject, Scope
from chatdev.departments.plc.st.syntax import Binary, Invocation, Literal, Node, Unary

_LOGIC = ("and", "or", "xor", "and_then", "or_else")
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_WITHOUT_ORDER = ("bool", "string")
_COUNTED = {8: "SINT", 16: "INT", 32: "DINT", 64: "LINT"}


def elaborate(node: Node, scope: Scope) -> Expression:
    """The expression's meaning. A number without a type may still be loose (see `scalars`). Raises Reject, with the
    error reported, if it has none."""
    scope.depth += 1
    try:
        if scope.depth > MOST_DEPTH:
            raise scope.reject("too-deep", node.span, most=MOST_DEPTH)
        if isinstance(node, Literal):
            return _elaborate_literal(node, scope)
        if isinstance(node, Binary):
            return _elaborate_binary(node, scope)
        if isinstance(node, Unary):
            return _elaborate_unary(node, scope)
        if isinstance(node, Invocation):
            return elaborate_call(node, scope, elaborate)
        return elaborate_place(node, scope, elaborate)
    finally:
        scope.depth -= 1


def elaborate_as(node: Node, target: Type, scope: Scope, what: str) -> Expression:
    """The same as a value of the type `target`; `what` names in words what it is for."""
    return coerce(elaborate(node, scope), target, scope, what)


def elaborate_constant(node: Node, scope: Scope, what: str) -> Constant:
    """The same where a value has to be known before the program runs."""
    expression = elaborate(node, scope)
    if not isinstance(expression, Constant):
        raise scope.reject("not-constant", node.span, what=what)
    return expression


def operate(sign: str, operands: list[Expression], node: Node, scope: Scope) -> Expression:
    """An operator on two operands, or `not` and `neg` on one."""
    if sign == "not":
        return _negate_logic(operands[0], node, scope)
    left, right = operands
    if sign == "-->":
        implied = Operation("not", (coerce(left, BOOL, scope, "the left side of -->"),), BOOL, node.span)
        return Operation("or", (implied, coerce(right, BOOL, scope, "the right side of -->")), BOOL, node.span)
    if sign in _LOGIC:
        return _combine_logic(sign, left, right, node, scope)
    if sign in _COMPARISONS:
        return _compare(sign, left, right, node, scope)
    if _has_time(left) or _has_time(right):
        return _reckon_time(sign, left, right, node, scope)
    return _reckon(sign, left, right, node, scope)


def _elaborate_literal(node: Literal, scope: Scope) -> Expression:
    if not node.type:
        return Constant(node.value, LOOSE_REAL if isinstance(node.value, float) else LOOSE_INT, node.span)
    type_ = SCALARS.get(node.type.lower())
    if type_ is None:
        raise scope.reject("unknown-type", node.span, name=node.type, near="", unsupported=False)
    if isinstance(node.value, bool) or type_.kind in ("time", "string"):
        return Constant(node.value, type_, node.span)
    loose = LOOSE_REAL if isinstance(node.value, float) else LOOSE_INT
    return coerce(Constant(node.value, loose, node.span), type_, scope, f"a literal of {node.type}")


def _elaborate_binary(node: Binary, scope: Scope) -> Expression:
    return operate(node.operator, [elaborate(node.left, scope), elaborate(node.right, scope)], node, scope)


def _elaborate_unary(node: Unary, scope: Scope) -> Expression:
    operand = elaborate(node.operand, scope)
    if node.operator == "not":
        return _negate_logic(operand, node, scope)
    return _negate(operand, node, scope)


def _negate(operand: Expression, node: Node, scope: Scope) -> Expression:
    type_ = operand.type
    if not isinstance(type_, Scalar) or type_.kind not in ("int", "real", "time"):
        raise scope.reject("wrong-operand", node.span, operator="-", found=describe_type(type_), wanted="a number")
    if type_ == LOOSE_INT and not isinstance(operand, Constant):
        return _negate(settle(operand), node, scope)
    if isinstance(operand, Constant) and (is_loose(type_) or type_.kind == "time"):
        return Constant(-operand.value, type_, node.span)
    return Operation("neg", (operand,), type_, node.span)


def _negate_logic(operand: Expression, node: Node, scope: Scope) -> Expression:
    type_ = operand.type
    if not isinstance(type_, Scalar) or type_.kind not in ("bool", "bits"):
        raise scope.reject("wrong-operand", node.span, operator="NOT", found=describe_type(type_),
                           wanted="BOOL or a bit string")
    if isinstance(operand, Constant) and type_.kind == "bool":
        return Constant(not operand.value, type_, node.span)
    return Operation("not", (operand,), type_, node.span)


def _combine_logic(sign: str, left: Expression, right: Expression, node: Node, scope: Scope) -> Expression:
    met = meet(left, right, scope)
    if met is None or met[2].kind not in ("bool", "bits") or (met[2].kind == "bits" and "_" in sign):
        raise _reject_operands(sign.upper(), left, right, node, scope, "BOOL or bit strings")
    return Operation(sign, met[:2], met[2], node.span)


def _compare(sign: str, left: Expression, right: Expression, node: Node, scope: Scope) -> Expression:
    met = meet(left, right, scope)
    if met is None or (met[2].kind in _WITHOUT_ORDER and sign not in ("=", "<>")):
        raise _reject_operands(sign, left, right, node, scope, "two values of one type")
    operands, type_ = met[:2], met[2]
    if is_loose(type_):
        operands = _settle_both(*operands, type_)
    if type_.kind == "real" and sign in ("=", "<>"):
        scope.report("real-equality", node.span, operator=sign)
    return Operation(sign, operands, BOOL, node.span)


def _reckon(sign: str, left: Expression, right: Expression, node: Node, scope: Scope) -> Expression:
    met = meet(left, right, scope)
    allowed, wanted = (("int",), "integers") if sign == "mod" else (("int", "real"), "numbers")
    if met is None or met[2].kind not in allowed:
        raise _reject_operands(sign.upper(), left, right, node, scope, wanted)
    first, second, type_ = met
    if _divides_by_zero(sign, second, type_):
        return _divide_by_zero(sign, first, node, scope)
    if sign == "**":
        return _raise_power(first, second, type_, node)
    number = fold(sign, first, second, type_)
    if number is not None:
        return Constant(number.value, number.type, node.span)
    if type_ == LOOSE_INT:
        return _reckon(sign, settle(first), settle(second), node, scope)
    if sign == "mod":
        return _leave(first, second, type_, node, scope)
    return Operation(sign, (first, second), type_, node.span)


def _leave(dividend: Expression, divisor: Expression, type_: Scalar, node: Node, scope: Scope) -> Expression:
    """What a division leaves."""
    if scope.world.dialect.mod_zero == "zero":
        return Call("MOD", (dividend, divisor), type_, node.span)
    return Operation("mod", (dividend, divisor), type_, node.span)


def _divides_by_zero(sign: str, divisor: Expression, type_: Scalar) -> bool:
    return sign in ("/", "mod") and type_.kind == "int" and isinstance(divisor, Constant) and divisor.value == 0


def _suggest_number(types: list[Scalar]) -> str:
    """A conversion of the operand that is a bit string, if there is one."""
    return next((f"{one.name}_TO_U{_COUNTED[one.bits]}(…)" for one in types if one.kind == "bits"), "")


def _suggest_sign(types: list[Scalar]) -> str:
    """A conversion of the unsigned operand of two integers of which no type holds all values."""
    if [one.kind for one in types] != ["int", "int"] or unite(*types):
        return ""
    return next(f"{one.name}_TO_LINT(…)" for one in types if not one.signed)


def _divide_by_zero(sign: str, dividend: Expression, node: Node, scope: Scope) -> Expression:
    if sign == "mod" and scope.world.dialect.mod_zero == "zero":
        return Constant(0, dividend.type, node.span)
    raise scope.reject("division-by-zero", node.span)


def _settle_both(left: Expression, right: Expression, type_: Scalar) -> tuple[Expression, Expression]:
    """Two loose operands in one type that holds both."""
    for wide in (SCALARS["lint"], SCALARS["ulint"]) if type_ == LOOSE_INT else ():
        first, second = resolve(left, wide), resolve(right, wide)
        if first is not None and second is not None:
            return first, second
    return convert(left, LREAL), convert(right, LREAL)


def _raise_power(base: Expression, exponent: Expression, type_: Scalar, node: Node) -> Expression:
    """Powers are reals, in LREAL where REAL would lose digits of an operand."""
    if is_loose(type_):
        return Operation("**", (base, exponent), LOOSE_REAL, node.span)
    real = LREAL if type_ == LREAL or (type_.kind == "int" and type_.bits > 24) else REAL
    return Operation("**", (convert(base, real), convert(exponent, real)), real, node.span)


def _has_time(operand: Expression) -> bool:
    return isinstance(operand.type, Scalar) and operand.type.kind == "time"


def _reckon_time(sign: str, left: Expression, right: Expression, node: Node, scope: Scope) -> Expression:
    """TIME + TIME and TIME - TIME; a duration by a number is reckoned in milliseconds."""
    if sign in ("+", "-") and left.type == right.type == TIME:
        return fold(sign, left, right, TIME) or Operation(sign, (left, right), TIME, node.span)
    type_ = right.type if _has_time(left) else left.type
    divides = sign == "/" and _has_time(left)
    milliseconds = _type_of_reckoning(type_) if isinstance(type_, Scalar) and (sign == "*" or divides) else None
    if milliseconds is None:
        raise _reject_operands(sign.upper(), left, right, node, scope,
                               "TIME + TIME, TIME - TIME, TIME * number or TIME / number")
    first, second = convert(left, milliseconds), convert(right, milliseconds)
    return convert(_reckon(sign, first, second, node, scope), TIME)


def _type_of_reckoning(number: Scalar) -> Scalar | None:
    """The type in which a duration meets a number."""
    if number.kind == "real":
        return LREAL
    if number.kind != "int":
        return None
    return DINT if is_loose(number) else unite(DINT, number)


def _reject_operands(sign: str, left: Expression, right: Expression, node: Node, scope: Scope, wanted: str) -> Reject:
    types = [one.type for one in (left, right) if isinstance(one.type, Scalar) and not is_loose(one.type)]
    return scope.reject("wrong-operands", node.span, operator=sign, left=describe_type(left.type),
                        right=describe_type(right.type), wanted=wanted, bits=_suggest_number(types),
                        signs=_suggest_sign(types),
                        negated=isinstance(node, Binary) and isinstance(node.left, Unary)
                        and node.left.operator == "not")


