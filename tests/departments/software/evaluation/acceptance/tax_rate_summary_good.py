"""Net sums and taxes of an invoice."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

LINE = re.compile(r"(\d+) (\d+)\.(\d\d) (\d+)")


def main(arguments: list[str]) -> int:
    """Print the summary."""
    cents: defaultdict[int, int] = defaultdict(int)
    for number, line in enumerate(Path(arguments[0]).read_text().splitlines(), 1):
        found = LINE.fullmatch(line.strip())
        if not found:
            print(f"bad line {number}")
            return 1
        pieces, whole, part, rate = map(int, found.groups())
        cents[rate] += pieces * (whole * 100 + part)
    total = 0
    for rate, net in sorted(cents.items()):
        tax = (net * rate + 50) // 100
        total += net + tax
        print(f"{rate}% {money(net)} {money(tax)}")
    print(f"total {money(total)}")
    return 0


def money(cents: int) -> str:
    """Cents as they are written."""
    return f"{cents // 100}.{cents % 100:02}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
