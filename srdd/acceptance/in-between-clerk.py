"""In-Between Clerk: straight and smooth ways from key to key."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _frames("0 0 smooth, 4 32", 0, "0.00 5.00 16.00 27.00 32.00"))
    yield tried(program, "a straight way", _frames("3 10, 6 20", 3, "10.00 13.33 16.67 20.00"))
    yield tried(program, "several keys, downwards and below zero",
                _frames("1 5, 3 -5, 4 -5, 6 2", 1, "5.00 0.00 -5.00 -5.00 -1.50 2.00"))
    yield tried(program, "only the earlier key makes a way smooth",
                _frames("0 0, 2 8 smooth, 6 -24, 8 0 smooth", 0, "0.00 4.00 8.00 3.00 -8.00 -19.00 -24.00 -12.00 0.00"))
    yield tried(program, "keys on neighbouring frames", _frames("7 1 smooth, 8 100, 9 3", 7, "1.00 100.00 3.00"))
    yield tried(program, "keys that do not go are refused", *(
        Case(["keys.txt"], "error: bad keys", 1, {"keys.txt": text.replace(", ", "\n")})
        for text in ("", "0 5", "0 1, 0 2", "5 1, 3 2", "0 1, 4", "0 1, 4 two", "0 1, 4 2 rough")))


def _frames(keys: str, first: int, values: str) -> Case:
    lines = [f"{frame} {value}" for frame, value in enumerate(values.split(), first)]
    return Case(["keys.txt"], "\n".join(lines), files={"keys.txt": keys.replace(", ", "\n") + "\n"})
