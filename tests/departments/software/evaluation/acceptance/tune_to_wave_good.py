"""Tunes as sound files."""

from __future__ import annotations

import math
import re
import sys
import wave
from array import array
from pathlib import Path

NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
LINE = re.compile(r"(?:([A-G]#?)([0-8])|R) (\d+)")
RATE, AMPLITUDE = 8000, 12000


def main(arguments: list[str]) -> int:
    """Turn a tune into a file."""
    samples, notes = array("h"), 0
    for number, line in enumerate(Path(arguments[0]).read_text().splitlines(), 1):
        found = LINE.fullmatch(line.strip())
        if not found or (found[1] and found[1] not in NAMES):
            print(f"line {number}: bad note")
            return 1
        length = int(found[3]) * RATE // 1000
        if found[1]:
            samples.extend(sine(frequency(found[1], int(found[2])), length))
            notes += 1
        else:
            samples.extend([0] * length)
    with wave.open(arguments[1], "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    print(f"notes: {notes}, samples: {len(samples)}")
    return 0


def frequency(name: str, octave: int) -> float:
    """The pitch in Hz."""
    semitones = NAMES.index(name) - NAMES.index("A") + 12 * (octave - 4)
    return float(440 * 2 ** (semitones / 12))


def sine(pitch: float, length: int) -> list[int]:
    """The samples of a note."""
    return [round(AMPLITUDE * math.sin(2 * math.pi * pitch * place / RATE)) for place in range(length)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
