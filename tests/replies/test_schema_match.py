"""A pattern in a stranger's schema cannot keep a run searching for ever."""

from __future__ import annotations

import pytest

from chatdev.replies.problem import Unreadable
from chatdev.replies.schema_match import find_violations
from chatdev.replies.values import read_json
from tests.isolation.hostile import reader_of

EVIL = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}}


def test_a_pattern_that_never_ends_is_a_misfit(monkeypatch: pytest.MonkeyPatch) -> None:
    with reader_of(monkeypatch), pytest.raises(Unreadable) as refused:
        read_json('{"x": "' + "a" * 60 + '!"}', EVIL)
    assert "a pattern of the schema cannot be tried" in str(refused.value.problems)


def test_patterns_say_the_same_in_the_child() -> None:
    assert find_violations({"x": "aaa"}, EVIL) == []
    assert find_violations({"x": "b"}, EVIL) == [("$.x", "'b' does not match '^(a+)+$'")]
    named = {"patternProperties": {"^n": {"type": "integer"}}, "maxProperties": 1}
    assert find_violations({"n": "ü", "m": 1}, named) == [
        ("$", "{'n': 'ü', 'm': 1} has too many properties"), ("$.n", "'ü' is not of type 'integer'")]


def test_an_integer_without_end_fits_no_fraction() -> None:
    with pytest.raises(Unreadable, match="too large"):
        read_json(f'{{"x": 1{"0" * 400}}}', {"type": "object", "properties": {"x": {"multipleOf": 0.5}}})
