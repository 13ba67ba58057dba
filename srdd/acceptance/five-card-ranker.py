"""Five Card Ranker: nine ranks, aces at both ends, and hands that are none."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _hand("10H JH QH KH AH", "straight flush"))
    yield tried(program, "hands of equal ranks", _hand("7C 2D 7S 7H 7D", "four of a kind"),
                _hand("10C 4D 4S 10H 10D", "full house"), _hand("QC QD 3S QH 10D", "three of a kind"))
    yield tried(program, "hands of pairs", _hand("KC 9D KS 9H 2D", "two pair"), _hand("8C 2D 3S AH 8D", "pair"))
    yield tried(program, "one suit is a flush", _hand("2S 9S JS KS 4S", "flush"))
    yield tried(program, "a straight in any order", _hand("8D 6H 9C 10S 7D", "straight"),
                _hand("QD AH JC 10S KD", "straight"))
    yield tried(program, "an ace starts a straight, too", _hand("4D AH 3C 5S 2D", "straight"),
                _hand("5C 4C AC 2C 3C", "straight flush"))
    yield tried(program, "an ace in the middle is no straight", _hand("QD KH AC 2S 3D", "high card"),
                _hand("KC AC 2C 3C 4C", "flush"))
    yield tried(program, "what is no hand is refused", *(Case(cards.split(), "bad hand", status=1) for cards in (
        "2H 3H 4H 5H", "2H 3H 4H 5H 6H 7H", "1H 3H 4H 5H 6H", "2H 3H 4X 5H 6H", "2H 3H 4H 2H 6H")))


def _hand(cards: str, rank: str) -> Case:
    return Case(cards.split(), rank)
