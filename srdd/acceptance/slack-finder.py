"""Slack Finder: earliest starts and slack in plans of any order, and plans that are broken."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example",
                _case("dig 3, order 1, pour 2 dig order", "dig 0 0, order 0 2, pour 3 0, total 5"))
    yield tried(program, "a chain has no slack", _case("a 1, b 2 a, c 4 b", "a 0 0, b 1 0, c 3 0, total 7"))
    yield tried(program, "tasks without followers may wait for the end",
                _case("long 9, short 2, other 3 short", "long 0 0, short 0 4, other 2 4, total 9"))
    yield tried(program, "the file may name followers first",
                _case("end 1 mid side, mid 5 start, side 2 start, start 2",
                      "end 7 0, mid 2 0, side 2 3, start 0 0, total 8"))
    yield tried(program, "slack along several ways",
                _case("a 2, b 4 a, c 3 a, d 1 c, e 2 b d, f 1 a, g 5 f",
                      "a 0 0, b 2 0, c 2 0, d 5 0, e 6 0, f 2 0, g 3 0, total 8"),
                _case("a 2, b 6 a, c 3 a, d 1 c, e 2 b d, f 1 c", "a 0 0, b 2 0, c 2 2, d 5 2, e 8 0, f 5 4, total 10"))
    yield tried(program, "an unknown task is named alone", _case("a 1, b 2 a x", "unknown task x", status=1),
                _case("a 1 b, b 2 a, c 1 roof", "unknown task roof", status=1))
    yield tried(program, "a cycle is told alone", _case("a 1 c, b 2 a, c 1 b, d 4", "cycle", status=1),
                _case("a 1, b 2 b", "cycle", status=1))


def _case(plan: str, prints: str, status: int = 0) -> Case:
    return Case(["plan.txt"], prints.replace(", ", "\n"), status, {"plan.txt": plan.replace(", ", "\n") + "\n"})
