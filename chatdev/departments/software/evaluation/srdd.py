"""The data set of software requirements: ours, or files in its form or that of the published one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatdev.departments.software.evaluation.easy_tier import EasyTier
from chatdev.departments.software.evaluation.quality import code_text, measure
from chatdev.evaluation.measure import Bench, Row
from chatdev.evaluation.tasks import Task, load_tasks
from chatdev.evaluation.trial import find_hidden_test, load_hidden_test
from chatdev.paths import bundled_folder

_EASY = re.compile(r"easy:([a-z0-9-]+)")


@dataclass(frozen=True, slots=True)
class Srdd:
    """Tasks in `path` (None: our own), with their hidden tests in the folder `acceptance` in it or beside it."""

    path: Path | None = None
    name: str = "srdd"

    def tasks(self) -> Sequence[Task]:
        """All tasks. Raises ConfigError."""
        return load_tasks(self.path)

    def inputs(self, task: Task) -> Mapping[str, bytes]:
        """None: the description is all."""
        return {}

    def verdict(self, task: Task, folder: Path, bench: Bench) -> Row:
        """Quality, acceptance and statistics (`measure`)."""
        script = self.hidden_test(task)
        return measure(folder, task, bench, load_hidden_test(script) if script else None)

    def hidden_test(self, task: Task) -> Path | None:
        """The hidden test of a task, if it has one. Raises ConfigError when that is not there."""
        return find_hidden_test(task, self.path or bundled_folder("srdd"))

    def check(self, tasks: Sequence[Task]) -> None:
        """Look for what would keep runs of these tasks from being measured, before anything is paid. Raises ConfigError
        for a hidden test that is not there or cannot be loaded, MissingProgram without the extra `eval`."""
        code_text({"main.py": b""})
        for script in filter(None, map(self.hidden_test, tasks)):
            load_hidden_test(script)


def open_tasks(name: str) -> Srdd | EasyTier | None:
    """The data set that `srdd`, `easy:SET` or the path of tasks of one's own names; None where it names nothing."""
    if easy := _EASY.fullmatch(name):
        return EasyTier.bundled(easy[1])
    if name == "srdd":
        return Srdd()
    path = Path(name)
    return Srdd(path.absolute(), path.stem) if name and path.exists() else None
