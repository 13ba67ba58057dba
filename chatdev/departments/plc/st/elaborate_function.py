"""Give calls of standard functions their meaning in the core: operators by their names, conversions, texts, shifts, and
what is known of types before the program runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from chatdev.departments.plc.st.coerce import coerce, convert, meet, rescale, settle
from chatdev.departments.plc.st.core import (
    Array,
    Call,
    Constant,
    Convert,
    Expression,
    Operation,
    Place,
    Record,
    Scalar,
    Type,
    Unknown,
)
from chatdev.departments.plc.st.diagnostics import find_nearest
from chatdev.departments.plc.st.elaborate_place import elaborate_place, opaque_type, why_unknown
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
    OPERATORS,
    REAL,
    SCALARS,
    STRING,
    TOD,
    UNKNOWN_TYPE,
    StandardFunction,
    describe_type,
    find_scalar,
    is_loose,
    is_opaque,
)
from chatdev.departments.plc.st.run_clocks import UPTIME
from chatdev.departments.plc.st.scope import Scope
from chatdev.departments.plc.st.syntax import Argument, Binary, Invocation, Name, Node, Unary

Elaborate = Callable[[Node, Scope], Expression]
_CONVERSION = re.compile(r"(?:(\w+?)_)?TO_(\w+)")
_TRUNCATION = re.compile(r"TRUNC_(U?[SDL]?INT)")
_MOMENT_OPERATOR = re.compile(r"(ADD|SUB|MUL|DIV)_?L?(?:TIME|(?:DT|TOD)_L?TIME|DATE_L?DATE|TOD_L?TOD|DT_L?DT)")
_CHAINS = ("ADD", "MUL", "AND", "OR", "XOR")
_OF_POINTERS = frozenset(("ADR", "ADRINST", "REF", "__NEW", "__DELETE", "__QUERYINTERFACE", "__QUERYPOINTER",
                          "__ISVALIDREF", "__VARINFO", "__POUNAME", "BITADR", "INDEXOF"))
_TRUTHS = ("__ISVALIDREF", "__QUERYINTERFACE", "__QUERYPOINTER")
_SHIFTS = ("SHL", "SHR", "ROL", "ROR")
_OTHER_NAMES = {"str": "in", "str1": "in1", "str2": "in2", "size": "l", "len": "l", "pos": "p"}
"""Of the inputs of functions of texts, as CODESYS has them."""


def call_standard(upper: str, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression | None:
    """A call of a function of the standard or of a dialect, by its name in upper case; None if there is none."""
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
        return Call(upper, (), find_scalar("time", scope.world.dialect.name), node.span)
    return _call_dialect(upper, node, scope, elaborate)


def _call_dialect(upper: str, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression | None:
    """What the clock of the controller, pointers and sizes give."""
    if upper in ("TIME", "LTIME") and not node.arguments:
        return _read_clock(upper, node, scope)
    if scope.world.dialect.name == "siemens" and (found := _call_siemens(upper, node, scope, elaborate)) is not None:
        return found
    if upper in ("LOWER_BOUND", "UPPER_BOUND"):
        return _find_bound(upper, node, scope, elaborate)
    if upper == "SIZEOF":
        return _measure(node, scope, elaborate)
    if upper == "CONCAT_DATE_TOD" and len(node.arguments) == 2:
        return _join_moment(node, scope, elaborate)
    if upper == "__ISVALIDREF" and (found := _is_valid(node, scope)) is not None:
        return found
    if upper in _OF_POINTERS:
        scope.report("gap-pointer", node.span)
        return Unknown("pointers", BOOL if upper in _TRUTHS else opaque_type("POINTER", "pointers"), node.span)
    return None


def _call_siemens(upper: str, node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression | None:
    """What TIA Portal has beside the standard."""
    if upper == "TIME_TCK" and not node.arguments:
        return _read_clock(upper, node, scope)
    return _square(node, scope, elaborate) if upper == "SQR" and len(node.arguments) == 1 else None


def _is_valid(node: Invocation, scope: Scope) -> Expression | None:
    """Whether a reference stands for something; None where that is not known."""
    reference = node.arguments[0].value if len(node.arguments) == 1 else None
    key = reference.key if isinstance(reference, Name) else ""
    if (scope.routine.partition("@")[0], key) in scope.world.bound_references:
        return Constant(True, BOOL, node.span)
    variable = scope.variables.get(key) if key in scope.referents else None
    if variable is None or not isinstance(variable.type, Scalar) or not is_opaque(variable.type):
        return None
    cell = Place(variable.name, (), variable.type, node.span)
    return Operation("<>", (cell, Constant(0, variable.type)), BOOL, node.span)


def _read_clock(upper: str, node: Invocation, scope: Scope) -> Expression:
    """How long the controller runs: TIME() begins anew after 2^32 milliseconds, TIME_TCK() of TIA Portal ("Read system
    time", STEP 7 V17) after 2^31, LTIME() counts nanoseconds."""
    scope.world.globals.setdefault(UPTIME.name, UPTIME)
    scope.find(UPTIME.name)
    uptime = Place(UPTIME.name, (), UPTIME.type, node.span)
    type_ = find_scalar(upper.removesuffix("_TCK"), scope.world.dialect.name)
    if upper == "TIME":
        return Convert(uptime, type_, node.span)
    if upper == "TIME_TCK":
        bits = SCALARS["lword"]
        low = Operation("and", (Convert(uptime, bits, node.span), Constant(2**31 - 1, bits)), bits, node.span)
        return Convert(low, type_, node.span)
    nanoseconds = Operation("*", (uptime, Constant(1_000_000, LINT)), LINT, node.span)
    return Convert(nanoseconds, type_, node.span)


def _square(node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """SQR of TIA Portal: a number times itself, as a REAL or LREAL."""
    value = settle(elaborate(node.arguments[0].value, scope))
    if is_opaque(value.type):
        return Unknown(value.why if isinstance(value, Unknown) else why_unknown(value.type), UNKNOWN_TYPE, node.span)
    if not isinstance(value.type, Scalar) or value.type.kind not in ("int", "real"):
        raise scope.reject("wrong-operand", node.span, operator="SQR", found=describe_type(value.type),
                           wanted="a number")
    value = convert(value, _as_real(value.type))
    assert isinstance(value.type, Scalar)
    return Operation("*", (value, value), value.type, node.span)


def _join_moment(node: Invocation, scope: Scope, elaborate: Elaborate) -> Expression:
    """A DATE and a TIME_OF_DAY as DATE_AND_TIME."""
    day, clock = (coerce(elaborate(one.value, scope), type_, scope, "an input of CONCAT_DATE_TOD")
                  for one, type_ in zip(node.arguments, (DATE, TOD), strict=True))
    seconds = Operation("/", (Convert(clock, LINT, node.span), Constant(1000, LINT)), LINT, node.span)
    total = Operation("+", (Convert(day, LINT, node.span), seconds), LINT, node.span)
    return Convert(total, DT, node.span)


def _is_convertible(source: str | None, scope: Scope) -> bool:
    """Whether a function of conversion takes values of that type: an elementary one, an enumeration, any."""
    return source is None or source.lower() in SCALARS or source == "ENUM" or source.lower() in scope.world.types


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
    dialect = scope.world.dialect.name
    wanted = find_scalar(target, dialect)
    if is_opaque(operand.type):
        return coerce(operand, wanted, scope, "a conversion")
    if source and source.lower() in SCALARS and not _is_enum(operand):
        operand = coerce(operand, find_scalar(source, dialect), scope, f"the input of {source}_TO_{target}")
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
    is_long = source.name.startswith("L") and source.name != "LTIME"
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


