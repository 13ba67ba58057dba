"""Result of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from chatdev.config.phases import Limits
from chatdev.engine.budget import Spending
from chatdev.errors import ChatDevError
from chatdev.events import Event, ModelCalled
from chatdev.workspace.snapshot import Software

Status = Literal["running", "success", "failure", "unjudged", "stopped", "error", "interrupted"]
"""`unjudged`: nothing speaks against the software, and nothing for it: this machine lacks what judging takes, or no
example or check confirms it. `stopped`: a budget is used up, and `resume` goes on."""


@dataclass(slots=True)
class RunUsage:
    """Model calls, tokens, money and time of a run. `cost` is None as soon as one price is unknown."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    estimated: bool = False
    retries: int = 0
    seconds: float = 0.0

    def add(self, event: Event) -> None:
        """Count a `ModelCalled`; other events are none of its business."""
        if not isinstance(event, ModelCalled):
            return
        self.calls += 1
        self.prompt_tokens += event.prompt_tokens
        self.completion_tokens += event.completion_tokens
        self.cost = None if self.cost is None or event.cost is None else self.cost + event.cost
        self.estimated = self.estimated or event.estimated
        self.retries += event.retries


@dataclass(slots=True)
class Run:
    """One task through one company.

    `values` is the long-term memory at the end. `success` is true only when every step ran and the company's success
    expression holds; `reason` says in words how the run ended.
    """

    folder: Path
    software: Software = field(default_factory=lambda: Software({}))
    values: Mapping[str, Any] = field(default_factory=dict)
    status: Status = "running"
    reason: str = ""
    error: ChatDevError | None = None
    usage: RunUsage = field(default_factory=RunUsage)
    limits: Limits = field(default_factory=Limits)
    """Budget of the run."""
    spent: Spending = field(default_factory=Spending)
    """Spending over all its sessions."""
    notes: list[str] = field(default_factory=list)
    change: str = ""
    """The files that differ from what was handed in, and in how many lines; the patch is `run/change.patch`."""

    @property
    def success(self) -> bool:
        """Whether the company's success expression held at the end."""
        return self.status == "success"

    @property
    def software_folder(self) -> Path:
        """Where the files are, with their git history."""
        return self.folder / "software"
