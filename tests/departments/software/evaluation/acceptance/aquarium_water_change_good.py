"""Nitrate in an aquarium whose water is changed."""

from __future__ import annotations

import sys
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation


def main(arguments: list[str]) -> int:
    """Print how nitrate sinks."""
    try:
        nitrate, limit, percent, tap = (Decimal(argument) for argument in arguments)
    except (InvalidOperation, ValueError):
        return bad_value()
    if not 1 <= percent <= 99:
        return bad_value()
    if nitrate <= limit:
        print("no change needed")
    elif tap >= limit:
        print("never")
    else:
        change(nitrate, limit, percent / 100, tap)
    return 0


def bad_value() -> int:
    """Say so."""
    print("bad value")
    return 1


def change(nitrate: Decimal, limit: Decimal, part: Decimal, tap: Decimal) -> None:
    """Change water until the limit is kept."""
    changes = 0
    while nitrate > limit:
        changes += 1
        nitrate = nitrate * (1 - part) + tap * part
        print(f"{changes}: {nitrate.quantize(Decimal('0.1'), ROUND_HALF_UP)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
