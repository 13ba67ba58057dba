"""The easy tasks as a data set, which even a small model solves in part: our three sets of them, or a folder."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatdev.departments.software.evaluation.easy_tasks import EasyTask, load_easy_tasks
from chatdev.departments.software.evaluation.metrics import code_text
from chatdev.departments.software.evaluation.quality import measure
from chatdev.departments.software.evaluation.recorded_drafts import count_passed_checks
from chatdev.errors import ConfigError
from chatdev.evaluation.measure import Bench, FinishedRun, Row
from chatdev.evaluation.tasks import Task
from chatdev.paths import bundled_folder


@dataclass(frozen=True, slots=True)
class EasyTier:
    """The easy tasks in `path`."""

    path: Path
    name: str

    @classmethod
    def bundled(cls, name: str) -> EasyTier:
        """One of our own sets (`SETS`)."""
        return cls(bundled_folder("srdd") / "easy" / name, f"srdd-easy-{name}")

    def tasks(self) -> Sequence[Task]:
        """All tasks. Raises ConfigError."""
        return [task.task for task in self._easy_tasks().values()]

    def inputs(self, task: Task) -> Mapping[str, bytes]:
        """None: the description is all."""
        return {}

    def verdict(self, task: Task, folder: Path, bench: Bench) -> Row:
        """What `measure` says, how many checks the first draft passes (`first_draft_passed`), and by what the results
        are divided: `way` and `layout`."""
        easy = self.task(task.name)
        return {**measure(folder, task, bench, easy.accept), "way": easy.way, "layout": easy.shape,
                "first_draft_passed": count_passed_checks(FinishedRun.read(folder), easy.accept, bench)}

    def task(self, name: str) -> EasyTask:
        """The task of that name, with its checks. Raises ConfigError."""
        if name not in (found := self._easy_tasks()):
            raise ConfigError(f"{self.path} has no task {name!r}")
        return found[name]

    def check(self, tasks: Sequence[Task]) -> None:
        """Raise what would keep runs from being measured, before anything is paid: ConfigError for a task that cannot
        be read, MissingProgram without the extra `eval`."""
        code_text({"main.py": b""})
        for task in tasks:
            self.task(task.name)

    def _easy_tasks(self) -> Mapping[str, EasyTask]:
        return _load(self.path)


@functools.cache
def _load(path: Path) -> Mapping[str, EasyTask]:
    return {task.name: task for task in load_easy_tasks(path)}
