"""Give calls of functions their meaning: standard ones, conversions, operators by name, and those of the source."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from chatdev.departments.plc.st.coerce import coerce, meet
from chatdev.departments.plc.st.core import Apply, Call, Constant, Expression, Place, Scalar, Variable
from chatdev.departments.plc.st.diagnostics import find_nearest
from chatdev.departments.plc.st.functions import FUNCTIONS, OPERATORS, StandardFunction
from chatdev.departments.plc.st.loose import convert, settle
from chatdev.departments.plc.st.scalars import (
    LOOSE_INT,
    LOOSE_REAL,
    LREAL,
    REAL,
    SCALARS,
    TIME,
    describe_type,
    is_loose,
)
from chatdev.departments.plc.st.scope import Scope, Signature
from chatdev.departments.plc.st.syntax import Argument, Binary, Invocation, Name, Node, Unary

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
