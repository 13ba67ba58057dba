"""Flat bars fall into a well."""

from __future__ import annotations

import sys
from pathlib import Path

WIDTH = 10


def main(arguments: list[str]) -> int:
    """Print what became of the bars in a file."""
    rows: list[set[int]] = []
    cleared = 0
    for number, line in enumerate(Path(arguments[0]).read_text().splitlines(), 1):
        left, cells = map(int, line.split())
        if left < 0 or cells < 1 or left + cells > WIDTH:
            print(f"bad line {number}")
            return 1
        cleared += dropped(rows, set(range(left, left + cells)))
    print(f"rows {cleared} height {len(rows)}")
    return 0


def dropped(rows: list[set[int]], bar: set[int]) -> int:
    """Let a bar fall; the number of rows that it clears."""
    place = len(rows)
    while place > 0 and not rows[place - 1] & bar:
        place -= 1
    if place == len(rows):
        rows.append(set())
    rows[place] |= bar
    if len(rows[place]) < WIDTH:
        return 0
    del rows[place]
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
