"""The library's front door: load a company, run it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from chatdev.config.check import check
from chatdev.config.load import dump, find_company, load_company
from chatdev.config.schema import CompanyConfig
from chatdev.events import Event
from chatdev.paths import bundled
from chatdev.runner.begin import begin
from chatdev.runner.options import RunOptions
from chatdev.runner.result import Run
from chatdev.runner.session import Session
from chatdev.runner.toolbox import Facts


@dataclass(frozen=True)
class Company:
    """A company, checked and ready to work.

        run = Company.load("chatdev").run("a command-line to-do list")
        print(run.success, run.software_folder)
    """

    config: CompanyConfig
    warnings: Sequence[str] = field(default=())
    source: Mapping[str, Any] = field(default_factory=dict)
    """The arguments of `load`, by which a run that is gone on with finds its company again."""

    @classmethod
    def load(cls, name_or_path: str | Path = "chatdev", *, sets: Sequence[str] = (), without: Sequence[str] = (),
             without_roles: bool = False) -> Company:
        """Load and validate a company by name or path. `sets` are `path.to.field=value` changes, `without` names phases
        to leave out. Raises ConfigError with all that is wrong."""
        sets = [*sets, "with_roles=false"] if without_roles else [*sets]
        config = load_company(name_or_path, sets=sets, without=without, tools=Facts())
        file = find_company(name_or_path).resolve()
        everywhere = file.parent.parent == bundled("company_config").resolve()  # by its name
        source = {"name_or_path": file.parent.name if everywhere else str(file), "sets": sets, "without": [*without]}
        return cls(config, [finding.text for finding in check(config, Facts()) if finding.warning], source)

    @cached_property
    def resolved(self) -> str:
        """The company as one YAML text, as every run keeps it."""
        return dump(self.config)

    def run(self, task: str = "", **options: Any) -> Run:
        """Run the company on `task` (options: `RunOptions`).

        Raises ConfigError, MissingModel and the like before anything is made; afterwards every failure is told by the
        returned run. Ctrl-C ends the run with status `interrupted`.
        """
        return self._session(task, options).run()

    async def arun(self, task: str = "", **options: Any) -> Run:
        """`run` for callers with an event loop; cancelling it ends the run cleanly and raises CancelledError."""
        return await self._session(task, options).arun()

    def events(self, task: str = "", **options: Any) -> AsyncIterator[Event]:
        """Run the company and yield its events as they happen; the last one is `RunFinished`."""
        return self._session(task, options).events()

    def _session(self, task: str, options: Mapping[str, Any]) -> Session:
        return Session(partial(begin, self, task), RunOptions(**options))
