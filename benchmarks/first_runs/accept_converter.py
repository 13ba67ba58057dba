"""Converter: `main.py VALUE FROM TO` for lengths, weights and temperatures; nonsense gets a message."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from chatdev.evaluation.trial import Check, Program, crashed, numbers, said, tail

_RIGHT = [
    ("10", "km", "mi", 6.2137), ("12", "in", "ft", 1.0), ("3", "ft", "m", 0.9144), ("250", "cm", "km", 0.0025),
    ("1", "lb", "g", 453.592), ("2", "kg", "oz", 70.548), ("100", "C", "F", 212.0), ("0", "K", "C", -273.15),
    ("32", "F", "K", 273.15),
]
_WRONG = [("5", "kg", "km"), ("5", "parsec", "km"), ("5", "C", "lb"), ("many", "km", "mi")]


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    for value, unit, other, expected in _RIGHT:
        run = program.start(value, unit, other)
        # rounding to two decimals is a user's idea of right; what was typed does not count as the result
        found = [n for n in numbers(run.stdout) if isclose(n, expected, rel_tol=0.005, abs_tol=5e-5)]
        yield Check(f"{value} {unit} in {other}", bool(found) and not crashed(run), tail(said(run)))
    for value, unit, other in _WRONG:
        run = program.start(value, unit, other)
        text = said(run)
        results = [n for n in numbers(text) if str(n) != str(float(5))]
        yield Check(f"a message for {value} {unit} in {other}", bool(text) and not results and not crashed(run),
                    tail(text))
    run = program.start()
    yield Check("no arguments do not crash it", not crashed(run), tail(said(run)))
