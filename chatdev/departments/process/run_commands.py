"""`chatdev process`: the commands that have processes proposed and software developed by them, stage by stage; and what
all commands of processes take (the pool, the company, the tasks), and print."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import STUDIES, StudyOptions, open_ledger, running_options, split_names
from chatdev.department import explain_absence
from chatdev.departments.process.pool import STRATEGIES
from chatdev.errors import BudgetExhausted, ChatDevError, ConfigError, MissingProgram
from chatdev.safe_text import escape_json, sanitize

if TYPE_CHECKING:
    from chatdev.batch.attempt import Expense
    from chatdev.batch.ledger import Ledger
    from chatdev.cli.study_run import StudyPlan
    from chatdev.departments.process.development.stages import PlannedTask, Rows, Stage, Stages
    from chatdev.departments.process.pool import InstanceOutcome, PoolEntry
    from chatdev.departments.process.pool_store import InstancePool
    from chatdev.departments.process.process_company import ProcessCompany
    from chatdev.departments.process.process_tree import Instance, ProcessTree
    from chatdev.evaluation.study import DataSet
    from chatdev.evaluation.tasks import Task
    from chatdev.evaluation.variants import Variant


# What the commands of `chatdev process` take (the pool, the company, the tasks), and what they print.

STARTER_POOL = "starter"
_TASKS = re.compile(r"(?P<data>.+?)(?::(?P<limit>[1-9][0-9]*))?")
_POOL = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)


class ShareRange(click.FloatRange):
    """A number of a range; NaN is in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value!r} is no number", param, ctx)
        return number


company_option = click.option("--company", default="top", show_default=True, metavar="NAME_OR_PATH",
                              help="The company, whose chain has a `process` step with `phases`.")
_pool_options = (
    click.option("--pool", "pool_name", default="top", show_default=True, metavar="NAME",
                 help=f"The instance pool; `{STARTER_POOL}` is the one that the company comes with."),
    click.option("--ledger", "ledger_url", metavar="PATH_OR_URL", default=str(STUDIES / "ledger.sqlite"),
                 show_default=True, help="A SQLite file, or the address of a database, e.g. postgresql://host/name."),
)
least_option = click.option("--least", type=ShareRange(0, 1), default=0.3, show_default=True, metavar="SHARE",
                            help="Successes from which an instance is worth learning from.")
