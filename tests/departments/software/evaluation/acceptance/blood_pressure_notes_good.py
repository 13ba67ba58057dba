"""A summary of blood pressures."""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path

READING = re.compile(r"\d{4}-\d{2}-\d{2} (\d+)/(\d+)")


def main(arguments: list[str]) -> None:
    """Print the summary."""
    lines = Path(arguments[0]).read_text(encoding="utf-8").splitlines()
    found = [READING.fullmatch(line.strip()) for line in lines]
    readings = [(int(reading[1]), int(reading[2])) for reading in found if reading]
    if not readings:
        print("no readings")
        return
    high = [above >= 135 or below >= 85 for above, below in readings]
    runs = [len(list(run)) for is_high, run in groupby(high) if is_high]
    print(f"readings {len(readings)}")
    print(f"mean {mean([above for above, _ in readings])}/{mean([below for _, below in readings])}")
    print(f"high {sum(high)}")
    print(f"longest {max(runs, default=0)}")


def mean(values: list[int]) -> int:
    """The mean, halves upward."""
    return (2 * sum(values) + len(values)) // (2 * len(values))


if __name__ == "__main__":
    main(sys.argv[1:])
