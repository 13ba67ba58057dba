"""A stranger's schema, and a reply to it, cannot keep a run searching for ever, fill its memory or end it."""

from __future__ import annotations

import pytest

from chatdev.replies.forms import find_violations, read_json
from chatdev.replies.problem import Unreadable
from tests.isolation.hostile import reader_of

EVIL = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}}


def test_a_pattern_that_never_ends_is_a_misfit(monkeypatch: pytest.MonkeyPatch) -> None:
    with reader_of(monkeypatch), pytest.raises(Unreadable) as refused:
        read_json('{"x": "' + "a" * 60 + '!"}', EVIL)
    assert "it cannot be held against the schema" in str(refused.value.problems)


def test_patterns_say_the_same_in_the_child() -> None:
    assert find_violations({"x": "aaa"}, EVIL) == []
    assert find_violations({"x": "b"}, EVIL) == [("$.x", "'b' does not match '^(a+)+$'")]
    named = {"patternProperties": {"^n": {"type": "integer"}}, "maxProperties": 1}
    assert find_violations({"n": "ü", "m": 1}, named) == [
        ("$", "{'n': 'ü', 'm': 1} has too many properties"), ("$.n", "'ü' is not of type 'integer'")]


def test_an_integer_without_end_fits_no_fraction() -> None:
    with pytest.raises(Unreadable, match="too large"):
        read_json(f'{{"x": 1{"0" * 400}}}', {"type": "object", "properties": {"x": {"multipleOf": 0.5}}})


def doubling(keyword: str) -> dict[str, object]:
    """A schema whose forty parts each ask for the next one twice."""
    parts = {f"p{n}": {keyword: [{"$ref": f"#/$defs/p{n + 1}"}] * 2} for n in range(40)}
    return {"$ref": "#/$defs/p0", "$defs": {**parts, "p40": {"type": "integer"}}}


@pytest.mark.parametrize(("schema", "reply"), [
    (doubling("allOf"), "1"), (doubling("anyOf"), '"x"'),
    ({"uniqueItems": True}, str([{"a": n} for n in range(20_000)]).replace("'", '"')),
    ({"format": "regex"}, '"' + "(" * 50_000 + '"'),
], ids=["allOf", "anyOf", "uniqueItems", "regex"])
def test_what_takes_ever_longer_is_a_misfit(monkeypatch: pytest.MonkeyPatch, schema: dict[str, object],
                                            reply: str) -> None:
    with reader_of(monkeypatch), pytest.raises(Unreadable) as refused:
        read_json(reply, schema)
    assert "it cannot be held against the schema" in str(refused.value.problems)


def test_of_many_violations_some_are_told() -> None:
    assert len(find_violations([1] * 100_000, {"items": {"type": "string"}})) == 1000
