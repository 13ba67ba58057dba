"""The resistance that coloured bands stand for."""

from __future__ import annotations

import sys

COLOURS = ("black", "brown", "red", "orange", "yellow", "green", "blue", "violet", "grey", "white")
TOLERANCES = {"brown": 1, "red": 2, "gold": 5}


def main(arguments: list[str]) -> int:
    """Print the resistance."""
    try:
        tens, ones, power, tolerance = (band.lower() for band in arguments)
        ohms = (COLOURS.index(tens) * 10 + COLOURS.index(ones)) * 10 ** COLOURS.index(power)
        print(f"{ohms} ohm {TOLERANCES[tolerance]}%")
    except (ValueError, KeyError):
        print("unknown bands")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
