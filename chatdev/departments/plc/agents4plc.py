"""The Agents4PLC benchmark as a data set: requirements for Structured Text, judged by their hidden properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chatdev.departments.plc.agents4plc_judge import judge_skeleton, judge_software
from chatdev.departments.plc.agents4plc_tasks import PlcTask, read_plc_tasks
from chatdev.departments.plc.compile_attempts import Files, count_attempts
from chatdev.departments.plc.interface import read_answer
from chatdev.departments.plc.source_check import check_source
from chatdev.errors import ConfigError
from chatdev.evaluation.measure import Bench, FinishedRun, Row, statistics
from chatdev.evaluation.reporting.study_results import ColumnSet
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.variants import Variant
from chatdev.runner.recorded import RecordedRun
from chatdev.runner.report import sanitize

_COLUMN_SET = "plc"
_SUFFIX = ".st"
_RETRIEVAL, _SWITCHES = "retrieval", ("hints", "example", "patches")
"""A phase, and inputs that `no` switches off: the ablations of Agents4PLC (arXiv 2410.14209, table II)."""

COLUMNS = ColumnSet(
    about="Compiled: our checker finds no error. Verifiable: at least 80 % of the task's properties are decided, or "
          "hold in the scans that were looked at. Passed: at least 80 % of them are proved, the rule of Agents4PLC. "
          "Solved: all of them are, no run shows a run-time fault, and inputs and outputs are those asked for. "
          "Properties about assertions that a program does not have count nowhere. Attempts: programs until the first "
          "that compiles, where one does. Skeleton: whether the interface alone, without a statement, solves the task.",
    metrics=("compiled", "verifiable", "passed", "solved"), main="solved",
    compared=("compiled", "verifiable", "passed", "solved"),
    statistics=("seconds", "tokens", "calls", "tool_calls", "attempts", "cost"),
    further_statistics=("prompt_tokens", "completion_tokens", "judging_seconds"), per="solved",
    divided=(("skeleton", "solved"),))


@dataclass(frozen=True, slots=True)
class Agents4Plc:
    """The tasks in `paths` (`read_plc_tasks`). Companies are given the benchmark's properties only with
    `gives_properties`; they are judged by them in any case."""

    paths: tuple[Path, ...]
    gives_properties: bool = False
    name: str = "agents4plc"

    def tasks(self) -> Sequence[Task]:
        """All tasks; their areas and categories are their kinds. Raises ConfigError."""
        return [task.task for task in read_plc_tasks(self.paths).values()]

    def inputs(self, task: Task) -> Mapping[str, bytes]:
        """That no case is looked up or kept, so that no run profits from another; the properties, if they are given."""
        given = {"properties": self.task(task.name).given.encode("utf-8")} if self.gives_properties else {}
        return {"cases": b"no", **given}

    def verdict(self, task: Task, folder: Path, bench: Bench) -> Row:
        """What became of the task: what `judge_software` says, `attempts` (programs until the first that compiles),
        what `judge_skeleton` says of the task, and what the run took. A run that was broken off delivered nothing.
        Blocking; raises JournalError and such."""
        run, asked = FinishedRun.read(folder), self.task(task.name)
        software = run.software if run.has_delivered else {}
        return {"measures": _COLUMN_SET, "kind": task.category, "given": "properties" if self.gives_properties else "",
                "skeleton": judge_skeleton(asked), **judge_software(software, asked),
                "attempts": count_attempts(RecordedRun.read(folder), _compiles, _SUFFIX),
                "tool_calls": run.tool_calls, "model": ", ".join(run.models), "status": run.status,
                "reason": sanitize(run.reason), **statistics(run)}

    def task(self, name: str) -> PlcTask:
        """The task of that name, with its properties. Raises ConfigError."""
        tasks = read_plc_tasks(self.paths)
        if name not in tasks:
            raise ConfigError(f"{', '.join(map(str, self.paths))} has no task {name!r}; there are {len(tasks)}, from "
                              f"{min(tasks)} to {max(tasks)}")
        return tasks[name]


def _compiles(software: Files) -> bool:
    source = read_answer(software)
    return source is not None and not check_source(source).errors


def add_help_ablations(found: Iterable[Variant]) -> list[Variant]:
    """Each variant, followed by the same one without each of the helps of Agents4PLC that it has."""
    return [each for variant in found for each in (variant, *_help_ablations(variant))]


def _help_ablations(variant: Variant) -> Iterator[Variant]:
    company, model = variant.load().config, variant.name.removeprefix(variant.short_name)
    if _RETRIEVAL in company.phases:
        yield replace(variant, name=f"{variant.short_name} without {_RETRIEVAL}{model}",
                      without=(*variant.without, _RETRIEVAL))
    for name in _SWITCHES:
        if name in company.inputs:
            yield replace(variant, name=f"{variant.short_name} without {name}{model}",
                          sets=(*variant.sets, f"inputs.{name}.default=no"))
