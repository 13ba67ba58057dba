"""Replies: what a model's response means in the form that its phase asks for (design §3)."""

from chatdev.replies.example import example_part
from chatdev.replies.files import FilesDelivery, parse_files
from chatdev.replies.forms import parse_solution
from chatdev.replies.markers import Marked, read_marker, strip_thoughts
from chatdev.replies.problem import Problem, Unreadable, in_words
from chatdev.replies.protect import objections

__all__ = [
    "FilesDelivery", "Marked", "Problem", "Unreadable", "example_part", "in_words",
    "objections", "parse_files", "parse_solution", "read_marker", "strip_thoughts",
]
