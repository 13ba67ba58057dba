"""Bring whole values to the type that their place asks for: instances of blocks as what an interface stands for, copies
of structures and arrays, and what is not known."""

from __future__ import annotations

from dataclasses import replace

from chatdev.departments.plc.st.core import (
    Branch,
    Constant,
    Convert,
    Expression,
    Forget,
    Operation,
    Place,
    Record,
    Scalar,
    Type,
    Unknown,
)
from chatdev.departments.plc.st.functions import BOOL, describe_type, is_loose, is_opaque
from chatdev.departments.plc.st.instances import DISPATCH, ID, NAMELESS, holds_identity, is_numbered, numbered_type
from chatdev.departments.plc.st.scope import Scope


def coerce_instance(expression: Expression, target: Type, scope: Scope, what: str) -> Expression:
    """A value as what an interface stands for; `what` names in words what it is for. Raises Reject, with the error
    reported, if it is none."""
    _check_interface(expression, target, scope, what)
    return replace_type(number_of(expression, scope), target) if is_numbered(target) else pass_unknown(
        expression, target)


def coerce_whole(expression: Expression, target: Type, scope: Scope, what: str) -> Expression:
    """A copy of a structure, an array or a block. Raises Reject, with the error reported, if the types differ."""
    if expression.type != target:
        raise scope.reject("type-mismatch", expression.span, found=describe_type(expression.type), what=what,
                           wanted=describe_type(target), conversion="", constant="")
    return _copy_identity(expression, scope) if holds_identity(target) else expression


def pass_unknown(expression: Expression, target: Type) -> Expression:
    """What is not known as a value of a type; a value that goes into a place of which nothing is known is lost."""
    if isinstance(expression, Unknown):
        return replace(expression, type=target)
    return Unknown(f"the value of {describe_type(expression.type)}", target, expression.span)


def is_interface(type_: Type) -> bool:
    return isinstance(type_, Scalar) and type_.kind == "opaque" and type_.names[:1] == (DISPATCH,)


def number_of(expression: Expression, scope: Scope) -> Expression:
    """The number of an instance, or of what a variable of an interface stands for. What becomes of an instance that has
    none is not known."""
    if is_numbered(expression.type) or (isinstance(expression, Constant) and is_loose(expression.type)
                                        and expression.value == 0):
        return replace_type(expression, numbered_type(ID))
    if not isinstance(expression, Place) or not isinstance(expression.type, Record) or scope.world.find_part(
            expression.type, ID) is None:
        return Unknown(expression.why if isinstance(expression, Unknown) else DISPATCH, numbered_type(ID),
                       expression.span)
    number = Place(expression.root, (*expression.steps, ID), numbered_type(ID), expression.span)
    is_nameless = Operation("=", (number, Constant(NAMELESS, number.type)), BOOL, expression.span)
    scope.before.append(Branch(is_nameless, (Forget(DISPATCH, expression.span),), span=expression.span))
    return number


def replace_type(expression: Expression, type_: Type) -> Expression:
    """The number of an instance as that of another interface, which it is alike."""
    if expression.type == type_:
        return expression
    assert isinstance(type_, Scalar)
    return replace(expression, type=type_) if isinstance(expression, Unknown | Constant) else Convert(
        expression, type_, expression.span)


def _copy_identity(expression: Expression, scope: Scope) -> Expression:
    """A copy of an instance is another one, of which the number is not known."""
    scope.report("gap-dispatch", expression.span)
    return Unknown(DISPATCH, expression.type, expression.span)


def _check_interface(expression: Expression, target: Type, scope: Scope, what: str) -> None:
    """Whether a value can stand for an interface: a block that implements it, an interface that extends it, or 0, which
    is none. Raises Reject."""
    source, wanted = expression.type, describe_type(target)
    found = source.name if isinstance(source, Record) and source.block else describe_type(source)
    if (isinstance(source, Record) and source.block) or is_interface(source):
        if verb := scope.world.find_misfit(found, wanted):
            raise scope.reject("no-interface", expression.span, found=found, interface=wanted, verb=verb, what=what)
    elif not is_opaque(source) and not (isinstance(expression, Constant) and is_loose(source)
                                        and expression.value == 0):
        raise scope.reject("type-mismatch", expression.span, found=found, what=what, wanted=wanted, conversion="",
                           constant="")
