"""The stages of a development: each is planned once (tasks of another data set, each with a process to develop it by or
with what a proposal is to learn from), written down, run as a batch, and counted in the pool once."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from chatdev.departments.process.pool import (
    MOST_PHASES,
    NOT_DEVELOPED,
    InstanceOutcome,
    count_outcomes,
    format_instance,
    measure_diversity,
    plan_replays,
)
from chatdev.departments.process.pool_store import InstancePool
from chatdev.departments.process.process_company import Experience, ProcessCompany, gather_experience
from chatdev.departments.process.process_tree import Instance, ProcessTree, describe
from chatdev.errors import ConfigError
from chatdev.evaluation.measure import Bench, FinishedRun, Row, statistics
from chatdev.evaluation.reporting.study_results import MeanEstimate, estimate
from chatdev.evaluation.study import DataSet
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.variants import MODEL_SIGN, Variant
from chatdev.events import Place
from chatdev.paths import read_named
from chatdev.runner.recorded import RecordedRun
from chatdev.safe_text import load_json, sanitize
from chatdev.workspace.file_tree import explain_os_errors, write_file

# Tasks of another data set, each with a process to develop it by or with what a proposal is to learn from.

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


# The stages of a development: each is planned once, written down, run as a batch, and counted in the pool once; and
# what its rows say.

_NAME = re.compile(r"[a-z]+(-[a-z0-9]+)*")
_REFUSED = "#refused-"
_AT = " at "  # between the name of a variant and the temperature of its proposals


@dataclass(frozen=True, slots=True)
class Stage:
    """`name` is that of its folder; `command` is what it was begun with."""

    name: str
    command: Mapping[str, Any]
    planned: tuple[PlannedTask, ...]
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages in `folder`, over one data set."""

    folder: Path
    base: DataSet

    def find(self, name: str) -> Stage | None:
        """The stage of that name as it was planned. Raises ConfigError for a plan that cannot be read."""
        file = self._file(name)
        if not file.is_file():
            return None
        try:
            data = load_json(file.read_text(encoding="utf-8"))
            return Stage(name, data["command"], read_planned(data, self.base, file), data["done"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{file} is no plan of a stage ({type(error).__name__}: {str(error)[:120]}); remove it "
                              "to plan the stage anew") from None

    def names(self) -> list[str]:
        """The stages that were planned."""
        return sorted(file.stem for file in self.folder.glob("*.json") if _NAME.fullmatch(file.stem))

    def keep(self, stage: Stage) -> Stage:
        """Write the plan down, before anything of it is run. Raises WorkspaceError."""
        data = {"command": dict(stage.command), "done": stage.is_done, "planned": write_planned(stage.planned)}
        file = self._file(stage.name)
        with explain_os_errors("write", file):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_file(file.parent, file.name, json.dumps(data, ensure_ascii=False, indent=1).encode("utf-8"))
        return stage

    def open_stage(self, kind: str, command: Mapping[str, Any]) -> tuple[str, Stage | None]:
        """The name of the next stage of this kind, and the stage, if it was begun and is not done. Raises ConfigError
        where that was begun by another command."""
        number = 1
        while (found := self.find(f"{kind}-{number}")) and found.is_done:
            number += 1
        if found:
            self.refuse_other_command(found, command)
        return f"{kind}-{number}", found

    def refuse_other_command(self, stage: Stage, command: Mapping[str, Any]) -> None:
        """Raise ConfigError where the stage was begun by another command."""
        if changed := sorted(key for key in {**stage.command, **command} if stage.command.get(key) != command.get(key)):
            were = ", ".join(f"{key} {stage.command.get(key)}" for key in changed)
            raise ConfigError(f"{stage.name} was begun with other options ({were}) and may be under way; give its "
                              "command again, or take another --pool")

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"a stage cannot be called {name!r}")
        return self.folder / f"{name}.json"


def count_rows(pool: InstancePool, stage: str, rows: Iterable[Mapping[str, Any]], temperature: float | None) -> int:
    """Count what became of a stage's runs in the pool, each once however often this is called; how many outcomes were
    new. `temperature` is that of proposals, where the row does not say another."""
    known = {outcome.run for outcome in pool.outcomes()}
    found = [outcome for row in rows for outcome in read_outcomes(stage, row, temperature) if outcome.run not in known]
    pool.add(found)
    return len(found)


