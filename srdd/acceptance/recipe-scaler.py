"""Recipe Scaler: exact fractions, written as a cook would."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program

_SOUP = "serves 4\n1/2 l stock\n3 piece leek\n1 1/4 tsp salt\n"


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _scaled(_SOUP, "6", "3/4 l stock\n4 1/2 piece leek\n1 7/8 tsp salt"))
    yield tried(program, "for fewer", _scaled(_SOUP, "2", "1/4 l stock\n1 1/2 piece leek\n5/8 tsp salt"))
    yield tried(program, "whole amounts are written whole",
                _scaled(_SOUP, "16", "2 l stock\n12 piece leek\n5 tsp salt"), _scaled(_SOUP, "4", _SOUP[9:]))
    yield tried(program, "amounts stay exact", _scaled("serves 7\n2/3 cup red wine\n100 g sugar\n", "3",
                                                      "2/7 cup red wine\n42 6/7 g sugar"))
    yield tried(program, "fractions are written lowest", _scaled("serves 6\n2/4 l milk\n3 1/3 g yeast\n", "4",
                                                                "1/3 l milk\n2 2/9 g yeast"))
    yield tried(program, "a line without an amount stays",
                _scaled("serves 2\nsalt to taste\n1 bag tea\na leaf of mint\n", "5",
                        "salt to taste\n2 1/2 bag tea\na leaf of mint"))
    yield tried(program, "servings that do not go are refused",
                *(Case(["soup.txt", servings], "bad servings", status=1, files={"soup.txt": _SOUP})
                  for servings in ("0", "-3", "2.5", "many")))


def _scaled(recipe: str, servings: str, lines: str) -> Case:
    return Case(["soup.txt", servings], f"serves {servings}\n{lines}", files={"soup.txt": recipe})
