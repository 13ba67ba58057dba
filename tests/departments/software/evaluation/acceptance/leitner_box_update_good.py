"""Cards and their boxes after some answers."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

TOP = 5


def main(arguments: list[str]) -> int:
    """Print the new table, or the card that is not in it."""
    cards, answers = arguments
    boxes = {row["card"]: int(row["box"]) for row in rows(cards)}
    for answer in rows(answers):
        card = answer["card"]
        if card not in boxes:
            print(f"unknown card: {card}")
            return 1
        boxes[card] = min(TOP, boxes[card] + 1) if answer["result"] == "right" else 1
    print("card,box")
    for card, box in boxes.items():
        print(f"{card},{box}")
    return 0


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a table."""
    with Path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
