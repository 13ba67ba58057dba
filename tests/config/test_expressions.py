"""Expressions over long-term memory."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.config.templates import compile_expression
from chatdev.errors import ExpressionError

data: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


def value(text: str, **values: Any) -> Any:
    return compile_expression(text).evaluate(values)


def test_a_missing_name_is_false_and_none() -> None:
    assert value("test.passed.deeply") is None
    assert value("not test.passed") is True
    assert [value(f"missing {sign} 3") for sign in ("<", ">", "<=", ">=", "==")] == [False] * 5
    assert value("'a' in missing") is False


def test_entries_of_mappings_come_before_their_methods() -> None:
    assert value("plan.items", plan={"items": [1]}) == [1]
    assert value("plan.keys.get", plan={"keys": {"get": 2}}) == 2


def test_the_top_level_names_are_known() -> None:
    assert compile_expression("executed or fault == \"build\" and plan.steps | length > n").names == {
        "executed", "fault", "plan", "n"}
    assert compile_expression("true and 'name' != none").names == frozenset()


def test_filters_give_lists_not_generators() -> None:
    steps = [{"type": 1}, {"type": 2}]
    assert value("steps | selectattr('type', 'eq', 2)", steps=steps) == [{"type": 2}]


def test_an_expression_is_compiled_once() -> None:
    assert compile_expression("test.passed") is compile_expression("test.passed")


@pytest.mark.parametrize("text", ["", "a b", "a +", "a }}{{ b", "{% if a %}", "a = 1", "(a", "a.", "'open", "{{ a }}"])
def test_what_is_no_expression_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(ExpressionError, match="is not an expression: .*write something like"):
        compile_expression(text)


@pytest.mark.parametrize("text", ["a > 3", "a + 1", "1 / zero", "a()", "a[0].x.append(1)"])
def test_a_failure_names_the_text(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"the expression '.+' cannot be evaluated: "):
        compile_expression(text).evaluate({"a": "word", "zero": 0})


def test_what_python_hides_is_not_there() -> None:
    assert value("a.__class__.__mro__", a="word") is None


def test_an_expression_cannot_change_what_it_reads() -> None:
    plan = [1]
    with pytest.raises(ExpressionError):
        value("plan.append(2)", plan=plan)
    assert plan == [1]


@pytest.mark.parametrize("text", [
    "a.passed", "a > 1", "a == b", "a in b", "a + b", "a ~ b", "a and not b", "a | length", "a | list", "a[0]", "a.x.y",
    "a | map(attribute='x')", "a | sum", "a | sort", "a % b", "a is divisibleby(3)", "a | int", "a | join(',')",
])
@settings(max_examples=25)
@given(a=data, b=data)
def test_odd_values_raise_nothing_but_expression_errors(text: str, a: Any, b: Any) -> None:
    with suppress(ExpressionError):
        value(text, a=a, b=b)


@given(st.text(alphabet="ab.()[]{}|'\"+-~%#0 1,:=<>", max_size=20))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    with suppress(ExpressionError):
        compile_expression(text).evaluate({"a": {"b": [1]}, "b": "x"})
