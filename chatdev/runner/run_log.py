"""What a session of a run writes down: its events, how it ended, and the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from chatdev.engine.budget import Spending
from chatdev.errors import ChatDevError, WorkspaceError
from chatdev.events import Event, Noted, RunFinished, TextStreamed
from chatdev.journal import Journal
from chatdev.runner.report import report_markdown
from chatdev.runner.result import Run, Status
from chatdev.runner.sanitize import sanitize
from chatdev.secrets import scrub
from chatdev.workspace.file_tree import explain_os_errors
from chatdev.workspace.snapshot import Software


class RunLog:
    """Takes in a session's events: into the journal, to the listener, and into `run`, which is filled as it goes, so
    that an interrupted one is complete up to the interruption."""

    def __init__(self, run: Run, journal: Journal, listener: Callable[[Event], None] | None = None) -> None:
        self.run = run
        self.journal = journal
        self._listener = listener
        self._events: list[Event] = []
        self._started = time.monotonic()

    def emit(self, event: Event) -> None:
        """Take in one event. Raises WorkspaceError when it cannot be written."""
        if not isinstance(event, TextStreamed):
            self._events.append(event)
            self.run.usage.add(event)
            if isinstance(event, Noted):
                self.run.notes.append(event.text)
            self.journal.append(event.kind, event.place, {k: v for k, v in event.to_dict().items() if k != "place"})
        if self._listener:
            self._listener(event)

    def end(self, status: Status, reason: str, error: ChatDevError | None = None) -> None:
        """Say how the run ends."""
        self.run.status, self.run.reason, self.run.error = status, scrub(reason), error

    def finish(self, values: Mapping[str, Any], software: Mapping[str, bytes], spent: Spending) -> None:
        """Write what the run left and how it ended wherever that can still be written; what cannot be is no success."""
        run = self.run
        run.values, run.software, run.spent = values, Software(software), spent
        run.usage.seconds = round(time.monotonic() - self._started, 3)
        try:
            with explain_os_errors("write the report", path := run.folder / "run" / "report.md"):
                path.write_text(sanitize(report_markdown(self._events, run)), encoding="utf-8", errors="replace")
        except WorkspaceError as error:
            self._end_unwritten(error)
        try:
            place = run.error.place if run.error else ""
            self.emit(RunFinished(place, run.status, run.reason, run.usage.seconds))
            self.journal.release()  # a session that did not go live has held everything until now
        except WorkspaceError as error:
            self._end_unwritten(error)
        finally:
            self.journal.close()

    def _end_unwritten(self, error: WorkspaceError) -> None:
        if self.run.status in ("success", "failure", "unjudged"):
            self.end("error", str(error), error)
