"""The free stretches of a day."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")


def main(arguments: list[str]) -> int:
    """Print the gaps."""
    first, last, least, *appointments = arguments
    try:
        day = stretch(first, last)
        busy = sorted(stretch(*appointment.split("-", 1)) for appointment in appointments)
    except (ValueError, TypeError):
        print("bad time")
        return 2
    found = [gap for gap in gaps(day, busy) if gap[1] - gap[0] >= int(least)]
    for start, end in found:
        print(f"{clock(start)}-{clock(end)} {end - start}")
    if not found:
        print("none")
    return 0


def stretch(start: str, end: str) -> tuple[int, int]:
    """A stretch in minutes; raises ValueError when it is none."""
    found = minutes(start), minutes(end)
    if found[1] <= found[0]:
        raise ValueError(end)
    return found


def minutes(text: str) -> int:
    """Minutes since midnight."""
    found = TIME.fullmatch(text)
    if not found:
        raise ValueError(text)
    return int(found[1]) * 60 + int(found[2])


def gaps(day: tuple[int, int], busy: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What the appointments leave of the day, in order."""
    free, last = day
    for start, end in busy:
        if free < min(start, last):
            yield free, min(start, last)
        free = max(free, end)
    if free < last:
        yield free, last


def clock(time: int) -> str:
    """Minutes as a clock shows them."""
    return f"{time // 60:02}:{time % 60:02}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
