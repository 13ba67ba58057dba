"""Tasks of another data set, each with a process to develop it by or with what a proposal is to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from chatdev.errors import ConfigError
from chatdev.evaluation.measure import Bench, FinishedRun, Row, statistics
from chatdev.evaluation.study import DataSet
from chatdev.evaluation.tasks import Task
from chatdev.events import Place
from chatdev.runner.recorded import RecordedRun
from chatdev.safe_text import sanitize

DEVELOPS_NOTHING = {"develop": "no"}
"""The input of a run that only proposes a process."""
_CHECK, _CHOOSE = "process.check", "process.choose"


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """One development: `number` in its stage, the task of the base data set, and the inputs beside it."""

    number: int
    task: Task
    inputs: Mapping[str, str]
    group: str = ""
    """By what developments are compared, e.g. with the text of a model or without."""

    @property
    def numbered(self) -> Task:
        """The task under a name that no other development of the stage has."""
        group = f" {self.group}" if self.group else ""
        return replace(self.task, name=f"{self.task.name}{group} {self.number:03d}")


@dataclass(frozen=True)
class PlannedTasks:
    """The data set of one stage."""

    base: DataSet
    planned: tuple[PlannedTask, ...]

    @property
    def name(self) -> str:
        """That of the base."""
        return self.base.name

    def tasks(self) -> Sequence[Task]:
        """One for each development."""
        return [one.numbered for one in self.planned]

    def inputs(self, task: Task) -> Mapping[str, bytes]:
        """What the development is given beside the description, which is the base's."""
        one = self._by_name[task.name]
        return {**self.base.inputs(one.task), **{name: text.encode("utf-8") for name, text in one.inputs.items()}}

    def verdict(self, task: Task, folder: Path, bench: Bench) -> Row:
        """What the base says of the software (nothing, where none was to be developed), and of the process: `number`,
        `group`, `base_task`, the `instance` that was chosen, whether it was `proposed` (not given), whether a proposal
        `fits` (else the instance is the default), the proposals that were `refused`, whether the run `succeeded`."""
        one, record = self._by_name[task.name], RecordedRun.read(folder)
        row = self.base.verdict(one.task, folder, bench) if self._develops(one) else _statistics_of(folder)
        proposal = _last_value(record, _CHECK) or {}
        return {**row, "number": one.number, "group": one.group, "base_task": one.task.id,
                "instance": list(_last_value(record, _CHOOSE) or ()), "proposed": "process" not in one.inputs,
                "fits": bool(proposal.get("passed")), "refused": proposal.get("refused", []),
                "succeeded": record.status == "success"}

    @cached_property
    def _by_name(self) -> Mapping[str, PlannedTask]:
        return {one.numbered.name: one for one in self.planned}

    def _develops(self, one: PlannedTask) -> bool:
        return "develop" not in one.inputs


def plan_tasks(tasks: Sequence[Task], inputs: Sequence[Mapping[str, str]], group: str = "") -> tuple[PlannedTask, ...]:
    """Each task with its inputs, numbered from 1."""
    pairs = zip(tasks, inputs, strict=True)
    return tuple(PlannedTask(number, task, given, group) for number, (task, given) in enumerate(pairs, 1))


def read_planned(data: Mapping[str, Any], base: DataSet, where: Path) -> tuple[PlannedTask, ...]:
    """The developments that a plan names, with the tasks as the base has them. Raises ConfigError for a task that it
    does not have any more."""
    tasks = {task.id: task for task in base.tasks()}
    if missing := sorted({one["task"] for one in data["planned"]} - set(tasks)):
        raise ConfigError(f"{where} plans tasks that the data set {base.name!r} does not have: "
                          f"{', '.join(missing)[:200]}; give the --tasks with which it was begun")
    return tuple(PlannedTask(one["number"], tasks[one["task"]], one["inputs"], one["group"])
                 for one in data["planned"])


def write_planned(planned: Sequence[PlannedTask]) -> list[dict[str, Any]]:
    """The developments as JSON values, which `read_planned` reads."""
    return [{"number": one.number, "task": one.task.id, "inputs": dict(one.inputs), "group": one.group}
            for one in planned]


def _statistics_of(folder: Path) -> Row:
    run = FinishedRun.read(folder)
    return {"model": ", ".join(run.models), "status": run.status, "reason": sanitize(run.reason), **statistics(run)}


def _last_value(record: RecordedRun, tool: str) -> Any:
    """What a tool of the chain said last; None where it said nothing."""
    found = [entry["result"].get("value") for entry in record.records
             if entry["kind"] == "Activity" and Place(entry.get("place", "")).step_name == tool]
    return found[-1] if found else None
