"""The columns of a page."""

from __future__ import annotations

import sys
from fractions import Fraction


def main(arguments: list[str]) -> int:
    """Print the edges of the columns."""
    if len(arguments) != 4 or not all(argument.isdecimal() for argument in arguments):
        return refused()
    page, margin, gutter, count = map(int, arguments)
    if count == 0:
        return refused()
    column = Fraction(page - 2 * margin - (count - 1) * gutter, count)
    if column < 1:
        return refused()
    for number in range(count):
        left = margin + number * (column + gutter)
        print(f"column {number + 1}: {written(left)} to {written(left + column)}")
    return 0


def refused() -> int:
    """Say so."""
    print("error: no such grid")
    return 1


def written(value: Fraction) -> str:
    """A length with two decimals."""
    hundredths = int(value * 100 + Fraction(1, 2))
    return f"{hundredths // 100}.{hundredths % 100:02}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
