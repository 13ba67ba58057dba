"""The frames between key poses."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path

KEY = re.compile(r"(-?\d+) (-?\d+)( smooth)?")


def main(arguments: list[str]) -> int:
    """Print every frame."""
    found = [KEY.fullmatch(line.strip()) for line in Path(arguments[0]).read_text().splitlines()]
    keys = [(int(key[1]), int(key[2]), bool(key[3])) for key in found if key]
    rising = all(one[0] < other[0] for one, other in pairwise(keys))
    if len(keys) < len(found) or len(keys) < 2 or not rising:
        print("error: bad keys")
        return 1
    for (first, start, smooth), (last, end, _) in pairwise(keys):
        for frame in range(first, last):
            share = (frame - first) / (last - first)
            if smooth:
                share = share * share * (3 - 2 * share)
            print(f"{frame} {start + (end - start) * share:.2f}")
    print(f"{keys[-1][0]} {keys[-1][1]:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
