"""Give calls of function blocks their meaning: what is written first, what is bound, and what is copied out."""

from __future__ import annotations

from collections.abc import Sequence

from chatdev.departments.plc.st.core import Invoke, Place, Record, Statement, Variable
from chatdev.departments.plc.st.elaborate_call import match_arguments
from chatdev.departments.plc.st.elaborate_expression import elaborate, elaborate_as
from chatdev.departments.plc.st.elaborate_place import elaborate_place, elaborate_target
from chatdev.departments.plc.st.scalars import describe_type
from chatdev.departments.plc.st.scope import Scope, Signature
from chatdev.departments.plc.st.syntax import Argument, Invocation, Member, Name


def elaborate_block_call(node: Invocation, scope: Scope) -> Statement:
    """A call as a statement. Raises Reject, with the error reported, if it has no meaning."""
    _refuse_functions(node, scope)
    instance = elaborate_place(node.callee, scope, elaborate)
    type_ = instance.type
    if not isinstance(instance, Place) or not isinstance(type_, Record) or not type_.block:
        raise scope.reject("no-block", node.callee.span, found=describe_type(type_))
    signature = scope.world.signatures[type_.block]
    scope.calls.setdefault(type_.block, node.span)
    return _invoke(instance, signature, node, scope)


def _invoke(instance: Place, signature: Signature, node: Invocation, scope: Scope) -> Statement:
    name = node.callee.text if isinstance(node.callee, Name | Member) else signature.written
    callee = f"{name} ({signature.written})"
    given = _match(node, signature.of_section("input", "in_out"), False, callee, scope)
    taken = _match(node, signature.of_section("output"), True, callee, scope)
    inputs = tuple((one.name, elaborate_as(given[one.name].value, one.type, scope,
                                           f"the input '{one.written}' of {signature.written}"))
                   for one in signature.of_section("input") if one.name in given)
    outputs = tuple((_bind(one, taken[one.name], node, signature, scope), one.name)
                    for one in signature.of_section("output") if one.name in taken)
    in_outs = tuple((one.name, _bind(one, given.get(one.name), node, signature, scope))
                    for one in signature.of_section("in_out"))
    bound = _bind_globals(signature.name, node, scope)
    in_outs = in_outs + bound if in_outs else bound
    return Invoke(instance, signature.name, inputs, outputs, in_outs, node.span)


def _match(node: Invocation, parameters: Sequence[Variable], outputs: bool, callee: str,
           scope: Scope) -> dict[str, Argument]:
    arguments = [argument for argument in node.arguments if argument.is_output == outputs]
    return match_arguments(arguments, [one.written for one in parameters], callee, scope)


def _refuse_functions(node: Invocation, scope: Scope) -> None:
    """A function, or the name of a block instead of an instance's, is no statement."""
    if not isinstance(node.callee, Name):
        return
    own = scope.find(node.callee.key)
    if own is not None and own.section != "result":
        return
    key, text = node.callee.key, node.callee.text
    signature = scope.world.signatures.get(key)
    if signature is not None and signature.kind != "function":
        raise scope.reject("block-as-instance", node.callee.span, name=text)
    elaborate(node, scope)
    raise scope.reject("unused-result", node.span, name=text)


def _bind(variable: Variable, argument: Argument | None, node: Invocation, signature: Signature,
          scope: Scope) -> Place:
    """The place that an output is copied to, or that an in-out stands for."""
    if argument is None:
        raise scope.reject("unbound", node.span, name=variable.written, callee=signature.written,
                           type=describe_type(variable.type))
    target = elaborate_target(argument.value, scope, elaborate)
    if not isinstance(target, Place):
        raise scope.reject("bit-bound", argument.span, name=variable.written)
    if variable.type != target.type:
        raise scope.reject("output-type", argument.span, name=variable.written, callee=signature.written,
                           found=describe_type(variable.type), wanted=describe_type(target.type))
    return target


def _bind_globals(block: str, node: Invocation, scope: Scope) -> tuple[tuple[str, Place], ...]:
    """The global variables that the block uses, by their names: the same ones for all calls in a routine."""
    if block not in scope.bound_globals:
        names = scope.world.globals_of.get(block, ())
        for name in names:
            if name in scope.variables:
                raise scope.reject("global-hidden", node.span, name=scope.world.globals[name].written)
        scope.used_globals.update(names)
        scope.bound_globals[block] = tuple((name, Place(name, (), scope.world.globals[name].type, node.span))
                                           for name in names)
    return scope.bound_globals[block]
