"""A house of three rooms."""

from __future__ import annotations

import sys

WAYS = {
    ("Hall", "east"): "Kitchen",
    ("Kitchen", "west"): "Hall",
    ("Kitchen", "down"): "Cellar",
}
DIRECTIONS = ("east", "west", "up", "down")


class Player:
    """Where somebody is, and what is in hand."""

    def __init__(self) -> None:
        self.room = "Hall"
        self.has_key = False

    def obey(self, command: str) -> str:
        """The answer to a command."""
        if command == "take key":
            return self.take()
        return self.go(command) if command in DIRECTIONS else "what"

    def take(self) -> str:
        """Take the key if it lies here."""
        if self.has_key or self.room != "Kitchen":
            return "nothing"
        self.has_key = True
        return "taken"

    def go(self, direction: str) -> str:
        """Walk, if there is a way."""
        room = WAYS.get((self.room, direction))
        if room is None:
            return "blocked"
        if room == "Cellar" and not self.has_key:
            return "locked"
        self.room = room
        return room


def main() -> None:
    """Play until the cellar is reached or nothing more is said."""
    player = Player()
    for number, line in enumerate(sys.stdin, 1):
        print(player.obey(line.strip()))
        if player.room == "Cellar":
            print(f"won in {number}")
            break


if __name__ == "__main__":
    main()
