"""What becomes of a reply that the length limit cut: its continuation is joined to it, its circles are left out."""

from __future__ import annotations

import re

_OVERLAP = 400  # characters a model repeats at most when it goes on
_END, _AGAIN = 60, 4  # characters at the end of a reply that stand in it so often: it goes in circles
_NUMBER = re.compile(r"\d+")
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n`]*\n?", re.MULTILINE)
_REOPENED = re.compile(r"\A\s*(```+|~~~+)[^\n`]*\n")


def join_continuation(start: str, rest: str) -> str:
    """`start` + `rest`, without the fence a model opens again and without what it repeats of the cut end."""
    if _inside_fence(start):
        rest = _REOPENED.sub("", rest, count=1)
    for size in range(min(len(start), len(rest), _OVERLAP), 7, -1):
        if start.endswith(rest[:size]):
            return start + rest[size:]
    return start + rest


def goes_in_circles(text: str) -> bool:
    """Whether a cut reply says the same again and again, so that going on would bring more of it."""
    return len(text) > _END and text.count(text[-_END:]) >= _AGAIN


def counts_on(text: str) -> bool:
    """Whether a cut reply says the same again and again but for its numbers: a list without an end, or a table."""
    return goes_in_circles(_NUMBER.sub("0", text))


def cut_circles(text: str) -> str:
    """The beginning of such a reply, up to where it came round for the first time."""
    return text[:text.find(text[-_END:]) + _END]


def _inside_fence(text: str) -> bool:
    return len(_FENCE.findall(text)) % 2 == 1
