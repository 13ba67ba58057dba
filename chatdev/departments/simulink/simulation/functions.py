"""Kernels of blocks whose output follows from their inputs alone: mathematics, logic, limits, tables and routing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from chatdev.departments.simulink.simulation.arithmetic import code_of, linear_table
from chatdev.departments.simulink.simulation.expressions import ExpressionFault, parse_expression
from chatdev.departments.simulink.simulation.kernel import Site, elementwise, kernel, literal, scalars

_RELATIONS = {"==": "==", "~=": "!=", "<": "<", "<=": "<=", ">=": ">=", ">": ">"}


def relate(site: Site, left: str, operator: str, right: str) -> tuple[str, list[str]]:
    """The condition that `left` stands in a relation to `right`, and what decides it; where the block is continuous, it
    is frozen within a step, and the instant of its change is located."""
    if operator not in _RELATIONS:
        raise site.fault(f"{operator!r} is no relation; it is one of {', '.join(_RELATIONS)}")
    operator = _RELATIONS[operator]
    if not site.is_located:
        return f"{left} {operator} {right}", []
    mode = site.keep()
    if operator in ("==", "!="):
        site.margin(f"({left} - {right}) * -{mode} if {mode} else abs({left} - {right})")
        return f"{mode} {operator} 0", [f"{mode} = ({left} > {right}) - ({left} < {right})"]
    less, more = (left, right) if operator in ("<", "<=") else (right, left)
    site.margin(f"{less} - {more} if {mode} else {more} - {less}")
    return mode, [f"{mode} = {left} {operator} {right}"]


def range_mode(site: Site, u: str, low: str, high: str) -> tuple[str, list[str]]:
    """An expression that is 1 above `high`, -1 below `low`, else 0, and what decides it."""
    now = f"({u} > {high}) - ({u} < {low})"
    if not site.is_located:
        return f"({now})", []
    mode = site.keep()
    site.margin(f"{high} - {u} if {mode} > 0 else {u} - {low} if {mode} < 0 else max({u} - {high}, {low} - {u})")
    return mode, [f"{mode} = {now}"]


@kernel("gain", lambda site: _gain_width(site))
def _gain(site: Site) -> None:
    how, gains = site.text("Multiplication"), site.matrix("Gain")
    if how.startswith("Element") or gains.size == 1:
        if min(gains.shape, default=0) > 1:
            raise site.fault("Gain is a matrix, and the multiplication is element by element; choose Matrix(K*u)")
        site.put(f"{k} * {u}" for k, u in zip(site.each("Gain", site.width), site.u(0, site.width), strict=True))
        return
    rows = (gains.T if how == "Matrix(u*K)" else gains).tolist()
    inputs = site.u(0, len(rows[0]))
    site.put(site.total([f"{literal(k)} * {u}" for k, u in zip(row, inputs, strict=True) if k] or ["0.0"])
             for row in rows)


def _gain_width(site: Site) -> list[int | None]:
    gains = site.matrix("Gain")
    if site.text("Multiplication").startswith("Element") or gains.size == 1:
        return [*elementwise("Gain")(site)]
    return [gains.shape[1 if site.text("Multiplication") == "Matrix(u*K)" else 0]]


@kernel("slider_gain", elementwise("gain"))
def _slider_gain(site: Site) -> None:
    site.put(f"{k} * {u}" for k, u in zip(site.each("gain", site.width), site.u(0, site.width), strict=True))


def _signs(site: Site, plain: str, signs: str) -> str:
    """The sign of each input."""
    text = site.text("Inputs").replace("|", "").replace(" ", "")
    found = plain * int(text) if text.isdigit() else text
    if not found or set(found) - set(signs):
        raise site.fault(f"Inputs is {site.text('Inputs')!r}; give a count, or signs of {' and '.join(signs)}")
    return found


def _reduction_width(site: Site) -> list[int | None]:
    return [1] if len(site.input_widths) == 1 else [*elementwise()(site)]


@kernel("sum", _reduction_width)
def _sum(site: Site) -> None:
    signs = _signs(site, "+", "+-")
    if len(site.inputs) == 1:
        total = site.total(site.u())
        site.put([total if signs == "+" else f"-({total})"])
        return
    for number, terms in enumerate(zip(*site.wide(), strict=True)):
        code = site.total([f"{'' if sign == '+' else '-'}{term}" for sign, term in zip(signs, terms, strict=True)])
        site.element(0, number, code.replace("+ -", "- "))


@kernel("product", _reduction_width)
def _product(site: Site) -> None:
    signs = _signs(site, "*", "*/")
    if site.text("Multiplication").startswith("Matrix") and max(map(len, site.inputs)) > 1:
        raise site.fault("products of matrices are not simulated; choose Element-wise(.*)")
    rows = [site.u()] if len(site.inputs) == 1 else zip(*site.wide(), strict=True)
    for number, factors in enumerate(rows):
        of = signs * len(factors) if len(site.inputs) == 1 else signs
        above = site.total([f for f, sign in zip(factors, of, strict=True) if sign == "*"] or ["1.0"], "*")
        below = [f for f, sign in zip(factors, of, strict=True) if sign == "/"]
        site.element(0, number, f"divide({above}, {site.total(below, '*')})" if below else above)


@kernel("dot_product", scalars)
def _dot_product(site: Site) -> None:
    width = max(map(len, site.inputs))
    site.put([site.total([f"{a} * {b}" for a, b in zip(site.u(0, width), site.u(1, width), strict=True)])])


@kernel("bias", elementwise("Bias"))
def _bias(site: Site) -> None:
    site.put(f"{u} + {b}" for u, b in zip(site.u(0, site.width), site.each("Bias", site.width), strict=True))


@kernel("unary_minus")
def _unary_minus(site: Site) -> None:
    site.put(f"-{u}" for u in site.u())


@kernel("abs")
def _abs(site: Site) -> None:
    for number, u in enumerate(site.u()):
        if site.is_located:
            mode = site.keep()
            site.margin(f"{u} if {mode} else -{u}")
            site.element(0, number, f"-{u} if {mode} else {u}", [f"{mode} = {u} < 0"])
        else:
            site.element(0, number, f"abs({u})")


@kernel("sign")
def _sign(site: Site) -> None:
    for number, u in enumerate(site.u()):
        mode, decide = range_mode(site, u, "0.0", "0.0")
        site.element(0, number, f"float({mode})", decide)


def bounds(site: Site, low: str, high: str) -> tuple[list[str], list[str]]:
    """Two parameters as literals, of which no lower one is above the upper one."""
    if any(lower > upper for lower, upper in zip(*(site.spread(name, site.width, may_be_infinite=True)
                                                   for name in (low, high)), strict=True)):
        raise site.fault(f"{low} is above {high}; exchange them")
    return site.each(low, site.width), site.each(high, site.width)


@kernel("saturation", elementwise("UpperLimit", "LowerLimit"))
def _saturation(site: Site) -> None:
    _limit(site, site.u(0, site.width), *bounds(site, "LowerLimit", "UpperLimit"))


@kernel("saturation_dynamic")
def _saturation_dynamic(site: Site) -> None:
    high, u, low = site.wide()
    _limit(site, u, low, high)


def _limit(site: Site, inputs: Sequence[str], lows: Sequence[str], highs: Sequence[str]) -> None:
    for number, (u, low, high) in enumerate(zip(inputs, lows, highs, strict=True)):
        if site.is_located:
            mode, decide = range_mode(site, u, low, high)
            site.element(0, number, f"{high} if {mode} > 0 else {low} if {mode} < 0 else {u}", decide)
        else:
            site.element(0, number, f"{high} if {u} > {high} else {low} if {u} < {low} else {u}")


@kernel("dead_zone", elementwise("LowerValue", "UpperValue"))
def _dead_zone(site: Site) -> None:
    _cut(site, site.u(0, site.width), *bounds(site, "LowerValue", "UpperValue"))


@kernel("dead_zone_dynamic")
def _dead_zone_dynamic(site: Site) -> None:
    high, u, low = site.wide()
    _cut(site, u, low, high)


def _cut(site: Site, inputs: Sequence[str], lows: Sequence[str], highs: Sequence[str]) -> None:
    for number, (u, low, high) in enumerate(zip(inputs, lows, highs, strict=True)):
        mode, decide = range_mode(site, u, low, high)
        site.element(0, number, f"{u} - {high} if {mode} > 0 else {u} - {low} if {mode} < 0 else 0.0", decide)


@kernel("coulomb_friction")
def _coulomb_friction(site: Site) -> None:
    """Of a vector `offset`, whose elements the library's default lists, each signal's element has its own."""
    offsets = site.vector("offset")
    offsets = offsets if len(offsets) == site.width else offsets[:1] * site.width
    for number, (u, gain) in enumerate(zip(site.u(), site.each("gain", site.width), strict=True)):
        mode, decide = range_mode(site, u, "0.0", "0.0")
        site.element(0, number, f"{gain} * {u} + {mode} * {literal(offsets[number])}", decide)


@kernel("quantizer", elementwise("QuantizationInterval"))
def _quantizer(site: Site) -> None:
    for number, (u, q) in enumerate(zip(site.u(0, site.width), site.each("QuantizationInterval", site.width),
                                        strict=True)):
        if float(q.strip("()")) <= 0:
            raise site.fault("QuantizationInterval is not above 0; give a positive number")
        site.element(0, number, f"{q} * round_({u} / {q})")


@kernel("wrap_to_zero", elementwise("Threshold"))
def _wrap_to_zero(site: Site) -> None:
    for number, (u, at) in enumerate(zip(site.u(0, site.width), site.each("Threshold", site.width), strict=True)):
        above, decide = relate(site, u, ">", at)
        site.element(0, number, f"0.0 if {above} else {u}", decide)


@kernel("relational")
def _relational(site: Site) -> None:
    operator = site.text("Operator")
    if operator in ("isInf", "isNaN", "isFinite"):
        site.put(f"float({operator.lower()}({u}))" for u in site.u())
        return
    if len(site.inputs) != 2:
        raise site.fault(f"{operator!r} is no relation; it is one of {', '.join(_RELATIONS)}")
    for number, (left, right) in enumerate(zip(*site.wide(), strict=True)):
        holds, decide = relate(site, left, operator, right)
        site.element(0, number, f"1.0 if {holds} else 0.0", decide)


@kernel("compare_to_zero")
def _compare_to_zero(site: Site) -> None:
    _compare(site, ["0.0"] * site.width)


@kernel("compare_to_constant", elementwise("const"))
def _compare_to_constant(site: Site) -> None:
    _compare(site, site.each("const", site.width))


def _compare(site: Site, others: Sequence[str]) -> None:
    for number, (u, other) in enumerate(zip(site.u(0, site.width), others, strict=True)):
        holds, decide = relate(site, u, site.text("relop"), other)
        site.element(0, number, f"1.0 if {holds} else 0.0", decide)


@kernel("interval_test", elementwise("lowlimit", "uplimit"))
def _interval_test(site: Site) -> None:
    _test(site, site.u(0, site.width), site.each("lowlimit", site.width), site.each("uplimit", site.width))


@kernel("interval_test_dynamic")
def _interval_test_dynamic(site: Site) -> None:
    high, u, low = site.wide()
    _test(site, u, low, high)


def _test(site: Site, inputs: Sequence[str], lows: Sequence[str], highs: Sequence[str]) -> None:
    above = ">=" if site.is_on("IntervalClosedLeft") else ">"
    below = "<=" if site.is_on("IntervalClosedRight") else "<"
    for number, (u, low, high) in enumerate(zip(inputs, lows, highs, strict=True)):
        (first, decide), (second, more) = relate(site, u, above, low), relate(site, u, below, high)
        site.element(0, number, f"1.0 if {first} and {second} else 0.0", [*decide, *more])


@kernel("logic", lambda site: _logic_width(site))
def _logic(site: Site) -> None:
    operator = site.text("Operator")
    rows = [site.u()] if site.width == 1 and len(site.inputs) == 1 else [*zip(*site.wide(), strict=True)]
    if operator == "NOT":
        site.put(f"0.0 if {u} else 1.0" for u in site.u())
        return
    if operator not in ("AND", "OR", "NAND", "NOR", "XOR", "NXOR"):
        raise site.fault(f"Operator is {operator!r}; it is one of AND, OR, NAND, NOR, XOR, NXOR, NOT")
    yes, no = ("0.0", "1.0") if operator.startswith("N") else ("1.0", "0.0")
    for number, terms in enumerate(rows):
        if operator in ("XOR", "NXOR"):
            code = f"({site.total([f'({u} != 0)' for u in terms])}) % 2"
        else:
            code = site.total(terms, "and" if "AND" in operator else "or")
        site.element(0, number, f"{yes} if {code} else {no}")


def _logic_width(site: Site) -> list[int | None]:
    return [1] if len(site.input_widths) == 1 and site.text("Operator") != "NOT" else [*elementwise()(site)]


@kernel("combinatorial_logic", lambda site: [site.matrix("TruthTable").shape[1]])
def _combinatorial_logic(site: Site) -> None:
    table, inputs = site.matrix("TruthTable"), site.u()
    if table.shape[0] != 2 ** len(inputs):
        raise site.fault(f"TruthTable has {table.shape[0]} rows, and the {len(inputs)} inputs need {2**len(inputs)}")
    row = site.total([f"{2**weight} * ({u} != 0)" for weight, u in enumerate(reversed(inputs))])
    for number in range(table.shape[1]):
        site.element(0, number, f"{site.thing(table[:, number].tolist())}[{row}]")


_FORMULAS = {"exp": "exp({u})", "log": "log({u})", "10^u": "power(10.0, {u})", "log10": "log10({u})",
             "magnitude^2": "{u} * {u}", "square": "{u} * {u}", "pow": "power({u}, {v})", "conj": "{u}",
             "reciprocal": "divide(1.0, {u})", "hypot": "hypot({u}, {v})", "rem": "rem({u}, {v})",
             "mod": "mod({u}, {v})"}


@kernel("math")
def _math(site: Site) -> None:
    operator = site.text("Operator")
    if operator in ("transpose", "hermitian") and site.width == 1:
        operator = "conj"
    if operator not in _FORMULAS:
        raise site.fault(f"the operator {operator!r} is not simulated")
    for number, given in enumerate(zip(*site.wide(), strict=True)):
        site.element(0, number, _FORMULAS[operator].format(u=given[0], v=given[-1]))


@kernel("sqrt")
def _sqrt(site: Site) -> None:
    forms = {"sqrt": "sqrt({u})", "signedSqrt": "(sqrt({u}) if {u} >= 0 else -sqrt(-{u}))",
             "rSqrt": "divide(1.0, sqrt({u}))"}
    operator = site.text("Operator")
    if operator not in forms:
        raise site.fault(f"the operator {operator!r} is not simulated")
    site.put(forms[operator].format(u=u) for u in site.u())


@kernel("trigonometry")
def _trigonometry(site: Site) -> None:
    operator = site.text("Operator")
    if operator == "sincos":
        site.put((f"sin({u})" for u in site.u()), 0)
        site.put((f"cos({u})" for u in site.u()), 1)
    elif operator == "cos + jsin":
        raise site.fault("complex signals are not simulated")
    else:
        site.put(f"{operator}({', '.join(given)})" for given in zip(*site.wide(), strict=True))


@kernel("min_max", _reduction_width)
def _min_max(site: Site) -> None:
    which = site.text("Function")
    if which not in ("min", "max"):
        raise site.fault(f"Function is {which!r}; it is min or max")
    for number, given in enumerate([site.u()] if len(site.inputs) == 1 else zip(*site.wide(), strict=True)):
        if len(given) == 1:
            site.element(0, number, given[0])
        elif not site.is_located:
            site.element(0, number, f"{which}({', '.join(given)})")
        else:
            mode, all_of_them = site.keep(0), f"({', '.join(given)})"
            site.margin(f"{'' if which == 'max' else '-'}({which}{all_of_them} - {all_of_them}[{mode}])")
            site.element(0, number, f"{all_of_them}[{mode}]", [f"{mode} = {all_of_them}.index({which}{all_of_them})"])


@kernel("rounding")
def _rounding(site: Site) -> None:
    operator = site.text("Operator")
    if operator not in ("floor", "ceil", "round", "fix"):
        raise site.fault(f"Operator is {operator!r}; it is floor, ceil, round or fix")
    site.put(f"{'round_' if operator == 'round' else operator}({u})" for u in site.u())


@kernel("polynomial")
def _polynomial(site: Site) -> None:
    for number, u in enumerate(site.u()):
        code = ""
        for at in site.vector("Coefs"):
            code = f"({code} * {u} + {literal(at)})" if code else literal(at)
        site.element(0, number, code)


@kernel("algebraic_constraint", lambda site: [len(site.vector("z0"))])
def _algebraic_constraint(site: Site) -> None:
    for number, f in enumerate(site.u(0, site.width)):
        site.element(0, number, f"{site.outputs[0][number]} + {f}")


@kernel("fcn", scalars)
def _fcn(site: Site) -> None:
    try:
        site.put([code_of(parse_expression(site.text("Expr").replace("u[", "u(").replace("]", ")")), site.u())])
    except ExpressionFault as error:
        raise site.fault(f"Expr: {error}") from None


@kernel("lookup_1d")
def _lookup_1d(site: Site) -> None:
    points, values = site.vector("BreakpointsForDimension1"), site.vector("Table")
    if len(points) != len(values) or len(points) < 2:
        raise site.fault(f"Table has {len(values)} values and BreakpointsForDimension1 {len(points)}; give as many of "
                         "both, two at least")
    look_up = site.thing(_table(site, points, values))
    site.put(f"{look_up}({u})" for u in site.u())


def _table(site: Site, points: list[float], values: list[float]) -> Callable[[float], float]:
    if any(right <= left for left, right in pairwise(points)):
        raise site.fault("the breakpoints do not increase; sort them")
    method, beyond = site.text("InterpMethod"), site.text("ExtrapMethod")
    if method == "Cubic spline" and beyond in ("Clip", "Linear", "Cubic spline"):
        from scipy.interpolate import CubicSpline

        spline = CubicSpline(points, values)
        ends = linear_table(points, values, "linear", "clip" if beyond == "Clip" else "linear")
        if beyond == "Cubic spline":
            return lambda u: float(spline(u))
        return lambda u: float(spline(u)) if points[0] <= u <= points[-1] else ends(u)
    methods = {"Flat": "flat", "Nearest": "nearest", "Linear point-slope": "linear", "Linear Lagrange": "linear"}
    if method not in methods or beyond not in ("Clip", "Linear"):
        raise site.fault(f"{method} with {beyond} extrapolation is not simulated; choose Linear point-slope")
    return linear_table(points, values, methods[method], beyond.lower())


@kernel("lookup_2d")
def _lookup_2d(site: Site) -> None:
    rows, columns = site.vector("BreakpointsForDimension1"), site.vector("BreakpointsForDimension2")
    table = site.matrix("Table")
    if table.shape != (len(rows), len(columns)) or min(table.shape) < 2:
        raise site.fault(f"Table is {table.shape[0]} by {table.shape[1]}, the breakpoints {len(rows)} and "
                         f"{len(columns)}; make them equal, two at least")
    if "spline" in site.text("InterpMethod"):
        raise site.fault("splines in two dimensions are not simulated; choose Linear point-slope")
    along = [_table(site, columns, row) for row in table.tolist()]
    _table(site, rows, rows)
    method, beyond = site.text("InterpMethod").partition(" ")[0].lower(), site.text("ExtrapMethod").lower()

    def look_up(first: float, second: float) -> float:
        return linear_table(rows, [line(second) for line in along], method, beyond)(first)

    name = site.thing(look_up)
    site.put(f"{name}({a}, {b})" for a, b in zip(*site.wide(), strict=True))


@kernel("width", scalars, rate="constant")
def _width(site: Site) -> None:
    site.put([literal(len(site.u()))])


_INTEGERS = {f"{sign}int{bits}": (0 if sign else -2**(bits - 1), bits)
             for sign in ("", "u") for bits in (8, 16, 32, 64)}


@kernel("data_type_conversion")
def _data_type_conversion(site: Site) -> None:
    kind = site.text("OutDataTypeStr")
    if kind == "boolean":
        site.put(f"1.0 if {u} else 0.0" for u in site.u())
    elif kind in ("double", "single") or kind.startswith("Inherit"):
        site.put(f"single({u})" if kind == "single" else u for u in site.u())
    elif kind in _INTEGERS:
        site.put(f"{site.thing(_integer(site, kind))}({u})" for u in site.u())
    else:
        raise site.fault(f"the data type {kind!r} is not simulated; choose double, boolean or an integer")


def _integer(site: Site, kind: str) -> Callable[[float], float]:
    lowest, bits = _INTEGERS[kind]
    saturates = site.is_on("SaturateOnIntegerOverflow")
    way: dict[str, Any] = {"Floor": math.floor, "Ceiling": math.ceil, "Zero": math.trunc, "Simplest": math.floor,
                           "Nearest": lambda u: math.floor(u + 0.5), "Convergent": round,
                           "Round": lambda u: math.floor(abs(u) + 0.5) * (1 if u >= 0 else -1)}
    rounding = way.get(site.text("RndMeth"), math.floor)

    def convert(u: float) -> float:
        if not math.isfinite(u):
            return 0.0 if u != u or not saturates else float(lowest if u < 0 else lowest + 2**bits - 1)
        whole = rounding(u)
        if saturates:
            return float(min(max(whole, lowest), lowest + 2**bits - 1))
        return float((whole - lowest) % 2**bits + lowest)

    return convert
