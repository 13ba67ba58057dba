"""What a finished run took and how it ended, read from its folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from chatdev.errors import JournalError
from chatdev.events import ModelCalled, from_dict
from chatdev.runner.recorded import Recorded
from chatdev.runner.result import RunUsage
from chatdev.workspace.snapshot import Software

_BROKEN_OFF = ("error", "stopped")


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

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The run in `folder`. Raises JournalError when it has not ended or its journal is damaged, WorkspaceError
        when its software cannot be read."""
        record = Recorded.read(folder)
        ends = [entry for entry in record.records if entry["kind"] == "RunFinished"]
        if not ends or record.status == "interrupted":
            raise JournalError(f"the run in {folder} has not come to its end; go on with it: chatdev resume {folder}")
        usage, models = RunUsage(seconds=round(sum(float(end["seconds"]) for end in ends), 3)), set()
        for entry in record.records:
            if entry["kind"] == "ModelCalled" and not entry.get("replayed"):
                event = from_dict("ModelCalled", dict(entry))
                assert isinstance(event, ModelCalled)
                usage.add(event)
                models.add(event.model)
        tool_calls = sum(entry["kind"] == "ToolCalled" and not entry.get("replayed") for entry in record.records)
        return cls(folder, record.status, str(ends[-1]["reason"]), Software.load(folder / "software"),
                   tuple(sorted(models)), usage, tool_calls)

    @property
    def delivered(self) -> bool:
        """Whether the company came to its end; what one that was broken off has left is no delivery."""
        return self.status not in _BROKEN_OFF
