"""Secret Gift Rotation: the first of all closed circles, if there is one."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _circle("Ada Ben Cleo Dan --not Ada:Ben", "Ada Cleo Ben Dan"))
    yield tried(program, "without forbidden pairs", _circle("Ada Ben Cleo", "Ada Ben Cleo"))
    yield tried(program, "the first named begins, the others follow the alphabet",
                _circle("Max Zoe Ben Kim Ann", "Max Ann Ben Kim Zoe"))
    yield tried(program, "a wrong beginning is given up", _circle(
        "Ada Ben Cleo Dan Eve --not Dan:Eve Eve:Ada Cleo:Dan", "Ada Ben Cleo Eve Dan"))
    yield tried(program, "nobody gives to whom it is forbidden, not even last",
                _circle("Ada Ben Cleo Dan --not Dan:Ada Cleo:Ada", "Ada Cleo Dan Ben"))
    yield tried(program, "no circle is possible", *(Case(text.split(), "impossible", status=None) for text in (
        "Ada Ben Cleo --not Ada:Ben Ada:Cleo", "Ada Ben Cleo Dan --not Ben:Ada Cleo:Ada Dan:Ada")), refusal=True)
    yield tried(program, "names that do not go are refused", *(Case(text.split(), "bad names", status=1) for text in (
        "Ada Ben", "Ada Ben Cleo Ada", "Ada Ben --not Ada:Ben")))


def _circle(arguments: str, names: str) -> Case:
    circle = names.split()
    return Case(arguments.split(), "\n".join(
        f"{giver} -> {taker}" for giver, taker in zip(circle, [*circle[1:], circle[0]], strict=True)))
