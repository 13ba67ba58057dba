"""The data set that is shipped keeps to its rules (`srdd/README.md`)."""

from __future__ import annotations

import re
from collections import Counter

from chatdev.evaluation.tasks import load_tasks
from chatdev.paths import bundled_folder
from tests.departments.software.evaluation.rules import CATEGORIES, TASKS, findings

FOLDER = bundled_folder("srdd")


def test_nothing_is_found() -> None:
    tasks = load_tasks()
    assert len(tasks) == CATEGORIES * TASKS == 1200
    assert findings(tasks) == []
    assert [task.name for task in tasks if len(task.name.split()) > 4] == []


def test_files_are_named_after_area_and_category() -> None:
    for file in (FOLDER / "tasks").rglob("*.yaml"):
        task = load_tasks(file)[0]
        assert (file.parent.name, file.stem) == (slug(task.area), slug(task.category))


def test_one_task_of_each_category_has_a_hidden_test_named_after_it() -> None:
    with_test = [task for task in load_tasks() if task.acceptance]
    assert set(Counter((task.area, task.category) for task in with_test).values()) == {1}
    assert len(with_test) == CATEGORIES
    assert [task.acceptance for task in with_test] == [slug(task.name) for task in with_test]


def test_the_published_data_set_is_not_shipped() -> None:
    assert list(FOLDER.rglob("*.csv")) == []


def slug(name: str) -> str:
    """Lower case, hyphens between words."""
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))
