"""The rules of our data set, each on tasks that break it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from chatdev.evaluation.tasks import Task
from tests.departments.software.evaluation.rules import AREAS, findings


def tasks() -> list[Task]:
    """A data set that keeps to every rule; its descriptions are made of words of their own."""
    made = []
    for number in range(1200):
        category = number // 30
        text = " ".join(f"w{number}x{word}" for word in range(40))
        made.append(Task(f"Task {number}", AREAS[category // 8], f"Category {category}", text,
                         "a-test" if number % 30 == 0 else ""))
    return made


def test_a_data_set_that_keeps_to_the_rules() -> None:
    assert findings(tasks()) == []


def test_counts_areas_and_acceptance_tests() -> None:
    broken = tasks()[1:]
    broken[-1] = replace(broken[-1], area="Leisure")
    assert set(findings(broken)) == {
        "area 'Leisure' is none of Education, Work, Life, Game, Creation",
        "there are 41 categories instead of 40",
        "Category 0 has 29 tasks instead of 30", "Category 39 has 29 tasks instead of 30",
        "Category 39 has 1 tasks instead of 30",
        "no task of Category 0 has an acceptance test", "no task of Category 39 has an acceptance test"}


def test_names_and_lengths() -> None:
    broken = tasks()
    broken[1] = replace(broken[1], name="TASK 0", description="too short")
    broken[2] = replace(broken[2], description=" ".join(f"y{n}" for n in range(91)))
    assert findings(broken) == [
        "the name 'task 0' stands 2 times",
        "Category 0/TASK 0: the description has 2 words; 30 to 90 are allowed",
        "Category 0/Task 2: the description has 91 words; 30 to 90 are allowed"]


def test_a_template_is_a_sequence_in_more_than_one_of_a_hundred() -> None:
    broken = tasks()
    for number, task in enumerate(broken[:13]):
        broken[number] = replace(task, description=f"The user may then, at last, {task.description}")
    found = findings(broken)
    assert len(found) == 1
    assert '"the user may then at last" stands in 13 tasks' in found[0]
    assert findings([*broken[:5], *tasks()[5:]]) == []


@given(st.integers(0, 40))
def test_near_duplicates_share_half_of_their_words(common: int) -> None:
    one, other = (f"{letter}{number}" for letter in "ab" for number in (0,))
    first = [f"c{n}" for n in range(common)]
    texts = [" ".join([*first, *(f"{letter}{n}" for n in range(40 - common))]) for letter in (one, other)]
    pair = [Task(f"Task {n}", "Work", "Some", text) for n, text in enumerate(texts)]
    found = [line for line in findings(pair) if "nearly the same" in line]
    assert bool(found) == (common / (80 - common) >= 0.5)
