"""Aquarium Water Change: nitrate after every change, or never."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _changes("40 25 50 3", "21.5"))
    yield tried(program, "several changes, reckoned unrounded",
                _changes("80 25 15 5", "68.8 59.2 51.1 44.2 38.3 33.3 29.0 25.4 22.4"),
                _changes("100 2 45 1", "55.5 30.9 17.5 10.1 6.0 3.7 2.5 1.8"))
    yield tried(program, "exactly at the limit is enough", _changes("40 10 50 0", "20.0 10.0"))
    yield tried(program, "within the limit nothing is needed",
                *map(_told, ("25 25 50 3", "10 25 50 30"), ("no change needed",) * 2), refusal=True)
    yield tried(program, "with such tap water it never sinks enough",
                *map(_told, ("40 25 50 25", "40 25 50 30"), ("never",) * 2), refusal=True)
    yield tried(program, "values that do not go are refused", *(Case(text.split(), "bad value", status=1) for text in (
        "40 25 0 3", "40 25 100 3", "40 25 -5 3", "much 25 50 3", "40 25 half 3")))


def _changes(arguments: str, values: str) -> Case:
    return Case(arguments.split(), "\n".join(f"{number}: {value}" for number, value in enumerate(values.split(), 1)))


def _told(arguments: str, message: str) -> Case:
    return Case(arguments.split(), message, status=None)
