"""Resistor Bands: colours as digits, power of ten and tolerance."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _part("yellow violet red gold", "4700 ohm 5%"))
    yield tried(program, "other tolerances", _part("green blue orange brown", "56000 ohm 1%"),
                _part("red red brown red", "220 ohm 2%"))
    yield tried(program, "the power zero and the largest", _part("brown grey black gold", "18 ohm 5%"),
                _part("white white white red", "99000000000 ohm 2%"))
    yield tried(program, "a leading zero is not printed", _part("black red black gold", "2 ohm 5%"),
                _part("black black yellow brown", "0 ohm 1%"))
    yield tried(program, "capital letters", _part("BROWN Black green Gold", "1000000 ohm 5%"))
    yield tried(program, "a colour in the wrong place",
                *map(_refused, ("gold violet red gold", "yellow violet gold gold", "yellow violet red blue")))
    yield tried(program, "other words and numbers of bands",
                *map(_refused, ("yellow violet red", "yellow violet red gold red", "pink violet red gold")))


def _part(bands: str, value: str) -> Case:
    return Case(bands.split(), value)


def _refused(bands: str) -> Case:
    return Case(bands.split(), "unknown bands", status=1)
