"""Values come through the wire as they were, and nothing comes through that was not promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.isolation.isolate import Garbled, decode, decoder, encode
from chatdev.replies.python.reader import Outline


class Place(NamedTuple):
    """A tuple with names."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value of every kind."""

    text: str
    data: bytes
    number: int | None
    names: frozenset[str]
    kind: Literal["a", "b"] = "a"
    inner: tuple[Leaf, ...] = ()
    place: Place | None = None
    pair: tuple[str, float] = ("", 0.5)


TEXT = st.text(st.characters(codec=None))  # lone surrogates too
LEAVES = st.recursive(
    st.builds(Leaf, TEXT, st.binary(), st.none() | st.integers(), st.frozensets(TEXT), st.sampled_from(["a", "b"])),
    lambda inner: st.builds(Leaf, TEXT, st.binary(), st.none(), st.frozensets(TEXT), st.just("b"),
                            st.lists(inner, max_size=3).map(tuple)), max_leaves=5)


@given(LEAVES)
def test_plain_data_comes_back_equal(leaf: Leaf) -> None:
    assert decoder(Leaf)(decode(encode(leaf))) == leaf


@pytest.mark.parametrize(("kind", "value"), [
    (str, 1), (int, True), (int, "1"), (bytes, "\u0100"), (bytes, 5), (list[int], {"0": 1}), (list[int], ["1"]),
    (tuple[str, int], ["a"]), (dict[str, int], [["a", 1]]), (Literal["a"], "b"), (Literal["a"], ["a"]),
    (str | None, 0), (set[str], "abc"), (Outline, ["too", "few"]), (Leaf, {"text": "a"}), (Place, ["a", "1"]),
    (Place, ["a"]), (type(None), False),
])
def test_another_kind_of_value_is_garbled(kind: Any, value: Any) -> None:
    with pytest.raises(Garbled):
        decoder(kind)(value)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b"1" * 5000])
def test_bytes_that_are_no_values_are_garbled(data: bytes) -> None:
    with pytest.raises(Garbled):
        decode(data)
