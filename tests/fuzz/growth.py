"""How the time of a reader grows with its text, on texts that are made to be hard: pieces again and again, two kinds
one after the other, nests, one long line, many short lines.

Units are tried at a small size; the slowest are measured at three sizes. The exponent is the slope of the time over the
size, both as logarithms: 1 is a time that grows as the text does, 2 one that grows with its square.
"""

from __future__ import annotations

import gc
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.fuzz.readers.reader import Reader

SIZES = (50_000, 100_000, 200_000)
MOST = 1.3
"""The greatest exponent that a reader may have."""
NEVER = 9.0
"""The exponent of a reader that takes too long for the greatest size."""
_SMALL = 6_000
_BRIEF = 0.04  # seconds of a processor for the longest text; what takes less has no measurable exponent
_QUICK = 0.5  # so quick a reader may only have left a cache of the processor: sizes four times as great tell
_LONG = 6.0  # what takes more is not tried at a greater size
_REPEATS = 6


@dataclass(frozen=True, slots=True)
class Recipe:
    """Makes a text of about any size of two units."""

    shape: str
    frame: str
    one: str
    other: str

    def text(self, size: int) -> str:
        """The text, a little different with each size."""
        one, other = self.one, self.other
        half = size // 2
        match self.shape:
            case "again":
                inner = _fill(one + other, size)
            case "lines":
                inner = _fill(f"{one}{other}\n", size)
            case "first and then":
                inner = _fill(one, half) + _fill(other, half)
            case "lines of first and then":
                inner = _fill(f"{one}\n", half) + _fill(f"{other}\n", half)
            case _:  # a nest
                inner = _fill(one, half) + "x" + _fill(other, half)
        return self.frame.replace("{}", inner)

    def __str__(self) -> str:
        return f"{self.one!r} and {self.other!r}, {self.shape}, in {self.frame[:60]!r}"


SHAPES = ("again", "lines", "first and then", "lines of first and then", "nest")


@dataclass(frozen=True, slots=True)
class Growth:
    """The worst that was measured of a reader: its exponent (0: too quick to tell), and the seconds at each size."""

    exponent: float
    seconds: tuple[float, ...]
    recipe: str


def worst_growth(reader: Reader, seed: int, tries: int, measured: int = 2) -> Growth:
    """The greatest exponent among the `measured` slowest of `tries` recipes."""
    recipes = list(_recipes(reader, random.Random(seed), tries))
    gc.collect()
    gc.freeze()  # what is there already need not be looked through again
    slowest = sorted(recipes, key=lambda recipe: _seconds(reader, recipe, _SMALL), reverse=True)
    found = [measure_growth(reader, recipe) for recipe in slowest[:measured]]
    return max(found, key=lambda growth: (growth.exponent, growth.seconds))


def _recipes(reader: Reader, rng: random.Random, tries: int) -> Iterator[Recipe]:
    pieces = list(reader.pieces)
    alone = rng.sample(pieces, min(len(pieces), tries // 3))
    for piece in alone:
        yield Recipe("again", rng.choice(reader.frames), piece, "")
    for _ in range(tries - len(alone)):
        one, other = ("".join(rng.choices(pieces, k=rng.choice((1, 1, 1, 2, 3)))) for _ in range(2))
        yield Recipe(rng.choice(SHAPES), rng.choice(reader.frames), one, other)


def measure_growth(reader: Reader, recipe: Recipe) -> Growth:
    """The growth over `SIZES`; of a quick reader that seems to grow too fast, over sizes four times as great."""
    best = _best_seconds(reader, recipe, SIZES)
    if _exponent(best) > MOST and len(best) == len(SIZES) and best[-1] < _QUICK:
        best = _best_seconds(reader, recipe, [4 * size for size in SIZES])
    return Growth(round(_exponent(best), 2), tuple(round(seconds, 3) for seconds in best), str(recipe))


def _best_seconds(reader: Reader, recipe: Recipe, sizes: Sequence[int]) -> list[float]:
    """The best of a few measurements: a busy machine makes single ones slow."""
    best: list[float] = []
    for _ in range(_REPEATS):
        taken = []
        for size in sizes:
            taken.append(_seconds(reader, recipe, size))
            if taken[-1] > _LONG:
                break
        best = [min(pair) for pair in zip(best or taken, taken, strict=False)]
        if best[-1] > _LONG or _exponent(best) <= MOST:
            break
    return best


def _exponent(seconds: list[float]) -> float:
    if len(seconds) < len(SIZES):
        return NEVER
    if seconds[-1] < _BRIEF:
        return 0.0
    xs, ys = [math.log(size) for size in SIZES], [math.log(max(second, 1e-6)) for second in seconds]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def _seconds(reader: Reader, recipe: Recipe, size: int) -> float:
    text = recipe.text(size)
    gc.disable()
    try:
        started = time.process_time()
        reader.read(text)
        return time.process_time() - started
    finally:
        gc.enable()


def _fill(unit: str, size: int) -> str:
    """The unit again and again; a sign № in it is another number each time, so that names are different."""
    times = size // max(1, len(unit))
    return "".join(unit.replace("№", str(number)) for number in range(times)) if "№" in unit else unit * times
