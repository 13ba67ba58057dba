"""Who pays whom in a shared flat."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Print the repayments."""
    claims: defaultdict[str, int] = defaultdict(int)
    for number, line in enumerate(Path(arguments[0]).read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if len(words) < 3 or not words[1].isdecimal():
            print(f"bad line {number}")
            return 1
        enter(claims, words[0], int(words[1]), words[2:])
    print("\n".join(repayments(claims)) or "even")
    return 0


def enter(claims: defaultdict[str, int], payer: str, cents: int, names: list[str]) -> None:
    """Divide what somebody paid."""
    claims[payer] += cents
    share, odd = divmod(cents, len(names))
    for place, name in enumerate(names):
        claims[name] -= share + (place < odd)


def repayments(claims: dict[str, int]) -> list[str]:
    """The lines that are printed."""
    lines = []
    while any(claims.values()):
        debtor = min(claims, key=lambda name: (claims[name], name))
        creditor = min(claims, key=lambda name: (-claims[name], name))
        cents = min(-claims[debtor], claims[creditor])
        claims[debtor] += cents
        claims[creditor] -= cents
        lines.append(f"{debtor} pays {creditor} {cents}")
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
