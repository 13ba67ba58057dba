"""A company of language-model agents that builds software by a chat chain.

    from chatdev import Company

    run = Company.load("chatdev").run("a command-line to-do list")
    print(run.success, run.software_folder)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chatdev.errors import ChatDevError, ConfigError, ModelError, PhaseFailed, SandboxError, ToolError, WorkspaceError
from chatdev.events import Event

if TYPE_CHECKING:
    from chatdev.runner.company import Company
    from chatdev.runner.options import RunOptions
    from chatdev.runner.result import Run
    from chatdev.workspace.snapshot import Software

__all__ = [
    "ChatDevError", "Company", "ConfigError", "Event", "ModelError", "PhaseFailed", "Run", "RunOptions",
    "SandboxError", "Software", "ToolError", "WorkspaceError", "arun", "run",
]

_LAZY = {"Company": "chatdev.runner.company", "RunOptions": "chatdev.runner.options", "Run": "chatdev.runner.result",
         "Software": "chatdev.workspace.snapshot"}


def run(task: str, company: str = "chatdev", **options: Any) -> Run:
    """Run a company on a task (options: `RunOptions`)."""
    from chatdev.runner.company import Company

    return Company.load(company).run(task, **options)


async def arun(task: str, company: str = "chatdev", **options: Any) -> Run:
    """`run` for callers with an event loop."""
    from chatdev.runner.company import Company

    return await Company.load(company).arun(task, **options)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'chatdev' has no attribute {name!r}")
