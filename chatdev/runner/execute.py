"""Running one company on one task: the wiring of engine, models, tools, sandbox and folders."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from chatdev.config.expressions import compile_expression
from chatdev.config.limits import Limits
from chatdev.config.schema import Company
from chatdev.engine.activity import Activities
from chatdev.engine.budget import Budget, Spending
from chatdev.engine.chain import Chain, Scope
from chatdev.engine.office import Office, Seat, Toolbox
from chatdev.engine.state import State
from chatdev.errors import BudgetExhausted, ChatDevError, WorkspaceError
from chatdev.events import Event, Noted, RunFinished, RunStarted, TextStreamed
from chatdev.journal import Journal
from chatdev.runner.harmless import harmless
from chatdev.runner.history import FolderHistory
from chatdev.runner.inputs import Inputs
from chatdev.runner.report import report_markdown
from chatdev.runner.result import Run, Status
from chatdev.secrets import scrubbed
from chatdev.workspace.problems import explained
from chatdev.workspace.run_folder import RunFolder
from chatdev.workspace.snapshot import Software
from chatdev.workspace.software import SoftwareFolder

Listener = Callable[[Event], None]


@dataclass(slots=True)
class Execution:
    """One run under way. `run` is filled as it goes, so that an interrupted one is complete up to the interruption."""

    company: Company
    inputs: Inputs
    folder: RunFolder
    toolbox: Toolbox
    seat: Callable[[str, str], Seat]
    start: Software
    listener: Listener | None = None
    stream: bool = False
    language: str = "English"
    limits: Limits = field(default_factory=Limits)
    spent: Spending = field(default_factory=Spending)
    """What earlier sessions of the run spent."""
    run: Run = field(init=False)
    _events: list[Event] = field(default_factory=list)
    _journal: Journal = field(init=False)
    _started: float = field(default=0.0)
    _budget: Budget = field(init=False)

    def __post_init__(self) -> None:
        self.run = Run(self.folder.path, limits=self.limits)
        self._budget = Budget(self.limits, self.spent)
        self._journal = Journal(self.folder.run / "journal.jsonl")

    async def execute(self) -> Run:
        """Run the chain to its end. Errors of the run end up in the result; only cancellation passes through."""
        self._started = time.monotonic()
        software = SoftwareFolder(self.folder.software)
        state = State({}, self.start, FolderHistory(software, Software({})))
        try:
            self._emit(RunStarted("", self.company.company, self.folder.path.name, str(self.folder.path),
                                  {n: str(v) for n, v in self.inputs.visible.items() if v is not None}))
            self._note(software)
            if self.start:
                await state.history.commit(self.start, "the software to start from")
            await Chain(self._office()).run(self.company.chain, state, Scope())
            self._judge(state)
        except BudgetExhausted as stop:
            self._stop(stop)
        except ChatDevError as error:
            self._end("error", str(error), error)
        except asyncio.CancelledError:
            self._end("interrupted", "stopped before its end; what was made so far is kept")
            raise
        except BaseException as error:
            self._end("error", f"stopped by an unexpected {type(error).__name__}: {error}")
            raise
        finally:
            self.run.values, self.run.software = state.values, Software(state.software)
            self._close()
        return self.run

    def _note(self, software: SoftwareFolder) -> None:
        if self.folder.note:
            self._emit(Noted("", self.folder.note))
        if not software.start_history():
            self._emit(Noted("", "git is not installed: the software is kept without its history", "warning"))

    def _office(self) -> Office:
        return Office(self.company, self.folder.path.name, self.inputs.visible, self.inputs.images,
                      Activities(self._journal), self.toolbox, self.seat, self._emit, self.language, self.stream,
                      self._budget)

    def _judge(self, state: State) -> None:
        names = {**self.inputs.visible, **state.names(), "inputs": self.inputs.visible}
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
            self._journal.append(event.kind, event.place, {k: v for k, v in event.to_dict().items() if k != "place"})
        if self.listener:
            self.listener(event)

    def _close(self) -> None:
        """State how the run ended, wherever that can still be written; what cannot be written is no success."""
        self.run.spent = self._budget.spent
        self.run.usage.seconds = round(time.monotonic() - self._started, 3)
        try:
            with explained("write the report", path := self.folder.run / "report.md"):
                path.write_text(harmless(report_markdown(self._events, self.run)), encoding="utf-8", errors="replace")
        except WorkspaceError as error:
            self._unwritten(error)
        try:
            self._emit(RunFinished("", self.run.status, self.run.reason, self.run.usage.seconds))
        except WorkspaceError as error:
            self._unwritten(error)
        finally:
            self._journal.close()

    def _unwritten(self, error: WorkspaceError) -> None:
        if self.run.status in ("success", "failure", "unjudged"):
            self._end("error", str(error), error)


def _unjudged(value: object) -> str:
    """The report of a verdict that passes only because this machine could not judge (`tools.base.Verdict`)."""
    return str(value["report"]) if isinstance(value, Mapping) and value.get("judged") is False else ""
