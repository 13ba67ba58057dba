"""Grey images without specks."""

from __future__ import annotations

import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Clean one file into another."""
    try:
        width, height, maximum, pixels = parsed(Path(arguments[0]).read_text())
    except ValueError:
        print("not a plain PGM")
        return 1
    cleaned = list(pixels)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            near = [pixels[(y + dy) * width + x + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
            cleaned[y * width + x] = sorted(near)[4]
    rows = [cleaned[start:start + width] for start in range(0, len(cleaned), width)]
    lines = ["P2", f"{width} {height}", str(maximum), *(" ".join(map(str, row)) for row in rows)]
    Path(arguments[1]).write_text("\n".join(lines) + "\n")
    return 0


def parsed(text: str) -> tuple[int, int, int, list[int]]:
    """Width, height, maximum and pixels; raises ValueError."""
    magic, *words = text.split() or [""]
    width, height, maximum, *pixels = map(int, words)
    if magic != "P2" or len(pixels) != width * height:
        raise ValueError(magic)
    return width, height, maximum, pixels


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
