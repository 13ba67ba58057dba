"""Life on a Ring: generations of a row whose ends meet."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the second example", _rows("1", "#... .#.#"))
    yield tried(program, "several generations", _rows("2", "..##.#.... .###..#... ##.###.#.."))
    yield tried(program, "the ends are neighbours", _rows("2", "##... ###.# ..#.#"), _rows("3", "..# ##. ##. ##."),
                _rows("4", "##.###.#.. ##.#.#..## .#....###. #.#..##.## #..####.#."))
    yield tried(program, "generation 0 alone", _rows("0", ".#.#."))
    yield tried(program, "it stops after a row without life", _rows("5", "#### ...."), _rows("9", "...."),
                _rows("7", "#.#. ...."))
    yield tried(program, "a long row", _long())
    yield tried(program, "rows and numbers that do not go are refused",
                *(Case([last, row], "bad input", status=1)
                  for last, row in (("3", "#."), ("3", "..x.."), ("-1", "..#.."))))


def _rows(last: str, rows: str) -> Case:
    return Case([last, rows.split()[0]], rows.replace(" ", "\n"))


def _long() -> Case:
    """Eight generations of one cell in the middle: then cells 8 to the left and right live alone."""
    rows = [{40}]
    for _ in range(8):
        rows.append({cell + step for cell in rows[-1] for step in (-1, 1)
                     if (cell + 2 * step) not in rows[-1]})
    return _rows("8", " ".join("".join("#" if cell in row else "." for cell in range(81)) for row in rows))
