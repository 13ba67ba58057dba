"""Give calls their meaning in the core: functions, conversions, function blocks, methods, and what is not there.

A function without outputs is an expression. One that changes something (by outputs, in-outs or global variables), a method, an
action and the accessors of a property are blocks whose data lasts as long as the call: the call stands before the statement,
in which its result is read. So all of them mean the same to interpreter, proof and emitters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from chatdev.departments.plc.st.coerce import coerce, convert, meet, rescale, settle
from chatdev.departments.plc.st.core import (
    Apply,
    Array,
    Assign,
    Bit,
    Branch,
    Call,
    Constant,
    Convert,
    Expression,
    Forget,
    Invoke,
    Operation,
    Place,
    Record,
    Scalar,
    Statement,
    Type,
    Unknown,
    Variable,
    initial_value,
)
from chatdev.departments.plc.st.diagnostics import find_nearest
from chatdev.departments.plc.st.elaborate_place import (
    elaborate_place,
    elaborate_target,
    is_own_instance,
    opaque_type,
    why_unknown,
)
from chatdev.departments.plc.st.functions import (
    BOOL,
    DATE,
    DINT,
    DT,
    FUNCTIONS,
    LDT,
    LINT,
    LOOSE_INT,
    LOOSE_REAL,
    LREAL,
    LTIME,
    OPERATORS,
    REAL,
    SCALARS,
    STRING,
    TIME,
    TOD,
    UNKNOWN_TYPE,
    StandardFunction,
    describe_type,
    fit,
    is_loose,
    is_opaque,
)
from chatdev.departments.plc.st.scope import ANYTHING, Scope, Signature, is_bound
from chatdev.departments.plc.st.syntax import (
    Argument,
    Assignment,
    Binary,
    Invocation,
    Literal,
    Member,
    Name,
    Node,
    Subscript,
    Target,
    Unary,
)

Elaborate = Callable[[Node, Scope], Expression]
Bind = Callable[[str], Place]
"""Where a variable of a block lies, by its name."""
_CONVERSION = re.compile(r"(?:(\w+?)_)?TO_(\w+)")
_TRUNCATION = re.compile(r"TRUNC_(U?[SDL]?INT)")
_MOMENT_OPERATOR = re.compile(r"(ADD|SUB|MUL|DIV)_?(?:L?TIME|L?DT_L?TIME|L?TOD_L?TIME|L?DATE_L?DATE|L?TOD_L?TOD|L?DT_L?DT)")
_CHAINS = ("ADD", "MUL", "AND", "OR", "XOR")
_OF_POINTERS = frozenset(("ADR", "ADRINST", "REF", "__NEW", "__DELETE", "__QUERYINTERFACE", "__QUERYPOINTER",
                          "__ISVALIDREF", "__VARINFO", "__POUNAME", "BITADR", "INDEXOF"))
_TRUTHS = ("__ISVALIDREF", "__QUERYINTERFACE", "__QUERYPOINTER")
_SHIFTS = ("SHL", "SHR", "ROL", "ROR")
_OTHER_NAMES = {"str": "in", "str1": "in1", "str2": "in2", "size": "l", "len": "l", "pos": "p"}
"""Of the inputs of functions of texts, as CODESYS has them."""


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
    if not isinstance(callee, Name):
        return _call_place(node, scope, elaborate)
    own = scope.find(callee.key)
    if own is not None:
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


def _leave_namespace(node: Invocation, scope: Scope) -> Invocation:
    """`Library.name(…)` as `name(…)`."""
    callee = node.callee
    if isinstance(callee, Member) and isinstance(callee.base, Name) and callee.base.key in scope.world.namespaces \
            and scope.find(callee.base.key) is None:
        return replace(node, callee=Name(callee.key, callee.text, callee.span))
    return node


def _call_function(signature: Signature, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A function of the source."""
    scope.calls.setdefault(signature.name, node.span)
    scope.world.prepare(signature.name)
    if scope.world.signatures[signature.name].record is None:
        return _apply(signature, node, scope, elaborate)
    return _expect_result(_call_procedure(signature.name, _bind_nothing, node, scope, elaborate), node, scope)


