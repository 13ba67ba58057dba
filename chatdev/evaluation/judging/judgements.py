"""Judgements: kept as lines of JSON as soon as they are made, so that none is paid twice, and counted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, Self

from chatdev.batch.attempt import Expense
from chatdev.errors import JournalError
from chatdev.journal import Journal, read_journal
from chatdev.runner.recorded import check_fields
from chatdev.workspace.file_tree import explain_os_errors

Verdict = Literal["first", "second", "tie"]
Interval = tuple[float, float]

KIND = "Judgement"
HUMAN = "human"
"""The judge that is a person; every other one is the name of a model."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One look at a pair by one judge. `first` and `second` are the companies in the order in which they were shown;
    no `verdict` where the answer could not be read, and `why` is then what was wrong with it.

    `key` identifies the question, so that the answer holds as long as the question is the same; `pair` is the same
    in both orders. `cost` in US dollars, None where the price is unknown.
    """

    key: str
    pair: str
    task: str
    judge: str
    first: str
    second: str
    verdict: Verdict | None
    why: str = ""
    tokens: int = 0
    cost: float | None = 0.0

    @property
    def winner(self) -> str | None:
        """The company that is preferred; None for a tie, and where there is no verdict."""
        return {"first": self.first, "second": self.second}.get(self.verdict or "")

    @property
    def expense(self) -> Expense:
        """What it took."""
        return Expense(self.cost, self.tokens)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """The judgement that a line holds. Raises KeyError or TypeError."""
        check_fields(cls, record)
        if record.get("tokens", 0) < 0 or (record.get("cost") or 0) < 0:  # negative spending is refused
            raise TypeError("amount that was spent")
        return cls(**{field.name: record[field.name] for field in fields(cls)})


class JudgementFile:
    """The judgements in a file, which is made if missing and locked against other writers.

    Raises JournalError when it holds something else, WorkspaceError when it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        with explain_os_errors("make the folder of", path):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._journal = Journal(path)
        try:
            self._judgements = {judgement.key: judgement for judgement in read_judgements(path)}
        except JournalError:
            self._journal.close()
            raise

    def get(self, key: str) -> Judgement | None:
        """The answer to what `key` stands for, if there is one."""
        return self._judgements.get(key)

    def expense_of(self, judge: str) -> Expense:
        """What the judgements of this judge took."""
        return sum((each.expense for each in self._judgements.values() if each.judge == judge), Expense())

    async def add(self, judgement: Judgement) -> None:
        """Keep a judgement; it is on the disk when this returns."""
        self._journal.append(KIND, judgement.task, asdict(judgement))
        self._judgements[judgement.key] = judgement
        await self._journal.sync()

    def close(self) -> None:
        """Let go of the file."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_judgements(path: Path) -> list[Judgement]:
    """The judgements in a file. Raises JournalError when it holds something else."""
    found = []
    for number, record in enumerate(read_journal(path), start=1):
        try:
            found.append(Judgement.of(record))
        except (KeyError, TypeError) as error:
            raise JournalError(f"{path}, line {number}: no judgement (it has no {error}); give the file of judgements, "
                               "or a new one: --record FILE") from error
    return found


@dataclass(frozen=True, slots=True)
class Comparison:
    """How often one judge preferred `one` and `other`, in pairs. `unreadable` pairs have a look without a verdict,
    `unfinished` ones were seen in one order only; neither counts in the rates. `agreed`: the share of the pairs in
    which both orders name the same; `first_preferred`: the share of the verdicts that are no tie in which the software
    shown first is preferred. Shares lie between 0 and 1; None when there is nothing to share."""

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
    def decided_pairs(self) -> int:
        """The pairs that the rates are shares of."""
        return self.wins + self.losses + self.ties

    def rate(self, count: int) -> tuple[float, Interval] | None:
        """The share of so many of the decided pairs, with its 95 % interval; None without any."""
        return (count / self.decided_pairs, wilson(count, self.decided_pairs)) if self.decided_pairs else None


def compare_companies(judgements: Iterable[Judgement]) -> list[Comparison]:
    """One comparison for each judge and two companies, in the order in which they were met first."""
    groups: dict[tuple[str, frozenset[str]], dict[str, list[Judgement]]] = {}
    for judgement in judgements:
        group = groups.setdefault((judgement.judge, frozenset((judgement.first, judgement.second))), {})
        group.setdefault(judgement.pair, []).append(judgement)
    return [_compare(list(pairs.values())) for pairs in groups.values()]


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


def _compare(pairs: Sequence[Sequence[Judgement]]) -> Comparison:
    sample = pairs[0][0]
    one, other = sorted((sample.first, sample.second))
    outcomes = [outcome(looks) for looks in pairs]
    kinds, winners = Counter(each.kind for each in outcomes), Counter(each.winner for each in outcomes)
    return Comparison(
        sample.judge, one, other, winners[one], winners[other], kinds["tie"], kinds["unreadable"], kinds["unfinished"],
        _agreement(pairs, outcomes), _share_of_first(pairs))


def _agreement(pairs: Sequence[Sequence[Judgement]], outcomes: Sequence[Outcome]) -> float | None:
    """The share of the pairs seen in both orders whose looks name the same."""
    twice = [looks for looks, each in zip(pairs, outcomes, strict=True)
             if len(looks) > 1 and each.kind in ("win", "tie")]
    return _share([len({look.winner for look in looks}) == 1 for looks in twice])


def _share_of_first(pairs: Sequence[Sequence[Judgement]]) -> float | None:
    """The share of the verdicts with a winner that prefer what was shown first."""
    return _share([look.verdict == "first" for looks in pairs for look in looks if look.winner])


def _share(truths: Sequence[bool]) -> float | None:
    return sum(truths) / len(truths) if truths else None
