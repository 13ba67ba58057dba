"""Bind a call of a function block: the places of its in-outs, where its outputs go, the global variables it uses."""

from __future__ import annotations

from collections.abc import Callable

from chatdev.departments.plc.st.coerce import coerce
from chatdev.departments.plc.st.core import (
    Assign,
    Bit,
    Constant,
    Expression,
    Forget,
    Operation,
    Place,
    Record,
    Scalar,
    Statement,
    Type,
    Unknown,
    Variable,
)
from chatdev.departments.plc.st.elaborate_place import (
    elaborate_place,
    elaborate_target,
    why_unknown,
)
from chatdev.departments.plc.st.functions import BOOL, describe_type, fit, is_opaque
from chatdev.departments.plc.st.instances import DISPATCH, holds_identity, is_lost
from chatdev.departments.plc.st.scope import (
    ANYTHING,
    Scope,
    Signature,
    is_bound,
)
from chatdev.departments.plc.st.syntax import (
    Argument,
    Invocation,
    Literal,
    Member,
    Name,
    Node,
)

Elaborate = Callable[[Node, Scope], Expression]


def take_output(variable: Variable, argument: Argument, instance: Place, signature: Signature, scope: Scope,
                 elaborate: Elaborate) -> tuple[list[tuple[Place, str]], list[Statement]]:
    """Where an output is copied to. One that needs a conversion, a bit or a NOT is read behind the call instead."""
    node = argument.value
    target = elaborate_target(node, scope, elaborate)
    if isinstance(target, Unknown):
        return [], [Forget(target.why, argument.span)] if target.why in ANYTHING else []
    if is_lost(target.type):
        return [], []
    if (is_opaque(variable.type) and variable.type != target.type) or holds_identity(target.type):
        why = why_unknown(variable.type) if is_opaque(variable.type) else DISPATCH
        unknown = Unknown(why, target.type, argument.span)
        return [], [Assign(target, unknown, argument.span)]
    if isinstance(target, Place) and variable.type == target.type and not argument.negates:
        return [(target, variable.name)], []
    value: Expression = Place(instance.root, (*instance.steps, variable.name), variable.type, argument.span)
    if argument.negates:
        value = Operation("not", (value,), BOOL, argument.span)
    if not isinstance(value.type, Scalar) or not isinstance(target.type, Scalar) or fit(
            value.type, target.type) == "no":
        raise scope.reject("output-type", argument.span, name=variable.written, callee=signature.written,
                           found=describe_type(variable.type), wanted=describe_type(target.type))
    what = f"the output '{variable.written}'"
    return [], [Assign(target, coerce(value, target.type, scope, what), argument.span)]


def bind_in_out(variable: Variable, argument: Argument | None, node: Invocation, signature: Signature,
          scope: Scope, elaborate: Elaborate, behind: list[Statement]) -> Place:
    """The place that an in-out stands for; one of its own for what is not known."""
    key = signature.name.partition("@")[0], variable.name
    if argument is None and key in scope.world.bound_references:
        scope.report("gap-reference", node.span)
        argument = Argument(variable.name, Name("null", "null", node.span), False, node.span)
    if argument is None:
        raise scope.reject("unbound", node.span, name=variable.written, callee=signature.written,
                           type=describe_type(variable.type))
    if key in scope.world.read_only:
        if (copied := _copy_constant(variable, argument, scope, elaborate)) is not None:
            return copied
        target = elaborate_place(argument.value, scope, elaborate)
        if _is_text(variable.type) and _is_text(target.type) and target.type != variable.type:
            target = Unknown("strings", variable.type, argument.span)
    else:
        target = elaborate_target(argument.value, scope, elaborate)
    return _bind_target(target, variable, argument, signature, scope, behind)


