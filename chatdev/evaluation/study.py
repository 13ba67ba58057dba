"""A study: tasks of a data set × variants, one job of a ledger each, every run in a folder of its own; and what is
checked before one."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Protocol, cast

from chatdev.batch.attempt import SHARED_BUDGET, Allowance, AttemptFailed, AttemptStopped, Expense, Failure
from chatdev.batch.ledger import Job, Ledger, LedgerEntry, plain_json
from chatdev.config.settings import trusted_digests
from chatdev.department import departments, load
from chatdev.errors import ChatDevError, ConfigError, ContextOverflow, MissingProgram, PhaseFailed, UnusableReply
from chatdev.evaluation.measure import Bench, Row, embedder_of
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.variants import Variant, name_without_model
from chatdev.llm.base import Model, RateLimit
from chatdev.packages.imports import Policy, Supply
from chatdev.packages.modules import runtime
from chatdev.runner.api import aresume
from chatdev.runner.consent import Trusted, dotenv_stranger
from chatdev.runner.options import RunOptions
from chatdev.runner.recorded import RecordedRun
from chatdev.runner.report import Run
from chatdev.runner.resources import find_connections, open_resources, resolve_resources, sum_past_spending
from chatdev.sandbox.kinds import find_sandbox
from chatdev.workspace.file_tree import explain_os_errors
from chatdev.workspace.run_folder import slug

ATTEMPTS = ".attempts"
"""The folder, in a study's, of runs that are under way or failed; it may be removed while nobody works."""

STOPPED = ".stopped"
"""The folder, in a study's, of runs that its budget stopped; they are gone on with."""

_COMPANY_ERRORS = (PhaseFailed, UnusableReply, ContextOverflow)
"""Errors of a run that are a result of the company and its model; others are the machine's or the provider's."""


class DataSet(Protocol):
    """Tasks, and how what was made of them is judged. To be used by workers elsewhere it must be picklable."""

    @property
    def name(self) -> str:
        """Stands in every row."""
        ...

    def tasks(self) -> Sequence[Task]:
        """All tasks. Raises ConfigError."""
        ...

    def inputs(self, task: Task) -> Mapping[str, bytes]:
        """What companies that declare such inputs are given besides the task's description, hidden ones included."""
        ...

    def verdict(self, task: Task, folder: Path, bench: Bench) -> Row:
        """What is measured of the finished run in `folder` (as `measure` does); plain JSON values by flat names.
        Blocking. Errors are those of the machine; what is wrong with the software is part of the row."""
        ...


def open_tasks(name: str) -> DataSet | None:
    """The data set that a department calls by this name, such as `srdd` or a path (`Department.tasks`); None where none
    does. Raises ConfigError, and MissingProgram where only a department might know it that cannot be imported."""
    problems = []
    for one in departments().values():
        try:
            if one.tasks and (found := load(one.tasks, f"the tasks of the department {one.name!r}")(name)):
                return cast(DataSet, found)
        except MissingProgram as error:
            problems.append(error)
    if problems:
        raise problems[0]
    return None


@dataclass(frozen=True, slots=True)
class Conditions:
    """What holds for all runs of a study and their measurement; the embedder by its name (`embedder_of`)."""

    embedder: str = "lexical"
    install: Policy = "auto"
    runtime: str | None = None


