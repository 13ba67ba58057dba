"""Give calls their meaning in the core: functions, conversions, function blocks, methods, and what is not there.

A function without outputs is an expression. One that changes something (by outputs, in-outs or global variables), a
method, an action and the accessors of a property are blocks whose data lasts as long as the call: the call stands
before the statement, in which its result is read. So all of them mean the same to interpreter, proof and emitters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from chatdev.departments.plc.st.coerce import coerce, settle
from chatdev.departments.plc.st.core import (
    Apply,
    Assign,
    Bit,
    Branch,
    Constant,
    Expression,
    Forget,
    Invoke,
    Place,
    Record,
    Scalar,
    Statement,
    Unknown,
    Variable,
    initial_value,
)
from chatdev.departments.plc.st.diagnostics import find_nearest
from chatdev.departments.plc.st.elaborate_binding import bind_globals, bind_in_out, take_output
from chatdev.departments.plc.st.elaborate_dispatch import call_by_interface, query_interface
from chatdev.departments.plc.st.elaborate_function import call_standard, match_arguments
from chatdev.departments.plc.st.elaborate_place import (
    elaborate_base,
    elaborate_place,
    elaborate_target,
    is_own_instance,
    why_unknown,
)
from chatdev.departments.plc.st.functions import (
    BOOL,
    FUNCTIONS,
    INSTRUCTIONS,
    OPERATORS,
    UNKNOWN_TYPE,
    describe_type,
    is_opaque,
)
from chatdev.departments.plc.st.instances import DISPATCH, is_lost
from chatdev.departments.plc.st.scope import (
    ANYTHING,
    BASE,
    OPEN_DIALECTS,
    UNBOUND,
    Scope,
    Signature,
)
from chatdev.departments.plc.st.syntax import (
    Argument,
    Assignment,
    Invocation,
    Literal,
    Member,
    Name,
    Node,
    Subscript,
    Target,
)

Elaborate = Callable[[Node, Scope], Expression]
Bind = Callable[[str], Place | None]
"""Where a variable of a block lies, by its name; nothing where that is not known."""


def elaborate_call(node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A call within an expression. `elaborate` reads the arguments."""
    node = _leave_namespace(node, scope)
    enable, bare = _split_enable(node, scope)
    if enable is not None:
        return _call_enabled(enable, node, bare, scope, elaborate)
    callee = node.callee
    found = _find_member(callee, scope, "method", elaborate)
    if found is not None:
        return _expect_result(_call_procedure(*found, node, scope, elaborate), node, scope)
    if given := _call_numbered(callee, "method", node, scope, elaborate):
        return _expect_result(given[0], node, scope)
    if isinstance(callee, Name) and callee.key == "__queryinterface" and (
            answer := query_interface(node, scope, elaborate)) is not None:
        return answer
    if not isinstance(callee, Name):
        return _call_place(node, scope, elaborate)
    own = scope.find(callee.key)
    if own is not None and not _names_standard(own, scope):
        if own.section == "result" or own.name == scope.owner:
            raise scope.reject("recursion", node.span, circle=f"{own.written} calls {own.written}")
        if is_opaque(own.type):
            return _call_place(node, scope, elaborate)
        raise scope.reject("block-in-expression", node.span, name=callee.text)
    signature = scope.world.signatures.get(callee.key)
    if signature is None:
        return _call_known(callee, node, scope, elaborate)
    if signature.kind != "function":
        raise scope.reject("block-as-function", callee.span, name=signature.written)
    return _call_function(signature, node, scope, elaborate)


def _names_standard(own: Variable, scope: Scope) -> bool:
    """Whether a variable that cannot be called has the name of a standard function, which TIA Portal tells apart."""
    return scope.world.dialect.name == "siemens" and own.name.upper() in FUNCTIONS and isinstance(own.type, Scalar) \
        and own.section != "result"


def _leave_namespace(node: Invocation, scope: Scope) -> Invocation:
    """`Library.name(…)` as `name(…)`."""
    callee = node.callee
    if isinstance(callee, Member) and isinstance(callee.base, Name) and callee.base.key in scope.world.namespaces \
            and scope.find(callee.base.key) is None:
        return replace(node, callee=Name(callee.key, callee.text, callee.span))
    return node


