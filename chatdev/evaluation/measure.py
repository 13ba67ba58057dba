"""A finished run, read from its folder, and what is measured of every run: what it took, and how much it made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from chatdev.errors import JournalError
from chatdev.evaluation.embedding import Embedder
from chatdev.events import ModelCalled, from_dict
from chatdev.packages.supply import Supply
from chatdev.runner.recorded import RecordedRun
from chatdev.runner.story import RunUsage
from chatdev.sandbox.base import Sandbox
from chatdev.workspace.run_folder import RunFolder
from chatdev.workspace.snapshot import Software

Row = dict[str, Any]

_BROKEN_OFF = ("error", "stopped")

STATISTICS = ("seconds", "tokens", "prompt_tokens", "completion_tokens", "calls", "files", "lines", "cost")
"""What the run took and made; seconds, US dollars (None: a price is unknown)."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """One run as its folder has it, over all its sessions; `usage.seconds` is the time in which it was worked on,
    `tool_calls` how often chain and agents used a tool."""

    folder: Path
    status: str
    reason: str
    software: Software
    models: tuple[str, ...] = ()
    usage: RunUsage = field(default_factory=RunUsage)
    tool_calls: int = 0
    task: str = ""

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The run in `folder`. Raises JournalError when it has not ended or its journal is damaged, WorkspaceError
        when its software cannot be read."""
        record = RecordedRun.read(folder)
        ends = [entry for entry in record.records if entry["kind"] == "RunFinished"]
        if not ends or record.status == "interrupted":
            raise JournalError(f"the run in {folder} has not come to its end; resume it: chatdev resume {folder}")
        live = [entry for entry in record.records if not entry.get("replayed")]
        calls = _model_calls(live)
        return cls(folder, record.status, str(ends[-1]["reason"]), Software.load(RunFolder.open(folder).software),
                   tuple(sorted({call.model for call in calls})), _usage(calls, ends),
                   sum(entry["kind"] == "ToolCalled" for entry in live), str(record.order.inputs.get("task", "")))

    @property
    def has_delivered(self) -> bool:
        """Whether the company came to its end; what one that was broken off has left is no delivery."""
        return self.status not in _BROKEN_OFF


def _model_calls(entries: Sequence[Mapping[str, Any]]) -> list[ModelCalled]:
    events = (from_dict("ModelCalled", dict(entry)) for entry in entries if entry["kind"] == "ModelCalled")
    return [event for event in events if isinstance(event, ModelCalled)]


def _usage(calls: Sequence[ModelCalled], ends: Sequence[Mapping[str, Any]]) -> RunUsage:
    """What all sessions took; `ends` are the records of their ends."""
    usage = RunUsage(seconds=round(sum(float(end["seconds"]) for end in ends), 3))
    for call in calls:
        usage.add(call)
    return usage


@dataclass(frozen=True, slots=True)
class Bench:
    """What runs are measured with; the same for all that are to be compared."""

    sandbox: Sandbox
    embedder: Embedder
    supply: Supply = field(default_factory=Supply)


def statistics(run: FinishedRun) -> Row:
    """`STATISTICS` of a run."""
    usage = run.usage
    return {"seconds": usage.seconds, "tokens": usage.prompt_tokens + usage.completion_tokens,
            "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens, "calls": usage.calls,
            "files": len(run.software), "lines": run.software.lines, "cost": usage.cost}
