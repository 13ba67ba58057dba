"""Which tasks of a data set a study takes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from chatdev.errors import ConfigError
from chatdev.evaluation.tasks import Task


@dataclass(frozen=True, slots=True)
class Selection:
    """Filters, and how many of what passes them. Empty filters pass everything."""

    areas: Sequence[str] = ()
    categories: Sequence[str] = ()
    only_with_acceptance: bool = False
    limit: int | None = None
    seed: int = 0

    def of(self, tasks: Sequence[Task]) -> list[Task]:
        """The tasks taken, in an order that `spread` makes; a greater `limit` takes the same and more. Raises
        ConfigError for an area or category that there is not, and when nothing is left."""
        _refuse_unknown("area", self.areas, {task.area for task in tasks})
        _refuse_unknown("category", self.categories, {task.category for task in tasks})
        found = [task for task in tasks if (not self.areas or task.area in self.areas)
                 and (not self.categories or task.category in self.categories)
                 and (task.acceptance or not self.only_with_acceptance)]
        if not found:
            raise ConfigError("no task passes the filters; leave out --areas, --categories or --only-with-acceptance")
        return spread(found, self.seed)[:self.limit]


def spread(tasks: Sequence[Task], seed: int) -> list[Task]:
    """The tasks in an order whose every beginning is a stratified sample.

    In each round every category gives one task, drawn without replacement; within a round the categories of an area
    stand at equal distances, so that a part of a round has of each area as its categories are many.
    """
    by_area: dict[str, dict[str, list[Task]]] = {}
    for task in sorted(tasks, key=lambda task: task.id):
        by_area.setdefault(task.area, {}).setdefault(task.category, []).append(task)
    placed: list[tuple[int, float, float, Task]] = []
    for area in sorted(by_area):
        draw, categories = random.Random(f"{seed}/{area}"), list(by_area[area].values())
        draw.shuffle(categories)
        for number, category in enumerate(categories):
            draw.shuffle(category)
            tie = draw.random()
            placed += [(turn, (number + 0.5) / len(categories), tie, task) for turn, task in enumerate(category)]
    return [task for *_, task in sorted(placed, key=lambda place: place[:3])]


def _refuse_unknown(kind: str, wanted: Sequence[str], known: set[str]) -> None:
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, n=3) or sorted(known)
            raise ConfigError(f"the data set has no {kind} {name!r}; there are: {', '.join(near)}")
