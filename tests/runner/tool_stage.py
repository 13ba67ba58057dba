"""Calls of tools as the engine makes them, journaled and taken from the record again, without a company around them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from chatdev.config.phases import Limits
from chatdev.engine.budget import Budget
from chatdev.engine.context import (
    Activities,
    Finished,
    Record,
    RunContext,
    RunInputs,
    RunSettings,
    State,
    result_from_json,
)
from chatdev.engine.turn import ToolRequest, call_tool
from chatdev.errors import ToolError
from chatdev.events import Event, Place
from chatdev.journal import Journal, read_journal
from chatdev.runner.toolbox import KnownTools, RunToolbox, make_tools
from chatdev.sandbox.base import Execution, Sandbox, SandboxJob

PLACE = Place("test#1")


@dataclass
class OddSandbox:
    """Runs nothing; every program ends as the test says."""

    execution: Execution
    name: str = "odd"
    jobs: list[SandboxJob] = field(default_factory=list)

    def run(self, job: SandboxJob) -> Execution:
        """How it ended."""
        self.jobs.append(job)
        return self.execution

    def stop_all(self) -> None:
        """Nothing runs."""


@dataclass
class ToolStage:
    """Calls one tool at one place; `folder` holds the journal."""

    folder: Path
    sandbox: Sandbox
    tools: list[Callable[..., Any]] = field(default_factory=list)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    @property
    def journal(self) -> Path:
        """Where the journal is."""
        return self.folder / "journal.jsonl"

    def call(self, name: str, software: Mapping[str, bytes] | None = None, values: Mapping[str, Any] | None = None,
             **arguments: Any) -> Any:
        """The tool's value, or the ToolError that it ended with, after the journal gave the same."""
        state = State(dict(values or {}), software or {}, cast(Any, None))
        request = ToolRequest(name, arguments, reads=("software", *state.values))
        self.journal.unlink(missing_ok=True)
        first = self._perform(state, request, None)
        (record,) = [one for one in read_journal(self.journal) if one["kind"] == "Activity"]
        done = Finished(record["digest"], record["request"], result_from_json(record["result"]))
        again = self._perform(state, request, Record({PLACE: done}, complete=True))
        assert str(again) == str(first)
        assert type(again) is type(first)
        return first

    def _perform(self, state: State, request: ToolRequest, record: Record | None) -> Any:
        journal = Journal(self.journal)
        toolbox = RunToolbox(self.sandbox, self.folder, self.inputs, KnownTools(make_tools(self.tools)))
        context = RunContext(cast(Any, None), RunSettings("run"), RunInputs(), Activities(journal, record), toolbox,
                             cast(Any, None), Budget(Limits()), self.events.append, cast(Any, None))
        try:
            return asyncio.run(call_tool(context, state, PLACE, request))
        except ToolError as error:
            return error
        finally:
            journal.close()
