"""A company of language-model agents that builds software by a chat chain.

    from chatdev import Company

    run = Company.load("chatdev").run("a command-line to-do list")
    print(run.success, run.software_folder)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chatdev.errors import (
    BudgetExhausted,
    ChatDevError,
    ConfigError,
    ContextOverflow,
    ExpressionError,
    JournalError,
    MissingModel,
    MissingProgram,
    ModelError,
    ModelRejected,
    ModelUnavailable,
    PhaseFailed,
    RecordEnds,
    RunChanged,
    SandboxError,
    ToolError,
    UnsafePath,
    UnusableReply,
    WorkspaceError,
)
from chatdev.events import Event
from chatdev.version import __version__ as __version__

if TYPE_CHECKING:
    from pathlib import Path

    from chatdev.llm.rate import RateLimit
    from chatdev.runner.company import Company
    from chatdev.runner.options import RunOptions
    from chatdev.runner.result import Run
    from chatdev.workspace.snapshot import Software

__all__ = [
    "BudgetExhausted", "ChatDevError", "Company", "ConfigError", "ContextOverflow", "Event", "ExpressionError",
    "JournalError", "MissingModel", "MissingProgram", "ModelError", "ModelRejected", "ModelUnavailable", "PhaseFailed",
    "RateLimit", "RecordEnds", "Run", "RunChanged", "RunOptions", "SandboxError", "Software", "ToolError", "UnsafePath",
    "UnusableReply", "WorkspaceError", "arun", "replay", "resume", "run",
]

# Loaded when first asked for, so that importing chatdev stays quick.
_LAZY = {"Company": "chatdev.runner.company", "RunOptions": "chatdev.runner.options", "Run": "chatdev.runner.result",
         "RateLimit": "chatdev.llm.rate", "Software": "chatdev.workspace.snapshot"}


def run(task: str, company: str = "chatdev", **options: Any) -> Run:
    """Run a company, given by name or path, on a task (options: `RunOptions`). Raises what `Company.load` and
    `Company.run` raise."""
    from chatdev.runner.company import Company

    return Company.load(company).run(task, **options)


async def arun(task: str, company: str = "chatdev", **options: Any) -> Run:
    """`run` for callers with an event loop."""
    from chatdev.runner.company import Company

    return await Company.load(company).arun(task, **options)


def resume(folder: str | Path, **options: Any) -> Run:
    """Go on with a run where it stopped: `chatdev.runner.front.resuming` has the arguments."""
    from chatdev.runner.front import resuming

    return resuming(folder, **options).run()


def replay(path: str | Path, **options: Any) -> Run:
    """Play a run again from its folder or journal, without any model: `chatdev.runner.front.replaying` has the
    arguments."""
    from chatdev.runner.front import replaying

    return replaying(path, **options).run()


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'chatdev' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
