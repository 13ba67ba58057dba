"""Nine Holes Referee: boards, endings and moves against the rules."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _board("1 5 2 9 3", "XXX .O. ..O", "X wins"))
    yield tried(program, "columns and diagonals win", _board("1 3 2 6 5 9", "XXO .XO ..O", "O wins"),
                _board("1 2 5 3 9", "XOO .X. ..X", "X wins"), _board("1 3 2 5 4 7", "XXO XO. O..", "O wins"))
    yield tried(program, "a game goes on until it ends", _board("5 1", "O.. .X. ...", "unfinished"),
                _board("", "... ... ...", "unfinished"))
    yield tried(program, "a full board is a draw, or won by its last move",
                _board("1 2 3 5 4 6 8 7 9", "XOX XOO OXX", "draw"),
                _board("1 2 3 4 5 6 8 7 9", "XOX OXO OXX", "X wins"))
    yield tried(program, "a taken cell is illegal", _illegal("1 5 9 5", 4))
    yield tried(program, "an entry outside 1 to 9 is illegal", *map(_illegal, ("0", "1 10 2", "1 2 x"), (1, 2, 3)))
    yield tried(program, "a move after the end is illegal", _illegal("1 5 2 9 3 4", 6),
                _illegal("1 2 3 5 4 6 8 7 9 1", 10))


def _board(moves: str, rows: str, result: str) -> Case:
    return _case(moves, "\n".join([*rows.split(), result]), status=0)


def _illegal(moves: str, line: int) -> Case:
    return _case(moves, f"line {line}: illegal", status=1)


def _case(moves: str, prints: str, status: int) -> Case:
    return Case(["moves.txt"], prints, status, {"moves.txt": "".join(f"{move}\n" for move in moves.split())})
