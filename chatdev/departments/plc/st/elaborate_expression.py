"""Give expressions their types and their meaning in the core: literals, operators, durations and moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chatdev.departments.plc.st.coerce import coerce, convert, fold, meet, resolve, settle
from chatdev.departments.plc.st.core import (
    Assign,
    Branch,
    Call,
    Constant,
    Convert,
    Expression,
    Forget,
    Operation,
    Scalar,
    Type,
    Unknown,
    initial_value,
)
from chatdev.departments.plc.st.elaborate_call import call_getter, elaborate_call
from chatdev.departments.plc.st.elaborate_dispatch import compare_instances
from chatdev.departments.plc.st.elaborate_place import elaborate_place, elaborate_target, opaque_type, why_unknown
from chatdev.departments.plc.st.functions import (
    BOOL,
    DATE,
    DINT,
    LDATE,
    LINT,
    LOOSE_INT,
    LOOSE_REAL,
    LREAL,
    NANOSECONDS,
    REAL,
    SCALARS,
    STRING,
    UNKNOWN_TYPE,
    WSTRING,
    base_of,
    describe_type,
    find_scalar,
    is_loose,
    is_opaque,
    range_of,
    unite,
)
from chatdev.departments.plc.st.instances import is_lost
from chatdev.departments.plc.st.scope import MOST_DEPTH, OPEN_DIALECTS, Reject, Scope, UnknownValue
from chatdev.departments.plc.st.syntax import Assigning, Binary, Invocation, Literal, Node, Unary

_LOGIC = ("and", "or", "xor", "and_then", "or_else")
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_WITHOUT_ORDER = ("bool",)
_BITS = {8: "byte", 16: "word", 32: "dword", 64: "lword"}
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
        if isinstance(node, Assigning):
            return _assign_within(node, scope)
        if isinstance(node, Invocation):
            return elaborate_call(node, scope, elaborate)
        if scope.world.properties and (found := call_getter(node, scope, elaborate)) is not None:
            return found
        return elaborate_place(node, scope, elaborate)
    finally:
        scope.depth -= 1


def _assign_within(node: Assigning, scope: Scope) -> Expression:
    """`(a := b)`: it is done before the statement, and gives what is assigned."""
    is_chain = scope.world.dialect.name == "siemens" and not node.in_brackets
    if scope.world.dialect.name not in OPEN_DIALECTS and not is_chain:
        raise scope.reject("unexpected", node.span, found="':='", what="an expression", key=":=")
    target = elaborate_target(node.target, scope, elaborate)
    value = elaborate(node.value, scope)
    if isinstance(target, Unknown) or is_lost(target.type):
        scope.before.append(Forget(target.why if isinstance(target, Unknown) else "pointers", node.span))
        return value
    value = coerce(value, target.type, scope, "the value that is assigned")
    scope.before.append(Assign(target, value, node.span))
    return target


def elaborate_as(node: Node, target: Type, scope: Scope, what: str) -> Expression:
    """The same as a value of the type `target`; `what` names in words what it is for."""
    return coerce(elaborate(node, scope), target, scope, what)


def elaborate_constant(node: Node, scope: Scope, what: str) -> Constant:
    """The same where a value has to be known before the program runs. Raises UnknownValue for what is not there."""
    expression = elaborate(node, scope)
    if isinstance(expression, Unknown):
        raise UnknownValue(expression.why)
    if is_opaque(expression.type):
        raise UnknownValue(why_unknown(expression.type))
    if not isinstance(expression, Constant):
        raise scope.reject("not-constant", node.span, what=what)
    return expression


def operate(sign: str, operands: list[Expression], node: Node, scope: Scope) -> Expression:
    """An operator on two operands, or `not` and `neg` on one."""
    if any(is_opaque(one.type) for one in operands):
        compared = compare_instances(sign, operands, node, scope)
        return _operate_unknown(sign, operands, node, scope) if compared is None else compared
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


def _operate_unknown(sign: str, operands: Sequence[Expression], node: Node, scope: Scope) -> Expression:
    """What an operator gives of a value that is not known: a BOOL, or what is not known in turn. A BOOL beside it is
    left to the proof, which takes the other one for any BOOL."""
    first = next(one for one in operands if is_opaque(one.type))
    why = first.why if isinstance(first, Unknown) else why_unknown(first.type)
    if sign in _COMPARISONS or sign in ("and_then", "or_else", "-->"):
        return Unknown(why, BOOL, node.span)
    known = [one for one in operands if not is_opaque(one.type)]
    if sign in _LOGIC and known and known[0].type == BOOL:
        return operate(sign, [coerce(one, BOOL, scope, "an operand") for one in operands], node, scope)
    return Unknown(why, UNKNOWN_TYPE, node.span)


def _elaborate_literal(node: Literal, scope: Scope) -> Expression:
    if not node.type:
        return Constant(node.value, LOOSE_REAL if isinstance(node.value, float) else LOOSE_INT, node.span)
    type_ = find_scalar(node.type, scope.world.dialect.name) if node.type.lower() in SCALARS else None
    if type_ is None and node.type == "DTL":
        scope.report("gap-type", node.span, name=node.type)
        return Unknown("the type DTL", opaque_type("DTL", "the type DTL"), node.span)
    if type_ is None:
        raise scope.reject("unknown-type", node.span, name=node.type, near="", unsupported=False)
    if type_.name in _DURATIONS and not range_of(type_)[0] <= node.value <= range_of(type_)[1]:
        return _elaborate_long_time(type_, node, scope)
    if isinstance(node.value, bool) or type_.kind in ("time", "string"):
        return coerce(Constant(node.value, _BASES.get(type_.name, type_), node.span), type_, scope, "a literal")
    loose = LOOSE_REAL if isinstance(node.value, float) else LOOSE_INT
    return coerce(Constant(node.value, loose, node.span), type_, scope, f"a literal of {node.type}")


def _elaborate_long_time(type_: Scalar, node: Literal, scope: Scope) -> Expression:
    """A duration that only one of another sign or width holds."""
    if type_.name == "TIME" or not type_.signed:
        why = "a TIME ends at T#24d20h31m23s647ms" if type_.signed else "durations have no sign in CODESYS and TwinCAT"
        raise scope.reject("bad-literal", node.span, found=f"{type_.name}#{node.value}", why=why)
    scope.report("gap-long-time", node.span)
    return Unknown("an LTIME of more than 106751 days", type_, node.span)


_BASES = {"CHAR": STRING, "WCHAR": WSTRING}


def _elaborate_binary(node: Binary, scope: Scope) -> Expression:
    if node.operator in ("and_then", "or_else"):
        return _elaborate_short(node, scope)
    left, before = elaborate(node.left, scope), len(scope.before)
    right = elaborate(node.right, scope)
    if _assigns(node.right) and not isinstance(left, Constant | Unknown) and isinstance(left.type, Scalar):
        kept = scope.add_temporary("left", settle(left).type, initial_value(settle(left).type))  # as it was before that
        scope.before.insert(before, Assign(kept, settle(left), node.left.span))
        left = kept
    return operate(node.operator, [left, right], node, scope)


def _assigns(node: Node) -> bool:
    """Whether an operand has an assignment in it."""
    if isinstance(node, Binary):
        return _assigns(node.left) or _assigns(node.right)
    return isinstance(node, Assigning) or (isinstance(node, Unary) and _assigns(node.operand))


def _elaborate_short(node: Binary, scope: Scope) -> Expression:
    """What stands at the right is evaluated only where it decides, also what it changes."""
    left = elaborate(node.left, scope)
    outer, scope.before = scope.before, []
    try:
        right, more = elaborate(node.right, scope), scope.before
    finally:
        scope.before = outer
    if not more:
        return operate(node.operator, [left, right], node, scope)
    result = scope.add_temporary("test", BOOL, False)
    test: Expression = result if node.operator == "and_then" else Operation("not", (result,), BOOL, node.span)
    scope.before += [Assign(result, coerce(left, BOOL, scope, "an operand"), node.span), Branch(
        test, (*more, Assign(result, coerce(right, BOOL, scope, "an operand"), node.span)), span=node.span)]
    return result


def _elaborate_unary(node: Unary, scope: Scope) -> Expression:
    operand = elaborate(node.operand, scope)
    if is_opaque(operand.type):
        return _operate_unknown(node.operator, [operand], node, scope)
    if node.operator == "not":
        return _negate_logic(operand, node, scope)
    return _negate(operand, node, scope)


def _negate(operand: Expression, node: Node, scope: Scope) -> Expression:
    type_ = operand.type
    if isinstance(type_, Scalar) and type_.kind == "bits":
        return _count_bits([operand], type_, node, scope, lambda counts: _negate(counts[0], node, scope))
    if not isinstance(type_, Scalar) or type_.kind not in ("int", "real", "time"):
        raise scope.reject("wrong-operand", node.span, operator="-", found=describe_type(type_), wanted="a number")
    if type_ == LOOSE_INT and not isinstance(operand, Constant):
        return _negate(settle(operand), node, scope)
    if isinstance(operand, Constant) and (is_loose(type_) or type_.kind == "time"):
        return Constant(-operand.value, type_, node.span)
    return Operation("neg", (operand,), type_, node.span)


def _negate_logic(operand: Expression, node: Node, scope: Scope) -> Expression:
    type_ = operand.type
    if isinstance(type_, Scalar) and type_.kind == "int" and type_.bits and scope.world.dialect.name in OPEN_DIALECTS:
        bits = SCALARS[_BITS[type_.bits]]
        turned = Operation("not", (Convert(operand, bits, node.span),), bits, node.span)
        return Convert(turned, base_of(type_), node.span)
    if not isinstance(type_, Scalar) or type_.kind not in ("bool", "bits"):
        raise scope.reject("wrong-operand", node.span, operator="NOT", found=describe_type(type_),
                           wanted="BOOL or a bit string")
    if isinstance(operand, Constant) and type_.kind == "bool":
        return Constant(not operand.value, type_, node.span)
    return Operation("not", (operand,), type_, node.span)


def _combine_logic(sign: str, left: Expression, right: Expression, node: Node, scope: Scope) -> Expression:
    met = meet(left, right, scope)
    if met is not None and met[2].kind == "int" and met[2].bits and scope.world.dialect.name in OPEN_DIALECTS:
        bits = SCALARS[_BITS[met[2].bits]]
        operands = tuple(Convert(one, bits, one.span) for one in met[:2])
        return Convert(Operation(sign, operands, bits, node.span), met[2], node.span)
    if met is None or met[2].kind not in ("bool", "bits") or (met[2].kind == "bits" and "_" in sign):
        raise _reject_operands(sign.upper(), left, right, node, scope, "BOOL or bit strings")
    return Operation(sign, met[:2], met[2], node.span)


def _compare(sign: str, left: Expression, right: Expression, node: Node, scope: Scope) -> Expression:
    met = meet(left, right, scope)
    if met is None and _mixes_signs(left, right, scope):
        scope.report("gap-signs", node.span, left=describe_type(left.type), right=describe_type(right.type))
        return Unknown("operands of mixed signs", BOOL, node.span)
    if met is None or (met[2].kind in _WITHOUT_ORDER and sign not in ("=", "<>")):
        raise _reject_operands(sign, left, right, node, scope, "two values of one type")
    operands, type_ = met[:2], met[2]
    if is_loose(type_):
        operands = _settle_both(*operands, type_)
    if type_.kind == "real" and sign in ("=", "<>"):
        scope.report("real-equality", node.span, operator=sign)
    return Operation(sign, operands, BOOL, node.span)


def _mixes_signs(left: Expression, right: Expression, scope: Scope) -> bool:
    """Whether integers meet of which no type holds both, and the dialect takes them all the same."""
    kinds = [one.type.kind for one in (left, right) if isinstance(one.type, Scalar)]
    return scope.world.dialect.name in OPEN_DIALECTS and len(kinds) == 2 and set(kinds) <= {"int", "bits", "enum"} \
        and "int" in kinds


def _reckon(sign: str, left: Expression, right: Expression, node: Node, scope: Scope) -> Expression:
    if scope.world.dialect.name != "iec":
        left, right = _beside_real(left, right), _beside_real(right, left)
    met = meet(left, right, scope)
    if met is None and _mixes_signs(left, right, scope):
        scope.report("gap-signs", node.span, left=describe_type(left.type), right=describe_type(right.type))
        return Unknown("operands of mixed signs", UNKNOWN_TYPE, node.span)
    allowed, wanted = (("int",), "integers") if sign == "mod" else (("int", "real"), "numbers")
    if met is not None and met[2].kind == "bits":
        return _count_bits(met[:2], met[2], node, scope, lambda both: _reckon(sign, both[0], both[1], node, scope))
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


def _beside_real(operand: Expression, other: Expression) -> Expression:
    """A bit string beside a REAL is the unsigned number of its bits."""
    type_, beside = operand.type, other.type
    if not isinstance(type_, Scalar) or not isinstance(beside, Scalar) or (type_.kind, beside.kind) != ("bits", "real"):
        return operand
    return convert(operand, SCALARS[f"u{_COUNTED[type_.bits].lower()}"])


def _count_bits(operands: Sequence[Expression], type_: Scalar, node: Node, scope: Scope,
                reckon: Callable[[list[Expression]], Expression]) -> Expression:
    """Arithmetic of bit strings: that of the unsigned numbers of their bits. The standard has none."""
    if scope.world.dialect.name == "iec":
        scope.report("bits-arithmetic", node.span, type=type_.name)
    number = SCALARS[f"u{_COUNTED[type_.bits].lower()}"]
    return convert(settle(reckon([convert(one, number) for one in operands])), type_)


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
    """Durations and moments: sums and differences; a duration by a number is reckoned in its unit."""
    if _has_time(left) and _has_time(right):
        return _shift_moment(sign, left, right, node, scope)
    duration, number = (left, right) if _has_time(left) else (right, left)
    divides = sign == "/" and _has_time(left)
    unit = duration.type if _is_duration(duration.type) and (sign == "*" or divides) else None
    count = _type_of_reckoning(number.type, unit) if isinstance(number.type, Scalar) and isinstance(unit, Scalar) \
        else None
    if count is None or not isinstance(unit, Scalar):
        raise _reject_operands(sign.upper(), left, right, node, scope, _TIMES)
    first, second = convert(left, count), convert(right, count)
    return convert(_reckon(sign, first, second, node, scope), unit)


_TIMES = "TIME + TIME, TIME - TIME, TIME * number, TIME / number, a moment and a TIME, or the difference of two moments"


_DURATIONS = ("TIME", "LTIME")


def _is_duration(type_: Type) -> bool:
    return isinstance(type_, Scalar) and type_.name in _DURATIONS


def _shift_moment(sign: str, left: Expression, right: Expression, node: Node, scope: Scope) -> Expression:
    """Reckoned in the finer one of the units, as LINT where they differ."""
    one, other = left.type, right.type
    assert isinstance(one, Scalar)
    assert isinstance(other, Scalar)
    if {one.name, other.name} == {"TIME", "LTIME"}:
        one = other = one if one.name == "LTIME" else other
        left, right = convert(left, one), convert(right, one)
    if sign not in ("+", "-"):
        raise _reject_operands(sign, left, right, node, scope, _TIMES)
    if one == other and one.name in _DURATIONS:
        return fold(sign, left, right, one) or Operation(sign, (left, right), one, node.span)
    if sign == "+" and one.name in _DURATIONS:
        left, right, one, other = right, left, other, one
    if one == other and sign == "-":
        result = find_scalar("ltime" if one.bits == 64 else "time", scope.world.dialect.name)
    elif other.name in _DURATIONS and one not in (DATE, LDATE):
        result = one
    else:
        raise _reject_operands(sign, left, right, node, scope, _TIMES)
    return _add_counts(sign, left, right, result, node)


def _add_counts(sign: str, left: Expression, right: Expression, result: Scalar, node: Node) -> Expression:
    """A sum or difference of what is counted in different units."""
    one, other = left.type, right.type
    assert isinstance(one, Scalar)
    assert isinstance(other, Scalar)
    finest = min(NANOSECONDS[one.name], NANOSECONDS[other.name], NANOSECONDS[result.name])
    first, second = (_count_in(operand, finest) for operand in (left, right))
    total = Operation(sign, (first, second), LINT, node.span)
    by = NANOSECONDS[result.name] // finest
    return convert(total if by == 1 else Operation("/", (total, Constant(by, LINT)), LINT, node.span), result)


def _count_in(operand: Expression, nanoseconds: int) -> Expression:
    """A duration or moment as LINT, in a unit."""
    assert isinstance(operand.type, Scalar)
    by = NANOSECONDS[operand.type.name] // nanoseconds
    count = Convert(operand, LINT, operand.span)
    return count if by == 1 else Operation("*", (count, Constant(by, LINT)), LINT, operand.span)


def _type_of_reckoning(number: Scalar, unit: Scalar) -> Scalar | None:
    """The type in which a duration meets a number."""
    if number.kind == "real":
        return LREAL
    if number.kind not in ("int", "bits"):
        return None
    if not unit.signed and unit.bits == 64:
        return SCALARS["ulint"]
    count = SCALARS["udint"] if not unit.signed else DINT if unit.bits == 32 else LINT
    return count if is_loose(number) else unite(count, number)


def _reject_operands(sign: str, left: Expression, right: Expression, node: Node, scope: Scope, wanted: str) -> Reject:
    types = [one.type for one in (left, right) if isinstance(one.type, Scalar) and not is_loose(one.type)]
    return scope.reject("wrong-operands", node.span, operator=sign, left=describe_type(left.type),
                        right=describe_type(right.type), wanted=wanted, bits=_suggest_number(types),
                        signs=_suggest_sign(types),
                        negated=isinstance(node, Binary) and isinstance(node.left, Unary)
                        and node.left.operator == "not")
