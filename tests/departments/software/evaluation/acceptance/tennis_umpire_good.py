"""An umpire for one game of tennis."""

from __future__ import annotations

import sys

POINTS = ("0", "15", "30", "40")


def main(arguments: list[str]) -> int:
    """Print the score after every point."""
    winners = arguments[0] if arguments else ""
    if not winners or set(winners) - {"A", "B"}:
        print("bad point")
        return 1
    won = {"A": 0, "B": 0}
    for winner in winners:
        if over(won):
            print("game over")
            return 1
        won[winner] += 1
        print(score(won))
    return 0


def over(won: dict[str, int]) -> bool:
    """Whether the game is decided."""
    return max(won.values()) >= 4 and abs(won["A"] - won["B"]) >= 2


def score(won: dict[str, int]) -> str:
    """What the umpire says."""
    leader = max(won, key=lambda player: won[player])
    if over(won):
        return f"game {leader}"
    if min(won.values()) < 3:
        return f"{POINTS[won['A']]}-{POINTS[won['B']]}"
    return "deuce" if won["A"] == won["B"] else f"advantage {leader}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
