"""Replies: what a model's response means in the form that its phase asks for (design §3)."""

from chatdev.replies.files import FilesDelivery, parse_files
from chatdev.replies.forms import parse_solution
from chatdev.replies.problem import ReplyProblem, Unreadable, describe_problems
from chatdev.replies.protect import objections
from chatdev.replies.python.parts import example_part
from chatdev.replies.utterance import Marked, read_marker, strip_thoughts

__all__ = [
    "FilesDelivery", "Marked", "ReplyProblem", "Unreadable", "describe_problems", "example_part", "objections",
    "parse_files", "parse_solution", "read_marker", "strip_thoughts",
]
