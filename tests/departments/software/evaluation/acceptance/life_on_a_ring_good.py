"""Cells on a ring."""

from __future__ import annotations

import sys


def main(arguments: list[str]) -> int:
    """Print the generations."""
    last, row = int(arguments[0]), arguments[1]
    if len(row) < 3 or set(row) - {"#", "."} or last < 0:
        print("bad input")
        return 1
    print(row)
    for _ in range(last):
        if "#" not in row:
            break
        row = following(row)
        print(row)
    return 0


def following(row: str) -> str:
    """The next generation."""
    size = len(row)
    return "".join("#" if row[place - 1] != row[(place + 1) % size] else "." for place in range(size))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
