"""Recipes for more or fewer."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from pathlib import Path

AMOUNT = re.compile(r"(?:(\d+) )?(\d+/\d+) |(\d+) ")


def main(arguments: list[str]) -> int:
    """Print a recipe for so many servings."""
    name, servings = arguments
    if not servings.isdecimal() or int(servings) == 0:
        print("bad servings")
        return 1
    first, *lines = Path(name).read_text(encoding="utf-8").splitlines()
    factor = Fraction(int(servings), int(first.split()[1]))
    print(f"serves {servings}")
    for line in lines:
        print(scaled(line, factor))
    return 0


def scaled(line: str, factor: Fraction) -> str:
    """A line with its amount changed."""
    found = AMOUNT.match(line)
    if not found:
        return line
    amount = sum(Fraction(part) for part in found.groups() if part)
    return f"{written(amount * factor)} {line[found.end():]}"


def written(amount: Fraction) -> str:
    """An amount as a cook writes it."""
    whole, rest = divmod(amount.numerator, amount.denominator)
    parts = [str(whole)] if whole else []
    if rest:
        parts.append(f"{rest}/{amount.denominator}")
    return " ".join(parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
