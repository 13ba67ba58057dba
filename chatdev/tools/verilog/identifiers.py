"""Verilog identifiers in prose, comments and code."""

from __future__ import annotations

import re

_WORDS = re.compile(r"""
    '[sS]?(?:[bB][01xXzZ?_]+|[oO][0-7xXzZ?_]+|[dD][\dxXzZ?_]+|[hH][\da-fA-FxXzZ?_]+)(?![\w'])  # a number: 4'b01xx
    | \\(?P<escaped>\S+)                                                 # \bus+index, up to the next blank
    | (?<![\w$])(?P<plain>[A-Za-z_][\w$]*)
""", re.VERBOSE | re.ASCII)
_CLOSING = ".,;:!?)]}'\"`*/"  # what prose and comments put behind a name without a blank
_RANGES = re.compile(r"\[[^\]]*\]|\([^)]*\)")
_KEYWORDS = frozenset({"input", "output", "inout", "wire", "reg", "logic", "bit", "signed", "unsigned", "integer",
                       "port", "signal"})


def identifiers(text: str) -> set[str]:
    """Every identifier in `text` as written, case kept; an escaped one without its backslash (IEEE 1800-2017, 5.6.1).

    Of an escaped identifier both readings are given, with and without the punctuation that may end it.
    """
    found: set[str] = set()
    for match in _WORDS.finditer(text):
        if escaped := match["escaped"]:
            found |= {escaped, escaped.rstrip(_CLOSING)} - {""}
        elif match["plain"]:
            found.add(match["plain"])
    return found


def declared(text: str) -> list[str]:
    """The names that a model declares with such words as `output logic [7:0] out_byte`, `in, reset` or `q (4 bits)`."""
    names = [_name(part) for part in _RANGES.sub(" ", text).split(",")]
    return list(dict.fromkeys(filter(None, names)))


def _name(text: str) -> str:
    """The first identifier that is no keyword; without one, the text itself."""
    for match in _WORDS.finditer(text):
        name = match["escaped"] or match["plain"]
        if name and name not in _KEYWORDS:
            return name
    return text.strip(" `'\"")