def _expect_result(result: Place | Constant | None, node: Invocation, scope: Scope) -> Expression:
    if result is None:
        raise scope.reject("without-result", node.span)
    return result


def _bind_nothing(name: str) -> Place:
    raise KeyError(name)


def _call_known(name: Name, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A function that the source does not declare."""
    upper = name.key.upper()
    if upper in OPERATORS:
        return elaborate(_as_operator(upper, node, scope), scope)
    if upper in _SHIFTS:
        return _shift_bits(upper, node, scope, elaborate)
    if upper in FUNCTIONS:
        return _call_standard(upper, FUNCTIONS[upper], node, scope, elaborate)
    if (moment := _MOMENT_OPERATOR.fullmatch(upper)) is not None and len(node.arguments) == 2:
        return elaborate(_as_operator(moment[1], node, scope), scope)
    conversion = _CONVERSION.fullmatch(upper)
    if conversion and conversion[2].lower() in SCALARS and _is_convertible(conversion[1], scope):
        return _convert(conversion[1], conversion[2], node, scope, elaborate)
    if (whole := _TRUNCATION.fullmatch(upper)) is not None:
        return convert(_call_standard("TRUNC", FUNCTIONS["TRUNC"], node, scope, elaborate), SCALARS[whole[1].lower()])
    if upper == "CYCLE_TIME" and scope.is_standard:
        return Call(upper, (), TIME, node.span)
    if upper in ("TIME", "LTIME") and not node.arguments:
        scope.report("gap-clock", node.span, name=upper)
        return Unknown(f"{upper}()", TIME if upper == "TIME" else LTIME, node.span)
    if upper in ("LOWER_BOUND", "UPPER_BOUND"):
        return _find_bound(upper, node, scope, elaborate)
    if upper == "SIZEOF":
        return _measure(node, scope, elaborate)
    if upper == "CONCAT_DATE_TOD" and len(node.arguments) == 2:
        day, clock = (coerce(elaborate(one.value, scope), type_, scope, "an input of CONCAT_DATE_TOD")
                      for one, type_ in zip(node.arguments, (DATE, TOD), strict=True))
        seconds = Operation("/", (Convert(clock, DINT, node.span), Constant(1000, DINT)), DINT, node.span)
        total = Operation("+", (Convert(day, DINT, node.span), seconds), DINT, node.span)
        return Convert(total, DT, node.span)
    if upper in _OF_POINTERS:
        scope.report("gap-pointer", node.span)
        return Unknown("pointers", BOOL if upper in _TRUTHS else opaque_type("POINTER", "pointers"), node.span)
    return _call_missing(name, node, scope, elaborate)


def _is_convertible(source: str | None, scope: Scope) -> bool:
    """Whether a function of conversion takes values of that type: an elementary one, an enumeration, any."""
    return source is None or source.lower() in SCALARS or source == "ENUM" or source.lower() in scope.world.types


def _call_missing(name: Name, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A function that is not there: what it gives is not known, nor what it writes to what it is given."""
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
    if why == "dynamic dispatch":
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
        if isinstance(place, Place | Bit) and not is_opaque(place.type):
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


def match_arguments(arguments: Sequence[Argument], parameters: Sequence[str], callee: str,
                    scope: Scope) -> dict[str, Argument]:
    """The arguments by the lower-case names of the parameters that they are for. The parameters stand as they are
    written, in their order."""
    found: dict[str, Argument] = {}
    names = [one.lower() for one in parameters]
    for index, argument in enumerate(arguments):
        if isinstance(argument.value, Name) and not argument.value.key:
            continue  # `name := ,` leaves it as it is
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


def _call_standard(name: str, function: StandardFunction, node: Invocation, scope: Scope,
                   elaborate: Elaborate) -> Expression:
    if function.kinds == ("string",):
        node = replace(node, arguments=tuple(replace(one, name=_OTHER_NAMES.get(one.name, one.name))
                                             for one in node.arguments))
    parameters = _parameters(function, len(node.arguments))
    operands = _operands(name, [one for one, _ in parameters], node, scope, elaborate)
    same = [operand for operand, (_, type_) in zip(operands, parameters, strict=True) if not type_]
    if (unknown := next((one for one in operands if is_opaque(one.type)), None)) is not None:
        why = unknown.why if isinstance(unknown, Unknown) else why_unknown(unknown.type)
        return Unknown(why, _named_type(function.result, UNKNOWN_TYPE), node.span)
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


def _shift_bits(name: str, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """Shifts of integers are those of their bits; SHR of a signed one fills with its sign."""
    if not node.arguments:
        return _call_standard(name, FUNCTIONS[name], node, scope, elaborate)
    operand = elaborate(node.arguments[0].value, scope)
    if is_loose(operand.type) and isinstance(operand, Constant) and len(node.arguments) == 2:
        operand = settle(operand)
    type_ = operand.type
    if not isinstance(type_, Scalar) or type_.kind != "int" or len(node.arguments) != 2:
        return _call_standard(name, FUNCTIONS[name], node, scope, elaborate)
    if scope.world.dialect.name == "iec":
        scope.report("shifts-integer", node.span, name=name, type=describe_type(type_))
    count = coerce(elaborate(node.arguments[1].value, scope), DINT, scope, f"the input 'N' of {name}")
    bits = SCALARS[{8: "byte", 16: "word", 32: "dword", 64: "lword"}[type_.bits]]

    def shift(value: Expression) -> Expression:
        return Call(name, (value, count), bits, node.span)

    plain = Convert(operand, bits, node.span)
    shifted = Convert(shift(plain), type_, node.span)
    if name != "SHR" or not type_.signed:
        return shifted
    turned = Operation("not", (plain,), bits, node.span)
    filled = Convert(Operation("not", (shift(turned),), bits, node.span), type_, node.span)
    is_negative = Operation("<", (operand, Constant(0, type_)), BOOL, node.span)
    return Call("SEL", (is_negative, shifted, filled), type_, node.span)


def _find_bound(name: str, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """LOWER_BOUND(array, dimension), which is known before the program runs."""
    if len(node.arguments) != 2:
        raise scope.reject("argument-count", node.span, callee=name, wanted=2, found=len(node.arguments))
    type_: Type = elaborate_place(node.arguments[0].value, scope, elaborate).type
    number = settle(elaborate(node.arguments[1].value, scope))
    if is_opaque(type_):
        return Unknown(why_unknown(type_), DINT, node.span)
    for _ in range(number.value - 1 if isinstance(number, Constant) else 0):
        type_ = type_.element if isinstance(type_, Array) else UNKNOWN_TYPE
    if not isinstance(type_, Array) or not isinstance(number, Constant) or number.value < 1:
        raise scope.reject("no-elements", node.span, type=describe_type(type_), array=False, count=0)
    return Constant(type_.low if name == "LOWER_BOUND" else type_.high, DINT, node.span)


def _measure(node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """SIZEOF: the bytes of what has the same size on every controller."""
    if len(node.arguments) != 1:
        raise scope.reject("argument-count", node.span, callee="SIZEOF", wanted=1, found=len(node.arguments))
    value = node.arguments[0].value
    named = scope.world.types.get(value.key, (None, None))[0] if isinstance(value, Name) else None
    if named is None and isinstance(value, Name) and value.key in SCALARS:
        named = SCALARS[value.key]
    size = _bytes_of(named or elaborate(value, scope).type)
    if size is None:
        scope.report("gap-size", node.span)
        return Unknown("SIZEOF", UNKNOWN_TYPE, node.span)
    return Constant(size, LOOSE_INT, node.span)


def _bytes_of(type_: Type) -> int | None:
    if isinstance(type_, Array):
        size = _bytes_of(type_.element)
        return None if size is None else size * (type_.high - type_.low + 1)
    if isinstance(type_, Record) or type_.kind == "opaque":
        return None
    if type_.kind == "string":
        return type_.high + 1 if type_.high is not None and type_.name == "STRING" else None
    return max(1, type_.bits // 8)


def _convert(source: str | None, target: str, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """`INT_TO_REAL(x)` and `TO_REAL(x)`; the operand goes into the type that is named first."""
    if len(node.arguments) != 1:
        raise scope.reject("argument-count", node.span, callee=f"{source or ''}_TO_{target}".lstrip("_"), wanted=1,
                           found=len(node.arguments))
    operand = elaborate(node.arguments[0].value, scope)
    wanted = SCALARS[target.lower()]
    if is_opaque(operand.type):
        return coerce(operand, wanted, scope, "a conversion")
    if source and source.lower() in SCALARS and not _is_enum(operand):
        operand = coerce(operand, SCALARS[source.lower()], scope, f"the input of {source}_TO_{target}")
    operand = settle(operand)
    type_ = operand.type
    if not isinstance(type_, Scalar):
        raise scope.reject("no-conversion", node.span, found=describe_type(type_), wanted=target)
    if "string" in (type_.kind, wanted.kind):
        return _convert_text(operand, type_, wanted, node, scope)
    if type_.kind == wanted.kind == "time" and (type_.name[-4:], wanted.name[-4:]) != ("TIME", "TIME"):
        return _convert_moment(operand, type_, wanted, node, scope)
    return convert(operand, wanted)


def _convert_text(operand: Expression, source: Scalar, target: Scalar, node: Node, scope: Scope) -> Expression:
    if source.kind == target.kind:
        return convert(operand, target)
    if target.kind == "string":
        text = Call("@TO_TEXT", (operand, Constant(source.name, STRING)), STRING, node.span)
        return convert(text, target)
    if target.kind == "time" or source.name in ("CHAR", "WCHAR") or target.kind == "enum":
        scope.report("gap-text", node.span, found=describe_type(source), wanted=target.name)
        return Unknown("strings", target, node.span)
    return Call("@FROM_TEXT", (operand,), target, node.span)


def _convert_moment(operand: Expression, source: Scalar, target: Scalar, node: Node, scope: Scope) -> Expression:
    """A date with its time of day as one of them, and the same moment in another unit; what has neither counts on."""
    is_long = source.name.startswith("L") and source != LTIME
    if source not in (DT, LDT) or target.name.endswith("AND_TIME"):
        return rescale(operand, target)
    wide = SCALARS["ulint"] if is_long else LINT
    day = Constant(86400 * (10**9 if is_long else 1), wide)
    count = Convert(operand, wide, node.span)
    clock = Operation("mod", (count, day), wide, node.span)
    is_date = target.name.endswith("DATE")
    part = Convert(Operation("-", (count, clock), wide, node.span) if is_date else clock, source, node.span)
    unit = SCALARS[("l" if is_long else "") + "date"] if is_date else source
    return rescale(replace(part, type=unit), target) if is_date else rescale(part, target)


def _is_enum(operand: Expression) -> bool:
    return isinstance(operand.type, Scalar) and operand.type.kind == "enum"


def _reject_callee(name: Name, scope: Scope) -> Exception:
    if scope.broken or scope.world.broken or name.key in scope.lost | scope.world.lost:
        return scope.reject_unknown(name.key, name.text, name.span)
    known = [*(one for one in FUNCTIONS if one[0] != "@"), *OPERATORS, *(one.written for one in scope.world.signatures.values())]
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
        _call_procedure(*found, node, scope, elaborate)
        return []
    if _is_function(node, scope):
        return _drop_result(node, scope, elaborate)
    instance = elaborate_place(node.callee, scope, elaborate)
    if isinstance(instance, Unknown) or is_opaque(instance.type):
        elaborate_call(node, scope, elaborate)
        return []
    type_ = instance.type
    if not isinstance(instance, Place) or not isinstance(type_, Record) or not type_.block:
        raise scope.reject("no-block", node.callee.span, found=describe_type(type_))
    signature = scope.world.signatures[type_.block]
    scope.calls.setdefault(type_.block, node.span)
    scope.world.prepare(type_.block)
    return _invoke(instance, signature, node, scope, elaborate, ())


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
    if signature is not None:
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
    world = scope.world
    if isinstance(callee, Name):
        key = world.find_member(scope.owner, callee.key, kind) if scope.owner and callee.key not in scope.variables else ""
        return (key, _own_binding(scope)) if key else None
    if not isinstance(callee, Member) or callee.key not in world.member_names:
        return None
    if is_own_instance(callee.base):
        key = world.find_member(scope.owner, callee.key, kind)
        return (key, _own_binding(scope)) if key else None
    if is_own_instance(callee.base, "super"):
        key = world.find_member(f"{scope.owner}@{scope.base}", callee.key, kind)
        return (key, _own_binding(scope)) if key else None
    base = elaborate_place(callee.base, scope, elaborate)
    if not isinstance(base, Place) or not isinstance(base.type, Record) or not base.type.block:
        return None
    key = world.find_member(base.type.block, callee.key, kind)
    return (key, _binding_at(base, scope)) if key else None


def _find_base(callee: Node, scope: Scope) -> tuple[str, Bind] | None:
    """`SUPER^()`: the body of the block that this one extends."""
    if not is_own_instance(callee, "super"):
        return None
    key = scope.world.find_member(f"{scope.owner}@{scope.base}", "", "body")
    return (key, _own_binding(scope)) if key else None


def _own_binding(scope: Scope) -> Bind:
    def bind(name: str) -> Place:
        variable = scope.find_owned(name) if scope.kind == "member" else scope.variables[name]
        return Place(variable.name, (), variable.type)
    return bind


def _binding_at(base: Place, scope: Scope) -> Bind:
    def bind(name: str) -> Place:
        part = scope.world.find_part(base.type, name) if isinstance(base.type, Record) else None
        if part is None:  # a temporary variable or an in-out, which lasts as long as the block's own call
            raise scope.reject("member-unbound", base.span, name=name)
        return Place(base.root, (*base.steps, name), part.type, base.span)
    return bind


def _call_procedure(key: str, bind: Bind, node: Invocation, scope: Scope, elaborate: Elaborate) -> Place | None:
    """Call a routine whose data lasts as long as the call, before the statement; gives where its result is then."""
    world = scope.world
    scope.calls.setdefault(key, node.span)
    world.prepare(key)
    signature = world.signatures[key]
    assert signature.record is not None
    instance = scope.add_temporary(signature.written, signature.record, initial_value(signature.record))
    if signature.record.fields:
        scope.before.append(Assign(instance, Constant(initial_value(signature.record), signature.record), node.span))
    owned = tuple((f"@{name}", bind(name)) for name in world.members_of.get(key, ()))
    call = _invoke(instance, signature, node, scope, elaborate, owned)
    scope.before += call
    if signature.result is None:
        return None
    return Place(instance.root, (signature.result_name,), signature.result, node.span)


def call_getter(node: Node, scope: Scope, elaborate: Elaborate) -> Expression | None:
    """The value of a property, if the name is one's."""
    if not isinstance(node, Name | Member) or node.key not in scope.world.properties:
        return None
    found = _find_member(node, scope, "get", elaborate)
    if found is None:
        return None
    return _call_procedure(*found, Invocation(node, (), node.span), scope, elaborate)


def call_setter(step: Assignment, scope: Scope, elaborate: Elaborate) -> list[Statement] | None:
    """An assignment to a property, if the target is one."""
    node = step.target
    if not isinstance(node, Name | Member) or node.key not in scope.world.properties:
        return None
    found = _find_member(node, scope, "set", elaborate)
    if found is None:
        return None
    _call_procedure(*found, Invocation(node, (Argument("", step.value, False, step.span),), step.span), scope, elaborate)
    return []


# EN and ENO of what does not declare them: the call is made where EN is TRUE.


def _split_enable(node: Invocation, scope: Scope) -> tuple[Node | None, Invocation]:
    """The value of EN, and the call without EN and ENO; nothing where they are inputs and outputs as all others."""
    named = {one.name for one in node.arguments} & {"en", "eno"}
    if not named or _declares_enable(node, scope):
        return None, node
    enable = next((one.value for one in node.arguments if one.name == "en"), Literal(True, "BOOL", node.span))
    return enable, replace(node, arguments=tuple(one for one in node.arguments if one.name not in ("en", "eno")))


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
    """ENO, which is EN here."""
    return [Assign(target, condition, node.span) for one in node.arguments if one.name == "eno"
            for target in (elaborate_target(one.value, scope, elaborate),) if isinstance(target, Place | Bit)]


# What is written before a block's body runs, what is bound, and what is copied out.


def _invoke(instance: Place, signature: Signature, node: Invocation, scope: Scope, elaborate: Elaborate,
            owned: tuple[tuple[str, Place], ...]) -> list[Statement]:
    name = node.callee.text if isinstance(node.callee, Name | Member) else signature.written
    callee = f"{name} ({signature.written})"
    given = _match(node, signature.of_section("input", "in_out"), False, callee, scope)
    taken = _match(node, signature.of_section("output"), True, callee, scope)
    inputs = tuple((one.name, coerce(elaborate(given[one.name].value, scope), one.type, scope,
                                     f"the input '{one.written}' of {signature.written}"))
                   for one in signature.of_section("input") if one.name in given and not is_opaque(one.type))
    outputs: list[tuple[Place, str]] = []
    behind: list[Statement] = []
    for one in signature.of_section("output"):
        if one.name in taken:
            _take_output(one, taken[one.name], instance, signature, scope, elaborate, outputs, behind)
    in_outs = tuple((one.name, _bind(one, given.get(one.name), node, signature, scope, elaborate, behind))
                    for one in signature.of_section("in_out"))
    block = scope.world.specialise(signature, {name: place.type for name, place in in_outs})
    more = _bind_globals(block, node, scope)
    return [Invoke(instance, block, inputs, tuple(outputs), (*in_outs, *owned, *more), node.span), *behind]


def _match(node: Invocation, parameters: Sequence[Variable], outputs: bool, callee: str,
           scope: Scope) -> dict[str, Argument]:
    arguments = [argument for argument in node.arguments if argument.is_output == outputs]
    return match_arguments(arguments, [one.written for one in parameters], callee, scope)


def _take_output(variable: Variable, argument: Argument, instance: Place, signature: Signature, scope: Scope,
                 elaborate: Elaborate, outputs: list[tuple[Place, str]], behind: list[Statement]) -> None:
    """Where an output is copied to. One that needs a conversion, a bit or a NOT is read behind the call instead."""
    node = argument.value
    target = elaborate_target(node, scope, elaborate)
    if isinstance(target, Unknown):
        behind += [Forget(target.why, argument.span)] if target.why in ANYTHING else []
        return
    if is_opaque(target.type):
        return
    if is_opaque(variable.type):
        behind.append(Assign(target, Unknown(why_unknown(variable.type), target.type, argument.span), argument.span))
        return
    if isinstance(target, Place) and variable.type == target.type and not argument.negates:
        outputs.append((target, variable.name))
        return
    value: Expression = Place(instance.root, (*instance.steps, variable.name), variable.type, argument.span)
    if argument.negates:
        value = Operation("not", (value,), BOOL, argument.span)
    if not isinstance(value.type, Scalar) or not isinstance(target.type, Scalar) or fit(
            value.type, target.type) == "no":
        raise scope.reject("output-type", argument.span, name=variable.written, callee=signature.written,
                           found=describe_type(variable.type), wanted=describe_type(target.type))
    behind.append(Assign(target, coerce(value, target.type, scope, f"the output '{variable.written}'"), argument.span))


def _bind(variable: Variable, argument: Argument | None, node: Invocation, signature: Signature,
          scope: Scope, elaborate: Elaborate, behind: list[Statement]) -> Place:
    """The place that an in-out stands for; one of its own for what is not known."""
    if argument is None:
        raise scope.reject("unbound", node.span, name=variable.written, callee=signature.written,
                           type=describe_type(variable.type))
    target = elaborate_target(argument.value, scope, elaborate)
    if isinstance(target, Unknown) or (is_opaque(variable.type) != is_opaque(target.type)):
        why = target.why if isinstance(target, Unknown) else why_unknown(
            variable.type if is_opaque(variable.type) else target.type)
        place = scope.add_temporary(variable.written, variable.type, variable.initial)
        if not is_opaque(place.type):
            scope.before.append(Assign(place, Unknown(why, place.type, argument.span), argument.span))
        behind += [Forget(why, argument.span)] if why in ANYTHING else [
            Assign(target, Unknown(why, target.type, argument.span), argument.span)] if isinstance(
                target, Place) and not is_opaque(target.type) else []
        return place
    if not isinstance(target, Place):
        raise scope.reject("bit-bound", argument.span, name=variable.written)
    if not is_bound(variable.type, target.type):
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
