"""A person as the judge: pairs in an order drawn by lot, without names, each seen once."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from chatdev.engine.activity import digest
from chatdev.evaluation.judging.pairs import Match, Pair
from chatdev.evaluation.judging.record import HUMAN, Judgement, Record, Verdict


def shuffled(matches: Sequence[Match], record: Record, seed: int = 0) -> Iterator[Pair]:
    """The pairs that the record has no choice for, in an order and with sides drawn by lot; `seed` draws the same
    again. Which side a pair shows first does not depend on the other pairs. Raises WorkspaceError."""
    for match in random.Random(seed).sample(matches, len(matches)):
        pair = match.load()
        if not record.get(key(pair)):
            yield pair.turned if random.Random(f"{seed} {pair.key}").random() < 0.5 else pair


def chosen(pair: Pair, verdict: Verdict) -> Judgement:
    """A person's choice."""
    return Judgement(key(pair), pair.key, pair.task, HUMAN, pair.first.company, pair.second.company, verdict)


def known(matches: Sequence[Match], record: Record) -> list[Judgement]:
    """The choices that the record has for these pairs."""
    found = (record.get(key(match.load())) for match in matches)
    return [judgement for judgement in found if judgement]


def key(pair: Pair) -> str:
    """The same in both orders."""
    return digest([HUMAN, pair.key])