noise_option = click.option("--noise", type=ShareRange(0, 1), default=0.0, show_default=True, metavar="SHARE",
                            help="Leave out what is rarer than this beside its alternatives, where the model "
                                 "fits better so.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def pool_options(command: Command) -> Command:
    """Add `--company`, `--pool` and `--ledger`; the command gets `company` and `outcomes`, those of the pool."""
    @wraps(command)
    def collect(*, company: str, pool_name: str, ledger_url: str, **given: Any) -> Any:
        found = load_process_company(company)
        return command(company=found, outcomes=read_outcomes(found, ledger_url, pool_name), **given)

    extended: Command = report_outcome(company_option(pool_name_options(collect)))
    return extended


def pool_name_options(command: Command) -> Command:
    """Add `--pool` and `--ledger`, as `pool_name` and `ledger_url`."""
    for add in reversed(_pool_options):
        command = add(command)
    return command


def load_process_company(name_or_path: str, sets: Sequence[str] = ()) -> ProcessCompany:
    """The company. Raises ConfigError, MissingProgram."""
    from chatdev.config.load import load_company
    from chatdev.departments.process.process_company import ProcessCompany

    return ProcessCompany.of(load_company(name_or_path, sets=sets))


def check_pool_name(name: str) -> None:
    """Raise ConfigError for the name of no pool that may be written."""
    if name == STARTER_POOL:
        raise ConfigError(f"the pool {name!r} belongs to the company and is only read; name one of yours: --pool NAME")
    if not _POOL.fullmatch(name):
        raise ConfigError(f"--pool {name!r}: a pool has a name of at most 100 letters, digits and `-_.`")


@contextmanager
def opened_pool(company: ProcessCompany, ledger_url: str, name: str) -> Iterator[InstancePool]:
    """The pool of that name, for writing; it is made when there is none. Raises ConfigError, MissingProgram."""
    check_pool_name(name)
    try:
        from chatdev.departments.process.pool_store import InstancePool, find_kept_log
    except ImportError as error:
        raise MissingProgram(f"an instance pool needs {error.name}: pip install 'chatdev-chain[eval]'") from error
    if find_kept_log(ledger_url, name) is not None:
        raise ConfigError(f"--pool {name} is an event log; name another pool for developed software")
    pool = InstancePool(ledger_url, name, company.default)
    try:
        yield pool
    finally:
        pool.close()


def read_outcomes(company: ProcessCompany, ledger_url: str, name: str) -> list[Any]:
    """The outcomes of a pool that is there. Raises ConfigError where there is none."""
    if name == STARTER_POOL:
        return list(company.starter_outcomes())
    try:
        from chatdev.departments.process.pool_store import find_kept_log, find_outcomes
    except ImportError as error:
        raise MissingProgram(f"an instance pool needs {error.name}: pip install 'chatdev-chain[eval]'") from error
    found = find_outcomes(ledger_url, name, company.default)
    if found is None:
        if find_kept_log(ledger_url, name) is not None:
            raise ConfigError(f"--pool {name} is an event log, of which no software was developed; `filter`, `mine`, "
                              "`describe`, `check --bpmn` and `compare` look at it")
        raise ConfigError(f"there is no pool {name!r} in {ledger_url}; begin one with `chatdev process develop`, or "
                          f"look at the one that the company comes with: --pool {STARTER_POOL}")
    return found


def read_tasks(given: str, seed: int) -> tuple[DataSet, list[Task]]:
    """The data set and its tasks that `--tasks` names. Raises ConfigError."""
    from chatdev.evaluation.study import open_tasks
    from chatdev.evaluation.tasks import Selection

    found = _TASKS.fullmatch(given.strip())
    name, limit = (found["data"], found["limit"]) if found else ("", None)
    base: Any = open_tasks(name)
    if base is None:
        raise ConfigError(f"--tasks {given!r} names no data set; give srdd, easy:tuning, or a file or folder of tasks "
                          f"as in srdd/tasks, with `:N` behind it for N of them, e.g. srdd:20{explain_absence()}")
    tasks = Selection(limit=int(limit) if limit else None, seed=seed).select(base.tasks())
    base.check(tasks)
    return base, tasks


# What they print.

_WORDS = ("", "instance")  # columns of words


def json_text(data: Any) -> str:
    """The data for machines."""
    return escape_json(json.dumps(data, ensure_ascii=False, indent=1))


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Columns of equal width; words are flush left, numbers right."""
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) if name not in _WORDS else cell.ljust(width)
                               for name, cell, width in zip(head, line, widths, strict=True)).rstrip()
                     for line in (head, *lines))


def entries_table(entries: Sequence[PoolEntry], default: Instance) -> str:
    """The entries of a pool, a line each: how often, how often well, how far from the default, and the whole instance,
    since many differ only near their ends."""
    from chatdev.departments.process.pool import format_instance, measure_diversity

    lines = [(str(entry.frequency), str(entry.successes), f"{entry.success_rate:.2f}",
              f"{measure_diversity(entry.instance, default).mean:.2f}", format_instance(entry.instance) or "(none)")
             for entry in entries]
    return table(("N", "Q", "Q/N", "diversity", "instance"), lines)


def entry_data(entry: PoolEntry) -> dict[str, Any]:
    """An entry, for JSON."""
    return {**asdict(entry), "success_rate": entry.success_rate}


def summary_table(groups: Mapping[str, Rows], default: Instance) -> str:
    """What came of groups of runs, a line each, and why proposals could not be run."""
    from chatdev.departments.process.development.stages import summarise
    from chatdev.evaluation.reporting.formats import format_interval, format_mean

    head = ("", "proposed", "can be run", "distinct", "diversity", "developed", "success", "starts", "solved", "tokens")
    lines, faults = [], []
    for name, rows in groups.items():
        found = summarise(rows, default)
        lines.append((name, str(found.proposals), _share(found.legal), str(found.distinct), _share(found.diversity),
                      str(found.developed), format_interval(found.success, 2), format_interval(found.starts, 2),
                      format_interval(found.solved, 2), format_mean(found.tokens, "tokens")))
        faults += [f"{name or 'proposals'}: {kind} {count} times" for kind, count in sorted(found.faults.items())]
    return "\n".join([table(head, lines), *faults])


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


# `chatdev process`: the commands that have processes proposed and software developed by them, stage by stage.

Command = Callable[..., Any]
_POOL_NAME = ("--pool", "Name of the instance pool, and of the folder of its runs; several may share a ledger.")
_ON, _OFF = "with text", "without text"

_tasks_option = click.option("--tasks", required=True, metavar="DATA[:N]",
                             help="What is developed: srdd, easy:tuning, or a file or folder of tasks; `:N` for N of "
                                  "them, e.g. srdd:20.")
_seed_option = click.option("--seed", type=int, default=0, show_default=True,
                            help="Which tasks N takes, which examples are shown, which instances are replayed.")
_text_option = click.option("--text", type=click.Choice(["on", "off"]), default="on", show_default=True,
                            help="Whether the text of the pool's model is shown to the model that proposes.")
_pool_noise_option = click.option("--noise", type=ShareRange(0, 1), metavar="SHARE",
                                  help="Leave out of the pool's model what is rarer than this beside its alternatives.")
_strategy_option = click.option("--strategy", type=click.Choice(sorted(STRATEGIES)), default="uct_once",
                                show_default=True, help="Which instances are replayed (docs/process.md).")


def _development_command(name: str) -> Callable[[Command], click.Command]:
    """A command that is given a `Development`: with the company, the tasks, the seed and all options of a study."""
    def make(function: Command) -> click.Command:
        def run(options: StudyOptions, **given: Any) -> int:
            return with_development(options, given, lambda development: int(function(development, **{
                key: value for key, value in given.items() if key not in ("company", "tasks", "seed")})))

        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
        ended = report_outcome(run)
        for add in (running_options("top", _POOL_NAME, known=False), _seed_option, _tasks_option, company_option):
            ended = add(ended)
        return click.command(name)(ended)

    return make


@_development_command("generate")
@_text_option
@click.option("--per-task", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
              help="Proposals for each task.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the proposals that can be run as JSON, for `develop --from`.")
def generate(development: Development, text: str, per_task: int, output: Path | None) -> int:
    """Have processes proposed, and develop nothing.

    Proposals that could not be run are counted in the pool as failures, with their kind.
    """
    rows = development.run_next("generate", _proposals(development, text == "on", per_task, develops=False))
    lines = [{"task": row["base_task"], "process": " → ".join(row["instance"])} for row in rows if row["fits"]]
    for line in lines:
        click.echo(sanitize(f"{line['task']}: {line['process']}"))
    if output:
        from chatdev.cli.shared_options import write_file

        write_file(output, json.dumps(lines, ensure_ascii=False, indent=1) + "\n")
    return 0


@_development_command("develop")
@_text_option
@click.option("--per-task", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
              help="Developments of each task.")
@click.option("--process", metavar="PROCESS", help="Run this process instead of having one proposed.")
@click.option("--from", "proposals", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
              help="Run the processes that `generate --output` wrote.")
def develop(development: Development, text: str, per_task: int, process: str | None, proposals: Path | None) -> int:
    """Develop software, each by a process of its own, and count in the pool what became of it."""
    from chatdev.departments.process.development.stages import plan_given, read_proposals

    if process is not None and not process.strip():
        raise ConfigError("--process is empty; name phases, as in `Coding → Manual`, or leave it out")
    if process and proposals:
        raise ConfigError("--process names one process and --from a file of them; give one of the two")

    def plan(outcomes: Sequence[InstanceOutcome], tasks: Sequence[Task], name: str) -> Sequence[PlannedTask]:
        if proposals:
            return read_proposals(development.company, proposals, tasks)
        if process:
            return plan_given(development.company, process, list(tasks) * per_task)
        return _proposals(development, text == "on", per_task)(outcomes, tasks, name)

    development.run_next("develop", plan)
    return 0


@_development_command("enhance")
@click.option("--per-task", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
              help="Developments of each task.")
@click.option("--bpmn", metavar="FILE", help="A model (BPMN, or a process tree) whose text is shown, in the place of "
                                             "the pool's.")
@_pool_noise_option
def enhance(development: Development, per_task: int, bpmn: str | None, noise: float | None) -> int:
    """Enhance the pool: its model's text is shown, new processes are proposed and developed, and counted."""
    from chatdev.departments.process.development.stages import require_text
    from chatdev.departments.process.model_commands import read_model

    if not bpmn:
        require_text(development.company, development.pool.outcomes())
    development.run_next("enhance", _proposals(development, read_model(bpmn) if bpmn else True, per_task,
                                                 noise=noise or 0.0))
    return 0


@_development_command("replay")
@_strategy_option
@click.option("--count", type=click.IntRange(min=1), default=10, show_default=True, metavar="N",
              help="So many replays.")
def replay(development: Development, strategy: str, count: int) -> int:
    """Run instances of the pool again, the doubtful ones first, and count how that ends."""
    development.run_next("replay", _replays(development, strategy, count))
    return 0


@_development_command("sweep")
@click.option("--temperature", "temperatures", callback=split_names, default="0,0.2,0.4,0.6,0.8,1.0,1.2,1.4",
              show_default=True, metavar="A,B,C", help="Temperatures of the proposals.")
@click.option("--develop", "develops", is_flag=True, help="Also develop what is proposed.")
@_text_option
def sweep(development: Development, temperatures: Sequence[str], develops: bool, text: str) -> int:
    """Have processes proposed at several temperatures: how many can be run, and how different they are (figure 9)."""
    from chatdev.departments.process.development.stages import group_rows, read_temperature

    values = [_read_temperature(one) for one in temperatures]
    if not values:
        raise ConfigError("--temperature is empty; give numbers from 0 to 2, e.g. 0,0.6,1.2")
    rows = development.run_next("sweep", _proposals(development, text == "on", 1, develops=develops), values)
    groups = group_rows([{**row, "at": read_temperature(row)} for row in rows], "at")
    click.echo(sanitize(summary_table(dict(sorted(groups.items(), key=lambda pair: float(pair[0]))),
                                      development.company.default)))
    return 0


@_development_command("compare")
@click.option("--per-task", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
              help="Developments of each task, with the text and without.")
def compare(development: Development, per_task: int) -> int:
    """Develop every task with the text of the pool's model and without, and compare, for each area (figure 13).

    Two models, pools or logs are compared by `chatdev process compare A B` (`chatdev process diff --help`).
    """
    from chatdev.departments.process.development.stages import group_rows, require_text

    require_text(development.company, development.pool.outcomes())

    def plan(outcomes: Sequence[InstanceOutcome], tasks: Sequence[Task], name: str) -> Sequence[PlannedTask]:
        with_text, without = (
            _proposals(development, shown, per_task, group=group)(outcomes, tasks, name)
            for group, shown in ((_ON, True), (_OFF, False)))
        return [*with_text, *without]

    rows = development.run_next("compare", plan)
    groups = group_rows(rows, "group")
    for area, found in group_rows(rows, "area").items():
        groups |= {f"{area}, {group}": part for group, part in group_rows(found, "group").items()}
    click.echo(sanitize(summary_table(groups, development.company.default)))
    return 0


@_development_command("cycle")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, metavar="N", help="So many rounds.")
@click.option("--per-task", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
              help="Developments of each task in a round.")
