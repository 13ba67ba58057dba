"""What pieces cost when the oldest leave first."""

from __future__ import annotations

import sys
from collections import deque
from decimal import Decimal
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Print the cost of what leaves, and the worth of the rest."""
    stock: deque[tuple[int, Decimal]] = deque()
    for line in Path(arguments[0]).read_text().splitlines():
        words = line.split()
        if words[0] == "in":
            stock.append((int(words[1]), Decimal(words[2])))
        else:
            print(taken(stock, int(words[1])))
    worth = sum((pieces * price for pieces, price in stock), Decimal(0))
    print(f"left {sum(pieces for pieces, _ in stock)} worth {worth:.2f}")


def taken(stock: deque[tuple[int, Decimal]], wanted: int) -> str:
    """Take pieces out, and say what they cost."""
    there = sum(pieces for pieces, _ in stock)
    if wanted > there:
        return f"short by {wanted - there}"
    cost = Decimal(0)
    while wanted:
        pieces, price = stock.popleft()
        used = min(pieces, wanted)
        if pieces > used:
            stock.appendleft((pieces - used, price))
        wanted -= used
        cost += used * price
    return f"cost {cost:.2f}"


if __name__ == "__main__":
    main(sys.argv[1:])
