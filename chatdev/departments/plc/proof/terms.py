"""What core scalars, operators and standard functions mean to the solver: bit vectors for numbers, IEEE floating point
for REAL.

A term is a Python value where it is known, else a z3 expression. Known values are worked out at once, so that a loop
over constants costs the solver nothing.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import z3

from chatdev.departments.plc.st.core import Scalar, Value
from chatdev.departments.plc.st.functions import FUNCTIONS

Term: TypeAlias = Any
NEAREST = z3.RNE()
BOOL = Scalar("BOOL", "bool", 1)
_FORMATS = {32: ("<f", "<I"), 64: ("<d", "<Q")}
_RING: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_UNSIGNED = {"<": z3.ULT, "<=": z3.ULE, ">": z3.UGT, ">=": z3.UGE}
_FLOAT: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: z3.fpAdd(NEAREST, a, b), "-": lambda a, b: z3.fpSub(NEAREST, a, b),
    "*": lambda a, b: z3.fpMul(NEAREST, a, b), "/": lambda a, b: z3.fpDiv(NEAREST, a, b),
    "=": z3.fpEQ, "<>": z3.fpNEQ, "<": z3.fpLT, "<=": z3.fpLEQ, ">": z3.fpGT, ">=": z3.fpGEQ}


class Inexpressible(Exception):
    """The solver has no term for it; the text says for what."""


def is_known(term: Term) -> bool:
    """Whether it is a Python value."""
    return not isinstance(term, z3.AstRef)


def sort_of(scalar: Scalar) -> Any:
    """The z3 sort of its values. A text is the number that it has here: two are equal where their numbers are."""
    if scalar.kind == "bool":
        return z3.BoolSort()
    if scalar.kind == "real":
        return z3.Float32() if scalar.bits == 32 else z3.Float64()
    return z3.BitVecSort(_TEXT_BITS if scalar.kind == "string" else scalar.bits)


def symbol(name: str, scalar: Scalar) -> Term:
    """A value that is not known, by its name."""
    return z3.Const(name, sort_of(scalar))


def lift(term: Term, scalar: Scalar) -> Any:
    """A term as a z3 expression."""
    if not is_known(term):
        return term
    sort = sort_of(scalar)
    if scalar.kind == "bool":
        return z3.BoolVal(bool(term))
    if scalar.kind == "real":
        wide, whole = _FORMATS[scalar.bits]
        bits = struct.unpack(whole, struct.pack(wide, term))[0]
        return z3.simplify(z3.fpBVToFP(z3.BitVecVal(bits, scalar.bits), sort))
    return z3.BitVecVal(_number_of(term) if scalar.kind == "string" else term, sort)


def _number_of(text: str) -> int:
    """The number of a text, in the order in which they come up in this process."""
    return _TEXTS.setdefault(text, len(_TEXTS))


_TEXT_BITS = 32
_TEXTS: dict[str, int] = {"": 0}


def _text_of(number: int) -> str:
    """The text of a number; one that nothing else has for a number that no text has."""
    found = next((text for text, one in _TEXTS.items() if one == number), None)
    return f"~{number}" if found is None else found


def read_value(expression: Any, scalar: Scalar) -> Value:
    """The Python value of a z3 numeral."""
    if scalar.kind == "bool":
        return z3.is_true(expression)
    if scalar.kind == "real":
        wide, whole = _FORMATS[scalar.bits]
        if expression.isNaN():
            return math.nan
        bits = z3.simplify(z3.fpToIEEEBV(expression)).as_long()
        return struct.unpack(wide, struct.pack(whole, bits))[0]
    return _text_of(expression.as_long()) if scalar.kind == "string" else wrap(expression.as_long(), scalar)


def wrap(number: int, scalar: Scalar) -> int:
    """The low bits of a number as a value of the type."""
    low = number & ((1 << scalar.bits) - 1)
    return low - (1 << scalar.bits) if _is_signed(scalar) and low >> (scalar.bits - 1) else low


def _is_signed(scalar: Scalar) -> bool:
    return scalar.signed and scalar.kind != "bits"


def fold(expression: Any, scalar: Scalar) -> Term:
    """An expression of numerals alone as its value; any other as it is."""
    simple = z3.simplify(expression)
    is_numeral = z3.is_true(simple) or z3.is_false(simple) or z3.is_bv_value(simple) or z3.is_fp_value(simple)
    return read_value(simple, scalar) if is_numeral else expression


# truth ---------------------------------------------------------------------------------------------------------------


def negate(term: Term) -> Term:
    """NOT of a truth value."""
    if is_known(term):
        return not term
    return term.arg(0) if z3.is_not(term) else z3.Not(term)


def both(*terms: Term) -> Term:
    """AND of truth values."""
    open_terms = [term for term in terms if not is_known(term)]
    if any(is_known(term) and not term for term in terms):
        return False
    if len(open_terms) < 2:
        return open_terms[0] if open_terms else True
    return z3.And(open_terms)


def either(*terms: Term) -> Term:
    """OR of truth values."""
    open_terms = [term for term in terms if not is_known(term)]
    if any(is_known(term) and term for term in terms):
        return True
    if len(open_terms) < 2:
        return open_terms[0] if open_terms else False
    return z3.Or(open_terms)


def choose(condition: Term, then: Term, otherwise: Term, scalar: Scalar) -> Term:
    """`then` where the condition holds, else the other one."""
    if is_known(condition):
        return then if condition else otherwise
    if is_same(then, otherwise):
        return then
    if z3.is_not(condition):
        return choose(condition.arg(0), otherwise, then, scalar)
    if scalar.kind == "bool":
        return _choose_truth(condition, then, otherwise)
    return z3.If(condition, lift(then, scalar), lift(otherwise, scalar))


def _choose_truth(condition: Term, then: Term, otherwise: Term) -> Term:
    then = True if is_same(then, condition) else then
    otherwise = False if is_same(otherwise, condition) else otherwise
    if is_known(then):
        return either(condition, otherwise) if then else both(negate(condition), otherwise)
    if is_known(otherwise):
        return either(negate(condition), then) if otherwise else both(condition, then)
    return z3.If(condition, then, otherwise)


def is_same(one: Term, other: Term) -> bool:
    """Whether two terms are the same value or the same expression."""
    if one is other:
        return True
    if is_known(one) or is_known(other):
        return is_known(one) and is_known(other) and type(one) is type(other) and repr(one) == repr(other)
    return bool(one.eq(other))


# operators -----------------------------------------------------------------------------------------------------------


def operate(operator_: str, operands: list[Term], scalar: Scalar, result: Scalar) -> Term:
    """The value of an operator on operands of one type. Raises Inexpressible."""
    if scalar.kind == "bool":
        return _operate_truth(operator_, operands)
    if scalar.kind == "string" and operator_ not in ("=", "<>") and not all(map(is_known, operands)):
        raise Inexpressible(TEXTS)
    if operator_ == "**":
        return power(operands, scalar)
    if all(map(is_known, operands)):
        return _work_out(operator_, operands, scalar, result)
    return _combine(operator_, [lift(operand, scalar) for operand in operands], scalar)


def _work_out(operator_: str, operands: list[Value], scalar: Scalar, result: Scalar) -> Value:
    if scalar.kind == "string" or (scalar.kind != "real" and operator_ in _COMPARE):
        return bool(_COMPARE[operator_](*operands))
    if scalar.kind != "real" and operator_ in _RING:
        return wrap(_RING[operator_](*operands), scalar)
    return fold(_combine(operator_, [lift(operand, scalar) for operand in operands], scalar), result)


def _operate_truth(operator_: str, operands: list[Term]) -> Term:
    if operator_ in ("and", "and_then"):
        return both(*operands)
    if operator_ in ("or", "or_else"):
        return either(*operands)
    first = operands[0]
    if operator_ == "not":
        return negate(first)
    if operator_ in ("=", "<>", "xor"):
        differ = first
        for operand in operands[1:]:
            differ = choose(operand, negate(differ), differ, BOOL)
        return negate(differ) if operator_ == "=" else differ
    numbers = [z3.If(lift(operand, BOOL), z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)) for operand in operands]
    return fold(_UNSIGNED[operator_](*numbers), BOOL)


def _combine(operator_: str, operands: list[Any], scalar: Scalar) -> Any:
    if operator_ in ("neg", "not"):
        return z3.fpNeg(operands[0]) if scalar.kind == "real" else -operands[0] if operator_ == "neg" else ~operands[0]
    meaning = _meaning(operator_, scalar)
    value = operands[0]
    for operand in operands[1:]:
        value = meaning(value, operand)
    return value


def _meaning(operator_: str, scalar: Scalar) -> Callable[[Any, Any], Any]:
    if scalar.kind == "real":
        return _FLOAT[operator_]
    if operator_ in _RING:
        return _RING[operator_]
    signed = _is_signed(scalar)
    if operator_ in ("/", "mod"):
        divide, leave = (operator.truediv, z3.SRem) if signed else (z3.UDiv, z3.URem)
        return divide if operator_ == "/" else leave
    if operator_ in ("and", "or", "xor"):
        return {"and": operator.and_, "or": operator.or_, "xor": operator.xor}[operator_]
    return _COMPARE[operator_] if signed or operator_ in ("=", "<>") else _UNSIGNED[operator_]


def power(operands: list[Term], scalar: Scalar) -> Term:
    """`**` of integers whose exponent is known, by multiplication. Raises Inexpressible."""
    base, exponent = operands
    if scalar.kind == "real" or not is_known(exponent) or not 0 <= exponent <= 64:
        raise Inexpressible("**")
    value: Term = wrap(1, scalar)
    for _ in range(exponent):
        value = operate("*", [value, base], scalar, scalar)
    return value


def overflows(operator_: str, operands: list[Term], scalar: Scalar) -> Term:
    """Whether the result of `+ - * / neg` on integers does not fit its type."""
    wide = Scalar(scalar.name, scalar.kind, 2 * scalar.bits + 1, signed=True)
    exact = operate(operator_, [convert(operand, scalar, wide) for operand in operands], wide, wide)
    back = convert(convert(exact, wide, scalar), scalar, wide)
    return operate("<>", [exact, back], wide, BOOL)


# conversions ---------------------------------------------------------------------------------------------------------


def convert(term: Term, source: Scalar, target: Scalar) -> Term:
    """A value in another scalar type, as `core.Convert` says. Raises Inexpressible for a text that may be cut."""
    if target.kind == "string":
        if not is_known(term):
            raise Inexpressible(TEXTS)
        return term[:target.high]
    if source.kind == target.kind and source.bits == target.bits and _is_signed(source) == _is_signed(target):
        return term
    if is_known(term) and "real" not in (source.kind, target.kind):
        return bool(term) if target.kind == "bool" else wrap(int(term), target)
    value = _convert(lift(term, source), source, target)
    return fold(value, target) if is_known(term) else value


def _convert(value: Any, source: Scalar, target: Scalar) -> Any:
    if source.kind == "bool":
        return z3.If(value, lift(1, target), lift(0, target))
    if target.kind == "bool":
        return z3.Not(z3.fpIsZero(value)) if source.kind == "real" else value != 0
    if target.kind == "real":
        return _to_real(value, source, sort_of(target))
    if source.kind == "real":
        return to_integer(value, target, NEAREST)
    if target.bits <= source.bits:
        return z3.Extract(target.bits - 1, 0, value)
    extend = z3.SignExt if _is_signed(source) else z3.ZeroExt
    return extend(target.bits - source.bits, value)


def take_part(term: Term, index: int, part: Scalar) -> Term:
    """The bits of an integer or bit string from number `index` on, as a bit string."""
    return wrap(term >> index, part) if is_known(term) else z3.Extract(index + part.bits - 1, index, term)


def put_part(term: Term, value: Term, index: int, part: Scalar, whole: Scalar) -> Term:
    """An integer or bit string with `value` as its bits from number `index` on."""
    mask = (1 << part.bits) - 1 << index
    if is_known(term) and is_known(value):
        return wrap(term & ~mask | value << index, whole)
    wide = z3.ZeroExt(whole.bits - part.bits, lift(value, part)) << index
    return lift(term, whole) & wrap(~mask, whole) | wide


def _to_real(value: Any, source: Scalar, sort: Any) -> Any:
    if source.kind == "real":
        return z3.fpFPToFP(NEAREST, value, sort)
    return (z3.fpSignedToFP if _is_signed(source) else z3.fpUnsignedToFP)(NEAREST, value, sort)


def to_integer(value: Any, target: Scalar, rounding: Any) -> Any:
    """The low bits of a rounded REAL; 0 for NaN and infinity. A number too large for the wide vector has a significand
    so far left that its low bits are 0, too."""
    wide = target.bits + value.sort().sbits() + 2
    bound = z3.FPVal(2.0 ** (wide - 2), value.sort())
    whole = z3.Extract(target.bits - 1, 0, z3.fpToSBV(rounding, value, z3.BitVecSort(wide)))
    return z3.If(z3.fpLT(z3.fpAbs(value), bound), whole, z3.BitVecVal(0, target.bits))


# standard functions, row by row as in `st/functions.py` ---------------------------------------------------------------

Meaning = Callable[[Scalar, Sequence[Term], Sequence[Scalar]], Term]
"""Takes the type of the result, the operands, and their types."""


def _absolute(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    if type_.kind == "real":
        return z3.fpAbs(lift(values[0], type_))
    return choose(_less(values[0], 0, type_), operate("neg", [values[0]], type_, type_), values[0], type_)


def _less(one: Term, other: Term, type_: Scalar) -> Term:
    return operate("<", [one, other], type_, BOOL)


def _minimum(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    least = values[0]
    for value in values[1:]:
        least = choose(_less(value, least, type_), value, least, type_)
    return least


def _maximum(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    greatest = values[0]
    for value in values[1:]:
        greatest = choose(_less(greatest, value, type_), value, greatest, type_)
    return greatest


def _limit(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
    low, value, high = values
    return _minimum(type_, (_maximum(type_, (value, low), types), high), types)


def _select(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    return choose(values[0], values[2], values[1], type_)


def _multiplex(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
    number, *inputs = values
    result = inputs[-1]
    for index, value in reversed(list(enumerate(inputs[:-1]))):
        result = choose(operate("=", [number, index], types[0], BOOL), value, result, type_)
    return result


def _remainder(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    dividend, divisor = values
    is_zero = operate("=", [divisor, 0], type_, BOOL)
    return 0 if is_zero is True else choose(is_zero, 0, operate("mod", [dividend, divisor], type_, type_), type_)


def _move(_type: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    return values[0]


def _shift(to_left: bool) -> Meaning:
    def mean(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
        """z3 shifts by the vector's own width: the count is brought there once it is known to fit."""
        value, count = lift(values[0], type_), lift(values[1], types[1])
        by = lift(convert(count, types[1], type_), type_)
        fits = z3.ULT(count, type_.bits)
        return z3.If(fits, value << by if to_left else z3.LShR(value, by), z3.BitVecVal(0, type_.bits))
    return mean


