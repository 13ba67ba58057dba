"""What our data set must keep to (`srdd/README.md`), checked over all tasks together."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from chatdev.evaluation.tasks import Task

AREAS = ("Education", "Work", "Life", "Game", "Creation")
CATEGORIES, TASKS = 40, 30
"""Categories in all, and tasks in each."""
SHORTEST, LONGEST = 30, 90
"""Words of a description."""
SEQUENCE, SHARE = 6, 0.01
"""No sequence of so many words stands in more than this share of the tasks."""
ALIKE = 0.5
"""Share of common words (Jaccard) from which two descriptions are near-duplicates."""

_WORD = re.compile(r"[\w'’-]+")


def findings(tasks: Sequence[Task]) -> list[str]:
    """What is wrong with the data set, one line each; empty when all is well."""
    return [*_counts(tasks), *_names(tasks), *_lengths(tasks), *_templates(tasks), *_duplicates(tasks)]


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def _counts(tasks: Sequence[Task]) -> Iterator[str]:
    areas = dict.fromkeys(task.area for task in tasks)
    categories = Counter((task.area, task.category) for task in tasks)
    yield from (f"area {area!r} is none of {', '.join(AREAS)}" for area in areas if area not in AREAS)
    if len(categories) != CATEGORIES:
        yield f"there are {len(categories)} categories instead of {CATEGORIES}"
    yield from (f"{category} has {count} tasks instead of {TASKS}"
                for (_, category), count in categories.items() if count != TASKS)
    yield from _hidden_tests(tasks, categories)


def _hidden_tests(tasks: Sequence[Task], categories: Iterable[tuple[str, str]]) -> Iterator[str]:
    tested = {(task.area, task.category) for task in tasks if task.acceptance}
    yield from (f"no task of {category} has an acceptance test" for area, category in categories
                if (area, category) not in tested)


def _names(tasks: Sequence[Task]) -> Iterator[str]:
    names = Counter(task.name.lower() for task in tasks)
    yield from (f"the name {name!r} stands {count} times" for name, count in names.items() if count > 1)


def _lengths(tasks: Sequence[Task]) -> Iterator[str]:
    for task in tasks:
        length = len(task.description.split())
        if not SHORTEST <= length <= LONGEST:
            yield f"{task.id}: the description has {length} words; {SHORTEST} to {LONGEST} are allowed"


def _templates(tasks: Sequence[Task]) -> Iterator[str]:
    places: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for task in tasks:
        text = words(task.description)
        for start in range(len(text) - SEQUENCE + 1):
            places[tuple(text[start:start + SEQUENCE])].add(task.id)
    most = len(tasks) * SHARE
    for sequence, where in places.items():
        if len(where) > most:
            yield f"\"{' '.join(sequence)}\" stands in {len(where)} tasks, as in {min(where)}; say it in other words"


def _duplicates(tasks: Sequence[Task]) -> Iterator[str]:
    bags = [(task.id, frozenset(words(task.description))) for task in tasks]
    for (one, first), (other, second) in combinations(bags, 2):
        common = len(first & second)
        if common >= ALIKE * (len(first) + len(second) - common):
            yield f"{one} and {other} are nearly the same"
