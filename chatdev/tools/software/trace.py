"""Reading the last traceback from what a program wrote to stderr."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

_START = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s*File "(?P<path>.+?)", line (?P<line>\d+)(?:, in (?P<function>.+))?$')
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(:|$)")
_MESSAGE_LINES = 5


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of the call stack."""

    path: str
    line: int
    function: str
    source: str


@dataclass(frozen=True, slots=True)
class Trace:
    """A traceback: frames from the outside in, and the exception with its message."""

    frames: tuple[Frame, ...]
    exception: str

    @property
    def kind(self) -> str:
        """The exception's class name, without its module."""
        return self.exception.split(":", 1)[0].rsplit(".", 1)[-1].strip()


def last_traceback(stderr: str) -> Trace | None:
    """The traceback that ends last in `stderr`, or None."""
    _, found, text = stderr.rpartition(_START)
    if not found:
        return None
    lines = text.splitlines()[1:]
    end = next((n for n, line in enumerate(lines) if _EXCEPTION.match(line)), len(lines))
    return Trace(_frames(lines[:end]), _message(lines[end:]))


def _frames(lines: list[str]) -> tuple[Frame, ...]:
    frames = []
    for line, following in pairwise([*lines, ""]):
        if match := _FRAME.match(line):
            source = "" if _FRAME.match(following) else following.strip()
            frames.append(Frame(match["path"], int(match["line"]), match["function"] or "<module>", source))
    return tuple(frames)


def _message(lines: list[str]) -> str:
    """The exception's line and those of its message that follow it at once."""
    until = next((n for n, line in enumerate(lines) if not line.strip()), len(lines))
    return "\n".join(lines[:min(until, _MESSAGE_LINES)])[:500]
