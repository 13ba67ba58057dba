"""Whether a program goes through a dialogue as its request shows it. Where its prompts end and the answers begin, it
tells itself: it is started with one more answer each time, and prints as much as it can."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

_MOST_ANSWERS = 12


def goes_as_shown(shown: str, say: Callable[[str], str]) -> bool:
    """Whether `say`, which tells what the program prints when these lines are typed, says all that is shown but for the
    answers, and reads each of them."""
    typed, known, before, place = "", "", None, 0
    for _ in range(_MOST_ANSWERS + 1):
        said = say(typed)
        if said == before or not said.startswith(known):
            return False
        new, rest = said[len(known):], shown[place:]
        length = _common_length(new, rest)
        known, before, place = known + new[:length], said, place + length
        if not rest[length:].strip():
            return bool(typed) and not new[length:].strip()
        answer = rest[length:].partition("\n")[0]
        typed, place = f"{typed}{answer}\n", place + len(answer) + 1
    return False


def _common_length(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
