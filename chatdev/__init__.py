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
    ConsentMissing,
    ContextOverflow,
    ExpressionError,
    JournalError,
    MissingModel,
    MissingProgram,
    ModelCrashed,
    ModelError,
    ModelRejected,
    ModelUnavailable,
    PhaseFailed,
    RecordEnds,
    RunChanged,
    SandboxError,
    ToolCrashed,
    ToolError,
    TraceError,
    UnsafePath,
    UnusableReply,
    WorkspaceError,
)
from chatdev.version import __version__ as __version__

if TYPE_CHECKING:
    from chatdev.events import Event
    from chatdev.llm.base import Image, Message, Model, RateLimit, Reply, Request, ScriptedModel, ToolCall
    from chatdev.runner.api import Company, areplay, aresume, arun, replay, resume, run
    from chatdev.runner.options import RunOptions
    from chatdev.runner.report import Run
    from chatdev.workspace.file_tree import Software

__all__ = [
    "BudgetExhausted", "ChatDevError", "Company", "ConfigError", "ConsentMissing", "ContextOverflow", "Event",
    "ExpressionError", "Image", "JournalError", "Message", "MissingModel", "MissingProgram", "Model", "ModelCrashed",
    "ModelError", "ModelRejected", "ModelUnavailable", "PhaseFailed", "RateLimit", "RecordEnds", "Reply", "Request",
    "Run", "RunChanged", "RunOptions", "SandboxError", "ScriptedModel", "Software", "ToolCall", "ToolCrashed",
    "ToolError", "TraceError", "UnsafePath", "UnusableReply", "WorkspaceError", "areplay", "aresume", "arun", "replay",
    "resume", "run",
]

_API = "chatdev.runner.api"
_MODELS = "chatdev.llm.base"
_LAZY = {
    "Event": "chatdev.events",
    "Company": _API, "areplay": _API, "aresume": _API, "arun": _API, "replay": _API, "resume": _API, "run": _API,
    "Image": _MODELS, "Message": _MODELS, "Model": _MODELS, "Reply": _MODELS, "Request": _MODELS, "ToolCall": _MODELS,
    "RateLimit": "chatdev.llm.base", "Run": "chatdev.runner.report", "RunOptions": "chatdev.runner.options",
    "ScriptedModel": "chatdev.llm.base", "Software": "chatdev.workspace.file_tree",
}
"""What is loaded when it is first asked for, so that importing chatdev stays quick."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'chatdev' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