@click.option("--replays", type=click.IntRange(min=0), default=10, show_default=True, metavar="N",
              help="Replays in a round, except the last one.")
@_strategy_option
@_text_option
@_pool_noise_option
def cycle(development: Development, rounds: int, per_task: int, replays: int,
          strategy: str, text: str, noise: float | None) -> int:
    """All stages, round by round: propose and develop, replay, filter, mine, describe; the next round reads the text.

    After an interruption, give the same command again to continue; --max-tokens and --max-cost hold for the whole.
    """
    development = development.for_rounds()
    done: dict[str, list[dict[str, Any]]] = {}
    for number in range(1, rounds + 1):
        done[f"round {number}"] = development.run_named(
            f"round-{number}-develop", _proposals(development, text == "on", per_task, noise=noise or 0.0))
        if replays and number < rounds:
            done[f"round {number}, replays"] = development.run_named(
                f"round-{number}-replay", _replays(development, strategy, replays))
    click.echo(f"\n{sanitize(summary_table(done, development.company.default))}")
    return 0


COMMANDS = (generate, develop, replay, enhance, sweep, compare, cycle)


def _proposals(development: Development, with_text: bool | ProcessTree, per_task: int, *, develops: bool = True,
               group: str = "", noise: float = 0.0) -> Callable[..., Sequence[PlannedTask]]:
    """What plans a proposal for each task."""
    from chatdev.departments.process.development.stages import plan_proposals

    def plan(outcomes: Sequence[InstanceOutcome], tasks: Sequence[Task], name: str) -> Sequence[PlannedTask]:
        return plan_proposals(development.company, outcomes, list(tasks) * per_task, name, with_text=with_text,
                              develops=develops, group=group, noise=noise)

    return plan


def _replays(development: Development, strategy: str, count: int) -> Callable[..., Sequence[PlannedTask]]:
    """What plans replays."""
    from chatdev.departments.process.development.stages import plan_replay

    def plan(outcomes: Sequence[InstanceOutcome], tasks: Sequence[Task], name: str) -> Sequence[PlannedTask]:
        return plan_replay(development.company, outcomes, tasks, name, strategy=strategy, count=count)

    return plan


def _read_temperature(given: str) -> float:
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 2:
        raise ConfigError(f"--temperature: {given!r} is none; give numbers from 0 to 2, e.g. 0,0.6,1.2")
    return value


# The stages: planned, written down, run as a batch, counted in the pool.

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
        from chatdev.cli.study_run import run_study

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
        from chatdev.cli.study_run import StudyPlan, study_of
        from chatdev.departments.process.development.stages import PlannedTasks
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
