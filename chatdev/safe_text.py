"""Texts of models, servers and programs, made fit for a person's terminal and report."""

from __future__ import annotations

import json
import re

from chatdev.secrets import scrub

_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but line end and tab
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of writing
    "\ud800-\udfff"  # half characters
    "\U000e0000-\U000e007f]"  # invisible letters
)


def sanitize(text: str) -> str:
    """The text without what would steer a terminal or hide from its reader, and without secrets."""
    return scrub(_STEERING.sub("", text))


def escape_json(text: str) -> str:
    """A JSON text with the same meaning and nothing in it that steers a terminal or hides, and without secrets."""
    return scrub(_STEERING.sub(_escape, text))


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


_ACTIVE = re.compile(r"[\\*\[\]<>|~&]|(?<=\w):(?=//)|(?<=www)\.", re.IGNORECASE)
"""What makes Markdown of a text: HTML, links and pictures, emphasis, cells of a table, addresses. (Backticks make code,
in which nothing else does.)"""


def escape_markdown(text: str) -> str:
    """The text as Markdown that shows it as it is: nothing in it is HTML, a link or a picture."""
    return _ACTIVE.sub(r"\\\g<0>", text)
