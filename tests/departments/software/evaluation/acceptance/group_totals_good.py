"""Sums of one column for the values of another."""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from decimal import Decimal, InvalidOperation
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Print the sums."""
    name, group, column = arguments
    header, *rows = csv.reader(Path(name).read_text(encoding="utf-8").splitlines())
    for wanted in (group, column):
        if wanted not in header:
            print(f"no such column: {wanted}")
            return 2
    amounts: defaultdict[str, list[Decimal]] = defaultdict(list)
    for line, row in enumerate(rows, 2):
        amount = row[header.index(column)]
        try:
            if amount:
                amounts[row[header.index(group)]].append(Decimal(amount))
        except InvalidOperation:
            print(f"line {line}: not a number")
            return 1
    for value, found in sorted(amounts.items(), key=lambda item: (-sum(item[1]), item[0])):
        print(f"{value} {sum(found):.2f} {len(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