def _bind_target(target: Expression, variable: Variable, argument: Argument, signature: Signature, scope: Scope,
                 behind: list[Statement]) -> Place:
    """The place that an in-out stands for, if its type may be bound."""
    is_heir = isinstance(target, Place) and scope.world.is_heir(target.type, variable.type)
    if is_heir and _is_block(target.type):
        scope.report("gap-dispatch", argument.span)
        target = Unknown("dynamic dispatch", variable.type, argument.span)
    assert isinstance(target, Place | Bit | Unknown)
    if isinstance(target, Unknown) or is_opaque(variable.type) != is_opaque(target.type) or (
            is_opaque(target.type) and target.type != variable.type):
        return _bind_unknown(variable, target, argument, scope, behind)
    if not isinstance(target, Place):
        raise scope.reject("bit-bound", argument.span, name=variable.written)
    if not is_heir and not is_bound(variable.type, target.type):
        raise scope.reject("output-type", argument.span, name=variable.written, callee=signature.written,
                           found=describe_type(variable.type), wanted=describe_type(target.type))
    return target


def _copy_constant(variable: Variable, argument: Argument, scope: Scope, elaborate: Elaborate) -> Place | None:
    """A place of its own for a constant that an in-out which is only read stands for; None for a variable."""
    node = argument.value
    if not isinstance(node, Literal | Name | Member) or (
            not isinstance(node, Literal) and node.key in scope.world.properties):
        return None
    value = elaborate(node, scope)
    root = scope.find(value.root) if isinstance(value, Place) else None
    if not isinstance(value, Constant) and (root is None or root.section != "constant"):
        return None
    written = root.initial if root is not None else value.value  # type: ignore[union-attr]  # a Constant then
    value = coerce(value, variable.type, scope, f"a value for '{variable.written}'")
    if _is_text(variable.type) and len(written) > (variable.type.high or 0):  # type: ignore[union-attr]  # a Scalar then
        value = Unknown("strings", variable.type, argument.span)
    place = scope.add_temporary(variable.written, variable.type, variable.initial)
    if not is_opaque(place.type):
        scope.before.append(Assign(place, value, argument.span))
    return place


def _is_text(type_: Type) -> bool:
    return isinstance(type_, Scalar) and type_.kind == "string"


def _is_block(type_: Type) -> bool:
    return isinstance(type_, Record) and bool(type_.block)


def _bind_unknown(variable: Variable, target: Place | Bit | Unknown, argument: Argument, scope: Scope,
                  behind: list[Statement]) -> Place:
    """A place of its own for an in-out that stands for what is not known; that may be written by the call."""
    why = target.why if isinstance(target, Unknown) else why_unknown(
        variable.type if is_opaque(variable.type) else target.type)
    place = scope.add_temporary(variable.written, variable.type, variable.initial)
    if not is_lost(place.type):
        scope.before.append(Assign(place, Unknown(why, place.type, argument.span), argument.span))
    if why in ANYTHING:
        behind.append(Forget(why, argument.span))
    elif isinstance(target, Place) and not is_lost(target.type):
        behind.append(Assign(target, Unknown(why, target.type, argument.span), argument.span))
    return place


def bind_globals(block: str, node: Invocation, scope: Scope) -> tuple[tuple[str, Place], ...]:
    """The global variables that the block uses, by their names: the same ones for all calls in a routine."""
    if block not in scope.bound_globals:
        names = scope.world.globals_of.get(block, ())
        for name in names:
            if name in scope.variables:
                raise scope.reject("global-hidden", node.span, name=scope.world.globals[name].written)
        scope.used_globals.update(names)
        scope.bound_globals[block] = tuple((name, _find_shared(name, node, scope)) for name in names)
    return scope.bound_globals[block]


def _find_shared(name: str, node: Invocation, scope: Scope) -> Place:
    """Where a global variable, or an instance that routines share, is to this routine: the entry has both."""
    world = scope.world
    if name in world.lent and scope.routine == world.entry:
        place = next(one.place for one in world.instances if one.key == name)
        return Place(place.root, place.steps, place.type, node.span)
    return Place(name, (), world.find_shared(name).type, node.span)