@dataclass(frozen=True, slots=True)
class Study:
    """Runs and measures companies on the tasks of a data set, for any engine of `chatdev.batch`.

    `folder` holds the finished runs, as `VARIANT/TASK`. What is not in `conditions` may differ from machine to machine
    and from day to day: the model's address, the sandbox, the embedder's address.
    """

    data: DataSet
    folder: Path
    conditions: Conditions = field(default_factory=Conditions)
    base_url: str | None = None
    sandbox: str | None = None
    embedder_url: str | None = None
    rate_limit: RateLimit | None = None
    model: Model | None = None
    """A model of the caller's own, for the variants that name none; used by workers elsewhere it must be picklable."""
    trust: Trusted = False
    """Whose addresses and keys may be used, beside those on record on each machine (as `RunOptions.trust`)."""
    provider: str | None = None
    named: frozenset[Variant] | None = None
    """The variants that this user has named (None: not known); no other one in the ledger is run."""

    def with_consent(self, variants: Sequence[Variant]) -> Study:
        """The study for workers, whom nobody can ask: with the consent that this user has given, to just the companies
        and the `.env` that are here. What a ledger says was set in a variant is this user's word only where it says
        what they say. Raises ConfigError."""
        digests = set(trusted_digests())
        if self.trust is True:
            digests.add(dotenv_stranger().digest)
            digests.update(variant.load().word.stranger().digest for variant in variants)
        elif self.trust:
            digests.update(self.trust)
        return replace(self, trust=frozenset(digests), named=frozenset(variants))

    def part(self, processes: int) -> Study:
        """The study for one of `processes` processes, with its share of the rate limit."""
        return replace(self, rate_limit=self.rate_limit and self.rate_limit.part(processes))

    def jobs(self, tasks: Sequence[Task], variants: Sequence[Variant], repeats: int = 1) -> Iterator[Job]:
        """One job a task and variant, and each so often, task by task, so that variants can be compared early; its key
        is `VARIANT/TASK`, from the second time on with `#2` and so on."""
        specs = [plain_json(variant.spec, f"the variant {variant.name}") for variant in variants]
        for number, task, spec in product(range(1, repeats + 1), tasks, specs):
            again = {"repeat": number} if number > 1 else {}
            yield Job(f"{spec['name']}/{task.id}{f'#{number}' if again else ''}", {
                "data": self.data.name, "task": asdict(task), "variant": spec,
                "conditions": asdict(self.conditions), **self._input_digests(task), **again})

    def _input_digests(self, task: Task) -> dict[str, Any]:
        """By what it is known that a task's inputs are the same as before."""
        digests = {name: hashlib.sha256(data).hexdigest()[:16] for name, data in self.data.inputs(task).items()}
        return {"inputs": digests} if digests else {}

    def check(self, tasks: Sequence[Task], variants: Sequence[Variant], allowance: Allowance | None = None) -> None:
        """Look for all that would make every job fail, before anything is entered or paid: models and the embedder that
        cannot be reached, a sandbox that does not work, a limited cost with a model that has no price. Raises
        ConfigError, MissingModel, SandboxError and the like."""
        if self.conditions.runtime:
            runtime(self.conditions.runtime)
        for variant in variants:
            options = replace(self._options(variant), max_cost=allowance.cost if allowance else None)
            asyncio.run(_check_resources(variant, options))
        embedder = embedder_of(self.conditions.embedder, self.embedder_url, self.trust)
        embedder.embed([task.description for task in tasks[:1]])

    def asks_local_model(self, variants: Sequence[Variant]) -> bool:
        """Whether a role of any of the companies works with the local model, whose machine bears one run at a time. No
        model is opened."""
        return any(connection.is_local_model for variant in variants
                   for connection in find_connections(variant.load().word, self._options(variant)) if connection)

    def _options(self, variant: Variant) -> RunOptions:
        """By which the models of a variant's runs are found."""
        return RunOptions(model=variant.model or self.model, provider=self.provider, base_url=self.base_url,
                          sandbox=self.sandbox, trust=self.trust)

    def enter(self, ledger: Ledger, jobs: Sequence[Job]) -> int:
        """Enter the jobs that are not in the ledger yet; how many those are. Raises ConfigError when the study was
        begun under other conditions, or with another text of a task or company: its rows could not be compared; and
        when it has open jobs of variants that nobody named here: a ledger may be somebody else's, and says as little of
        what may happen on this machine as a run folder does."""
        refuse_changes(ledger, jobs, asdict(self.conditions))
        return ledger.add(jobs)

    async def work(self, spec: Mapping[str, Any]) -> Row:
        """Run one job and measure it; the row that the ledger keeps. A finished run is not run again, whatever happened
        afterwards. Raises AttemptFailed and others for failures that are not the company's."""
        task, variant = Task(**spec["task"]), Variant.of(spec["variant"])
        if task not in await asyncio.to_thread(self.data.tasks):  # it names a hidden test, which has our rights
            raise ConfigError(f"the ledger has a task {task.id!r} that the data set does not have so; begin another "
                              "study: --study NAME")
        if self.named is not None and variant not in self.named:
            raise ConfigError(f"the ledger has a variant {variant.name!r} that this command does not name so; name it "
                              "too (--companies, --set, --model), or begin another study: --study NAME")
        if variant.fingerprint != spec["variant"]["fingerprint"]:
            raise ConfigError(f"the company of {variant.name!r} is not the one that the study was begun with; begin "
                              "another one: --study NAME")
        repeat = int(spec.get("repeat", 1))
        folder = self.folder / variant.folder / _folder_name(task, repeat)
        embedder = embedder_of(self.conditions.embedder, self.embedder_url, self.trust)
        before = Expense()
        if folder.is_dir():
            await asyncio.to_thread(refuse_other_run, folder, task, variant)
        else:
            await asyncio.to_thread(embedder.embed, [task.description])  # one that is down must cost no run
            before = await self._run(task, variant, folder)
        row = await self._measure(task, folder, embedder)
        if before != Expense():
            row = {**row, "cost_before": before.cost, "tokens_before": before.tokens}
        return {"data": self.data.name, "task": task.id, "name": task.name, "area": task.area,
                "category": task.category, "variant": variant.name, "company": variant.company, "repeat": repeat, **row,
                "folder": folder.relative_to(self.folder).as_posix()}

    async def _run(self, task: Task, variant: Variant, folder: Path) -> Expense:
        """One run in a folder for this attempt alone; it gets its name when it is finished. One that the study's budget
        stopped is gone on with; how much was counted of it then."""
        warehouse = self.folder / ATTEMPTS / f"{folder.name}-{secrets.token_hex(4)}"
        stopped, before = self.folder / STOPPED / variant.folder / folder.name, Expense()
        if stopped.is_dir():
            before = await asyncio.to_thread(_expense_until_now, stopped)
            run = await self._resume(stopped, variant)
        else:
            run = await self._begin(task, variant, warehouse)
        spent = _expense(run) - before
        if run.status == "stopped":
            if run.folder != stopped:
                await asyncio.to_thread(_move, run.folder, stopped)
            raise AttemptStopped(run.reason.partition(";")[0], spent)
        if run.error and run.status == "error" and not isinstance(run.error, _COMPANY_ERRORS):
            raise AttemptFailed(f"{run.reason} (what was made: {run.folder})", spent,
                                final=Failure.of(run.error).final)
        await asyncio.to_thread(_move, run.folder, folder)
        with suppress(OSError):
            warehouse.rmdir()
        return before

    async def _begin(self, task: Task, variant: Variant, warehouse: Path) -> Run:
        """A new run."""
        company = variant.load()
        inputs = {name: data for name, data in self.data.inputs(task).items() if name in company.config.inputs}
        return await company.arun(
            task.description, name=task.name, inputs=inputs, model=variant.model or self.model, provider=self.provider,
            base_url=self.base_url, warehouse=warehouse, sandbox=self.sandbox, install=self.conditions.install,
            runtime=self.conditions.runtime, rate_limit=self.rate_limit, trust=self.trust,
            shared_budget=SHARED_BUDGET.get())

    async def _resume(self, stopped: Path, variant: Variant) -> Run:
        """A run that the study's budget stopped, to its end."""
        return await aresume(stopped, company=variant.company, provider=self.provider, base_url=self.base_url,
                             sandbox=self.sandbox, model=variant.model or self.model, install=self.conditions.install,
                             rate_limit=self.rate_limit, trust=self.trust, shared_budget=SHARED_BUDGET.get())

    async def _measure(self, task: Task, folder: Path, embedder: Any) -> Row:
        sandbox = find_sandbox(self.sandbox or "bubblewrap")
        bench = Bench(sandbox, embedder, Supply(self.conditions.install, None, self.conditions.runtime))
        try:
            return await asyncio.to_thread(self.data.verdict, task, folder, bench)
        except ChatDevError as error:
            raise AttemptFailed(f"the run in {folder} is finished and kept, but not measured: {error}",
                                final=Failure.of(error).final) from error
        finally:
            sandbox.stop_all()


