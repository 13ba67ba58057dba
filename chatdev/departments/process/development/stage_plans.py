"""What the stages of Think-on-Process develop: proposals that learn from the pool, instances that are run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from chatdev.departments.process.development.planned_tasks import DEVELOPS_NOTHING, PlannedTask, plan_tasks
from chatdev.departments.process.development.stages import latest_tasks
from chatdev.departments.process.instances import format_instance
from chatdev.departments.process.pool import InstanceOutcome, count_outcomes
from chatdev.departments.process.process_company import Experience, ProcessCompany, gather_experience
from chatdev.departments.process.replay_strategy import plan_replays
from chatdev.errors import ConfigError
from chatdev.evaluation.tasks import Task
from chatdev.plain_file import read_named
from chatdev.plain_values import load_json


def learn(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], chance: Random, *,
          with_text: bool = True) -> Experience:
    """What the outcomes teach; where none was a success, the examples by the company's author."""
    found = gather_experience(count_outcomes(outcomes), company.default, "the pool", chance=chance)
    found = found or company.first_experience(chance)
    return found if with_text else replace(found, text="")


def plan_proposals(company: ProcessCompany, outcomes: Sequence[InstanceOutcome], tasks: Sequence[Task], seed: str, *,
                   with_text: bool = True, develops: bool = True, group: str = "") -> tuple[PlannedTask, ...]:
    """A proposal for each task (which may come several times), each with examples of its own, drawn by `seed`."""
    nothing = {} if develops else DEVELOPS_NOTHING
    inputs = [{"experience": learn(company, outcomes, Random(f"{seed}/{number}"), with_text=with_text).to_json(),
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
