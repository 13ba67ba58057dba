"""What the easy tasks must keep to (`srdd/easy/README.md`), checked over all sets together. A finding names a task and
no more of it: some sets are sealed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from chatdev.departments.software.evaluation.srdd import NO_EXAMPLE, WAYS, EasyTask
from chatdev.evaluation.tasks import Task

TASKS = 48
"""In a set."""
SHORTEST, LONGEST = 15, 150
"""Words of a description."""
FEWEST_CHECKS, MOST_CHECKS = 3, 6
WITHOUT_EXAMPLE = 6
"""One task in so many has no example."""
FEWEST_SHAPES = 6
"""Forms of an example in a set (`EasyTask.shape`)."""
FEWEST_OF_A_WAY = 7
FEWEST_CATEGORIES = 18


def easy_findings(sets: Mapping[str, Sequence[EasyTask]], others: Sequence[Task]) -> list[str]:
    """What is wrong with the sets, one line each; empty when all is well. `others` are the tasks of the other tier:
    their names are taken, and their categories are all there are."""
    everything = [task for tasks in sets.values() for task in tasks]
    return [*_repeated_names(everything, others), *(line for name, tasks in sets.items() for line in _mix(name, tasks)),
            *(f"{task.slug}: {what}" for task in everything for what in _faults(task, others))]


def _repeated_names(tasks: Sequence[EasyTask], others: Sequence[Task]) -> Iterator[str]:
    names = Counter([*(task.name.lower() for task in tasks), *(task.name.lower() for task in others)])
    yield from (f"{task.slug}: another task has this name" for task in tasks if names[task.name.lower()] > 1)


def _mix(name: str, tasks: Sequence[EasyTask]) -> Iterator[str]:
    if len(tasks) != TASKS:
        yield f"{name} has {len(tasks)} tasks instead of {TASKS}"
    ways = Counter(task.way for task in tasks)
    yield from (f"{name} has {ways[way]} tasks by {way}; {FEWEST_OF_A_WAY} are the fewest" for way in WAYS
                if ways[way] < FEWEST_OF_A_WAY)
    without = sum(task.layout == NO_EXAMPLE for task in tasks)
    if without * WITHOUT_EXAMPLE != len(tasks):
        yield f"{name} has {without} tasks without an example; one in {WITHOUT_EXAMPLE} has none"
    shapes, categories = {task.shape for task in tasks} - {NO_EXAMPLE}, {task.category for task in tasks}
    kinds = (("forms of an example", len(shapes), FEWEST_SHAPES), ("categories", len(categories), FEWEST_CATEGORIES))
    yield from (f"{name} has {count} {kind}; {fewest} are the fewest" for kind, count, fewest in kinds
                if count < fewest)


def _faults(task: EasyTask, others: Sequence[Task]) -> Iterator[str]:
    if (task.area, task.category) not in {(other.area, other.category) for other in others}:
        yield "its category is none of its area"
    if not SHORTEST <= len(task.description.split()) <= LONGEST:
        yield f"the description has fewer than {SHORTEST} or more than {LONGEST} words"
    if task.layout != NO_EXAMPLE and not _shows_example(task):
        yield "what its first check prints does not stand in the description"
    yield from _faults_of_checks([all(case.is_refusal for case in check.cases) for check in task.checks])


def _faults_of_checks(refusals: Sequence[bool]) -> Iterator[str]:
    """By which of the checks are refusals."""
    if not FEWEST_CHECKS <= len(refusals) <= MOST_CHECKS:
        yield f"it has fewer than {FEWEST_CHECKS} or more than {MOST_CHECKS} checks"
    if sum(refusals) > 1 or refusals.count(False) < FEWEST_CHECKS:
        yield f"it has more than one refusal, or fewer than {FEWEST_CHECKS} checks that are none"
    if refusals[0]:
        yield "its first check is a refusal"


def _shows_example(task: EasyTask) -> bool:
    """Whether each line that the first check prints stands in the description, blanks aside."""
    text = " ".join(task.description.split())
    lines = [line for case in task.checks[0].cases for line in (case.prints or "").splitlines()]
    return all(" ".join(line.split()) in text for line in lines)
