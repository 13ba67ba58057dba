"""A stranger's schema, and a reply to it, cannot keep a run searching for ever, fill its memory or end it."""

from __future__ import annotations

import pytest

from chatdev.replies.forms import find_violations, read_json
from chatdev.replies.problem import Unreadable
from tests.isolation.hostile import SPINS, reader_of

SCHEMA = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^a+$"}}}


def test_what_takes_ever_longer_is_a_misfit(monkeypatch: pytest.MonkeyPatch) -> None:
    with reader_of(monkeypatch), pytest.raises(Unreadable) as refused:
        read_json(f'{{"x": "{SPINS}"}}', SCHEMA)
    assert "it cannot be held against the schema" in str(refused.value.problems)


def test_patterns_say_the_same_in_the_child() -> None:
    assert find_violations({"x": "aaa"}, SCHEMA) == []
    assert find_violations({"x": "b"}, SCHEMA) == [("$.x", "'b' does not match '^a+$'")]
    named = {"patternProperties": {"^n": {"type": "integer"}}, "maxProperties": 1}
    assert find_violations({"n": "ü", "m": 1}, named) == [
        ("$", "{'n': 'ü', 'm': 1} has too many properties"), ("$.n", "'ü' is not of type 'integer'")]


def test_an_integer_without_end_fits_no_fraction() -> None:
    with pytest.raises(Unreadable, match="too large"):
        read_json(f'{{"x": 1{"0" * 400}}}', {"type": "object", "properties": {"x": {"multipleOf": 0.5}}})


def test_of_many_violations_some_are_told() -> None:
    assert len(find_violations([1] * 100_000, {"items": {"type": "string"}})) == 1000
