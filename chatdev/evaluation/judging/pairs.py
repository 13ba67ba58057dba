"""What there is to judge: two companies' software for the same task."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from chatdev.config.yaml_nodes import name_hint
from chatdev.engine.activity import digest
from chatdev.errors import ConfigError, JournalError
from chatdev.evaluation.measure import FinishedRun
from chatdev.evaluation.variants import names_side_by_side
from chatdev.workspace.file_tree import require_folder
from chatdev.workspace.snapshot import Software

if TYPE_CHECKING:  # the ledger needs the extra `eval`, folders are judged without it
    from chatdev.batch.ledger import LedgerEntry


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
