"""What a user types to try a program: commands that start it, and lines typed into it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

MOST_SESSIONS = 20  # a plan that goes on for ever must not hold up the run
PYTHON = r"(?:python[\d.]*|py)\s+(?:-m\s+[\w.]+|[\w./-]+\.py)"
"""How a person starts a Python program, as a pattern."""
_OPERATOR = re.compile(r"[|&;<>]+")


@dataclass(frozen=True, slots=True)
class Session:
    """One start of the program with its arguments, and the lines typed into it."""

    arguments: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()


def sessions(lines: Iterable[str], command: str = PYTHON) -> list[Session]:
    """The sessions of a plan. A line such as `python main.py add "Buy milk"` starts the program, whatever its file is
    called (`command` is the pattern of what stands before the arguments); each other line is typed into the program
    started last, or into a start without arguments before any.

    What a shell would do with a command (pipes, redirections, a second command) is left out: no shell runs it.
    """
    pattern = re.compile(rf"(?:\$\s*)?(?:{command})(?=\s|$)(?P<rest>.*)", re.DOTALL)
    found: list[Session] = []
    for line in (line.strip().strip("`").strip() for line in lines):
        start = pattern.fullmatch(line)
        if start:
            found.append(Session(_arguments(start["rest"])))
        elif line:
            last = found.pop() if found else Session()
            found.append(Session(last.arguments, (*last.typed, line.removeprefix("> "))))
    return found[:MOST_SESSIONS]


def _arguments(text: str) -> tuple[str, ...]:
    """The words of a command up to the first shell operator or comment; a quote that is never closed is a character."""
    for posix in (True, False):
        words = shlex.shlex(text, posix=posix, punctuation_chars="|&;<>")
        words.whitespace_split = True
        try:
            return tuple(_up_to_operator(words))
        except ValueError:
            continue
    return tuple(text.split())


def _up_to_operator(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        if _OPERATOR.fullmatch(word):
            return
        yield word
