"""The rank of five cards."""

from __future__ import annotations

import sys
from collections import Counter

RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"]
SUITS = "HDCS"
ALIKE = {
    (4, 1): "four of a kind",
    (3, 2): "full house",
    (3, 1, 1): "three of a kind",
    (2, 2, 1): "two pair",
    (2, 1, 1, 1): "pair",
}


def main(cards: list[str]) -> int:
    """Print the rank."""
    known = all(card[:-1] in RANKS and card[-1] in SUITS for card in cards if card)
    if len(cards) != 5 or len(set(cards)) != 5 or not all(cards) or not known:
        print("bad hand")
        return 1
    print(rank(cards))
    return 0


def rank(cards: list[str]) -> str:
    """The best name for five cards."""
    places = sorted(RANKS.index(card[:-1]) for card in cards)
    flush = len({card[-1] for card in cards}) == 1
    straight = places == list(range(places[0], places[0] + 5)) or places == [0, 1, 2, 3, 12]
    if flush or straight:
        return f"{'straight ' * straight}{'flush' * flush}".strip()
    counts = tuple(sorted(Counter(places).values(), reverse=True))
    return ALIKE.get(counts, "high card")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
