"""What comes in from others can be written down, sent, and read again; what cannot is refused with a ValueError."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.safe_text import LARGEST, encodable_values, load_json, plain_value, short_name

odd_text = st.text(st.characters(codec=None))
values = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | odd_text,
                      lambda inner: st.lists(inner, max_size=3) | st.dictionaries(odd_text, inner, max_size=3))
NONE_OF_ALL: dict[str, Any] = {
    "an object": object(), "bytes": b"x", "a set": {1}, "a key that is no text": {(1, 2): 3}, "no number": float("nan"),
    "infinity": [float("-inf")], "a number of 5,000 digits": 10**5000, "half a character": {"a": "\ud800"},
    "too large": "x" * (LARGEST + 1),
}


def circle() -> list[Any]:
    values: list[Any] = []
    values.append(values)
    return values


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@given(values)
def test_what_is_read_can_be_encoded_and_read_again(value: Any) -> None:
    try:
        read = load_json(json.dumps(value))
    except ValueError:
        assert any(word in json.dumps(value) for word in ("NaN", "Infinity"))
        return
    json.dumps(read, ensure_ascii=False, allow_nan=False).encode()
    assert load_json(json.dumps(read, ensure_ascii=False)) == read == plain_value(read) == encodable_values(read)


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", "1e999", "[" * 101 + "]" * 101, "[" * 50_000, "9" * 5000, "{"])
def test_a_text_that_holds_no_plain_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="."):
        load_json(text)


@pytest.mark.parametrize("value", [*NONE_OF_ALL.values(), circle(), nested(200), nested(50_000)],
                         ids=[*NONE_OF_ALL, "a circle", "deep", "endless"])
def test_what_a_tool_made_that_is_no_plain_value_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="."):
        plain_value(value)


def test_what_a_tool_made_is_as_the_journal_gives_it_back() -> None:
    assert plain_value({"a": (1, 2.5, None), 3: "é"}) == {"a": [1, 2.5, None], "3": "é"}


@given(odd_text, odd_text)
def test_short_names_are_short_and_tell_apart(one: str, other: str) -> None:
    for name in (short_name(one), short_name(one * 50)):
        assert len(name) <= 80
        name.encode()
    assert (short_name(one) == short_name(other)) == (one == other)
    assert short_name("x" * 200_000 + one) != short_name("x" * 200_000 + other) or one == other
