"""Manifest Compare: what changed, came, went and moved between two listings."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _case("a1 x.txt, b2 y.txt", "a1 z.txt, b3 y.txt",
                                              "changed y.txt, moved x.txt -> z.txt"))
    yield tried(program, "files that came and went",
                _case("a1 x, b2 y", "b2 y, c3 a, d4 m/n", "added a, added m/n, removed x"))
    yield tried(program, "equal listings", _case("a1 x, b2 y", "a1 x, b2 y", "same"),
                _case("a1 x, b2 y", "b2 y, a1 x", "same"))
    yield tried(program, "paths with blanks", _case("a1 my old notes.txt, b2 to do", "a1 my new notes.txt, b9 to do",
                                                    "changed to do, moved my old notes.txt -> my new notes.txt"))
    yield tried(program, "a checksum that several share has not moved",
                _case("a1 x, a1 y", "a1 z", "added z, removed x, removed y"),
                _case("a1 x", "a1 y, a1 z", "added y, added z, removed x"))
    yield tried(program, "a file that stayed does not hinder a move",
                _case("a1 x, a1 y, b2 w", "a1 y, a1 z, a1 w", "changed w, moved x -> z"))
    yield tried(program, "the lines are sorted as text",
                _case("a1 b, b2 d, c3 Z, e5 p", "a9 b, c3 a, d4 Q, d5 c, e5 B",
                      "added Q, added c, changed b, moved Z -> a, moved p -> B, removed d"))


def _case(old: str, new: str, prints: str) -> Case:
    return Case(["old.txt", "new.txt"], _text(prints), files={"old.txt": _text(old), "new.txt": _text(new)})


def _text(lines: str) -> str:
    return lines.replace(", ", "\n") + "\n"
