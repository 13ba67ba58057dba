"""Units used between readings of a meter."""

from __future__ import annotations

import sys
from datetime import date
from itertools import pairwise
from pathlib import Path

COUNTER = 100_000


def main(arguments: list[str]) -> int:
    """Print the book."""
    readings = [line.split() for line in Path(arguments[0]).read_text().splitlines()]
    lines = []
    for number, ((earlier, before), (later, now)) in enumerate(pairwise(readings), 2):
        days = (date.fromisoformat(later) - date.fromisoformat(earlier)).days
        if days < 1:
            print(f"bad date in line {number}")
            return 1
        used = (int(now) - int(before)) % COUNTER
        hundredths = (200 * used + days) // (2 * days)
        lines.append(f"{later} {used} {hundredths // 100}.{hundredths % 100:02}")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
