"""Starts of a program beside its trial, each in a copy of a folder: how it takes its commands, and what can be seen of
them without understanding what is printed (whether they are carried out, or change files)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from chatdev.departments.software.cases.case import UNKNOWN, Case, Start
from chatdev.departments.software.toolchains.toolchain import BuiltSoftware, Toolchain
from chatdev.departments.software.toolchains.verdict import Finding, shows_usage
from chatdev.departments.software.trial.plan import command_words
from chatdev.errors import WorkspaceError
from chatdev.workspace.file_tree import read_tree

# The calling convention where the request shows none: from the arguments, or typed when the program asks.

LACKS = re.compile(r"IndexError|ValueError: not enough values|TypeError: .* missing \d+ required")
"""What programs die of that look for more arguments than there are."""
_MOST_LACKING = 2
_MORE = "1"  # what may be a number as well as a word
_IS_OVER = {"exit_status": 0, "frames": (), "exception": "", "stderr": ""}


@dataclass(frozen=True, slots=True)
class Convention:
    """How many words of a command are arguments, None for all; the others are typed, each in a line or all in one. A
    program without arguments is talked to: it asks for the next command until nobody says anything."""

    arguments: int | None = None
    apart: bool = True
    least: int = 0
    """Words that a command needs; what a plan lacks is filled up."""

    def adapt(self, start: Start) -> Start:
        """What is done instead with a program that follows this convention."""
        if start.stdin is not None:
            return start
        words = (*start.arguments, *[_MORE] * (self.least - len(start.arguments)))
        given, typed = words[:self.arguments], words[self.arguments:] if self.arguments is not None else ()
        lines = "".join(f"{word}\n" for word in typed) if self.apart else " ".join(typed) + "\n"
        return Start(given, lines if typed else None)

    def without_prompt(self, finding: Finding) -> Finding:
        """How it went, without the prompt for the next command of one that is talked to."""
        if self.arguments != 0 or finding.rule != "asks_for_input":
            return finding
        said = str(finding.facts["streams"][0])
        prompt = said.rpartition("\n")[2]
        return replace(finding, rule="clean_exit", facts={
            **finding.facts, **_IS_OVER, "streams": (said.replace(prompt, "") if prompt.strip() else said, "")})


_ARGUMENTS, _ANSWERS, _LINE, _LINES = Convention(), Convention(1), Convention(0, apart=False), Convention(0)


@dataclass(frozen=True, slots=True)
class Conventions:
    """Starts software by the convention of each command, which is found when that comes first. `is_open`: nobody has
    said how its commands are given."""

    toolchain: Toolchain
    built: BuiltSoftware
    is_open: bool
    _found: dict[str, Convention] = field(default_factory=dict)

    def run(self, folder: Path, start: Start) -> Finding:
        """How a start goes in a folder, by the convention of its command."""
        command = next(iter(start.arguments), "")
        if self.is_open and command and start.stdin is None and command not in self._found:
            first = self._run(folder, start)
            with suppress(WorkspaceError):  # what cannot be copied is known by its arguments alone
                if found := self._find(folder, start, first):
                    self._found[command] = found
            if self._found.get(command, _ARGUMENTS) is _ARGUMENTS:
                return first
        convention = self._found.get(command, _ARGUMENTS)
        return convention.without_prompt(self._run(folder, convention.adapt(start)))

    def adapt(self, start: Start) -> Start:
        """What was done instead of a start."""
        return self._found.get(next(iter(start.arguments), ""), _ARGUMENTS).adapt(start)

    def _find(self, folder: Path, start: Start, first: Finding) -> Convention | None:
        """The convention by which a program knows the command, from how it went with its words as arguments; None where
        another start may tell."""
        has_more = len(start.arguments) > 1
        found = next((convention for convention in _possible(start, first)
                      if self._ignores_rest(folder, start, convention, first)
                      and self._is_known(folder, start, convention)), None)
        return found or (_ARGUMENTS if has_more or first.rule != "asks_for_input" else None)

    def _ignores_rest(self, folder: Path, start: Start, convention: Convention, first: Finding) -> bool:
        """Whether a program asks the same without the words that are typed by this convention."""
        if convention.arguments is None:
            return True
        return self._try(folder, Start(start.arguments[:convention.arguments])).said == first.said

    def _is_known(self, folder: Path, start: Start, convention: Convention) -> bool:
        """Whether a command is taken by a convention, and not as one that nobody knows would be."""
        finding = convention.without_prompt(self._try(folder, convention.adapt(start)))
        word, *rest = start.arguments
        other = convention.without_prompt(self._try(folder, convention.adapt(Start((UNKNOWN, *rest)))))
        if finding.rule in ("asks_for_input", "started") or _lacks_words(finding):
            return False
        return finding.said != other.said and finding.said.replace(word, "") != other.said.replace(UNKNOWN, "")

    def _try(self, folder: Path, start: Start) -> Finding:
        with BuiltSoftware(folder, self.built.scratch).copy({}) as copy:
            return self._run(copy, start)

    def _run(self, folder: Path, start: Start) -> Finding:
        return self.toolchain.start(folder, start)


def _possible(start: Start, first: Finding) -> Iterator[Convention]:
    """The other conventions that are worth a try, by how a start went with its words as arguments."""
    has_more = len(start.arguments) > 1
    if first.rule == "asks_for_input":
        yield from (_ANSWERS, _LINE, _LINES) if has_more else (_LINE,)
    elif has_more and _lacks_words(first):
        yield from (Convention(least=len(start.arguments) + more) for more in range(1, _MOST_LACKING + 1))


def _lacks_words(finding: Finding) -> bool:
    """Whether a program shows how it is used, or dies of too few arguments."""
    return bool(LACKS.search(str(finding.facts.get("exception", "")))) or shows_usage(finding)


# Starts in a copy of a folder, and what can be seen of them.

OF_ARGUMENTS = {"IndexError", "ValueError", "TypeError", "KeyError", "EOFError"}
"""Exceptions of a program that does not look at what it is given: it may be too little, or of another kind."""
_MOST_WORDS = 3
_MOST_STARTS, _MOST_ENDLESS = 150, 3


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

    def try_alone(self, folder: Path, start: Start) -> tuple[Finding, bool]:
        """How a start goes in a copy of a folder, and whether it changes files there."""
        with self.copy_of(folder) as copy:
            return self.run_and_look(copy, start)

    def copy_of(self, folder: Path) -> AbstractContextManager[Path]:
        """A copy of a folder, with what is there."""
        return BuiltSoftware(folder, self.conventions.built.scratch).copy({})

    def fresh_copy(self) -> AbstractContextManager[Path]:
        """A copy of the software as it is before anybody uses it."""
        return self.conventions.built.copy(self.own.files)

    def run_and_look(self, folder: Path, start: Start) -> tuple[Finding, bool]:
        """How a start goes in a folder, and whether it changes files there."""
        before = _files_in(folder)
        finding = self.run(folder, start)
        return finding, _files_in(folder) != before

    def run(self, folder: Path, start: Start) -> Finding:
        """How a start goes in a folder."""
        if self._done["starts"] >= _MOST_STARTS or self._done["endless"] > _MOST_ENDLESS:
            raise NoTimeLeft
        finding = self.conventions.run(folder, start)
        self._done.update(starts=1, endless=int(bool(finding.facts.get("still_running"))))
        return finding


def is_done(finding: Finding) -> bool:
    """Whether a command was carried out, as far as that can be seen."""
    return finding.rule == "clean_exit" and not shows_usage(finding)


def _files_in(folder: Path) -> Mapping[str, bytes] | None:
    """What lies in a folder; None where that is nothing that a software has."""
    try:
        return read_tree(folder)
    except WorkspaceError:
        return None
