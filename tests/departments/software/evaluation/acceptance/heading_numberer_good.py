"""A text with its headings numbered."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HEADING = re.compile(r"(#{1,3}) (.*)")


def main(arguments: list[str]) -> int:
    """Print the text."""
    counts: list[int] = []
    lines = []
    for number, line in enumerate(Path(arguments[0]).read_text(encoding="utf-8").splitlines(), 1):
        found = HEADING.fullmatch(line)
        if found:
            level = len(found[1])
            if level > len(counts) + 1:
                print(f"skipped level in line {number}")
                return 1
            count = counts[level - 1] + 1 if level <= len(counts) else 1
            counts = [*counts[:level - 1], count]
            line = f"{found[1]} {'.'.join(map(str, counts))} {found[2]}"
        lines.append(line)
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
