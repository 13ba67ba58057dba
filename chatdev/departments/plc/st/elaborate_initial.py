"""The values that variables begin with."""

from __future__ import annotations

from collections.abc import Sequence

from chatdev.departments.plc.st.coerce import coerce
from chatdev.departments.plc.st.core import Array, Constant, Convert, Record, Scalar, Type, Value
from chatdev.departments.plc.st.diagnostics import find_nearest
from chatdev.departments.plc.st.elaborate_expression import elaborate, elaborate_constant
from chatdev.departments.plc.st.functions import keep_bits
from chatdev.departments.plc.st.scalars import describe_type, range_of, round_real
from chatdev.departments.plc.st.scope import Scope
from chatdev.departments.plc.st.syntax import Initials, Node


def elaborate_initial(initials: Initials, type_: Type, default: Value, scope: Scope) -> Value:
    """The value that is written; parts that are not have their value of `default`. Raises Reject, with the error
    reported, if it is none of the type."""
    if isinstance(type_, Array) and initials.parts:
        return _fill_array(_expand(initials, type_, scope), type_, default, initials, scope)
    if isinstance(type_, Record) and initials.names:
        return _fill_record(initials, type_, default, scope)
    if not isinstance(type_, Scalar) or initials.value is None:
        wanted = "[value, 4(value)]" if isinstance(type_, Array) else "(part := value)" if isinstance(
            type_, Record) else "a value"
        raise scope.reject("initial-form", initials.span, type=describe_type(type_), wanted=wanted)
    return _scalar(initials.value, type_, scope)


def _scalar(node: Node, type_: Scalar, scope: Scope) -> Value:
    what = "the initial value"
    expression = coerce(elaborate(node, scope), type_, scope, what)
    if isinstance(expression, Convert) and isinstance(expression.operand, Constant) and type_.kind != "bool":
        value = expression.operand.value
        value = round_real(value, type_) if type_.kind == "real" else keep_bits(value, type_)
        expression = Constant(value, type_, node.span)
    if not isinstance(expression, Constant):
        raise scope.reject("not-constant", node.span, what=what)
    if type_.low is not None:
        low, high = range_of(type_)
        if not low <= expression.value <= high:
            raise scope.reject("out-of-range", node.span, value=expression.value, type=type_.name, low=low,
                               high=high)
    return expression.value


def _expand(initials: Initials, type_: Array, scope: Scope) -> list[Initials]:
    """The parts one by one, those with a count so many times."""
    found: list[Initials] = []
    for count, part in initials.parts:
        times = elaborate_constant(count, scope, "how often a value is repeated").value if count else 1
        if not isinstance(times, int) or times < 0 or len(found) + times > _leaves(type_):
            raise scope.reject("too-many-values", part.span, most=_leaves(type_))
        found.extend([part] * times)
    return found


def _leaves(type_: Type) -> int:
    return (type_.high - type_.low + 1) * _leaves(type_.element) if isinstance(type_, Array) else 1


def _fill_array(parts: Sequence[Initials], type_: Array, default: Value, initials: Initials, scope: Scope) -> Value:
    """An array of arrays takes lists, or the values of all of them one after another."""
    size = type_.high - type_.low + 1
    element = type_.element
    values = list(default)
    if isinstance(element, Array) and not any(part.parts for part in parts):
        width = _leaves(element)
        for index in range(0, len(parts), width):
            values[index // width] = _fill_array(parts[index:index + width], element, values[index // width],
                                                 initials, scope)
        return values
    if len(parts) > size:
        raise scope.reject("too-many-values", initials.span, most=size)
    done: dict[int, Value] = {}
    for index, part in enumerate(parts):
        if id(part) not in done:
            done[id(part)] = elaborate_initial(part, element, values[index], scope)
        values[index] = done[id(part)]
    return values


def _fill_record(initials: Initials, type_: Record, default: Value, scope: Scope) -> Value:
    values = dict(default)
    parts = {part.name: part for part in type_.fields if part.section in ("local", "input", "output")}
    for name, inner in initials.names:
        if name.key not in parts:
            raise scope.reject("unknown-member", name.span, name=name.text, base=describe_type(type_),
                               near=find_nearest(name.text, list(parts)), known=", ".join(list(parts)[:12]))
        values[name.key] = elaborate_initial(inner, parts[name.key].type, values[name.key], scope)
    return values
