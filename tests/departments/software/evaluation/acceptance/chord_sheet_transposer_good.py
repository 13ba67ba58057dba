"""Chords moved by semitones."""

from __future__ import annotations

import re
import sys

SCALE = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
SHIFTS = {"": 0, "#": 1, "b": -1}


def main(arguments: list[str]) -> int:
    """Print the chords, or the first that is none."""
    steps, chords = int(arguments[0]), arguments[1].split()
    for chord in chords:
        if not re.match("[A-G]", chord):
            print(f"bad chord: {chord}")
            return 1
    print(" ".join(transposed(chord, steps) for chord in chords))
    return 0


def transposed(chord: str, steps: int) -> str:
    """A chord with its root and its bass moved."""
    return re.sub(r"(^|/)([A-G])([#b]?)", lambda note: note[1] + moved(note[2], note[3], steps), chord)


def moved(letter: str, sign: str, steps: int) -> str:
    """A note moved, spelled with sharps."""
    return SCALE[(SCALE.index(letter) + SHIFTS[sign] + steps) % 12]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
