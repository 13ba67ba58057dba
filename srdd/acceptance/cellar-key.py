"""Cellar Key: three rooms, one key, and what the player may try."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _played("east, take key, down", "Kitchen, taken, Cellar, won in 3"))
    yield tried(program, "without the key the way is locked", _played("east, down, down", "Kitchen, locked, locked"))
    yield tried(program, "walls", _played("west, up, east, east, up, west, east", "blocked, blocked, Kitchen, blocked, "
                                          "blocked, Hall, Kitchen"))
    yield tried(program, "the key lies in the kitchen, once",
                _played("take key, east, take key, take key, west, take key", "nothing, Kitchen, taken, nothing, Hall, "
                        "nothing"))
    yield tried(program, "every command counts, and the key is kept",
                _played("dance, east, down, take key, west, take lamp, east, down",
                        "what, Kitchen, locked, taken, Hall, what, Kitchen, Cellar, won in 8"))
    yield tried(program, "after winning nothing is answered",
                _played("east, take key, down, up, east", "Kitchen, taken, Cellar, won in 3"))
    yield tried(program, "the commands may end early", _played("", ""), _played("east", "Kitchen"))


def _played(commands: str, answers: str) -> Case:
    return Case([], answers.replace(", ", "\n"), stdin="".join(f"{line}\n" for line in commands.split(", ") if line))
