"""Find what a name, a member or an element means."""

from __future__ import annotations

from collections.abc import Callable

from chatdev.departments.plc.st.coerce import coerce, settle
from chatdev.departments.plc.st.core import Array, Bit, Constant, Expression, Field, Place, Record, Scalar, Variable
from chatdev.departments.plc.st.diagnostics import find_nearest
from chatdev.departments.plc.st.functions import BOOL, LINT, describe_type
from chatdev.departments.plc.st.scope import Scope, constant_of
from chatdev.departments.plc.st.syntax import Invocation, Member, Name, Node, Subscript

Elaborate = Callable[[Node, Scope], Expression]


def elaborate_place(node: Node, scope: Scope, elaborate: Elaborate) -> Place | Bit | Constant:
    """A variable or what is in it, or the constant of that name. `elaborate` reads the indices."""
    if isinstance(node, Name):
        return _find_name(node, scope)
    if isinstance(node, Member):
        value = _find_value(node, scope)
        return value or _enter_member(_base(node.base, scope, elaborate), node, scope)
    if isinstance(node, Subscript):
        return _enter_elements(_base(node.base, scope, elaborate), node, scope, elaborate)
    if isinstance(node, Invocation):
        raise scope.reject("result-parts", node.span)
    raise scope.reject("no-place", node.span)


def elaborate_target(node: Node, scope: Scope, elaborate: Elaborate) -> Place | Bit:
    """A place that may be written. Raises Reject, with the error reported, if it is none."""
    place = elaborate_place(node, scope, elaborate)
    if isinstance(place, Constant):
        written = node.text if isinstance(node, Name | Member) else ""
        raise scope.reject("assign-constant", node.span, name=written)
    whole = place.place if isinstance(place, Bit) else place
    variable = scope.find(whole.root)
    if variable is not None:
        _check_variable(variable, whole, scope)
        _check_member(variable, whole, scope)
    return place


def _check_variable(variable: Variable, place: Place, scope: Scope) -> None:
    """Constants are not written; inputs and the counter of an open FOR should not be."""
    if variable.section == "constant":
        raise scope.reject("assign-constant", place.span, name=variable.written)
    if variable.section == "input" and not scope.is_standard:
        scope.report("assign-input", place.span, name=variable.written)
    if variable.name in scope.counters and not place.steps:
        scope.report("assign-counter", place.span, name=variable.written)


def _check_member(variable: Variable, place: Place, scope: Scope) -> None:
    """Of a function block only the inputs are written from outside."""
    if not isinstance(variable.type, Record) or not variable.type.block or len(place.steps) != 1:
        return
    part = scope.world.find_part(variable.type, str(place.steps[0]))
    if part is not None and part.section != "input":
        raise scope.reject("assign-member", place.span, name=f"{variable.written}.{part.name}", section=part.section)


def _base(node: Node, scope: Scope, elaborate: Elaborate) -> Place:
    base = elaborate_place(node, scope, elaborate)
    if not isinstance(base, Place):
        raise scope.reject("no-parts", node.span, type=describe_type(base.type))
    return base


def _find_name(node: Name, scope: Scope) -> Place | Constant:
    variable = scope.find(node.key)
    if variable is not None:
        return constant_of(variable, node.span) or Place(node.key, (), variable.type, node.span)
    values = scope.world.values.get(node.key, [])
    if len(values) > 1:
        raise scope.reject("ambiguous-value", node.span, name=node.text,
                           types=", ".join(f"{type_.name}#{node.text}" for type_, _ in values))
    if values:
        return Constant(values[0][1], values[0][0], node.span)
    raise scope.reject_unknown(node.key, node.text, node.span)


def _find_value(node: Member, scope: Scope) -> Constant | None:
    """`Type.Value` of an enumeration, if the base is the name of one and no variable's."""
    if not isinstance(node.base, Name) or scope.find(node.base.key) is not None:
        return None
    type_ = scope.world.types.get(node.base.key, (None, None))[0]
    if not isinstance(type_, Scalar) or type_.kind != "enum":
        return None
    number = scope.world.find_number(type_, node.key)
    if number is None:
        raise scope.reject("unknown-member", node.span, name=node.text, base=type_.name,
                           near=find_nearest(node.text, type_.names), known=", ".join(filter(None, type_.names[:12])))
    return Constant(number, type_, node.span)


def _enter_member(base: Place, node: Member, scope: Scope) -> Place | Bit:
    type_ = base.type
    if node.key.isdigit():
        return _enter_bit(base, int(node.key), node, scope)
    if not isinstance(type_, Record):
        raise scope.reject("no-parts", node.span, type=describe_type(type_))
    part = scope.world.find_part(type_, node.key)
    if part is None or not _is_visible(part, type_, scope):
        known = [_authors_name(part, type_, scope) for part in type_.fields if _is_visible(part, type_, scope)]
        if part is not None:
            raise scope.reject("private-member", node.span, name=node.text, block=describe_type(type_),
                               known=", ".join(known[:12]), standard=type_.block in scope.world.standard)
        raise scope.reject("unknown-member", node.span, name=node.text, base=_describe_base(node.base, type_),
                           near=find_nearest(node.text, known), known=", ".join(known[:12]))
    return Place(base.root, (*base.steps, node.key), part.type, node.span)


def _is_visible(part: Field, record: Record, scope: Scope) -> bool:
    """Outside of a function block its inputs and outputs are seen; a property sees all."""
    return not record.block or part.section in ("input", "output") or scope.sees_all


def _authors_name(part: Field, record: Record, scope: Scope) -> str:
    """A part's name as its author wrote it, where that is known."""
    signature = scope.world.signatures.get(record.block)
    variables = signature.variables if signature else ()
    return next((one.written for one in variables if one.name == part.name), part.name)


def _describe_base(node: Node, type_: Record) -> str:
    written = node.text if isinstance(node, Name | Member) else "the element"
    return f"{written} ({describe_type(type_)})"


def _enter_bit(base: Place, index: int, node: Member, scope: Scope) -> Bit:
    type_ = base.type
    if not isinstance(type_, Scalar) or type_.kind not in ("int", "bits"):
        raise scope.reject("no-parts", node.span, type=describe_type(type_))
    if index >= type_.bits:
        raise scope.reject("no-bit", node.span, index=index, type=type_.name, last=type_.bits - 1)
    return Bit(base, index, BOOL, node.span)


def _enter_elements(base: Place, node: Subscript, scope: Scope, elaborate: Elaborate) -> Place:
    place = base
    for index in node.indices:
        if not isinstance(place.type, Array):
            raise scope.reject("no-elements", node.span, type=describe_type(base.type), count=len(node.indices),
                               array=isinstance(base.type, Array))
        step = _elaborate_index(index, place.type, scope, elaborate)
        place = Place(place.root, (*place.steps, step), place.type.element, node.span)
    return place


def _elaborate_index(node: Node, array: Array, scope: Scope, elaborate: Elaborate) -> Expression:
    index = elaborate(node, scope)
    type_ = index.type
    if isinstance(type_, Scalar) and type_.kind == "bits" and not isinstance(index, Constant):
        index = coerce(index, LINT, scope, "an index")
    elif not isinstance(type_, Scalar) or type_.kind not in ("int", "enum"):
        raise scope.reject("wrong-index", node.span, found=describe_type(type_))
    if isinstance(index, Constant) and not array.low <= index.value <= array.high:
        raise scope.reject("index-range", node.span, index=index.value, low=array.low, high=array.high)
    return settle(index)


