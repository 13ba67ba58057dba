"""Words that follow themselves."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path

WORD = re.compile(r"[^\W\d_']*(?:'[^\W\d_']*)*")


def main(arguments: list[str]) -> int:
    """Print every doubled word with its line."""
    try:
        text = Path(arguments[0]).read_text(encoding="utf-8")
    except OSError:
        print(f"cannot read {arguments[0]}")
        return 1
    found = doubled(text.lower())
    print("\n".join(found) if found else "no doubled words")
    return 0


def doubled(text: str) -> list[str]:
    """The lines that are printed."""
    words = [word for word in WORD.finditer(text) if word[0]]
    finds = []
    for first, second in pairwise(words):
        between = text[first.end():second.start()]
        if first[0] == second[0] and between.isspace():
            finds.append(f"line {text.count(chr(10), 0, second.start()) + 1}: {second[0]}")
    return finds


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
