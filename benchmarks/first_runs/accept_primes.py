"""Primes: `main.py N` prints the primes up to N on one line; anything else gets a usage message."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.trial import Check, Program, crashed, said, tail

_EXPECTED = {"30": "2 3 5 7 11 13 17 19 23 29", "7": "2 3 5 7", "2": "2"}


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    for limit, primes in _EXPECTED.items():
        run = program.start(limit)
        right = any(_after_heading(line) == primes for line in run.stdout.splitlines())
        yield Check(f"the primes up to {limit} on one line", right and not crashed(run), tail(said(run)))
    for name, arguments in (("no number", ()), ("a word", ("abc",)), ("a fraction", ("7.5",))):
        run = program.start(*arguments)
        text = said(run)
        yield Check(f"a message for {name}", bool(text) and "2 3 5" not in text and not crashed(run), tail(text))


def _after_heading(line: str) -> str:
    """The line's numbers as printed, without a heading such as `Primes up to 30:`."""
    return " ".join(line.rpartition(":")[2].split())
