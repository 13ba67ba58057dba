"""Replies that say the same again and again, as small models do until the length limit cuts them.

A reply that was cut need not show much, so `goes_in_circles` and `counts_on` ask for little: its last words stand in it
again and again. `never_ends` is asked of a reply that is still coming, and stops it: there the same must come again and
again without anything between, for so long that no list or table is meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_END, _AGAIN = 60, 4  # characters at the end of a reply that stand in it so often: it goes in circles
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7a3]|[^\W\d_]{2,}")  # where words have no blanks, a sign is one
TAIL = 6000
"""Characters at the end of a reply that `never_ends` looks at."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """Bounds above which repetition is a circle: number of turns, and characters of them all."""

    turns: int
    characters: int

    def is_reached(self, turns: int, unit: str) -> bool:
        """Whether that many have come."""
        return turns >= self.turns and turns * len(unit) >= self.characters


_SENTENCES = _Limit(6, 480)
_PARAGRAPHS = _Limit(5, 1000)
_COUNTED = _Limit(30, 1800)  # sentences that are the same but for their numbers
_STATEMENTS = _Limit(20, 1200)
_DATA = _Limit(100, 3000)  # rows of a board, cells of a page
_CODE, _PROSE, _PURE_PROSE = 0.5, 0.75, 0.8  # of what is no blank in it are letters
_FEW_WORDS, _MANY_WORDS = 3, 6  # different ones


def goes_in_circles(text: str) -> bool:
    """Whether a cut reply says the same again and again, so that going on would bring more of it."""
    return len(text) > _END and text.count(text[-_END:]) >= _AGAIN


def counts_on(text: str) -> bool:
    """Whether a cut reply says the same again and again but for its numbers: a list without an end, or a table."""
    return goes_in_circles(_NUMBER.sub("0", text))


def cut_circles(text: str) -> str:
    """The beginning of such a reply, up to where it came round for the first time."""
    return text[:text.find(text[-_END:]) + _END]


def never_ends(text: str) -> bool:
    """Whether a reply that ends so far with `text` says the same without an end, for certain: not a table, and not a
    list of different lines."""
    tail = text[-TAIL:]
    unit, turns = _repetition(tail)
    if unit and goes_in_circles(tail):
        return any(limit.is_reached(turns, unit) for limit in _limits(unit))
    plain = _NUMBER.sub("0", tail)
    unit, turns = _repetition(plain)
    return _is_prose(unit, _MANY_WORDS, _PURE_PROSE) and _COUNTED.is_reached(turns, unit) and goes_in_circles(plain)


def _limits(unit: str) -> tuple[_Limit, ...]:
    if _is_prose(unit, _FEW_WORDS, _PROSE):
        return _SENTENCES, _PARAGRAPHS
    return (_STATEMENTS,) if _is_prose(unit, _FEW_WORDS, _CODE) else (_DATA,)


def _repetition(text: str) -> tuple[str, int]:
    """Unit that the text's end repeats, and the number of repetitions; empty without any."""
    size = len(text) - _END - text.rfind(text[-_END:], 0, max(len(text) - 1, 0))
    if len(text) <= _END or size > len(text) - _END:
        return "", 0
    unit, turns = text[-size:], 1
    while text[-size * (turns + 1):-size * turns] == unit:
        turns += 1
    return unit, turns


def _is_prose(unit: str, words: int, share: float) -> bool:
    """Whether the text has enough words to be prose, and not data or markup."""
    dense = "".join(unit.split())
    letters = sum(letter.isalpha() for letter in dense)
    return len(set(_WORD.findall(unit))) >= words and letters >= share * len(dense) and "</" not in 2 * unit
