"""The library's front door: load a company, run it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from chatdev.config import schema
from chatdev.config.check import check
from chatdev.config.environ import environ
from chatdev.config.load import dump, load_company
from chatdev.config.settings import default_model, user_settings
from chatdev.errors import ConfigError
from chatdev.events import Event
from chatdev.llm.registry import Models
from chatdev.runner.budget import limits_of, refuse_unpriced
from chatdev.runner.execute import Execution
from chatdev.runner.inputs import gather
from chatdev.runner.options import RunOptions
from chatdev.runner.result import Run
from chatdev.runner.seats import Seats
from chatdev.runner.toolbox import Facts, RunToolbox
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.choose import choose
from chatdev.secrets import holds, scrubbed, scrubbed_bytes
from chatdev.workspace.problems import explained
from chatdev.workspace.run_folder import RunFolder, slug
from chatdev.workspace.snapshot import Software


@dataclass(frozen=True)
class Company:
    """A company, checked and ready to work.

        run = Company.load("chatdev").run("a command-line to-do list")
        print(run.success, run.software_folder)
    """

    config: schema.Company
    warnings: Sequence[str] = field(default=())

    @classmethod
    def load(cls, name_or_path: str | Path = "chatdev", *, sets: Sequence[str] = (), without: Sequence[str] = (),
             without_roles: bool = False) -> Company:
        """Load and validate a company by name or path. `sets` are `path.to.field=value` changes, `without` names phases
        to leave out. Raises ConfigError with all that is wrong."""
        sets = [*sets, "with_roles=false"] if without_roles else sets
        config = load_company(name_or_path, sets=sets, without=without, tools=Facts())
        return cls(config, [finding.text for finding in check(config, Facts()) if finding.warning])

    @cached_property
    def resolved(self) -> str:
        """The company as one YAML text, as every run keeps it."""
        return dump(self.config)

    def run(self, task: str = "", **options: Any) -> Run:
        """Run the company on `task` (options: `RunOptions`).

        Raises ConfigError, MissingModel and the like before anything is made; afterwards every failure is told by the
        returned run. Ctrl-C ends the run with status `interrupted`.
        """
        work = _Work(self, task, RunOptions(**options))
        try:
            return asyncio.run(work.run())
        except (KeyboardInterrupt, asyncio.CancelledError):
            if work.execution is None:
                raise
            return work.execution.run

    async def arun(self, task: str = "", **options: Any) -> Run:
        """`run` for callers with an event loop; cancelling it ends the run cleanly and raises CancelledError."""
        return await _Work(self, task, RunOptions(**options)).run()

    async def events(self, task: str = "", **options: Any) -> AsyncIterator[Event]:
        """Run the company and yield its events as they happen; the last one is `RunFinished`."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        wanted = RunOptions(**options)

        def forward(event: Event) -> None:
            if wanted.on_event:
                wanted.on_event(event)
            queue.put_nowait(event)

        task_done = asyncio.create_task(_Work(self, task, replace(wanted, on_event=forward)).run())
        task_done.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await task_done
        finally:
            task_done.cancel()


@dataclass(slots=True)
class _Work:
    """Everything one run opens and must close again."""

    company: Company
    task: str
    options: RunOptions
    execution: Execution | None = None

    async def run(self) -> Run:
        options, user = self.options, user_settings()
        default = default_model(options.model, options.base_url, user=user)
        sandbox = choose(options.sandbox or user.sandbox or "bubblewrap")
        models = Models(environ())
        try:
            seats = Seats(self.company.config, default, models, user.models)
            limits = limits_of(options)
            refuse_unpriced(seats.check(), limits, self.company.config)
            _refuse_secrets(self.company)  # from here on every key is known
            inputs = gather(self.company.config, self.task, options.inputs)
            start = _existing(options.software)
            warehouse = Path(options.warehouse or user.warehouse or "warehouse")
            folder = RunFolder.create(warehouse, _name(options, scrubbed(self.task)), datetime.now().astimezone())
            with explained("write into", folder.run):
                (folder.run / "company.yaml").write_text(self.company.resolved, encoding="utf-8")
            toolbox = RunToolbox(sandbox, folder.run, inputs.everything)
            self.execution = Execution(self.company.config, inputs, folder, toolbox, seats, start, options.on_event,
                                       options.stream, options.language, limits)
            return await self.execution.execute()
        finally:
            await _close(models, sandbox)


async def _close(models: Models, sandbox: Sandbox) -> None:
    sandbox.stop_all()
    await models.close()


def _name(options: RunOptions, task: str) -> str:
    """The run's name: as given, else the first words of the task."""
    name = options.name or slug(" ".join(task.split()[:6]))
    return scrubbed(f"{name}_{options.org}" if options.org else name)


def _existing(folder: str | Path | None) -> Software:
    if folder is None:
        return Software({})
    if not Path(folder).is_dir():
        raise ConfigError(f"there is no folder {folder} with software to start from")
    software = Software.load(Path(folder))
    return Software({path: scrubbed_bytes(data) for path, data in software.items()})


def _refuse_secrets(company: Company) -> None:
    """Every model reads the company and every run keeps a copy of it."""
    if holds(company.resolved):
        raise ConfigError("the company's YAML holds a key or a password; take it out: `key_env` names the environment "
                          "variable of a model's key, and OPENAI_BASE_URL may be an address with a password")
