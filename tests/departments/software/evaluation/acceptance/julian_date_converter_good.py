"""Dates of the Julian calendar in the Gregorian one."""

from __future__ import annotations

import re
import sys
from datetime import date, timedelta

LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
SAME_DAY = date(200, 3, 1)
"""From here on the calendars agree for a century."""


def main(arguments: list[str]) -> int:
    """Print the day, or that there is none."""
    found = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", arguments[0] if arguments else "")
    if not found or not exists(*map(int, found.groups())):
        print("no such Julian date")
        return 1
    day = SAME_DAY + timedelta(number(*map(int, found.groups())) - number(200, 3, 1))
    print(f"{day.year:04}-{day.month:02}-{day.day:02} {day:%A}")
    return 0


def exists(year: int, month: int, day: int) -> bool:
    """Whether the Julian calendar has this day, in the years we take."""
    return 200 <= year <= 3000 and 1 <= month <= 12 and 1 <= day <= length(year, month)


def length(year: int, month: int) -> int:
    """The days of a month."""
    return 29 if month == 2 and year % 4 == 0 else LENGTHS[month - 1]


def number(year: int, month: int, day: int) -> int:
    """Days since the beginning of the Julian year 0."""
    before = year * 365 + (year + 3) // 4
    return before + sum(length(year, earlier) for earlier in range(1, month)) + day


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
