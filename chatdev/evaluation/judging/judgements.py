"""What there is to judge, and judgements, kept as lines of JSON at once, so that none is paid twice, and counted."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from chatdev.batch.attempt import Expense
from chatdev.config.yaml_nodes import name_hint
from chatdev.engine.context import digest
from chatdev.errors import ConfigError, JournalError
from chatdev.evaluation.measure import FinishedRun
from chatdev.evaluation.variants import names_side_by_side
from chatdev.journal import Journal, read_journal
from chatdev.runner.recorded import check_fields
from chatdev.workspace.file_tree import Software, explain_os_errors, require_folder

if TYPE_CHECKING:
    from chatdev.batch.ledger import LedgerEntry


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


# What there is to judge: two companies' software for the same task.


@dataclass(frozen=True, slots=True)
class Contender:
    """A company, or a variant of one, and the software that it made. Compared by what it made, wherever it lies."""

    company: str
    software: Software


@dataclass(frozen=True, slots=True)
class FinishedSoftware:
    """A finished run for a task. One that was broken off delivered nothing (as in `measure`)."""

    company: str
    folder: Path
    delivered: bool = True

    def load(self) -> Contender:
        """What it made. Raises WorkspaceError when it cannot be read."""
        if not self.delivered:
            return Contender(self.company, Software())
        require_folder(software := self.folder / "software")
        return Contender(self.company, Software.load(software))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two contenders for one task, in the order in which they are shown; `task` is what people call it."""

    task: str
    requirement: str
    first: Contender
    second: Contender

    @property
    def reversed_pair(self) -> Pair:
        """The same pair in the other order."""
        return replace(self, first=self.second, second=self.first)

    @property
    def key(self) -> str:
        """The same in both orders; another one as soon as a company, its software or the task is another."""
        return digest([self.requirement, *sorted([each.company, *_content(each.software)]
                                                 for each in (self.first, self.second))])


@dataclass(frozen=True, slots=True)
class Match:
    """A pair whose software is read when it is needed."""

    task: str
    requirement: str
    one: FinishedSoftware
    other: FinishedSoftware

    def load(self) -> Pair:
        """The pair. Raises WorkspaceError when the software cannot be read."""
        return Pair(self.task, self.requirement, self.one.load(), self.other.load())


@dataclass(frozen=True, slots=True)
class Matches:
    """The pairs that were found, and a line for each run that has no part in one."""

    found: Sequence[Match]
    left_out: Sequence[str] = ()


def pairs_of_study(entries: Iterable[LedgerEntry], folder: Path, variants: Sequence[str] = ()) -> Matches:
    """The pairs in the finished jobs of a study (`Study.jobs`), whose runs lie in `folder`: every two of `variants`
    (none: all there are) for every task, each time that it was run, that both have finished. Raises ConfigError for a
    variant that is not there, or is named alone."""
    tasks, texts = _finished_software([entry for entry in entries if entry.state == "done"], folder)
    found: list[Match] = []
    left_out: dict[str, None] = {}  # each once, however many it was to be compared with
    for one, other in combinations(_chosen_variants(variants, tasks), 2):
        for task, by_company in tasks.items():
            if one in by_company and other in by_company:
                found.append(Match(task, texts[task], by_company[one], by_company[other]))
            elif one in by_company or other in by_company:
                left_out[f"{task}: {other if one in by_company else one} has no finished run of it"] = None
    return Matches(found, list(left_out))


def _finished_software(done: Sequence[LedgerEntry],
                       folder: Path) -> tuple[dict[str, dict[str, FinishedSoftware]], dict[str, str]]:
    """By task and time, what every variant made; and the tasks' texts."""
    tasks: dict[str, dict[str, FinishedSoftware]] = {}
    texts: dict[str, str] = {}
    names = names_side_by_side(dict.fromkeys(entry.result["variant"] for entry in done))
    for row, text in ((entry.result, entry.spec["task"]["description"]) for entry in done):
        task = row["task"] if row.get("repeat", 1) == 1 else f"{row['task']}#{row['repeat']}"
        made = FinishedSoftware(names[row["variant"]], folder / row["folder"],
                                row["status"] not in ("error", "stopped"))
        tasks.setdefault(task, {})[made.company] = made
        texts[task] = text
    return tasks, texts


def _chosen_variants(variants: Sequence[str], tasks: Mapping[str, Mapping[str, FinishedSoftware]]) -> Sequence[str]:
    there = list(dict.fromkeys(name for made in tasks.values() for name in made))
    if missing := [name for name in variants if name not in there]:
        raise ConfigError(f"the study has no finished run of {missing[0]!r}; {name_hint(missing[0], there)}")
    if len(variants) == 1:
        raise ConfigError(f"only {variants[0]!r} is named; give two variants or more: --variants A,B")
    return variants or there


def pairs_of_folders(one: Path, other: Path) -> Matches:
    """The pairs in two folders of runs (two warehouses, or the folders of two variants of a study), by the text of
    their tasks. Raises ConfigError for a folder that is none, or that has two runs of one task."""
    if one.resolve() == other.resolve():
        raise ConfigError(f"{one} is given twice; give the folders of two companies, each with its runs")
    first, second = _runs(one), _runs(other)
    texts = list(dict.fromkeys([*first.runs, *second.runs]))
    found = [Match(_short(text), text, first.runs[text], second.runs[text]) for text in texts
             if text in first.runs and text in second.runs]
    alone = [f"{_short(text)}: {other if text in first.runs else one} has no finished run of it" for text in texts
             if not (text in first.runs and text in second.runs)]
    return Matches(found, [*first.left_out, *second.left_out, *alone])


@dataclass(slots=True)
class _Runs:
    runs: dict[str, FinishedSoftware]
    left_out: list[str]


def _runs(folder: Path) -> _Runs:
    """The finished runs in a folder by the text of their task."""
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}; give a folder that holds run folders, like a warehouse")
    found = _Runs({}, [])
    for path in _run_folders(folder):
        try:
            run = FinishedRun.read(path)
        except JournalError as error:
            found.left_out.append(str(error))
            continue
        if run.task in found.runs:
            raise ConfigError(f"two runs of one task are in {folder}: {found.runs[run.task].folder.name} and "
                              f"{path.name}; move one of them away")
        found.runs[run.task] = FinishedSoftware(str(folder), path, run.has_delivered)
    return found


def _run_folders(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.iterdir()) if (path / "run").is_dir())


def _short(text: str) -> str:
    return textwrap.shorten(text, 60, placeholder=" …")


def _content(software: Software) -> list[str]:
    return [digest([path, data.hex()]) for path, data in software.items()]