def _rotate(to_left: bool) -> Meaning:
    def mean(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
        """Widths are powers of two: the low bits of the count are its remainder, of a negative one, too."""
        by = lift(convert(values[1], types[1], type_), type_) & (type_.bits - 1)
        return (z3.RotateLeft if to_left else z3.RotateRight)(lift(values[0], type_), by)
    return mean


def _whole(rounding: z3.FPRMRef) -> Meaning:
    def mean(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
        return to_integer(lift(values[0], types[0]), type_, rounding)
    return mean


def _root(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
    return z3.fpSqrt(NEAREST, lift(values[0], type_))


def _bits_of_real(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
    """Of a number; the bits of a NaN are asked for nowhere."""
    return fold(z3.fpToIEEEBV(lift(values[0], types[0])), type_)


def _real_of_bits(type_: Scalar, values: Sequence[Term], types: Sequence[Scalar]) -> Term:
    return fold(z3.fpBVToFP(lift(values[0], types[0]), sort_of(type_)), type_)


TEXTS = "strings"


def _text(name: str) -> Meaning:
    def mean(type_: Scalar, values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
        if not all(map(is_known, values)):
            raise Inexpressible(TEXTS)
        return FUNCTIONS[name].compute(type_, values)
    return mean


def _name_only(name: str) -> Meaning:
    def mean(_type: Scalar, _values: Sequence[Term], _types: Sequence[Scalar]) -> Term:
        raise Inexpressible(name)
    return mean


STANDARD: dict[str, Meaning] = {
    "ABS": _absolute, "MIN": _minimum, "MAX": _maximum, "LIMIT": _limit, "SEL": _select, "MUX": _multiplex,
    "MOVE": _move, "MOD": _remainder, "SHL": _shift(to_left=True), "SHR": _shift(to_left=False),
    "ROL": _rotate(to_left=True), "ROR": _rotate(to_left=False), "TRUNC": _whole(z3.RTZ()), "ROUND": _whole(NEAREST),
    "FLOOR": _whole(z3.RTN()), "CEIL": _whole(z3.RTP()), "SQRT": _root,
    "@BITS_OF": _bits_of_real, "@OF_BITS": _real_of_bits,
    **{name: _text(name) for name in ("LEN", "LEFT", "RIGHT", "MID", "CONCAT", "INSERT", "DELETE", "REPLACE", "FIND",
                                      "@TO_TEXT", "@FROM_TEXT")},
    **{name: _name_only(name) for name in ("EXP", "LN", "LOG", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN")},
}
