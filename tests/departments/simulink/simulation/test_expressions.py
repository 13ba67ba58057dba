"""Values of parameters as MATLAB reads them, and what is refused."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.simulink.simulation.expressions import ExpressionFault, value_of


@pytest.mark.parametrize(("text", "expected"), [
    ("1e-3", [[0.001]]), ("1d3", [[1000]]), ("2*pi", [[6.283185307179586]]), ("-2^2", [[-4]]), ("2^-1", [[0.5]]),
    ("2^3^2", [[64]]), ("9/0.3*0.97", [[9 / 0.3 * 0.97]]), ("~0", [[1]]), ("1:3", [[1, 2, 3]]),
    ("10:-5:0", [[10, 5, 0]]), ("3:1", [[]]), ("[1 2;3 4]", [[1, 2], [3, 4]]), ("[1,2\n3,4]'", [[1, 3], [2, 4]]),
    ("[1 -2]", [[1, -2]]), ("[1 - 2]", [[-1]]), ("[1 -2 + 3, 4 -x]", [[1, 1, 4, -9]]), ("[x' 2]", [[9, 2]]),
    ("[3 1].'", [[3], [1]]), ("1./[1 2 4]", [[1, 0.5, 0.25]]), ("[1 2]*[3;4]", [[11]]), ("2.^[1 2]", [[2, 4]]),
    ("[1 2;3 4]^2", [[7, 10], [15, 22]]), ("max([1 5 2])", [[5]]), ("[ones(1,2) 3]", [[1, 1, 3]]),
    ("mod(-1, 3)", [[2]]), ("conv([1 1],[1 2])", [[1, 3, 2]]), ("1 < 2", [[1]]), ("v(2)", [[8]]),
    ("-inf", [[-numpy.inf]]),
    ("[ +2.0e-019, -1.4 ]", [[2e-19, -1.4]]), ("atan2(1, 0)*2/pi", [[1]]), ("[]", numpy.zeros((0, 0)).tolist())])
def test_expressions_have_the_value_of_matlab(text: str, expected: list[list[float]]) -> None:
    found = value_of(text, {"x": numpy.array([[9.0]]), "v": numpy.array([[7.0, 8.0]])})
    assert found.tolist() == expected


@pytest.mark.parametrize(("text", "message"), [
    ("K", "the variable 'K' has no value"), ("foo(1)", "the function 'foo' with 1 values is not known"),
    ("", "has 'the end' where a number"), ("1 2", "goes on with '2'"), ("'abc'", "has \"'\" where"),
    ("[1 2;3]", "not of equal length"), ("[1 2]+[1 2 3]", "do not fit each other"), ("2**3", "has '\\*' where"),
    ("1:1e9", "more than 10000"), ("zeros(1e5)", "more than 10000"), ("ones(200,1)*ones(1,200)", "more than 10000"),
    ("zeros(inf)", "does not take"), ("[1 2]^2", "whole numbers only"), ("inv([1 2;2 4])", "does not take"),
    ("(" * 80 + "1" + ")" * 80, "nested more than"), ("[" * 80, "nested"),
    ("1+" * 20000 + "1", "longer than"),
    ("__import__('os')", "'_'"), ("a;b", "the variable|goes on"), ("3 +", "'the end'"), ("$", "'\\$', which")])
def test_what_is_no_value_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(ExpressionFault, match=message):
        value_of(text)


@given(st.text(alphabet="0123456789.+-*/^()[];:, '<>=~&|eEapixmons\n", max_size=60))
def test_any_text_is_a_value_or_refused(text: str) -> None:
    try:
        assert value_of(text).size <= 10_000
    except ExpressionFault:
        return


numbers = st.floats(-1e6, 1e6, allow_nan=False).map(abs)


@given(st.recursive(numbers.map(repr), lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(
    lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"), max_leaves=12))
def test_arithmetic_is_that_of_python(text: str) -> None:
    assert value_of(text).tolist() == [[eval(text)]]  # of numbers and operators only
