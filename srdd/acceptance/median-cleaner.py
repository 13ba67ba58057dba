"""Median Cleaner: images written exactly, and files that are none."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried, written
from chatdev.evaluation.trial import Check, Program

_SPECK = "P2\n4 4\n255\n9 9 9 9\n9 200 9 9\n9 9 9 9\n9 9 9 9\n"
_CLEAN = "P2\n4 4\n255\n9 9 9 9\n9 9 9 9\n9 9 9 9\n9 9 9 9"
_MIXED = "P2\n5 4\n99\n1 2 3 4 5\n60 7 80 9 10\n11 92 13 4 15\n16 17 8 19 20\n"
_MIXED_CLEAN = "P2\n5 4\n99\n1 2 3 4 5\n60 11 7 9 10\n11 16 13 13 15\n16 17 8 19 20"
_SMALL = "P2\n2 3\n15\n0 15\n7 8\n3 1\n"


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield _cleaned(program, "a speck goes", _SPECK, _CLEAN)
    yield _cleaned(program, "medians are those of the original, the border stays", _MIXED, _MIXED_CLEAN)
    yield _cleaned(program, "any white space parts the numbers", _MIXED.replace("\n", " ").replace(" 9", "\t\n9"),
                   _MIXED_CLEAN)
    yield _cleaned(program, "an image of borders alone stays", _SMALL, _SMALL)
    yield _cleaned(program, "one image after another", "P2 3 3 1 1 0 1 0 0 1 1 1 0", "P2\n3 3\n1\n1 0 1\n0 1 1\n1 1 0")
    refused = tried(program, "what is no plain image is refused", *map(_refused, (
        _SPECK.replace("P2", "P5"), _SPECK.replace("4 4", "4 five"), "P2 4", _SPECK + "9\n", _SPECK[:-2])))
    yield refused
    yield Check("nothing is written for it", refused.passed and written(program, "none.pgm") is None, refusal=True)


def _cleaned(program: Program, name: str, image: str, wanted: str) -> Check:
    """The check of one image, which gets a file of its own."""
    output = f"{name.replace(' ', '-')}.pgm"
    started = tried(program, name, Case(["in.pgm", output], None, files={"in.pgm": image}))
    if not started.passed:
        return started
    content = (written(program, output) or b"").decode(errors="replace")
    lines = [line.rstrip() for line in content.rstrip().splitlines()]
    return Check(name, lines == wanted.splitlines(), f"wrote {content[:200]!r}")


def _refused(image: str) -> Case:
    return Case(["in.pgm", "none.pgm"], "not a plain PGM", status=1, files={"in.pgm": image})
