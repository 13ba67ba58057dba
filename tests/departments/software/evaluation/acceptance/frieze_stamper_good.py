"""A frieze of stamped motifs."""

from __future__ import annotations

import sys
from pathlib import Path

MODES = ("plain", "mirror", "flip", "spin")


def main(arguments: list[str]) -> int:
    """Print the frieze."""
    name, number, mode = arguments
    try:
        lines, count = Path(name).read_text(encoding="utf-8").splitlines(), int(number)
    except (OSError, ValueError):
        return refused()
    if not lines or count < 1 or mode not in MODES:
        return refused()
    width = max(map(len, lines))
    motif = [line.ljust(width, ".") for line in lines]
    copies = [changed(motif, mode) if place % 2 else motif for place in range(count)]
    for parts in zip(*copies, strict=True):
        print("".join(parts))
    return 0


def refused() -> int:
    """Say so."""
    print("error: no frieze")
    return 1


def changed(motif: list[str], mode: str) -> list[str]:
    """Every second copy."""
    if mode in ("flip", "spin"):
        motif = motif[::-1]
    if mode in ("mirror", "spin"):
        motif = [line[::-1] for line in motif]
    return motif


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