def read_outcomes(stage: str, row: Mapping[str, Any], temperature: float | None) -> Iterator[InstanceOutcome]:
    """What a row says: a failure for each proposal that could not be run, and how its development ended, if it had any.
    """
    group = f": {row['group']}" if row["group"] else ""
    run = f"{stage}{group}/{row['folder']}"
    given: dict[str, Any] = {"task": row["base_task"], "area": row["area"], "model": row["model"],
                             "temperature": read_temperature(row, temperature) if row["proposed"] else None}
    for number, refused in enumerate(row["refused"], 1):
        yield InstanceOutcome(_refused_instance(refused["instance"]), False, None,
                              failure=", ".join(refused["kinds"]), run=f"{run}{_REFUSED}{number}", **given)
    if "executability" not in row and row["fits"]:
        yield InstanceOutcome(tuple(row["instance"]), False, None, failure=NOT_DEVELOPED, run=run, **given)
    elif "executability" in row and row["instance"]:
        success = bool(row["succeeded"])
        yield InstanceOutcome(tuple(row["instance"]), success, bool(row["executability"]), run=run,
                              failure="" if success else row["status"], **given)


def _refused_instance(text: str) -> Instance:
    """What was refused; nothing for what is too long, of which a part may be fine."""
    instance = tuple(text.split(" → ")) if text else ()
    return instance if len(instance) <= MOST_PHASES else ()


def read_temperature(row: Mapping[str, Any], otherwise: float | None = None) -> float | None:
    """The temperature at which a row's process was proposed, where the name of its variant says it."""
    _, said, temperature = str(row["variant"]).partition(MODEL_SIGN)[0].rpartition(_AT)
    return float(temperature) if said else otherwise


def name_temperature(variant: Variant, temperature: float | None) -> Variant:
    """The variant under a name that says the temperature of its proposals, if one is given."""
    if temperature is None:
        return variant
    end = variant.name.removeprefix(variant.short_name)
    return replace(variant, name=f"{variant.short_name}{_AT}{temperature}{end}")


def latest_tasks(outcomes: Sequence[InstanceOutcome]) -> Mapping[tuple[str, ...], str]:
    """For each instance the task that it was last run for."""
    return {outcome.instance: outcome.task for outcome in outcomes if outcome.was_run}


# What the stages of Think-on-Process develop: proposals that learn from the pool, instances that are run again.


def learn(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], chance: Random, *,
          with_text: bool | ProcessTree = True, noise: float = 0.0) -> Experience:
    """What the outcomes teach; where none was a success, the examples by the company's author. The text is that of a
    model which is given, else of the one that is mined, if there is to be any. Raises ConfigError for a model with
    phases that the company has not."""
    found = gather_experience(count_outcomes(outcomes), company.default, "the pool", chance=chance, noise=noise)
    found = found or company.first_experience(chance)
    if isinstance(with_text, ProcessTree):
        names = {node.name for node in with_text.walk() if node.operator == "phase"}
        if unknown := sorted(names - set(company.default)):
            raise ConfigError(f"the model has phases that there are not: {', '.join(unknown)[:200]}; the company has "
                              f"{', '.join(company.default)}")
        return replace(found, text=describe(with_text, company.default), origin="a model that was given, and the pool")
    return found if with_text else replace(found, text="")


def plan_proposals(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], tasks: Sequence[Task],  # noqa: PLR0913
                   seed: str, *, with_text: bool | ProcessTree = True, develops: bool = True, group: str = "",
                   noise: float = 0.0) -> tuple[PlannedTask, ...]:
    """A proposal for each task (which may come several times), each with examples of its own, drawn by `seed`."""
    nothing = {} if develops else DEVELOPS_NOTHING
    inputs = [{"experience": learn(company, outcomes, Random(f"{seed}/{number}"), with_text=with_text,
                                   noise=noise).to_json(),
               **nothing} for number in range(len(tasks))]
    return plan_tasks(tasks, inputs, group)


def plan_given(company: ProcessCompany, process: str, tasks: Sequence[Task]) -> tuple[PlannedTask, ...]:
    """One process for every task. Raises ConfigError where it could not be run."""
    instance = company.read(process)
    if faults := company.check(instance):
        raise ConfigError(f"this process cannot be run: {'; '.join(fault.describe() for fault in faults)}")
    return plan_tasks(tasks, [{"process": format_instance(instance)}] * len(tasks))