async def _check_resources(variant: Variant, options: RunOptions) -> None:
    """Raise what would keep the runs of a variant from beginning; nothing is asked of a model."""
    async with open_resources(options) as resources:
        resolve_resources(variant.load().word, options, resources)


def _folder_name(task: Task, repeat: int) -> str:
    """A folder's name for a task, which no other task has; from the second time on with the number."""
    name = f"{slug(task.name)[:48]}-{hashlib.sha256(task.id.encode()).hexdigest()[:6]}"
    return name if repeat == 1 else f"{name}-{repeat}"


def _expense_until_now(folder: Path) -> Expense:
    """What the sessions of a stopped run took."""
    spent = sum_past_spending(RecordedRun.read(folder).records)
    return Expense(spent.cost, spent.tokens)


def _move(run: Path, folder: Path) -> None:
    """Give a run's folder its place in the study; another worker, who took this one for dead, may have been faster."""
    with explain_os_errors("keep the run in", folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            _rename(run, folder)


def _rename(source: Path, target: Path) -> None:
    """Rename a folder; raises FileExistsError when there is one of the new name."""
    try:
        source.rename(target)
    except OSError as error:
        if target.is_dir():
            raise FileExistsError(str(target)) from error
        raise


def _expense(run: Run) -> Expense:
    return Expense(run.usage.cost, run.usage.prompt_tokens + run.usage.completion_tokens)


# What a study may not mix: rows of other conditions, tasks or companies, jobs of an earlier version, others' runs.


def refuse_changes(ledger: Ledger, jobs: Sequence[Job], conditions: Mapping[str, Any]) -> None:
    """Raise ConfigError when the study in the ledger was begun under other `conditions`, with another text of a task or
    company, or by a version that named jobs otherwise; and when it has open jobs of variants that `jobs` omit."""
    new = {job.key: job for job in jobs}
    named = [job.spec["variant"] for job in jobs]
    for entry in ledger.entries():
        _refuse_older_name(ledger.batch, entry)
        job = new.get(entry.key)
        expected = {**entry.spec, "conditions": conditions, **(job.spec if job else {})}
        if changes := list(_differences(entry.spec, expected)):
            raise ConfigError(f"the study {ledger.batch!r} was begun differently ({entry.key}): {changes[0]}. Go on"
                              " as it was begun, or begin another one: --study NAME")
        if named and entry.state in ("open", "running") and entry.spec.get("variant") not in named:
            raise ConfigError(f"the study {ledger.batch!r} has open jobs of a variant that this command does not "
                              f"name ({entry.key}); name it too (--companies, --set, --model), or begin another "
                              "study: --study NAME")


def _refuse_older_name(study: str, entry: LedgerEntry) -> None:
    """Raise ConfigError for a job of a study that an earlier version began: it named the model in some only."""
    variant = entry.spec.get("variant")
    name, model = (variant.get(field) for field in ("name", "model")) if isinstance(variant, Mapping) else ("", "")
    if name and model and name_without_model(name, model) == name:
        raise ConfigError(f"the study {study!r} was begun by an earlier version of chatdev, which left the model out of"
                          f" the names of jobs ({entry.key}); `chatdev eval report` still shows it. Begin another study"
                          " for new runs: --study NAME")


def _differences(before: Mapping[str, Any], now: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """What differs, one line each."""
    for name in sorted({*before, *now}):
        one, other = before.get(name), now.get(name)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _differences(one, other, f"{path}{name}.")
        elif one != other:
            yield f"{path}{name} was {one!r} and is {other!r}"


def refuse_other_run(folder: Path, task: Task, variant: Variant) -> None:
    """Raise ConfigError when a run that is there already is not that of the task and variant."""
    order = RecordedRun.read(folder).order
    model = variant.model or order.options.get("model")
    asked = variant.load().resolved, task.description, model
    if (order.company, order.inputs.get("task"), order.options.get("model")) != asked:
        raise ConfigError(f"the run in {folder} is of another task, company or model; take another --folder")


# What a worker on another machine checks before its first job: where every job would fail, it gets none.


@dataclass(frozen=True, slots=True)
class PreflightCheck:
    """Of a study, with the variants as their specs say. `mark` is a file in the study's folder. Picklable."""

    study: Study
    tasks: Sequence[Task]
    variants: Sequence[Mapping[str, Any]]
    mark: Path

    def __call__(self) -> None:
        """Raise ConfigError when this machine has another folder or other companies, and what `Study.check` does."""
        host = socket.gethostname()
        if not self.mark.exists():
            raise ConfigError(f"{host} does not see the runs in {self.study.folder}; put them into a folder that all "
                              "machines share: --folder PATH")
        for spec in self.variants:
            if Variant.of(spec).fingerprint != spec["fingerprint"]:
                raise ConfigError(f"the company of {spec['name']!r} is another one on {host}; all machines need the "
                                  "same files")
        self.study.check(self.tasks, [Variant.of(spec) for spec in self.variants])


@contextmanager
def preflight(study: Study, tasks: Sequence[Task], variants: Sequence[Variant]) -> Iterator[PreflightCheck]:
    """The check for the workers of a study that this process begins or resumes. Raises WorkspaceError when the
    study's folder cannot be written."""
    mark = study.folder / ATTEMPTS / f"seen-{secrets.token_hex(4)}"
    with explain_os_errors("write into the study's folder", mark):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    try:
        yield PreflightCheck(study, list(tasks[:1]), [variant.spec for variant in variants], mark)
    finally:
        mark.unlink(missing_ok=True)
