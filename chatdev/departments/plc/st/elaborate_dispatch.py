"""Give calls by way of an interface their meaning, by cases: one for each instance that may stand behind it.

What an instance's number means stands in `instances.py`. A case calls the member of the instance's own block, so
dispatch is static in each; where the number is none of these, nothing is known behind the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from chatdev.departments.plc.st.coerce import coerce
from chatdev.departments.plc.st.coerce_instance import number_of
from chatdev.departments.plc.st.core import (
    Assign,
    Branch,
    Constant,
    Expression,
    Forget,
    Operation,
    Place,
    Span,
    Statement,
    Unknown,
    Variable,
    initial_value,
)
from chatdev.departments.plc.st.diagnostics import find_nearest
from chatdev.departments.plc.st.elaborate_place import elaborate_base, elaborate_place, opaque_type
from chatdev.departments.plc.st.functions import BOOL, describe_type
from chatdev.departments.plc.st.instances import (
    DISPATCH,
    MOST_CASES,
    Instance,
    holds_number,
    is_numbered,
)
from chatdev.departments.plc.st.scope import NO_REFERENT, Scope, Signature
from chatdev.departments.plc.st.syntax import Invocation, Member, Node

Elaborate = Callable[[Node, Scope], Expression]
CallMember = Callable[[str, Place, Invocation], "Expression | None"]
"""Call a member of the instance at a place, before the statement; gives where its result is then."""


def call_by_interface(callee: Node, kind: str, node: Invocation, scope: Scope, elaborate: Elaborate,
                      call: CallMember) -> tuple[Expression | None, ...]:
    """Call a member of what a variable of an interface stands for. Gives the result, or None where the member has none,
    as the one part of a tuple, which is empty where the callee is something else."""
    base = _find_number(callee, scope, elaborate)
    if base is None or not isinstance(callee, Member):
        return ()
    asked = scope.world.find_asked(base.type.name, callee.key, kind)  # type: ignore[union-attr]  # it is a Scalar
    if asked is None:
        return _call_other(callee, kind, base, scope)
    result = None if asked.result is None else scope.add_temporary(
        callee.text, asked.result, initial_value(asked.result))
    rest: tuple[Statement, ...] = (Branch(_is_number(base, 0), (Forget(NO_REFERENT, node.span),),
                                          (Forget(DISPATCH, node.span),), node.span),)
    cases = _find_cases(base.type.name, node, scope, elaborate)  # type: ignore[union-attr]
    for one in reversed(cases):
        made = _make_case(one, asked, kind, result, node, scope, call)
        rest = (Branch(_is_number(base, one.number), made, rest, node.span),)
    scope.before += rest
    return (result,)


def _find_number(callee: Node, scope: Scope, elaborate: Elaborate) -> Place | None:
    """The variable of an interface before a member's name; nothing where that is none."""
    if not isinstance(callee, Member) or not scope.world.is_closed or callee.key not in scope.world.member_names:
        return None
    before = len(scope.before)
    base = elaborate_base(callee.base, scope, elaborate)
    if isinstance(base, Place) and is_numbered(base.type):
        return base
    del scope.before[before:]  # the base is read again, as that of something else
    return None


def _call_other(callee: Member, kind: str, base: Place, scope: Scope) -> tuple[Expression | None, ...]:
    """A member that the interface does not ask for: an error, unless it is of another kind."""
    name = base.type.name  # type: ignore[union-attr]
    if any(scope.world.find_asked(name, callee.key, one) for one in ("method", "get", "set")):
        return ()
    known = scope.world.names_asked(name)
    if known is None:  # it extends an interface which is not there
        return ()
    raise scope.reject("unknown-member", callee.span, name=callee.text, base=name,
                       near=find_nearest(callee.text, known), known=", ".join(known[:12]))


def _find_cases(interface: str, node: Invocation, scope: Scope, elaborate: Elaborate) -> Sequence[Instance]:
    """The instances that may stand behind a variable of an interface. Where there are none, the arguments are read for
    what is wrong with them."""
    world = scope.world
    found = [one for one in world.instances
             if not world.find_misfit(world.signatures[one.block].written, interface) and world.is_taken(one)]
    if len(found) > MOST_CASES:
        scope.report("gap-dispatch", node.span)
        found = []
    for argument in node.arguments if not found else ():
        elaborate(argument.value, scope)
    return found


