"""The order of a foreach's items: parents first, otherwise as given; a model wrote the list, so it may be wrong."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.config.schema import Foreach
from chatdev.engine.chain import order_items
from chatdev.errors import PhaseFailed


def body(depends_on: str | None = "parents") -> Foreach:
    return Foreach.model_validate({"over": "plan", "as": "item", "depends_on": depends_on, "steps": [{"phase": "x"}]})


def ids(values: Any, depends_on: str | None = "parents") -> list[str]:
    return [item.id for item in order_items(values, body(depends_on), "foreach#1")]


def test_parents_come_before_children() -> None:
    plan = [{"id": "c", "parents": ["a", "b"]}, {"id": "b", "parents": ["a"]}, {"id": "a"}]
    assert ids(plan) == ["a", "b", "c"]


def test_without_dependencies_the_order_stands_and_items_get_numbers() -> None:
    assert ids(["x", "y"], None) == ["1", "2"]
    assert ids([{"id": 7}, {"id": 3}]) == ["7", "3"]


def test_ids_of_any_length_and_kind_are_names_of_places() -> None:
    plan = [{"id": "x" * 200_000}, {"id": "x" * 200_001, "parents": ["x" * 200_000]}, {"id": "\ud800\n"}, {"id": [1]}]
    found = ids(plan)
    assert len(set(found)) == len(plan)
    assert all(len(name) <= 80 and name.isprintable() and name.isascii() for name in found)


def test_an_error_shows_the_beginning_of_many_ids() -> None:
    with pytest.raises(PhaseFailed, match="share an id") as caught:
        ids([{"id": "x" * 70}] * 5000)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(("plan", "says"), [
    ("not a list", "must give a list"),
    ([{"id": "a"}, {"id": "a"}], "share an id"),
    ([{"id": "a", "parents": ["z"]}], "unknown items: z"),
    ([{"id": "a", "parents": ["b"]}, {"id": "b", "parents": ["a"]}], "in a circle"),
])
def test_a_wrong_list_is_told_apart(plan: Any, says: str) -> None:
    with pytest.raises(PhaseFailed, match=says):
        ids(plan)


@given(st.lists(st.integers(0, 8), max_size=9).map(lambda xs: list(enumerate(xs))))
def test_every_item_comes_once_and_after_its_parents(pairs: list[tuple[int, int]]) -> None:
    plan: list[dict[str, Any]] = [{"id": n, "parents": [p] if p < n else []} for n, p in reversed(pairs)]
    result = ids(plan)
    assert sorted(result) == sorted(str(n) for n, _ in pairs)
    assert all(result.index(str(i["parents"][0])) < result.index(str(i["id"])) for i in plan if i["parents"])