def plan_replay(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], tasks: Sequence[Task], seed: str,
                strategy: str, count: int) -> tuple[PlannedTask, ...]:
    """So many instances of the pool, each for the task that it was last run for (where that is not among `tasks`: for
    one drawn by `seed`). Raises ConfigError where nothing of the pool can be replayed."""
    last, entries = latest_tasks(outcomes), company.list_replayable(outcomes)
    chance, known = Random(seed), {task.id: task for task in tasks}
    chosen = plan_replays(strategy, entries, count, chance)
    replayed = [known.get(last[instance]) or chance.choice(list(tasks)) for instance in chosen]
    return plan_tasks(replayed, [{"process": format_instance(instance)} for instance in chosen])


def read_proposals(company: ProcessCompany, file: Path, tasks: Sequence[Task]) -> tuple[PlannedTask, ...]:
    """The processes that `chatdev process generate --output` wrote, with their tasks. Raises ConfigError."""
    known = {task.id: task for task in tasks}
    try:
        lines = load_json(read_named(file).decode("utf-8"))
        chosen = [(known.get(str(line["task"])), str(line["process"])) for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{file} holds no proposals ({type(error).__name__}: {str(error)[:120]}); write them with "
                          "`chatdev process generate --output FILE`") from None
    if not chosen or any(task is None for task, _ in chosen):
        raise ConfigError(f"{file} names tasks that --tasks does not, or none; give the --tasks that `generate` had")
    planned = [plan_given(company, process, [task])[0] for task, process in chosen if task]
    return tuple(replace(one, number=number) for number, one in enumerate(planned, 1))


def require_text(company: ProcessCompany, outcomes: Sequence[InstanceOutcome]) -> None:
    """Raise ConfigError where a pool has no instance to learn from."""
    if not learn(company, outcomes, Random(0)).text:
        raise ConfigError("no instance of the pool succeeds often enough, so there is no text to show; begin with "
                          "`chatdev process develop`")


# What the rows of a stage say: how many proposals could be run, how different they were, how many led to software.

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Summary:
    """`proposals` are all that models proposed, `legal` the share of them that could be run; `faults` counts why the
    others could not. `distinct` instances came of the legal ones, on average so far from the default (`diversity`,
    equation 5). Of `developed` softwares, `success` is the share that passed its trial, `starts` that starts, `solved`
    that passes all hidden checks (None: there are none)."""

    proposals: int
    legal: float | None
    faults: Mapping[str, int]
    distinct: int
    diversity: float | None
    developed: int
    success: MeanEstimate
    starts: MeanEstimate
    solved: MeanEstimate
    tokens: float | None


def summarise(rows: Rows, default: Instance) -> Summary:
    """The summary of these runs; `default` is the default instance."""
    refused, legal = _divide_proposals(rows)
    developed = [row for row in rows if "executability" in row and row["instance"]]
    success, starts, solved = (_estimate(developed, name) for name in ("succeeded", "executability", "solved"))
    return Summary(
        proposals=len(refused) + len(legal), legal=_mean([0] * len(refused) + [1] * len(legal)),
        faults=Counter(kind for one in refused for kind in one["kinds"]), distinct=len(set(legal)),
        diversity=_mean([measure_diversity(one, default).mean for one in legal]),
        developed=len(developed), success=success, starts=starts, solved=solved,
        tokens=_mean([row["tokens"] for row in rows]))


def _divide_proposals(rows: Rows) -> tuple[list[Mapping[str, Any]], list[Instance]]:
    """The proposals that were refused, with the reasons, and the instances that could be run."""
    proposed = [row for row in rows if row["proposed"]]
    return ([one for row in proposed for one in row["refused"]],
            [tuple(row["instance"]) for row in proposed if row["fits"]])


def _estimate(rows: Rows, name: str) -> MeanEstimate:
    return estimate([float(row[name]) for row in rows if row.get(name) is not None])


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def group_rows(rows: Iterable[Mapping[str, Any]], key: str) -> dict[str, list[Mapping[str, Any]]]:
    """The rows by the text of a field, in the order in which its values come."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(str(row[key]), []).append(row)
    return groups
