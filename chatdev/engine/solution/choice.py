"""Which of the declared options a text chooses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatdev.engine.solution.problem import Unreadable

_EDGES = " \t\r\n\"'`*_“”‘’.,;:!?()[]{}<>#-•"
_PAUSE = re.compile(r"\s*(?:[.;:!(–—\n]|\s-\s|,?\s+(?:because|since|as)\b)", re.IGNORECASE)
_LONGEST = 20_000  # more text than this chooses nothing


def read_choice(text: str, options: Sequence[str]) -> str:
    """The option that `text` chooses, as declared; case, quotes and words around it don't matter.

    In order: the first line is the option; the first line begins with it and pauses; the first line names exactly
    one; the whole text names exactly one. Of options that contain one another the longest named counts. Raises
    Unreadable with the options.
    """
    first = next((line for line in text.split("\n") if line.strip()), "")[:_LONGEST]
    plain = {_plain(option): option for option in options}
    if _plain(first) in plain:
        return plain[_plain(first)]
    for option, match in _mentions(first.lstrip(_EDGES), options):
        rest = first.lstrip(_EDGES)[match.end():].lstrip("\"'`*_”’")
        if match.start() == 0 and _PAUSE.match(rest):
            return option
    for part in (first, text[:_LONGEST]):
        named = {option for option, _ in _mentions(part, options)}
        if len(named) == 1:
            return named.pop()
    raise Unreadable(f"the answer must name exactly one of: {', '.join(options)}")


def _plain(text: str) -> str:
    stripped = text.strip()
    kept = stripped.strip(_EDGES) or stripped
    return " ".join(kept.casefold().split())


def _mentions(text: str, options: Sequence[str]) -> list[tuple[str, re.Match[str]]]:
    """Every mention of an option in `text`, in order; where options overlap, the longest."""
    by_length = sorted(options, key=len, reverse=True)
    if not by_length:
        return []
    words = ("|".join(f"(?P<o{index}>{_pattern(option)})" for index, option in enumerate(by_length)))
    found = re.finditer(rf"(?<![\w+#])(?:{words})(?![\w+#])", text, re.IGNORECASE)
    return [(by_length[int((match.lastgroup or "o0")[1:])], match) for match in found]


def _pattern(option: str) -> str:
    """The option's words, with any blanks, hyphens or underscores between them."""
    return r"[\s_-]*".join(re.escape(word) for word in re.split(r"[\s_-]+", option) if word)
