"""Local times of arrival."""

from __future__ import annotations

import re
import sys
from datetime import datetime, timedelta  # local times without a zone

OFFSET = re.compile(r"([+-])(\d{1,2})(\.5)?")


def main(arguments: list[str]) -> int:
    """Print the arrival."""
    try:
        departure, start, duration, end = arguments
        if not re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", departure):
            raise ValueError(departure)
        arrival = datetime.fromisoformat(departure) + flight(duration) + offset(end) - offset(start)
    except (ValueError, OverflowError):
        print("invalid trip")
        return 1
    print(f"{arrival:%Y-%m-%d %H:%M}")
    return 0


def flight(text: str) -> timedelta:
    """The time in the air; raises ValueError."""
    found = re.fullmatch(r"(\d+):([0-5]\d)", text)
    if not found:
        raise ValueError(text)
    return timedelta(hours=int(found[1]), minutes=int(found[2]))


def offset(text: str) -> timedelta:
    """An offset from UTC; raises ValueError."""
    found = OFFSET.fullmatch(text)
    hours = float(text) if found else 99.0
    if not -12 <= hours <= 14:
        raise ValueError(text)
    return timedelta(hours=hours)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
