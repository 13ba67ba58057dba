"""Collectors who can swap."""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Print the pairs."""
    doubles: dict[str, set[str]] = {}
    wants: dict[str, set[str]] = {}
    for number, line in enumerate(Path(arguments[0]).read_text(encoding="utf-8").splitlines(), 1):
        parts = line.split(";")
        if len(parts) != 3:
            print(f"bad line {number}")
            return 1
        name = parts[0].strip()
        doubles[name], wants[name] = set(parts[1].split()), set(parts[2].split())
    swaps = []
    for one, other in combinations(sorted(doubles), 2):
        gives, takes = len(doubles[one] & wants[other]), len(doubles[other] & wants[one])
        if gives and takes:
            swaps.append(f"{one} - {other}: {gives}/{takes}")
    print("\n".join(swaps) or "no swaps")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
