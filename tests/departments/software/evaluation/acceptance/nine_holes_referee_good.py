"""A referee for three in a row."""

from __future__ import annotations

import re
import sys
from pathlib import Path

LINES = ("123", "456", "789", "147", "258", "369", "159", "357")


def main(arguments: list[str]) -> int:
    """Print the board and the result, or the illegal line."""
    board = dict.fromkeys("123456789", ".")
    result = "unfinished"
    for number, cell in enumerate(Path(arguments[0]).read_text().split(), 1):
        if not re.fullmatch("[1-9]", cell) or board[cell] != "." or result != "unfinished":
            print(f"line {number}: illegal")
            return 1
        board[cell] = "X" if number % 2 else "O"
        result = judged(board)
    for row in LINES[:3]:
        print("".join(board[cell] for cell in row))
    print(result)
    return 0


def judged(board: dict[str, str]) -> str:
    """How the game stands."""
    for line in LINES:
        marks = {board[cell] for cell in line}
        if len(marks) == 1 and "." not in marks:
            return f"{marks.pop()} wins"
    return "unfinished" if "." in board.values() else "draw"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
