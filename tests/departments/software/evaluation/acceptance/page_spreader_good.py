"""Pages divided among the days between two dates."""

from __future__ import annotations

import sys
from datetime import date, timedelta

SUNDAY = 6


def main(arguments: list[str]) -> int:
    """Print the plan, or that the input does not go."""
    try:
        first, last, pages = date.fromisoformat(arguments[0]), date.fromisoformat(arguments[1]), int(arguments[2])
    except (ValueError, IndexError):
        return bad_input()
    days = [first + timedelta(n) for n in range((last - first).days + 1)]
    days = [day for day in days if day.weekday() != SUNDAY]
    if not days or pages < 1:
        return bad_input()
    share, more = divmod(pages, len(days))
    for number, day in enumerate(days):
        print(day, share + (number < more))
    return 0


def bad_input() -> int:
    """Say so."""
    print("error: bad input")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
