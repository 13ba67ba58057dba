"""Pictures made of characters."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path


class Canvas:
    """Lines of dots to draw on."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], str] = {}
        self.width = 0

    def size(self, width: str, height: str) -> None:
        """Begin."""
        self.width = int(width)
        self.cells = {(x, y): "." for y in range(int(height)) for x in range(self.width)}

    def plot(self, x: str, y: str, character: str) -> None:
        """Set one cell."""
        self.set(int(x), int(y), character)

    def box(self, *arguments: str) -> None:
        """Draw a hollow rectangle."""
        left, top, width, height = map(int, arguments[:4])
        right, bottom = left + width - 1, top + height - 1
        for x in range(left, right + 1):
            for y in range(top, bottom + 1):
                if x in (left, right) or y in (top, bottom):
                    self.set(x, y, arguments[4])

    def fill(self, x: str, y: str, character: str) -> None:
        """Flood an area."""
        start = int(x), int(y)
        old = self.cells.get(start)
        waiting = [start]
        while waiting and old not in (None, character):
            x_now, y_now = waiting.pop()
            if self.cells.get((x_now, y_now)) == old:
                self.set(x_now, y_now, character)
                waiting += [(x_now + 1, y_now), (x_now - 1, y_now), (x_now, y_now + 1), (x_now, y_now - 1)]

    def set(self, x: int, y: int, character: str) -> None:
        """Set a cell unless it lies outside."""
        if (x, y) in self.cells:
            self.cells[x, y] = character

    def show(self) -> None:
        """Print the picture."""
        characters = list(self.cells.values())
        for start in range(0, len(characters), self.width):
            print("".join(characters[start:start + self.width]))


def main(arguments: list[str]) -> int:
    """Obey the commands of a file."""
    canvas = Canvas()
    commands: dict[str, Callable[..., None]] = {
        "size": canvas.size, "plot": canvas.plot, "box": canvas.box, "fill": canvas.fill}
    for number, line in enumerate(Path(arguments[0]).read_text().splitlines(), 1):
        command, *values = line.split()
        if command not in commands:
            print(f"line {number}: bad command")
            return 1
        commands[command](*values)
    canvas.show()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
