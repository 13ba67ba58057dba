"""Give expressions their types and their meaning in the core: operators, and calls of functions and function blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from chatdev.departments.plc.st.coerce import coerce, convert, fold, meet, resolve, settle
from chatdev.departments.plc.st.core import (
    Apply,
    Call,
    Constant,
    Expression,
    Invoke,
    Operation,
    Place,
    Record,
    Scalar,
    Statement,
    Type,
    Variable,
)
from chatdev.departments.plc.st.diagnostics import find_nearest
from chatdev.departments.plc.st.elaborate_place import elaborate_place, elaborate_target
from chatdev.departments.plc.st.functions import (
    BOOL,
    DINT,
    FUNCTIONS,
    LOOSE_INT,
    LOOSE_REAL,
    LREAL,
    OPERATORS,
    REAL,
    SCALARS,
    TIME,
    StandardFunction,
    describe_type,
    is_loose,
    unite,
)
from chatdev.departments.plc.st.scope import MOST_DEPTH, Reject, Scope, Signature
from chatdev.departments.plc.st.syntax import Argument, Binary, Invocation, Literal, Member, Name, Node, Unary

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


# Calls of functions: standard ones, conversions, operators by name, and those of the source.

Elaborate = Callable[[Node, Scope], Expression]
_CONVERSION = re.compile(r"(?:([A-Z]+)_)?TO_([A-Z]+)")
_TEXT_FUNCTIONS = ("LEN", "LEFT", "RIGHT", "MID", "CONCAT", "INSERT", "DELETE", "REPLACE", "FIND")
_CHAINS = ("ADD", "MUL", "AND", "OR", "XOR")


def elaborate_call(node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A call within an expression. `elaborate` reads the arguments."""
    if not isinstance(node.callee, Name):
        raise scope.reject("no-function", node.callee.span, name="this")
    name = node.callee
    own = scope.find(name.key)
    if own is not None and own.section == "result":
        raise scope.reject("recursion", node.span, circle=f"{own.written} calls {own.written}")
    if own is not None:
        raise scope.reject("block-in-expression", node.span, name=name.text)
    signature = scope.world.signatures.get(name.key)
    if signature is None:
        return _call_known(name, node, scope, elaborate)
    if signature.kind != "function":
        raise scope.reject("block-as-function", name.span, name=signature.written)
    return _apply(signature, node, scope, elaborate)


