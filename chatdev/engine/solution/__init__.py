"""Solutions: what a response means in the form its phase asks for (design §3)."""

from chatdev.engine.solution.example import example_part
from chatdev.engine.solution.files import FilesDelivery, parse_files
from chatdev.engine.solution.forms import parse_solution
from chatdev.engine.solution.markers import QUESTION, SOLUTION, Marked, read_marker, strip_thoughts
from chatdev.engine.solution.problem import Unreadable
from chatdev.engine.solution.protect import objections

__all__ = [
    "QUESTION", "SOLUTION", "FilesDelivery", "Marked", "Unreadable", "example_part", "objections", "parse_files",
    "parse_solution", "read_marker", "strip_thoughts",
]