def _make_case(one: Instance, asked: Signature, kind: str, result: Place | None, node: Invocation, scope: Scope,
               call: CallMember) -> tuple[Statement, ...]:
    """What the call does where this instance stands behind the variable."""
    key = scope.world.find_member(one.block, asked.result_name, kind)
    if not key or key in scope.world.reading or not _is_same_call(scope.world.signatures[key], asked):
        scope.report("gap-dispatch", node.span)
        return (Forget(DISPATCH, node.span),)
    outer, scope.before = scope.before, []
    scope.world.crossings.append(len(scope.world.reading))
    try:
        given = call(key, locate(one, node.span, scope), node)
        if result is not None and given is not None:
            scope.before.append(Assign(result, coerce(given, result.type, scope, "the result"), node.span))
        return tuple(scope.before)
    finally:
        scope.world.crossings.pop()
        scope.before = outer


def _is_same_call(own: Signature, asked: Signature) -> bool:
    """Whether a block's member takes and gives what the interface says."""
    def shape(signature: Signature) -> list[tuple[str, str, object]]:
        return [(one.name, one.section, one.type) for one in signature.of_section("input", "output", "in_out")]
    return own.result == asked.result and shape(own) == shape(asked)


def locate(one: Instance, span: Span, scope: Scope) -> Place:
    """Where an instance is to a routine: the entry has it, and all others have it as an in-out."""
    if scope.routine == scope.world.entry:
        return Place(one.place.root, one.place.steps, one.place.type, span)
    scope.used_globals.add(one.key)
    return Place(one.key, (), one.place.type, span)


def _is_number(place: Place, number: int) -> Expression:
    return Operation("=", (place, Constant(number, place.type)), BOOL, place.span)


def query_interface(node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression | None:
    """`__QUERYINTERFACE(from, to)` of CODESYS and TwinCAT: whether the instance behind `from` implements the interface
    of `to`, which stands for it then, or for none. Nothing where that is not known."""
    if len(node.arguments) != 2 or not scope.world.is_closed:
        return None
    source, target = (elaborate_place(one.value, scope, elaborate) for one in node.arguments)
    number = number_of(source, scope)
    if isinstance(number, Unknown) or not isinstance(target, Place) or not is_numbered(target.type):
        return None
    return _choose_interface(number, target, node, scope)


def _choose_interface(number: Expression, target: Place, node: Invocation, scope: Scope) -> Place:
    """By cases of an instance's number, whether it fits a variable, which stands for it then."""
    world, name = scope.world, target.type.name  # type: ignore[union-attr]
    given = scope.add_temporary("from", target.type, 0)
    found = scope.add_temporary("found", BOOL, False)
    scope.before += [Assign(given, number, node.span), Assign(target, Constant(0, target.type), node.span),
                     Assign(found, Constant(False, BOOL), node.span)]
    rest: tuple[Statement, ...] = (Branch(_is_number(given, 0), (), (Forget(DISPATCH, node.span),), node.span),)
    for one in reversed(world.instances if len(world.instances) <= MOST_CASES else ()):
        if world.is_taken(one):
            fits = not world.find_misfit(world.signatures[one.block].written, name)
            made = (Assign(target, given, node.span), Assign(found, Constant(True, BOOL), node.span)) if fits else ()
            rest = (Branch(_is_number(given, one.number), made, rest, node.span),)
    scope.before += rest
    return found


def compare_instances(sign: str, operands: Sequence[Expression], node: Node, scope: Scope) -> Expression | None:
    """Whether two variables of interfaces stand for the same instance, or one for none (0); nothing where that is not
    known."""
    if sign not in ("=", "<>") or not any(is_numbered(one.type) for one in operands):
        return None
    numbers = [number_of(one, scope) for one in operands]
    if any(isinstance(one, Unknown) for one in numbers):
        return None
    return Operation(sign, tuple(numbers), BOOL, node.span)


def open_input(variable: Variable, routine: str, scope: Scope) -> Variable:
    """A variable as it is declared in a routine. Nothing is known of an input of the entry where an instance of unknown
    origin may stand behind it."""
    is_input = routine == scope.world.entry and variable.section in ("input", "in_out")
    if not is_input or not holds_number(variable.type):
        return variable
    scope.report("gap-dispatch", variable.span)
    return replace(variable, type=opaque_type(describe_type(variable.type), DISPATCH), initial=0)
