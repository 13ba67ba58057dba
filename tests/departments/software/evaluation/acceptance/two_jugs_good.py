"""The fewest moves that measure an amount with two jugs."""

from __future__ import annotations

import sys
from collections.abc import Iterator


def main(arguments: list[str]) -> int:
    """Print the number of moves."""
    try:
        one, other, target = map(int, arguments)
    except ValueError:
        return bad_input()
    if one < 1 or other < 1 or target < 0:
        return bad_input()
    moves = fewest(one, other, target)
    print("impossible" if moves is None else moves)
    return 0


def bad_input() -> int:
    """Say so."""
    print("bad input")
    return 1


def fewest(one: int, other: int, target: int) -> int | None:
    """Search in breadth, one move at a time."""
    states, seen, moves = {(0, 0)}, {(0, 0)}, 0
    while states:
        if any(target in state for state in states):
            return moves
        states = {following for a, b in states for following in after(a, b, one, other)} - seen
        seen |= states
        moves += 1
    return None


def after(a: int, b: int, one: int, other: int) -> Iterator[tuple[int, int]]:
    """The contents after each possible move."""
    yield from ((one, b), (a, other), (0, b), (a, 0))
    poured = min(a, other - b)
    yield a - poured, b + poured
    poured = min(b, one - a)
    yield a + poured, b - poured


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
