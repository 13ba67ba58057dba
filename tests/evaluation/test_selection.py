"""Which tasks a study takes when it does not take all."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.errors import ConfigError
from chatdev.evaluation.tasks import Selection, Task

SIZES = {"Education": 6, "Work": 8, "Life": 10, "Game": 10, "Creation": 6}
TASKS = [Task(f"Task {n}", area, f"{area} {category}", f"Do {n}.", "test" if n == 3 else "")
         for area, categories in SIZES.items() for category in range(categories) for n in range(5)]


def test_forty_of_them_are_one_a_category() -> None:
    found = Selection(limit=40).select(TASKS)
    assert len({task.category for task in found}) == 40


@given(st.integers(1, 80), st.integers())
def test_every_beginning_has_of_each_area_as_its_categories_are_many(limit: int, seed: int) -> None:
    found = Counter(task.area for task in Selection(limit=limit, seed=seed).select(TASKS))
    for area, categories in SIZES.items():
        assert abs(found[area] - limit * categories / 40) <= 1


@given(st.integers(1, 199), st.integers())
def test_a_greater_limit_takes_the_same_and_more(limit: int, seed: int) -> None:
    fewer, more = (Selection(limit=n, seed=seed).select(TASKS) for n in (limit, limit + 1))
    assert more[:limit] == fewer


def test_the_seed_decides_and_the_order_of_the_files_does_not() -> None:
    assert Selection(limit=10, seed=1).select(TASKS) == Selection(limit=10, seed=1).select(TASKS[::-1])
    assert Selection(limit=10, seed=1).select(TASKS) != Selection(limit=10, seed=2).select(TASKS)


def test_filters_leave_what_they_say() -> None:
    found = Selection(areas=["Game", "Work"], only_with_acceptance=True).select(TASKS)
    assert len(found) == 18
    assert {task.area for task in found} == {"Game", "Work"}
    assert all(task.acceptance for task in found)
    assert len(Selection(categories=["Life 3"]).select(TASKS)) == 5


@pytest.mark.parametrize(("selection", "said"), [
    (Selection(areas=["Gaem"]), "no area 'Gaem'; did you mean 'Game'. known: Creation, Education, Game, "),
    (Selection(categories=["Life 33"]), "no category 'Life 33'; did you mean 'Life 3'. known: Creation 0, "),
    (Selection(areas=["Life"], categories=["Game 1"]), "no task passes the filters"),
])
def test_what_there_is_not_is_refused(selection: Selection, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        selection.select(TASKS)


def test_what_was_seen_is_left_out() -> None:
    every = Selection().select(TASKS)
    assert Selection(skip=12).select(TASKS) == every[12:]
    assert Selection(skip=12, limit=5).select(TASKS) == every[12:17]
    with pytest.raises(ConfigError, match="leaves none of"):
        Selection(skip=len(TASKS)).select(TASKS)