def _call_function(signature: Signature, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A function of the source."""
    if scope.world.closes_circle(signature.name):
        lost = _lose_circle(signature.name, node, scope)
        return lost or Unknown(DISPATCH, UNKNOWN_TYPE, node.span)
    scope.calls.setdefault(signature.name, node.span)
    scope.world.prepare(signature.name)
    if scope.world.signatures[signature.name].record is None:
        return _apply(signature, node, scope, elaborate)
    return _expect_result(_call_procedure(signature.name, _bind_nothing, node, scope, elaborate), node, scope)


def _expect_result(result: Expression | None, node: Invocation, scope: Scope) -> Expression:
    if result is None:
        raise scope.reject("without-result", node.span)
    return result


def _bind_nothing(name: str) -> Place:
    raise KeyError(name)


def _call_known(name: Name, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A function that the source does not declare."""
    found = call_standard(name.key.upper(), node, scope, elaborate)
    return _call_missing(name, node, scope, elaborate) if found is None else found


def _call_missing(name: Name, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A function that is not there: what it gives is not known, nor what it writes to what it is given."""
    if scope.world.dialect.name == "siemens" and name.key.upper() in INSTRUCTIONS and not scope.sees_all:
        scope.report("gap-instruction", name.span, name=name.text)
        why = f"the instruction {name.text}"
        scope.before += _lose(why, node, scope, elaborate)
        return Unknown(why, UNKNOWN_TYPE, node.span)
    if not scope.world.dialect.allows_missing or scope.sees_all:
        raise _reject_callee(name, scope)
    missing = scope.miss(name.text, name.span)
    scope.before += _lose(missing.why, node, scope, elaborate)
    return Unknown(missing.why, UNKNOWN_TYPE, node.span)


def _call_place(node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A method of what is not known: of an interface's or pointer's target, of a block that is not there."""
    callee = node.callee
    place = elaborate_place(callee, scope, elaborate)
    if not isinstance(place, Unknown) and not is_opaque(place.type):
        raise scope.reject("no-function", callee.span, name="this")
    why = place.why if isinstance(place, Unknown) else why_unknown(place.type)
    if why == DISPATCH:
        scope.report("gap-dispatch", node.span)
    scope.before += _lose(why, node, scope, elaborate)
    return Unknown(why, UNKNOWN_TYPE, node.span)


def _lose(why: str, node: Invocation, scope: Scope, elaborate: Elaborate) -> list[Statement]:
    """What a call of something that is not known may have changed: what it is given, as it may be in-outs of it."""
    lost: list[Statement] = []
    anything = why in ANYTHING
    for argument in node.arguments:
        value = argument.value
        if isinstance(value, Name) and not value.key:
            continue
        place = _find_written(value, scope, elaborate) if not argument.is_output else elaborate_target(
            value, scope, elaborate)
        anything = anything or (isinstance(place, Unknown) and place.why in ANYTHING)
        if isinstance(place, Place | Bit) and not is_lost(place.type):
            lost.append(Assign(place, Unknown(why, place.type, node.span), node.span))
    return [Forget("pointers" if why not in ANYTHING else why, node.span)] if anything else lost


def _find_written(value: Node, scope: Scope, elaborate: Elaborate) -> Expression | None:
    """The variable that an argument is, or points to, if it may be written."""
    if isinstance(value, Invocation) and isinstance(value.callee, Name) and value.callee.key in ("adr", "ref") and len(
            value.arguments) == 1:
        value = value.arguments[0].value
    elif not isinstance(value, Name | Member | Subscript | Target):
        found = elaborate(value, scope)
        return found if is_opaque(found.type) else None
    found = elaborate(value, scope)
    if not isinstance(found, Place | Bit):
        return found
    variable = scope.find((found.place if isinstance(found, Bit) else found).root)
    return found if variable is None or variable.section not in ("input", "constant") else None


def _apply(signature: Signature, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A function that changes nothing; inputs that are left out have the value of their declaration."""
    inputs = signature.of_section("input")
    given = match_arguments(node.arguments, [one.written for one in inputs], signature.written, scope)
    if signature.result is None:
        raise scope.reject_unknown(signature.name, signature.written, node.span)
    if not given and inputs and not node.arguments:
        raise scope.reject("missing-arguments", node.span, callee=signature.written,
                           known=", ".join(one.written for one in inputs))
    operands = tuple(_operand(one, given.get(one.name), signature, scope, elaborate) for one in inputs)
    return Apply(signature.name, operands, signature.result, node.span)


def _operand(variable: Variable, argument: Argument | None, signature: Signature, scope: Scope,
             elaborate: Elaborate) -> Expression:
    if argument is None:
        return Constant(variable.initial, variable.type)
    return coerce(elaborate(argument.value, scope), variable.type, scope,
                  f"the input '{variable.written}' of {signature.written}")


def _reject_callee(name: Name, scope: Scope) -> Exception:
    if scope.broken or scope.world.broken or name.key in scope.lost | scope.world.lost:
        return scope.reject_unknown(name.key, name.text, name.span)
    known = [*(one for one in FUNCTIONS if one[0] != "@"), *OPERATORS,
             *(one.written for one in scope.world.signatures.values())]
    return scope.reject("unknown-function", name.span, name=name.text, near=find_nearest(name.text, known))


# Calls of function blocks: what is written first, what is bound, and what is copied out.


def elaborate_call_statement(node: Invocation, scope: Scope, elaborate: Elaborate) -> list[Statement]:
    """A call as a statement. Raises Reject, with the error reported, if it has no meaning."""
    node = _leave_namespace(node, scope)
    enable, bare = _split_enable(node, scope)
    if enable is not None:
        return _call_enabled_statement(enable, node, bare, scope, elaborate)
    found = _find_member(node.callee, scope, "method", elaborate) or _find_member(
        node.callee, scope, "action", elaborate) or _find_base(node.callee, scope)
    if found is not None:
        if is_own_instance(node.callee, "super"):
            node = _give_base(node, scope, elaborate)
        _call_procedure(*found, node, scope, elaborate)
        return []
    if _call_numbered(node.callee, "method", node, scope, elaborate):
        return []
    if _is_function(node, scope):
        return _drop_result(node, scope, elaborate)
    timer = _find_timer(node.callee, scope, elaborate)
    if timer is not None:
        block, place = timer
        scope.world.standard_used.add(block)
        return _invoke(place, scope.world.signatures[block], node, scope, elaborate, ())
    return _call_instance(node, scope, elaborate)


def _call_instance(node: Invocation, scope: Scope, elaborate: Elaborate) -> list[Statement]:
    """A call of an instance of a function block."""
    instance = elaborate_place(node.callee, scope, elaborate)
    if isinstance(instance, Unknown) or is_opaque(instance.type):
        elaborate_call(node, scope, elaborate)
        return []
    type_ = instance.type
    if not isinstance(instance, Place) or not isinstance(type_, Record) or not type_.block:
        raise scope.reject("no-block", node.callee.span, found=describe_type(type_))
    if type_.block == "iec_timer" and type_.block in scope.world.standard:
        raise scope.reject("timer-kind", node.callee.span, name=instance.root)
    if scope.world.closes_circle(type_.block):
        _lose_circle(type_.block, node, scope)
        return []
    return _run_instance(instance, scope.world.signatures[type_.block], node, scope, elaborate)


def _run_instance(instance: Place, signature: Signature, node: Invocation, scope: Scope, elaborate: Elaborate
                  ) -> list[Statement]:
    """The body of a block on its data."""
    scope.calls.setdefault(signature.name, node.span)
    scope.world.prepare(signature.name)
    if signature.name in scope.world.partial and _gives_unknown(node, signature):
        return _lose(BASE, node, scope, elaborate)
    return _invoke(instance, signature, node, scope, elaborate, ())


def _gives_unknown(node: Invocation, signature: Signature) -> bool:
    """Whether a call names variables that the block has of one which is not there."""
    known = {one.name for one in signature.variables}
    return any(one.name and one.name not in known for one in node.arguments)


def _find_timer(callee: Node, scope: Scope, elaborate: Elaborate) -> tuple[str, Place] | None:
    """The block that `x.TON(…)` runs on the data of an IEC_TIMER, and where that is."""
    if not isinstance(callee, Member) or callee.key not in _TIMERS or scope.world.dialect.name != "siemens":
        return None
    place = elaborate_place(callee.base, scope, elaborate)
    is_timer = isinstance(place.type, Record) and place.type.block == "iec_timer"
    return (callee.key, place) if is_timer and isinstance(place, Place) else None


_TIMERS = ("ton", "tof", "tp")


def _is_function(node: Invocation, scope: Scope) -> bool:
    """Whether a function is called, and no instance."""
    callee = node.callee
    if not isinstance(callee, Name):
        return False
    own = scope.find(callee.key)
    if own is not None and own.section != "result":
        return False
    signature = scope.world.signatures.get(callee.key)
    if signature is not None and signature.kind != "function":
        raise scope.reject("block-as-instance", callee.span, name=callee.text)
    return True


def _drop_result(node: Invocation, scope: Scope, elaborate: Elaborate) -> list[Statement]:
    """A function is called for what it changes; if that is nothing, it is called all the same, as it may fail."""
    callee = node.callee
    assert isinstance(callee, Name)
    signature = scope.world.signatures.get(callee.key)
    if signature is not None and not scope.world.closes_circle(signature.name):
        scope.calls.setdefault(signature.name, node.span)
        scope.world.prepare(signature.name)
        if scope.world.signatures[signature.name].record is not None:
            _call_procedure(signature.name, _bind_nothing, node, scope, elaborate)
            return []
    result = settle(elaborate_call(node, scope, elaborate))
    if isinstance(result, Unknown) or is_opaque(result.type):
        return []
    scope.report("unused-result", node.span, name=callee.text)
    return [Assign(scope.add_temporary(callee.text, result.type, initial_value(result.type)), result, node.span)]


# Members of blocks: methods, actions, properties. Their dispatch is static: a block of each name is known.


def _find_member(callee: Node, scope: Scope, kind: str, elaborate: Elaborate) -> tuple[str, Bind] | None:
    """The routine of a member that is called, and where the variables of its block lie."""
    if not isinstance(callee, Name | Member) or callee.key not in scope.world.member_names:
        return None
    is_super = isinstance(callee, Member) and is_own_instance(callee.base, "super")
    if isinstance(callee, Member) and not is_super and not is_own_instance(callee.base):
        return _find_member_at(callee, scope, kind, elaborate)
    if isinstance(callee, Name) and callee.key in scope.variables:
        return None
    key = scope.world.find_member(f"{scope.owner}@{scope.base}" if is_super else scope.owner, callee.key, kind)
    if not key:
        return None
    if is_super and scope.world.find_access(key, ""):
        raise scope.reject("abstract-call", callee.span, name=callee.text)
    _check_access(key, callee, scope)
    return key, _own_binding(scope)


def _find_member_at(callee: Member, scope: Scope, kind: str, elaborate: Elaborate) -> tuple[str, Bind] | None:
    """The same of a member of another instance."""
    before = len(scope.before)
    base = elaborate_base(callee.base, scope, elaborate)
    is_block = isinstance(base, Place) and isinstance(base.type, Record)
    key = scope.world.find_member(base.type.block, callee.key, kind) if is_block else ""  # type: ignore[union-attr]
    if not key:
        del scope.before[before:]  # the base is read again, as that of something else
        return None
    assert isinstance(base, Place)
    _check_access(key, callee, scope)
    return key, _binding_at(base, scope)


def _check_access(key: str, callee: Name | Member, scope: Scope) -> None:
    """Raises Reject for a member that may not be called here."""
    if word := scope.world.find_access(key, scope.routine):
        raise scope.reject("no-access", callee.span, name=callee.text, word=word)


def _find_base(callee: Node, scope: Scope) -> tuple[str, Bind] | None:
    """`SUPER^()`: the body of the block that this one extends."""
    if not is_own_instance(callee, "super"):
        return None
    key = scope.world.find_member(f"{scope.owner}@{scope.base}", "", "body")
    return (key, _own_binding(scope)) if key else None


def _give_base(node: Invocation, scope: Scope, elaborate: Elaborate) -> Invocation:
    """`SUPER^(input := value)` without its inputs: they are this block's, as the block that it extends has them. So are
    its in-outs, which stand for what they stand for already."""
    for one in node.arguments:
        variable = scope.variables.get(one.name)
        if variable is None or one.is_output or variable.section not in ("input", "in_out"):
            return node
        own = Place(variable.name, (), variable.type, one.span)
        if variable.section == "input":
            value = coerce(elaborate(one.value, scope), own.type, scope, f"the input '{variable.written}'")
            scope.before.append(Assign(own, value, one.span))
        elif not isinstance(one.value, Name) or one.value.key != variable.name:
            return node
    return replace(node, arguments=())


def _own_binding(scope: Scope) -> Bind:
    def bind(name: str) -> Place:
        variable = scope.find_owned(name) if scope.kind == "member" else scope.variables[name]
        return Place(variable.name, (), variable.type)
    return bind


def _binding_at(base: Place, scope: Scope) -> Bind:
    def bind(name: str) -> Place | None:
        part = scope.world.find_part(base.type, name) if isinstance(base.type, Record) else None
        if part is None:  # a temporary variable or an in-out, which lasts as long as the block's own call
            if scope.world.dialect.name in OPEN_DIALECTS:
                scope.report("gap-unbound", base.span, name=name)
                return None
            raise scope.reject("member-unbound", base.span, name=name)
        return Place(base.root, (*base.steps, name), part.type, base.span)
    return bind


def _call_numbered(callee: Node, kind: str, node: Invocation, scope: Scope, elaborate: Elaborate
                   ) -> tuple[Expression | None, ...]:
    """The same of what a variable of an interface stands for, by cases."""
    return call_by_interface(callee, kind, node, scope, elaborate, lambda key, place, call: _call_procedure(
        key, _binding_at(place, scope), call, scope, elaborate))


def _call_procedure(key: str, bind: Bind, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression | None:
    """Call a routine whose data lasts as long as the call, before the statement; gives where its result is then."""
    world = scope.world
    if world.closes_circle(key):
        return _lose_circle(key, node, scope)
    scope.calls.setdefault(key, node.span)
    world.prepare(key)
    signature = world.signatures[key]
    assert signature.record is not None
    instance = scope.add_temporary(signature.written, signature.record, initial_value(signature.record))
    if signature.record.fields:
        scope.before.append(Assign(instance, Constant(initial_value(signature.record), signature.record), node.span))
    owned = [(f"@{name}", place) for name in world.members_of.get(key, ()) if (place := bind(name)) is not None]
    if len(owned) == len(world.members_of.get(key, ())):
        scope.before += _invoke(instance, signature, node, scope, elaborate, tuple(owned))
    else:
        scope.before += _lose(UNBOUND, node, scope, elaborate)
        scope.before.append(Assign(instance, Unknown(UNBOUND, instance.type, node.span), node.span))
    if signature.result is None:
        return None
    return Place(instance.root, (signature.result_name,), signature.result, node.span)


def _lose_circle(key: str, node: Invocation, scope: Scope) -> Expression | None:
    """A call that would lead back to itself by way of an interface."""
    scope.report("gap-dispatch", node.span)
    scope.before.append(Forget(DISPATCH, node.span))
    result = scope.world.signatures[key].result
    return None if result is None else Unknown(DISPATCH, result, node.span)


def call_getter(node: Node, scope: Scope, elaborate: Elaborate) -> Expression | None:
    """The value of a property, if the name is one's."""
    if not isinstance(node, Name | Member) or node.key not in scope.world.properties:
        return None
    found = _find_member(node, scope, "get", elaborate)
    call = Invocation(node, (), node.span)
    if found is None:
        return next(iter(_call_numbered(node, "get", call, scope, elaborate)), None)
    return _call_procedure(*found, call, scope, elaborate)


def call_setter(step: Assignment, scope: Scope, elaborate: Elaborate) -> list[Statement] | None:
    """An assignment to a property, if the target is one."""
    node = step.target
    if not isinstance(node, Name | Member) or node.key not in scope.world.properties:
        return None
    found = _find_member(node, scope, "set", elaborate)
    call = Invocation(node, (Argument("", step.value, False, step.span),), step.span)
    if found is None:
        return [] if _call_numbered(node, "set", call, scope, elaborate) else None
    _call_procedure(*found, call, scope, elaborate)
    return []


# EN and ENO of what does not declare them: the call is made where EN is TRUE.


def _split_enable(node: Invocation, scope: Scope) -> tuple[Node | None, Invocation]:
    """The value of EN, and the call without EN and ENO; nothing where they are inputs and outputs as all others."""
    named = {one.name for one in node.arguments} & {"en", "eno"}
    if not named or _declares_enable(node, scope):
        return None, node
    enable = next((one.value for one in node.arguments if one.name == "en"), Literal(True, "BOOL", node.span))
    others = [one for one in node.arguments if one.name not in ("en", "eno")]
    nothing = Argument("", Name("", "", node.span), False, node.span)  # inputs that are left out have their defaults
    return enable, replace(node, arguments=tuple(others or [nothing]))


def _declares_enable(node: Invocation, scope: Scope) -> bool:
    key = node.callee.key if isinstance(node.callee, Name | Member) else ""
    variable = scope.find(key) if isinstance(node.callee, Name) else None
    block = variable.type.block if variable is not None and isinstance(variable.type, Record) else key
    signature = scope.world.signatures.get(block)
    return signature is not None and any(one.name in ("en", "eno") for one in signature.variables)


def _call_enabled_statement(enable: Node, node: Invocation, bare: Invocation, scope: Scope, elaborate: Elaborate
                            ) -> list[Statement]:
    condition = coerce(elaborate(enable, scope), BOOL, scope, "EN")
    outer, scope.before = scope.before, []
    try:
        made = [*elaborate_call_statement(bare, scope, elaborate)]
        made = [*scope.before, *made]
    finally:
        scope.before = outer
    return [Branch(condition, tuple(made), span=node.span), *_tell_enabled(condition, node, scope, elaborate)]


def _call_enabled(enable: Node, node: Invocation, bare: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """The result, which is not known where EN is FALSE."""
    condition = coerce(elaborate(enable, scope), BOOL, scope, "EN")
    outer, scope.before = scope.before, []
    try:
        value, made = settle(elaborate_call(bare, scope, elaborate)), scope.before
    finally:
        scope.before = outer
    result = scope.add_temporary("enabled", value.type, initial_value(value.type))
    scope.before.append(Branch(condition, (*made, Assign(result, value, node.span)), (
        Assign(result, Unknown("EN is FALSE", value.type, node.span), node.span),), node.span))
    scope.before += _tell_enabled(condition, node, scope, elaborate)
    return result


def _tell_enabled(condition: Expression, node: Invocation, scope: Scope, elaborate: Elaborate) -> list[Statement]:
    """ENO, which is EN as long as no routine of the source writes it."""
    if scope.world.tells_enabled:
        condition = Unknown("ENO", BOOL, node.span)
    return [Assign(target, condition, node.span) for one in node.arguments if one.name == "eno"
            for target in (elaborate_target(one.value, scope, elaborate),) if isinstance(target, Place | Bit)]


# What is written before a block's body runs.


def _invoke(instance: Place, signature: Signature, node: Invocation, scope: Scope, elaborate: Elaborate,
            owned: tuple[tuple[str, Place], ...]) -> list[Statement]:
    name = node.callee.text if isinstance(node.callee, Name | Member) else signature.written
    callee = f"{name} ({signature.written})"
    given = _match(node, signature.of_section("input", "in_out"), False, callee, scope)
    taken = _match(node, signature.of_section("output"), True, callee, scope)
    values = [(one.name, coerce(elaborate(given[one.name].value, scope), one.type, scope,
                                f"the input '{one.written}' of {signature.written}"))
              for one in signature.of_section("input") if one.name in given]
    inputs = tuple((name, value) for name, value in values if not is_lost(value.type))
    outputs: list[tuple[Place, str]] = []
    behind: list[Statement] = []
    for one in signature.of_section("output"):
        if one.name in taken:
            kept, later = take_output(one, taken[one.name], instance, signature, scope, elaborate)
            outputs += kept
            behind += later
    in_outs = tuple((one.name, bind_in_out(one, given.get(one.name), node, signature, scope, elaborate, behind))
                    for one in signature.of_section("in_out"))
    block = scope.world.specialise(signature, {name: place.type for name, place in in_outs})
    more = bind_globals(block, node, scope)
    return [Invoke(instance, block, inputs, tuple(outputs), (*in_outs, *owned, *more), node.span), *behind]


def _match(node: Invocation, parameters: Sequence[Variable], outputs: bool, callee: str,
           scope: Scope) -> dict[str, Argument]:
    arguments = [argument for argument in node.arguments if argument.is_output == outputs]
    return match_arguments(arguments, [one.written for one in parameters], callee, scope)
