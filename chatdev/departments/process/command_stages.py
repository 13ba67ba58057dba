"""Running the stages of a development: planned, written down, run as a batch, counted in the pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chatdev.cli.shared_options import StudyOptions, open_ledger
from chatdev.cli.study_run import StudyPlan, run_study, study_of
from chatdev.departments.process.command_options import load_process_company, opened_pool, read_tasks
from chatdev.departments.process.command_output import summary_table
from chatdev.errors import BudgetExhausted, ChatDevError

if TYPE_CHECKING:
    from chatdev.batch.attempt import Expense
    from chatdev.batch.ledger import Ledger
    from chatdev.departments.process.development.planned_tasks import PlannedTask
    from chatdev.departments.process.development.stages import Stage, Stages
    from chatdev.departments.process.pool import InstanceOutcome, InstancePool
    from chatdev.departments.process.process_company import ProcessCompany
    from chatdev.evaluation.tasks import Task
    from chatdev.evaluation.variants import Variant

Planner = Callable[[Sequence["InstanceOutcome"], Sequence["Task"], str], Sequence["PlannedTask"]]
"""From the pool's outcomes, the tasks and the name of the stage to what is to be developed."""


@dataclass(frozen=True, slots=True)
class Development:
    """A pool with the runs that fill it. The name of the study is that of the pool; `tasks` are those of `stages`."""

    options: StudyOptions
    company: ProcessCompany
    company_name: str
    pool: InstancePool
    stages: Stages
    tasks: Sequence[Task]
    given: Mapping[str, Any]
    """What the command was given, by which an unfinished stage knows its command again."""
    shares_limits: bool = False

    def run_next(self, kind: str, plan: Planner, temperatures: Sequence[float] = ()) -> list[dict[str, Any]]:
        """Run the next stage of this kind, or go on with the one that is not finished; its rows. Raises ConfigError,
        BudgetExhausted, ChatDevError where runs failed."""
        name, found = self.stages.open_stage(kind, self.given)
        return self.run(found or self._plan(name, plan), temperatures)

    def run_named(self, name: str, plan: Planner) -> list[dict[str, Any]]:
        """Run the stage of this name, go on with it, or read what came of it; its rows."""
        found = self.stages.find(name)
        if found:
            self.stages.refuse_other_command(found, self.given)
            if found.is_done:
                return self._rows(found)
        return self.run(found or self._plan(name, plan))

    def run(self, stage: Stage, temperatures: Sequence[float] = ()) -> list[dict[str, Any]]:
        """Run a stage to its end. What has ended is counted also where the rest could not be run."""
        click.echo(f"stage {stage.name}")
        code = 1
        try:
            code = run_study(self._options_of(stage), lambda: self._study_plan(stage, temperatures), self._tell)
        finally:
            rows = self._rows(stage)
            self._count(stage, rows)
        if code == 0:
            self.stages.keep(replace(stage, is_done=True))
        else:
            raise ChatDevError(f"{stage.name} is not finished: some of its runs failed; the same command with "
                               "--retry-failed goes on")
        return rows

    def for_rounds(self) -> Development:
        """The development of a cycle: its limits of tokens and money hold for all stages together, and a greater number
        of rounds goes on with the same stages."""
        return replace(self, shares_limits=True, given={**self.given, "rounds": None})

    def _plan(self, name: str, plan: Planner) -> Stage:
        from chatdev.departments.process.development.stages import Stage

        planned = plan(self.pool.outcomes(), self.tasks, f"{self.given['seed']}/{name}")
        return self.stages.keep(Stage(name, self.given, tuple(planned)))

    def _options_of(self, stage: Stage) -> StudyOptions:
        options = self._without_spent(stage) if self.shares_limits else self.options
        return replace(options, study=self._batch(stage.name), folder=self.stages.folder / stage.name)

    def _batch(self, stage: str) -> str:
        """The name of a stage's jobs in the ledger."""
        return f"{self.options.study}/{stage}"

    def _without_spent(self, stage: Stage) -> StudyOptions:
        """The options with what other stages of the pool have left of the limits. Raises BudgetExhausted."""
        from chatdev.batch.attempt import Allowance, Expense

        tokens, cost = self.options.max_tokens, self.options.max_cost
        spent = sum((self._expense(name) for name in self.stages.names() if name != stage.name), Expense())
        if reason := Allowance(cost, tokens).stop_reason(spent):
            raise BudgetExhausted(f"{reason}; finished stages are kept, and the same command with a greater budget "
                                  "continues")
        return replace(self.options, max_tokens=tokens and tokens - spent.tokens,
                       max_cost=cost and cost - (spent.cost or 0))

    def _expense(self, name: str) -> Expense:
        with closing(open_ledger(self.options.ledger_url, self._batch(name))) as ledger:
            return ledger.expense()

    def _study_plan(self, stage: Stage, temperatures: Sequence[float]) -> StudyPlan:
        from chatdev.departments.process.development.planned_tasks import PlannedTasks
        from chatdev.evaluation.study import Conditions

        data = PlannedTasks(self.stages.base, stage.planned)
        study = study_of(data, Conditions(), self._options_of(stage))
        return StudyPlan(self._variants(temperatures), data.tasks(), study)

    def _variants(self, temperatures: Sequence[float]) -> list[Variant]:
        from chatdev.departments.process.development.stages import name_temperature
        from chatdev.evaluation.variants import variants

        found: list[Variant] = []
        for temperature in temperatures or (None,):
            sets = [] if temperature is None else [f"phases.{self.company.proposing}.model.temperature={temperature}"]
            named = variants([self.company_name], models=self.options.models, sets=[*self.options.sets, *sets])
            found += [name_temperature(one, temperature) for one in named]
        return found

    def _rows(self, stage: Stage) -> list[dict[str, Any]]:
        with closing(open_ledger(self.options.ledger_url, self._batch(stage.name))) as ledger:
            return _rows_of(ledger)

    def _count(self, stage: Stage, rows: Sequence[Mapping[str, Any]]) -> None:
        from chatdev.departments.process.development.stages import count_rows

        if new := count_rows(self.pool, stage.name, rows, self.company.temperature):
            click.echo(f"pool {self.pool.name}: {new} new outcomes")

    def _tell(self, ledger: Ledger) -> str:
        return summary_table({"": _rows_of(ledger)}, self.company.default)


def _rows_of(ledger: Ledger) -> list[dict[str, Any]]:
    return [dict(entry.result) for entry in ledger.entries("done") if entry.result]


def with_development(options: StudyOptions, given: Mapping[str, Any], work: Callable[[Development], int]) -> int:
    """Do `work` with the pool and the tasks that the options name; its exit code. Raises ConfigError."""
    from chatdev.departments.process.development.stages import Stages

    options.check()
    company = load_process_company(given["company"], options.sets)
    base, tasks = read_tasks(given["tasks"], given["seed"])
    told = {**{name: str(value) if isinstance(value, Path) else value for name, value in given.items()},
            "models": list(options.models), "sets": list(options.sets)}
    with opened_pool(company, options.ledger_url, options.study) as pool:
        stages = Stages(Path(options.runs), base)
        return work(Development(options, company, given["company"], pool, stages, tasks, told))
