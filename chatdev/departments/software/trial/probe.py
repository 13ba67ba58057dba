"""Starts of a program beside its trial, each in a copy of a folder, and what can be seen of them without understanding
what is printed: whether they are carried out, change files, or go as with a word that nobody knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from chatdev.departments.software.cases.case import UNKNOWN, Case, Start
from chatdev.departments.software.toolchains.toolchain import BuiltSoftware
from chatdev.departments.software.toolchains.verdict import Finding, shows_usage
from chatdev.departments.software.trial.calling import Conventions
from chatdev.departments.software.trial.plan import command_words
from chatdev.errors import WorkspaceError
from chatdev.workspace.file_tree import read_tree

OF_ARGUMENTS = {"IndexError", "ValueError", "TypeError", "KeyError", "EOFError"}
"""Exceptions of a program that does not look at what it is given: it may be too little, or of another kind."""
_MOST_WORDS = 3
_MOST_STARTS, _MOST_ENDLESS = 150, 3
KeepingFault = Literal["", "crash", "unlisted", "unknown", "unchanged", "emptied", "another", "ignored", "asking",
                       "hidden", "split", "merged", "unmarked", "marked"]


@dataclass(frozen=True, slots=True)
class KeepingStart:
    """A start and its fault. Of what was added: `unlisted`, the list lacks it; `unknown`, a command treats it as an
    unknown item; `unchanged`, removing it changes no file; `emptied`, removing it removes all; `another`, removing it
    removes another item; `hidden`, no command lists it; `split`, one item is listed as several; `merged`, several as
    one; `unmarked`, a finished item is not marked; `marked`, an open one is. Of input: `ignored`, the program asks for
    what it was given; `asking`, it asks without end."""

    start: Start
    finding: Finding
    wrong: KeepingFault = ""


class NoTimeLeft(Exception):
    """The software was started as often as a trial may, or did not come to its end too often, which takes seconds."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Starts the software of a trial; `own` are the Tester's commands, with the files that lie there. Raises NoTimeLeft
    once the start budget is used up."""

    conventions: Conventions
    own: Case
    software: Mapping[str, bytes]
    _done: Counter[str] = field(default_factory=Counter)

    def words_of(self, row: str) -> list[str]:
        """The first commands of the plan or the software that are words of this row of wording.yaml."""
        return command_words(row, self.own, self.software)[:_MOST_WORDS]

    def is_command(self, folder: Path, start: Start) -> bool:
        """Whether the software knows the first word of a start."""
        finding, _ = self.try_alone(folder, start)
        return not self.is_like_unknown(folder, start, finding, 0)

    def is_like_unknown(self, folder: Path, start: Start, finding: Finding, place: int) -> bool:
        """Whether a start with an unknown word at a place of its arguments goes as this one went."""
        words = start.arguments
        other, _ = self.try_alone(folder, Start((*words[:place], UNKNOWN, *words[place + 1:]), start.stdin), words[0])
        return _without(finding, "") == _without(other, "") or (
            _without(finding, words[place]) == _without(other, UNKNOWN))

    def try_alone(self, folder: Path, start: Start, like: str = "") -> tuple[Finding, bool]:
        """How a start goes in a copy of a folder, and whether it changes files there."""
        with self.copy_of(folder) as copy:
            return self.run_and_look(copy, start, like)

    def copy_of(self, folder: Path) -> AbstractContextManager[Path]:
        """A copy of a folder, with what is there."""
        return BuiltSoftware(folder, self.conventions.built.scratch).copy({})

    def fresh_copy(self) -> AbstractContextManager[Path]:
        """A copy of the software as it is before anybody uses it."""
        return self.conventions.built.copy(self.own.files)

    def run_and_look(self, folder: Path, start: Start, like: str = "") -> tuple[Finding, bool]:
        """How a start goes in a folder, and whether it changes files there."""
        before = _files_in(folder)
        finding = self.run(folder, start, like)
        return finding, _files_in(folder) != before

    def run(self, folder: Path, start: Start, like: str = "") -> Finding:
        """How a start goes in a folder."""
        if self._done["starts"] >= _MOST_STARTS or self._done["endless"] > _MOST_ENDLESS:
            raise NoTimeLeft
        finding = self.conventions.run(folder, start, like)
        self._done.update(starts=1, endless=int(bool(finding.facts.get("still_running"))))
        return finding


def is_done(finding: Finding) -> bool:
    """Whether a command was carried out, as far as that can be seen."""
    return finding.rule == "clean_exit" and not shows_usage(finding)


def is_unclear(finding: Finding) -> bool:
    """Whether a command asks for more, or was given something else than it takes."""
    return finding.rule in ("asks_for_input", "crashed") or shows_usage(finding)


def _without(finding: Finding, word: str) -> tuple[str, object]:
    """What a program said and how it ended, without a word."""
    return finding.said.replace(word, "…") if word else finding.said, finding.facts.get("exit_status")


def _files_in(folder: Path) -> Mapping[str, bytes] | None:
    """What lies in a folder; None where that is nothing that a software has."""
    try:
        return read_tree(folder)
    except WorkspaceError:
        return None
