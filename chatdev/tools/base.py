"""What a tool is: a typed function with a docstring, given a context beside its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev.sandbox.base import Sandbox


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may see of the run.

    `software` maps relative POSIX paths to file contents (a snapshot; tools return changes, they never write it).
    `values` holds the long-term memory the tool declared to read. `inputs` holds the run's inputs, hidden ones
    included. `run_folder` is the tool's place for caches and evidence; `scratch` is an empty folder of its own.
    """

    software: Mapping[str, bytes]
    values: Mapping[str, Any]
    inputs: Mapping[str, Any]
    sandbox: Sandbox
    run_folder: Path
    scratch: Path
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A tool's judgement, used as feedback and by `success`.

    `score` orders failing versions (higher is better, passing ones are above all failing ones); `report` is what the
    agents read; `evidence` is for machines and the final report. `judged` is False when this machine could not tell,
    for want of a toolchain: such a verdict passes, so that nobody mends what may be sound, but makes no run a success.
    """

    passed: bool
    report: str
    score: float = 0.0
    evidence: Mapping[str, Any] = field(default_factory=dict)
    judged: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain JSON values, with `passed` and `report` where expressions and templates find them."""
        return {"passed": self.passed, "report": self.report, "score": self.score, "judged": self.judged,
                **dict(self.evidence)}
