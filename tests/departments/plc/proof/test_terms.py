"""The solver's meaning of operators and standard functions is that of Python's values."""

from __future__ import annotations

import math
import struct

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.departments.plc.proof.terms import STANDARD, Inexpressible, convert, fold, lift, operate, overflows, power
from chatdev.departments.plc.st.core import Scalar
from chatdev.departments.plc.st.functions import BOOL, DINT, FUNCTIONS, INT, LREAL, REAL, SCALARS, STRING

SINT, WORD, UINT = SCALARS["sint"], SCALARS["word"], SCALARS["uint"]
FIXED = {"BOOL": BOOL, "DINT": DINT, "INT": INT, "STRING": STRING}
OF_KIND = {"int": SINT, "bits": WORD, "real": REAL, "time": SCALARS["time"], "bool": BOOL, "string": STRING}


def a_value(scalar: Scalar) -> st.SearchStrategy[object]:
    if scalar.kind == "bool":
        return st.booleans()
    if scalar.kind == "string":
        return st.text("ab1", max_size=5)
    if scalar.kind == "real":
        return st.one_of(st.floats(width=scalar.bits), st.integers(-40, 40).map(lambda half: half / 2))  # type: ignore[arg-type]
    low, high = (-(1 << scalar.bits - 1), (1 << scalar.bits - 1) - 1) if scalar.signed else (0, (1 << scalar.bits) - 1)
    return st.one_of(st.integers(low, high), st.integers(max(low, -20), 20))


def is_equal(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return struct.pack("<d", one) == struct.pack("<d", other) or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and one == other


def test_every_standard_function_has_a_meaning() -> None:
    assert STANDARD.keys() == FUNCTIONS.keys()


def test_what_the_solver_cannot_express_is_named() -> None:
    with pytest.raises(Inexpressible, match="SIN"):
        STANDARD["SIN"](REAL, [0.5], [REAL])


def test_the_bits_of_a_real_are_its_bits() -> None:
    dword = SCALARS["dword"]
    value, bits = lift(-1.5, REAL), lift(0xBFC00000, dword)
    assert STANDARD["@BITS_OF"](dword, [value], [REAL]) == FUNCTIONS["@BITS_OF"].compute(REAL, (-1.5,))
    assert STANDARD["@OF_BITS"](REAL, [bits], [dword]) == FUNCTIONS["@OF_BITS"].compute(REAL, (0xBFC00000,))


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"@BITS_OF", "@OF_BITS"}))
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_standard_function_means_the_same(name: str, data: st.DataObject) -> None:
    row = FUNCTIONS[name]
    kind = OF_KIND[data.draw(st.sampled_from([kind for kind in row.kinds if kind in OF_KIND]))]
    types = [FIXED.get(type_, kind) for _, type_ in row.parameters]
    values = [data.draw(a_value(type_)) for type_ in types]
    result = FIXED.get(row.result, kind)
    lifted = [lift(value, type_) for value, type_ in zip(values, types, strict=True)]
    try:
        term = STANDARD[name](result, lifted, types)
    except Inexpressible:
        return
    assert is_equal(fold(term, result) if isinstance(term, z3.AstRef) else term, row.compute(result, values))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_known_values_give_what_the_solver_gives(data: st.DataObject) -> None:
    operator = data.draw(st.sampled_from(["+", "-", "*", "=", "<>", "<", "<=", ">", ">="]))
    scalar = data.draw(st.sampled_from([SINT, UINT, INT]))
    values = [data.draw(a_value(scalar)) for _ in range(2)]
    result = scalar if operator in "+-*" else BOOL
    term = operate(operator, [lift(value, scalar) for value in values], scalar, result)
    assert is_equal(operate(operator, values, scalar, result), fold(term, result))


@settings(max_examples=60, deadline=None)
@given(number=st.floats(width=32))
def test_a_real_becomes_the_low_bits_of_the_nearest_integer(number: float) -> None:
    whole = round(number) if math.isfinite(number) else 0
    assert convert(number, REAL, INT) == (whole + 0x8000) % 0x10000 - 0x8000


@pytest.mark.parametrize(("source", "target", "value", "expected"), [
    (INT, WORD, -1, 0xFFFF), (WORD, INT, 0xFFFF, -1), (SINT, DINT, -128, -128), (INT, SINT, 300, 44),
    (BOOL, REAL, True, 1.0), (REAL, BOOL, math.nan, True), (DINT, REAL, 16777217, 16777216.0),
    (LREAL, REAL, 0.1, 0.10000000149011612), (UINT, LREAL, 65535, 65535.0)])
def test_conversions(source: Scalar, target: Scalar, value: object, expected: object) -> None:
    assert is_equal(convert(value, source, target), expected)
    assert is_equal(fold(lift(convert(lift(value, source), source, target), target), target), expected)


def test_division_truncates_and_overflow_is_seen() -> None:
    assert [operate(sign, [-7, 2], INT, INT) for sign in ("/", "mod")] == [-3, -1]
    assert operate("+", [32767, 1], INT, INT) == -32768
    assert overflows("+", [32767, 1], INT) is True
    assert overflows("neg", [-32768], INT) is True
    assert overflows("*", [181, 181], INT) is False
    assert power([3, 4], INT) == 81
    with pytest.raises(Inexpressible):
        power([2.0, 3.0], REAL)