def _call_known(name: Name, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A function that the source does not declare."""
    upper = name.key.upper()
    if upper in OPERATORS:
        return elaborate(_as_operator(upper, node, scope), scope)
    if upper in FUNCTIONS:
        return _call_standard(upper, FUNCTIONS[upper], node, scope, elaborate)
    conversion = _CONVERSION.fullmatch(upper)
    if conversion and conversion[2].lower() in SCALARS:
        return _convert(conversion[1], conversion[2], node, scope, elaborate)
    if upper == "CYCLE_TIME" and scope.is_standard:
        return Call(upper, (), TIME, node.span)
    raise _reject_callee(name, scope)


def match_arguments(arguments: Sequence[Argument], parameters: Sequence[str], callee: str,
                    scope: Scope) -> dict[str, Argument]:
    """The arguments by the lower-case names of the parameters that they are for. The parameters stand as they are
    written, in their order."""
    found: dict[str, Argument] = {}
    names = [one.lower() for one in parameters]
    for index, argument in enumerate(arguments):
        name = argument.name
        if not name:
            if index >= len(parameters):
                raise scope.reject("too-many-arguments", argument.span, callee=callee, most=len(parameters),
                                   known=", ".join(parameters))
            name = names[index]
        if name not in names:
            raise scope.reject("unknown-parameter", argument.span, callee=callee, name=name,
                               near=find_nearest(name, list(parameters)), known=", ".join(parameters))
        if name in found:
            raise scope.reject("twice-given", argument.span, callee=callee, name=name)
        found[name] = argument
    return found


def _apply(signature: Signature, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A function of the source; inputs that are left out have the value of their declaration."""
    inputs = signature.of_section("input")
    given = match_arguments(node.arguments, [one.written for one in inputs], signature.written, scope)
    scope.calls.setdefault(signature.name, node.span)
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


def _call_standard(name: str, function: StandardFunction, node: Invocation, scope: Scope,
                   elaborate: Elaborate) -> Expression:
    parameters = _parameters(function, len(node.arguments))
    operands = _operands(name, [one for one, _ in parameters], node, scope, elaborate)
    same = [operand for operand, (_, type_) in zip(operands, parameters, strict=True) if not type_]
    common = _common_type(name, function, same, node, scope)
    loose = is_loose(common)
    typed = [operand if loose and not type_ else coerce(operand, _named_type(type_, common), scope,
                                                        f"the input '{one}' of {name}")
             for operand, (one, type_) in zip(operands, parameters, strict=True)]
    return Call(name, tuple(typed), _named_type(function.result, common), node.span)


def _operands(callee: str, parameters: Sequence[str], node: Invocation, scope: Scope, elaborate: Elaborate
              ) -> list[Expression]:
    """What is given to a standard function, in the order of its parameters."""
    given = match_arguments(node.arguments, parameters, callee, scope)
    missing = [one for one in parameters if one.lower() not in given]
    if missing:
        raise scope.reject("missing-arguments", node.span, callee=callee, known=", ".join(missing))
    return [elaborate(given[one.lower()].value, scope) for one in parameters]


def _named_type(name: str, common: Scalar) -> Scalar:
    return SCALARS[name.lower()] if name else common


def _parameters(function: StandardFunction, count: int) -> list[tuple[str, str]]:
    wanted = max(count, len(function.parameters)) if function.repeats else len(function.parameters)
    return [found for index in range(wanted) if (found := function.parameter(index))]


def _common_type(name: str, function: StandardFunction, operands: list[Expression], node: Invocation,
                 scope: Scope) -> Scalar:
    """The type in which the operands meet, a loose number's where all are such. Integers are taken as REAL where a
    function knows reals only."""
    first, *others = sorted(operands, key=lambda one: is_loose(one.type))
    type_ = first.type
    for operand in others:
        so_far = Place("", (), type_) if not is_loose(type_) else first
        met = meet(so_far, operand, None)
        if met is None:
            raise scope.reject("wrong-operands", node.span, operator=name, left=describe_type(type_),
                               right=describe_type(operand.type), wanted="values of one type", negated=False,
                               bits="", signs="")
        type_ = met[2]
    if isinstance(type_, Scalar) and function.kinds == ("real",):
        type_ = _as_real(type_)
    if function.result and type_ == LOOSE_REAL:
        type_ = LREAL
    if not isinstance(type_, Scalar) or type_.kind not in function.kinds:
        raise scope.reject("wrong-operand", node.span, operator=name, found=describe_type(type_),
                           wanted=_describe_kinds(function))
    return type_


def _as_real(type_: Scalar) -> Scalar:
    if type_.kind != "int":
        return type_
    if type_ == LOOSE_INT:
        return LOOSE_REAL
    return LREAL if type_.bits > 24 else REAL


def _describe_kinds(function: StandardFunction) -> str:
    words = {"bool": "BOOL", "int": "an integer", "bits": "a bit string (BYTE, WORD, DWORD, LWORD)", "real": "a REAL",
             "time": "a TIME", "enum": "an enumeration", "string": "a STRING"}
    return " or ".join(words[kind] for kind in function.kinds)


def _as_operator(name: str, node: Invocation, scope: Scope) -> Node:
    """`ADD(a, b, c)` as `a + b + c`."""
    values = [argument.value for argument in node.arguments]
    count = 1 if name == "NOT" else 2
    if len(values) < count or (len(values) > count and name not in _CHAINS):
        raise scope.reject("argument-count", node.span, callee=name, wanted=count, found=len(values))
    if name == "NOT":
        return Unary("not", values[0], node.span)
    chain = values[0]
    for value in values[1:]:
        chain = Binary(OPERATORS[name], chain, value, node.span)
    return chain


def _convert(source: str | None, target: str, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """`INT_TO_REAL(x)` and `TO_REAL(x)`; the operand goes into the type that is named first."""
    if len(node.arguments) != 1:
        raise scope.reject("argument-count", node.span, callee=f"{source or ''}_TO_{target}".lstrip("_"), wanted=1,
                           found=len(node.arguments))
    operand = elaborate(node.arguments[0].value, scope)
    if source and source.lower() in SCALARS and not _is_enum(operand):
        operand = coerce(operand, SCALARS[source.lower()], scope, f"the input of {source}_TO_{target}")
    operand = settle(operand)
    type_ = operand.type
    if not isinstance(type_, Scalar) or "string" in (type_.kind, SCALARS[target.lower()].kind):
        raise scope.reject("no-conversion", node.span, found=describe_type(type_), wanted=target)
    return convert(operand, SCALARS[target.lower()])


def _is_enum(operand: Expression) -> bool:
    return isinstance(operand.type, Scalar) and operand.type.kind == "enum"


def _reject_callee(name: Name, scope: Scope) -> Exception:
    if scope.broken or scope.world.broken or name.key in scope.lost | scope.world.lost:
        return scope.reject_unknown(name.key, name.text, name.span)
    if name.key.upper() in _TEXT_FUNCTIONS:
        return scope.reject("text-function", name.span, name=name.text)
    known = [*FUNCTIONS, *OPERATORS, *(one.written for one in scope.world.signatures.values())]
    return scope.reject("unknown-function", name.span, name=name.text, near=find_nearest(name.text, known))


# Calls of function blocks: what is written first, what is bound, and what is copied out.


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
