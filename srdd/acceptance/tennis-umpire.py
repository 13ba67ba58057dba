"""Tennis Umpire: the score after every point, through deuce and past the end."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program

_FIRST = "15-0, 30-0, 30-15, 30-30, 30-40, deuce, advantage A, game A"
_LONG = "0-15, 0-30, 0-40, 15-40, 30-40, deuce, advantage B, deuce, advantage A, deuce, advantage B, game B"


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _game("AABBBAAA", _FIRST))
    yield tried(program, "a game won straight", _game("AAAA", "15-0, 30-0, 40-0, game A"),
                _game("BBABB", "0-15, 0-30, 15-30, 15-40, game B"))
    yield tried(program, "an unfinished game", _game("B", "0-15"), _game("ABABA", "15-0, 15-15, 30-15, 30-30, 40-30"))
    yield tried(program, "an advantage may be lost again", _game("BBBAAABAABBB", _LONG))
    yield tried(program, "points after the end add one line",
                _game("AAAAB", "15-0, 30-0, 40-0, game A, game over", status=1),
                _game("BBBBBAB", "0-15, 0-30, 0-40, game B, game over", status=1))
    yield tried(program, "what is no point is refused alone", *(_game(points, "bad point", status=1)
                                                                for points in ("AXB", "", "AAAAX")))


def _game(points: str, scores: str, status: int = 0) -> Case:
    return Case([points], scores.replace(", ", "\n"), status)
