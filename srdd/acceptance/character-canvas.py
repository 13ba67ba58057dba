"""Character Canvas: points, boxes and floods, some of them over the edge."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _drawn("size 3 2, plot 1 0 #", ".#. ..."))
    yield tried(program, "later points lie over earlier ones", _drawn("size 2 3, plot 0 2 a, plot 1 1 b, plot 0 2 c",
                                                                      ".. .b c."))
    yield tried(program, "boxes are hollow", _drawn("size 6 4, box 1 0 4 3 +, box 5 3 1 1 x",
                                                    ".++++. .+..+. .++++. .....x"),
                _drawn("size 4 3, box 0 1 4 1 -, box 2 0 1 3 |", "..|. --|- ..|."))
    yield tried(program, "a flood stops at other characters and corners",
                _drawn("size 5 4, plot 2 0 #, plot 1 1 #, plot 0 2 #, fill 0 0 ~", "~~#.. ~#... #.... ....."),
                _drawn("size 5 4, box 1 1 3 3 o, fill 0 0 :, fill 1 1 x", "::::: :xxx: :x.x: :xxx:"))
    yield tried(program, "a flood with the character that is there changes nothing",
                _drawn("size 3 2, fill 1 1 ., plot 0 0 a", "a.. ..."))
    yield tried(program, "parts outside are ignored",
                _drawn("size 4 3, plot 4 0 #, plot -1 1 #, plot 0 3 #, fill 9 9 #, box 2 1 5 5 *, box -1 -1 2 2 @",
                       "@... ..** ..*."))
    yield tried(program, "an unknown command is named alone",
                _drawn("size 2 2, circle 1 1 1 o", "line 2: bad command", 1),
                _drawn("size 2 2, plot 0 0 #, fill 1 1 #, erase 0 0, draw", "line 4: bad command", 1))


def _drawn(commands: str, prints: str, status: int = 0) -> Case:
    picture = prints if status else prints.replace(" ", "\n")
    return Case(["picture.txt"], picture, status, {"picture.txt": commands.replace(", ", "\n") + "\n"})
