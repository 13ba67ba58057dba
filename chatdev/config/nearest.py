"""Helpful ends of error messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def known(given: str, allowed: Iterable[str]) -> str:
    """`did you mean 'x'? known: …` for a name that is not among the allowed ones."""
    names = list(dict.fromkeys(map(str, allowed)))
    if not names:
        return "there are none"
    close = get_close_matches(given, names, n=1, cutoff=0.6)
    return (f"did you mean {close[0]!r}? " if close else "") + f"known: {', '.join(names)}"
