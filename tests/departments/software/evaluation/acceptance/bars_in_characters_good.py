"""A chart of bars."""

from __future__ import annotations

import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Print the chart."""
    name, width = arguments
    rows: list[tuple[str, int]] = []
    for number, line in enumerate(Path(name).read_text(encoding="utf-8").splitlines(), 1):
        label, comma, amount = line.rpartition(",")
        if not comma or not amount.strip().isdecimal():
            print(f"error: row {number}")
            return 1
        rows.append((label, int(amount)))
    longest = max(len(label) for label, _ in rows)
    largest = max(value for _, value in rows) or 1
    for label, value in rows:
        print(f"{label:{longest}} {'#' * (value * int(width) // largest)} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
