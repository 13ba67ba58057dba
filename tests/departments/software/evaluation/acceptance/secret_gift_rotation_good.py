"""A circle of gifts."""

from __future__ import annotations

import sys
from itertools import permutations


def main(arguments: list[str]) -> int:
    """Print the circle."""
    end = arguments.index("--not") if "--not" in arguments else len(arguments)
    names, forbidden = arguments[:end], {tuple(pair.split(":")) for pair in arguments[end + 1:]}
    if len(names) < 3 or len(set(names)) < len(names):
        print("bad names")
        return 1
    for others in permutations(sorted(names[1:])):
        gifts = list(zip((names[0], *others), (*others, names[0]), strict=True))
        if not forbidden & set(gifts):
            for giver, taker in gifts:
                print(f"{giver} -> {taker}")
            return 0
    print("impossible")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
