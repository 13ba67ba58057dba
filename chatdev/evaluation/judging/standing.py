"""How two companies stand against each other: wins, ties and losses with confidence intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple

from chatdev.evaluation.judging.record import HUMAN, Judgement

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Standing:
    """Pairs of `one` and `other` by their outcome, for one judge. `unreadable` pairs have a look without a verdict,
    `unfinished` ones were seen in one order only; neither counts in the rates. `agreed` of the looks in both orders
    that name the same, and `first_preferred` of the verdicts that are no tie: between 0 and 1, None without any."""

    judge: str
    one: str
    other: str
    wins: int = 0
    losses: int = 0
    ties: int = 0
    unreadable: int = 0
    unfinished: int = 0
    agreed: float | None = None
    first_preferred: float | None = None

    @property
    def decided(self) -> int:
        """The pairs that the rates are shares of."""
        return self.wins + self.losses + self.ties

    def rate(self, count: int) -> tuple[float, Interval] | None:
        """The share of so many of the decided pairs, with its 95 % interval; None without any."""
        return (count / self.decided, wilson(count, self.decided)) if self.decided else None


def standings(judgements: Iterable[Judgement]) -> list[Standing]:
    """One standing for each judge and two companies, in the order in which they were met first."""
    groups: dict[tuple[str, frozenset[str]], dict[str, list[Judgement]]] = {}
    for judgement in judgements:
        group = groups.setdefault((judgement.judge, frozenset((judgement.first, judgement.second))), {})
        group.setdefault(judgement.pair, []).append(judgement)
    return [_standing(list(pairs.values())) for pairs in groups.values()]


class Outcome(NamedTuple):
    """What came of a pair; `winner` where one company wins."""

    kind: Literal["win", "tie", "unreadable", "unfinished"]
    winner: str | None = None


def outcome(looks: Sequence[Judgement]) -> Outcome:
    """The outcome of one pair, of all looks that one judge had at it.

    A model sees it in both orders, and a company wins only when both looks prefer it; all else is a tie. A person sees
    it once, in an order drawn by lot.
    """
    if any(look.verdict is None for look in looks):
        return Outcome("unreadable")
    if looks[0].judge != HUMAN and len({look.first for look in looks}) < 2:
        return Outcome("unfinished")
    winners = {look.winner for look in looks}
    winner = winners.pop()
    return Outcome("tie") if winners or winner is None else Outcome("win", winner)


def wilson(count: int, total: int, confidence: float = 0.95) -> Interval:
    """The interval of a share (Wilson 1927), which holds for few pairs and shares near 0 and 1, too."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, weight = count / total, z * z / total
    middle = (share + weight / 2) / (1 + weight)
    reach = z * math.sqrt(share * (1 - share) / total + weight / (4 * total)) / (1 + weight)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _standing(pairs: Sequence[Sequence[Judgement]]) -> Standing:
    sample = pairs[0][0]
    one, other = sorted((sample.first, sample.second))
    outcomes = [outcome(looks) for looks in pairs]
    kinds, winners = Counter(each.kind for each in outcomes), Counter(each.winner for each in outcomes)
    twice = [looks for looks, each in zip(pairs, outcomes, strict=True)
             if len(looks) > 1 and each.kind in ("win", "tie")]
    preferring = [look.verdict == "first" for looks in pairs for look in looks if look.winner]
    return Standing(
        sample.judge, one, other, winners[one], winners[other], kinds["tie"], kinds["unreadable"], kinds["unfinished"],
        _share([len({look.winner for look in looks}) == 1 for looks in twice]), _share(preferring))


def _share(truths: Sequence[bool]) -> float | None:
    return sum(truths) / len(truths) if truths else None
