"""A fraction as a greedy sum of unit fractions."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from fractions import Fraction


def main(arguments: list[str]) -> int:
    """Print the sum, or what is wrong."""
    fraction = parsed(" ".join(arguments))
    if fraction is None or not 0 < fraction < 1:
        print("error: give a fraction between 0 and 1")
        return 1
    print(" + ".join(f"1/{part}" for part in denominators(fraction)))
    return 0


def parsed(text: str) -> Fraction | None:
    """The fraction in a text, if there is one."""
    found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if not found or int(found[2]) == 0:
        return None
    return Fraction(int(found[1]), int(found[2]))


def denominators(rest: Fraction) -> Iterator[int]:
    """The denominators, the smallest first."""
    while rest > 0:
        part = -(-rest.denominator // rest.numerator)
        yield part
        rest -= Fraction(1, part)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
