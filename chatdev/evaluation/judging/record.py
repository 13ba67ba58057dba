"""Every judgement as a line of JSON, on the disk as soon as it is made: none is paid or asked for twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self

from chatdev.batch.attempt import Expense
from chatdev.errors import JournalError
from chatdev.journal import Journal, read_journal
from chatdev.workspace.file_tree import explain_os_errors

Verdict = Literal["first", "second", "tie"]

KIND = "Judgement"
HUMAN = "human"
"""The judge that is a person; every other one is the name of a model."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One look at a pair by one judge. `first` and `second` are the companies in the order in which they were shown;
    no `verdict` where the answer could not be read, and `why` is then what was wrong with it.

    `key` says what was asked, so that the answer holds as long as nobody would ask something else; `pair` is the same
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
    def spent(self) -> Expense:
        """What it took."""
        return Expense(self.cost, self.tokens)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """The judgement that a line holds. Raises KeyError."""
        return cls(**{field.name: record[field.name] for field in fields(cls)})


class Record:
    """The judgements in a file, which is made when it is missing; nobody else can write it meanwhile.

    Raises JournalError when it holds something else, WorkspaceError when it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        with explain_os_errors("make the folder of", path):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._journal = Journal(path)
        try:
            self._judgements = {judgement.key: judgement for judgement in judgements(path)}
        except JournalError:
            self._journal.close()
            raise

    def get(self, key: str) -> Judgement | None:
        """The answer to what `key` stands for, if there is one."""
        return self._judgements.get(key)

    def spent(self, judge: str) -> Expense:
        """What the judgements of this judge took."""
        return sum((each.spent for each in self._judgements.values() if each.judge == judge), Expense())

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


def judgements(path: Path) -> list[Judgement]:
    """The judgements in a file. Raises JournalError when it holds something else."""
    found = []
    for number, record in enumerate(read_journal(path), start=1):
        try:
            found.append(Judgement.of(record))
        except KeyError as error:
            raise JournalError(f"{path}, line {number}: no judgement (it has no {error}); give the file of judgements, "
                               "or a new one: --record FILE") from error
    return found
