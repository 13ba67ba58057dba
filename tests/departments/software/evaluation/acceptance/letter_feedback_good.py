"""Marks for a guessed word."""

from __future__ import annotations

import re
import sys
from collections import Counter


def main(arguments: list[str]) -> int:
    """Print the marks."""
    secret, guess = (word.lower() for word in arguments)
    if len(secret) != len(guess) or not re.fullmatch("[a-z]+", secret) or not re.fullmatch("[a-z]+", guess):
        print("bad words")
        return 1
    print(marks(secret, guess))
    return 0


def marks(secret: str, guess: str) -> str:
    """Greens first, then yellows from left to right."""
    pairs = list(zip(secret, guess, strict=True))
    left = Counter(right for right, letter in pairs if right != letter)
    found = []
    for right, letter in pairs:
        if right == letter:
            found.append("G")
        elif left[letter] > 0:
            left[letter] -= 1
            found.append("Y")
        else:
            found.append(".")
    return "".join(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
