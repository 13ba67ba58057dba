"""How wide a text is in a picture, where it is broken or shortened, and what is taken out of it first."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

FONT = "DejaVu Sans"
SPACING = 0.3
"""Pixels between letters; with any, none are drawn as one (fi, ff), which readers of pictures take for others."""
_WIDTHS = {29: "ijlI'", 34: " ,./:;\\|J", 37: "f-", 41: "()[]t!r", 50: '"*_`', 54: "szc?", 60: "FkvxyLP",
           63: "TYaoeES", 65: "$0123456789{}Kbdghnpqu", 70: "ABRXZVC", 78: "HNDG&U", 82: "OQw", 86: "#+<=>^~M",
           100: "%mW@"}  # hundredths of the size, in that font; others are narrower
_WIDTH = {letter: width / 100 for width, letters in _WIDTHS.items() for letter in letters}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # categories: controls, direction marks, surrogates, unassigned
_LONGEST = 2000  # characters of a text that are looked at


def clean(text: str) -> str:
    """The text on one line, without what is not seen or turns the direction of reading."""
    seen = "".join(" " if letter.isspace() else letter for letter in text[:_LONGEST]
                   if letter.isspace() or unicodedata.category(letter) not in _UNSEEN)
    return " ".join(seen.split())


@lru_cache(4096)
def text_width(text: str, size: float) -> float:
    """Pixels."""
    widths = (_WIDTH.get(letter) or (0.65 if ord(letter) < 0x1100 else 1.0) for letter in text)
    return sum(size * width + SPACING for width in widths)


def shorten(text: str, size: float, room: float) -> str:
    """The beginning of the text that fits, with an ellipsis where something is left out."""
    if text_width(text, size) <= room:
        return text
    while text and text_width(f"{text}…", size) > room:
        text = text[:-1] if text_width(text, size) < 2 * room else text[:len(text) // 2]
    return f"{text.rstrip()}…"


def wrap(text: str, size: float, room: float, most: int) -> list[str]:
    """At most so many lines that are no wider than `room`, broken at blanks; the last is shortened."""
    lines = list(_lines(text, size, room))
    kept = lines[:most]
    if len(lines) > most:
        kept[-1] = " ".join(lines[most - 1:])
    return [shorten(line, size, room) for line in kept]


def _lines(text: str, size: float, room: float) -> Iterator[str]:
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and text_width(longer, size) > room:
            yield line
            longer = word
        line = longer
    if line:
        yield line
