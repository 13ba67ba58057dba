"""Blood Pressure Notes: means rounded upward, limits included, runs unbroken."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _case("132/84 140/90 128/86", "3, 133/87, 2, 2"))
    yield tried(program, "a single reading", _case("118/76", "1, 118/76, 0, 0"))
    yield tried(program, "halves are rounded upward", _case("120/80 121/81", "2, 121/81, 0, 0"),
                _case("122/70 123/71", "2, 123/71, 0, 0"))
    yield tried(program, "the limits are high already", _case("135/60 134/85 134/84", "3, 134/76, 2, 2"))
    yield tried(program, "the longest run counts, not the last or the sum",
                _case("140/80 150/80 136/70 120/70 141/60 138/90 120/60 150/99", "8, 137/76, 6, 3"))
    yield tried(program, "other lines are ignored and break no run",
                _notes("Pressure\n2025-03-01 140/90\n\nfelt fine\n2025-03-02 141/91\n120/80\n2025-03-03 95\n",
                       "readings 2\nmean 141/91\nhigh 2\nlongest 2"))
    yield tried(program, "nothing is left", *(
        _notes(text, "no readings", status=None) for text in ("", "none yet\n140/90\n")), refusal=True)


def _case(readings: str, wanted: str) -> Case:
    text = "".join(f"2025-03-{day:02} {reading}\n" for day, reading in enumerate(readings.split(), 1))
    labels = ("readings", "mean", "high", "longest")
    return _notes(text, "\n".join(f"{label} {value}" for label, value in zip(labels, wanted.split(", "), strict=True)))


def _notes(text: str, prints: str, status: int | None = 0) -> Case:
    return Case(["pressure.txt"], prints, status, {"pressure.txt": text})
