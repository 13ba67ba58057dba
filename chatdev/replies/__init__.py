"""Replies: what a model's response means in the form that its phase asks for (design §3)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chatdev.replies.files import FilesDelivery, parse_files
    from chatdev.replies.forms import objections, parse_solution, tidy_body
    from chatdev.replies.patch import holds_patch
    from chatdev.replies.problem import ReplyProblem, Unreadable, describe_problems
    from chatdev.replies.python.reader import example_part
    from chatdev.replies.utterance import Marked, read_marker, strip_thoughts

__all__ = [
    "FilesDelivery", "Marked", "ReplyProblem", "Unreadable", "describe_problems", "example_part", "holds_patch",
    "objections",
    "parse_files", "parse_solution", "read_marker", "strip_thoughts", "tidy_body",
]

_PROBLEM, _UTTERANCE = "chatdev.replies.problem", "chatdev.replies.utterance"
_LAZY = {
    "FilesDelivery": "chatdev.replies.files", "parse_files": "chatdev.replies.files",
    "holds_patch": "chatdev.replies.patch", "parse_solution": "chatdev.replies.forms",
    "ReplyProblem": _PROBLEM, "Unreadable": _PROBLEM, "describe_problems": _PROBLEM,
    "objections": "chatdev.replies.forms", "example_part": "chatdev.replies.python.reader",
    "tidy_body": "chatdev.replies.forms",
    "Marked": _UTTERANCE, "read_marker": _UTTERANCE, "strip_thoughts": _UTTERANCE,
}
"""Names loaded on first use: the child that parses Python needs none of them and starts faster."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'chatdev.replies' has no attribute {name!r}")
