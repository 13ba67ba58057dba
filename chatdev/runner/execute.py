"""Running one company on one task: the wiring of engine, models, tools, sandbox and folders."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chatdev.config.expressions import compile_expression
from chatdev.config.phases import Limits
from chatdev.config.schema import CompanyConfig
from chatdev.engine.activity import Activities
from chatdev.engine.amounts import Spending
from chatdev.engine.budget import Budget
from chatdev.engine.chain import Chain, Scope
from chatdev.engine.context import RoleModel, RunContext, RunInputs, RunSettings, Toolbox
from chatdev.engine.record import Record
from chatdev.engine.state import State
from chatdev.errors import BudgetExhausted, ChatDevError, RecordEnds, RunChanged, WorkspaceError
from chatdev.events import Event, Noted, RunFinished, RunResumed, RunStarted, TextStreamed
from chatdev.journal import Journal
from chatdev.runner.difference import told
from chatdev.runner.history import FolderHistory
from chatdev.runner.inputs import Inputs
from chatdev.runner.report import report_markdown
from chatdev.runner.result import Run, Status
from chatdev.runner.sanitize import sanitize
from chatdev.secrets import scrubbed
from chatdev.workspace.file_tree import explain_os_errors
from chatdev.workspace.run_folder import RunFolder
from chatdev.workspace.snapshot import Software
from chatdev.workspace.software_folder import SoftwareFolder

Listener = Callable[[Event], None]

_FROM_THE_START = "the software to start from"


@dataclass(slots=True)
class Execution:
    """One session of a run. `run` is filled as it goes, so that an interrupted one is complete up to the interruption.

    With a `record` the session goes through what is on record first. Until it goes on live, a journal that is held
    writes nothing, so that a run which would not do what it did is refused with nothing changed.
    """

    company: CompanyConfig
    snapshot: str
    """The company as one YAML text."""
    inputs: Inputs
    folder: RunFolder
    journal: Journal
    toolbox: Toolbox
    role_model: Callable[[str, str], RoleModel]
    software: Software = field(default_factory=Software)
    """What there is at the start; likewise `values`, the long-term memory."""
    values: Mapping[str, Any] = field(default_factory=dict)
    listener: Listener | None = None
    stream: bool = False
    language: str = "English"
    limits: Limits = field(default_factory=Limits)
    spent: Spending = field(default_factory=Spending)
    """What earlier sessions of the run spent."""
    record: Record | None = None
    prepare: Callable[[Callable[[str], None]], Awaitable[None]] | None = None
    """What must be done before the chain; what it says is noted."""
    run: Run = field(init=False)
    _events: list[Event] = field(default_factory=list)
    _started: float = field(default=0.0)
    _budget: Budget = field(init=False)
    _history: FolderHistory = field(init=False)
    _state: State = field(init=False)
    _live: bool = field(init=False)

    def __post_init__(self) -> None:
        self.run = Run(self.folder.path, limits=self.limits)
        self._budget = Budget(self.limits, self.spent)
        self._history = FolderHistory(SoftwareFolder(self.folder.software))
        self._state = State(dict(self.values), self.software, self._history)
        self._live = self.record is None

    async def execute(self) -> Run:
        """Run the chain to its end. Errors of the run end up in the result; only cancellation passes through, and
        RunChanged as long as nothing was done."""
        self._started = time.monotonic()
        try:
            await self._work()
        except RunChanged as change:
            if not self._live:
                self.journal.close()
                raise told(change, self.journal.messages()) from None
            change = told(change, self.journal.messages())
            self._end("error", str(change), change)
        except BudgetExhausted as stop:
            self._stop(stop)
        except RecordEnds as end:
            self._end("interrupted", str(end))
        except ChatDevError as error:
            self._end("error", str(error), error)
        except asyncio.CancelledError:
            self._end("interrupted", "stopped before its end; what was made so far is kept")
            self._finish()
            raise
        except BaseException as error:
            self._end("error", f"stopped by an unexpected {type(error).__name__}: {error}")
            self._finish()
            raise
        self._finish()
        return self.run

    async def _work(self) -> None:
        if self._live:
            self._keep_company()
        self._emit(RunStarted("", self.company.company, self.folder.path.name, str(self.folder.path),
                              {n: str(v) for n, v in self.inputs.visible.items() if v is not None}))
        if self.folder.note:
            self._emit(Noted("", self.folder.note))
        self._history.start()
        if self.software:
            await self._history.commit(self.software, _FROM_THE_START)
        if self._live and self.prepare:
            await self.prepare(lambda text: self._emit(Noted("", text)))
        await Chain(self._office()).run(self.company.chain, self._state, Scope())
        if self.record and not self._live:
            self.record.end()
        await self._history.settle(self._state.software, "the software as the run has it")
        self._judge()

    def _office(self) -> RunContext:
        return RunContext(
            self.company, RunSettings(self.folder.path.name, self.language, self.stream),
            RunInputs(self.inputs.visible, self.inputs.images), Activities(self.journal, self.record, self._go_live),
            self.toolbox, self.role_model, self._budget, self._emit)

    def _go_live(self) -> None:
        """Called before every live activity; the first one ends the way through the record."""
        if not self._live:
            self._live = True
            self._history.go_live()
            self._keep_company()
            self.journal.release()
            self._emit(RunResumed("", self.record.found if self.record else 0))

    def _keep_company(self) -> None:
        with explain_os_errors("write into", self.folder.run):
            (self.folder.run / "company.yaml").write_text(self.snapshot, encoding="utf-8")

    def _judge(self) -> None:
        names = {**self.inputs.visible, **self._state.names(), "inputs": self.inputs.visible}
        success = compile_expression(self.company.success)
        if not success.evaluate(names):
            self._end("failure", f"the chain is done, but {success.text} does not hold")
        elif report := "".join(_unjudged(names.get(name)) for name in sorted(success.names)):
            self._end("unjudged", report)
        else:
            self._end("success", f"{success.text} holds")

    def _stop(self, stop: BudgetExhausted) -> None:
        mend = f"chatdev resume {shlex.quote(str(self.folder.path))} --max-{stop.limit} N"
        told = BudgetExhausted(f"{stop}; to go on with a greater one: {mend}", stop.limit)
        self._end("stopped", str(told), told)

    def _end(self, status: Status, reason: str, error: ChatDevError | None = None) -> None:
        self.run.status, self.run.reason, self.run.error = status, scrubbed(reason), error

    def _emit(self, event: Event) -> None:
        if not isinstance(event, TextStreamed):
            self._events.append(event)
            self.run.usage.add(event)
            if isinstance(event, Noted):
                self.run.notes.append(event.text)
            self.journal.append(event.kind, event.place, {k: v for k, v in event.to_dict().items() if k != "place"})
        if self.listener:
            self.listener(event)

    def _finish(self) -> None:
        """State how the run ended, wherever that can still be written; what cannot be written is no success."""
        self.run.values, self.run.software = self._state.values, Software(self._state.software)
        self.run.spent = self._budget.spent
        self.run.usage.seconds = round(time.monotonic() - self._started, 3)
        if self._history.found:
            self._emit(Noted("", "the software was not as the run had left it (changed from outside, or a crash cut a "
                                 f"write short); that is kept in its git history, commit {self._history.found}",
                             "warning"))
        try:
            with explain_os_errors("write the report", path := self.folder.run / "report.md"):
                path.write_text(sanitize(report_markdown(self._events, self.run)), encoding="utf-8", errors="replace")
        except WorkspaceError as error:
            self._unwritten(error)
        try:
            place = self.run.error.place if self.run.error else ""
            self._emit(RunFinished(place, self.run.status, self.run.reason, self.run.usage.seconds))
            self.journal.release()
        except WorkspaceError as error:
            self._unwritten(error)
        finally:
            self.journal.close()

    def _unwritten(self, error: WorkspaceError) -> None:
        if self.run.status in ("success", "failure", "unjudged"):
            self._end("error", str(error), error)


def _unjudged(value: object) -> str:
    """The report of a verdict that passes only because this machine could not judge (`tools.base.Verdict`)."""
    return str(value["report"]) if isinstance(value, Mapping) and value.get("judged") is False else ""
