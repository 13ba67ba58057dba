"""A trial of programs that keep things: what a user adds is listed, and can be removed.

No request needs to say so. It is asked of programs that have such commands, and what a command does with the thing that
was added is compared with what it does where nobody added it, so no output has to be understood.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chatdev.errors import WorkspaceError
from chatdev.tools.software.cases.case import Case, Start
from chatdev.tools.software.cases.wording import is_all_of, wording
from chatdev.tools.software.session import Session
from chatdev.tools.software.toolchain import BuiltSoftware, Toolchain
from chatdev.tools.software.verdict import Finding
from chatdev.workspace.file_tree import read_tree

_UNKNOWN = "zq7"  # what nobody added, and no command
_MOST_WORDS, _MOST_VALUES = 3, 5
_LONGEST_SOURCE = 200_000  # characters in which commands are looked for
_USAGE = re.compile(r"\busage\b", re.IGNORECASE)
_NUMBER = re.compile(r"\b\w*\d\w*\b")


@dataclass(frozen=True, slots=True)
class KeepingStart:
    """A start, and how it went: `unlisted` says the same as before something was added, `unremoved` does with that what
    it does with something that nobody added."""

    start: Start
    finding: Finding
    wrong: Literal["", "unlisted", "unremoved"] = ""


def try_keeping(toolchain: Toolchain, built: BuiltSoftware, own: Case,
                software: Mapping[str, bytes]) -> list[KeepingStart]:
    """Add what the Tester's `own` plan adds first, list it, and remove it. What goes wrong, with what was done before
    it; else the commands that are not in the plan. Empty for software without such commands."""
    place = next((number for number, start in enumerate(own.starts) if _adds(start)), None)
    if place is None:
        return []
    adding, trial = own.starts[place], _Keeping(toolchain, built)
    lists, removals = (_words_of(row, own, software) for row in ("lists", "removes"))
    with built.copy(own.files) as folder:
        for start in own.starts[:place]:
            trial.run(folder, start)
        before = [trial.run(folder, Start((word,))) for word in lists]
        added = KeepingStart(adding, trial.run(folder, adding))
        if not _is_done(added.finding):
            return []
        listing = trial.judge_lists(folder, lists, before)
        said = _said(added.finding) + "".join(_said(one.finding) for one in listing)
        removed = [trial.judge_removal(folder, word, _values(adding, said)) for word in removals]
    tried = [*listing, *filter(None, removed)]
    if wrong := [one for one in tried if one.wrong]:
        return [added, *wrong]
    planned = {start.arguments[:1] for start in own.starts}
    return [one for one in tried if one.start.arguments[:1] not in planned]


@dataclass(frozen=True, slots=True)
class _Keeping:
    """The starts of one software."""

    toolchain: Toolchain
    built: BuiltSoftware

    def run(self, folder: Path, start: Start) -> Finding:
        """How a start went in a folder."""
        return self.toolchain.start(folder, Session(start.arguments, tuple((start.stdin or "").splitlines())))

    def judge_lists(self, folder: Path, words: list[str], before: list[Finding]) -> list[KeepingStart]:
        """The first command that lists what was added; where none does, the first that lists at all, as wrong."""
        wrong = list[KeepingStart]()
        for word, earlier in zip(words, before, strict=True):
            start = Start((word,))
            finding = self.run(folder, start)
            if not _is_done(finding) or not self._is_command(folder, start):
                continue
            if _said(finding) != _said(earlier):
                return [KeepingStart(start, finding)]
            wrong.append(KeepingStart(start, finding, "unlisted"))
        return wrong[:1]

    def judge_removal(self, folder: Path, word: str, values: list[str]) -> KeepingStart | None:
        """How a command removes what was added, by whichever of these values; None where that cannot be told."""
        if not self._is_command(folder, Start((word, values[0]))):
            return None
        in_vain = list[KeepingStart]()
        for start in (Start((word, value)) for value in values):
            finding, changed = self._try_alone(folder, start)
            is_found = changed or not self._is_like_unknown(folder, start, finding, 1)
            if is_found and _is_done(finding):
                return KeepingStart(start, finding)
            if not is_found and not _is_unclear(finding):
                in_vain.append(KeepingStart(start, finding, "unremoved"))
        return next(iter(in_vain), None)

    def _is_command(self, folder: Path, start: Start) -> bool:
        """Whether the software knows the first word of a start."""
        finding, _ = self._try_alone(folder, start)
        return not self._is_like_unknown(folder, start, finding, 0)

    def _is_like_unknown(self, folder: Path, start: Start, finding: Finding, place: int) -> bool:
        """Whether a start with an unknown word at a place of its arguments goes as this one went."""
        words = start.arguments
        other, _ = self._try_alone(folder, Start((*words[:place], _UNKNOWN, *words[place + 1:])))
        return _without(finding, words[place]) == _without(other, _UNKNOWN)

    def _try_alone(self, folder: Path, start: Start) -> tuple[Finding, bool]:
        """How a start goes in a copy of a folder, and whether it changes files there."""
        with BuiltSoftware(folder, self.built.scratch).copy({}) as copy:
            before = _files_in(copy)
            finding = self.run(copy, start)
            return finding, _files_in(copy) != before


def _adds(start: Start) -> bool:
    return len(start.arguments) > 1 and not start.stdin and is_all_of("adds", start.arguments[0])


def _words_of(row: str, own: Case, software: Mapping[str, bytes]) -> list[str]:
    """The commands of a row of the table that are in the plan, or stand between quotes in the software."""
    planned = [start.arguments[0] for start in own.starts if start.arguments and is_all_of(row, start.arguments[0])]
    sources = [data.decode("utf-8", "replace")[:_LONGEST_SOURCE] for data in software.values()]
    quoted = [word for word in wording()[row] if any(f'"{word}"' in text or f"'{word}'" in text for text in sources)]
    return list(dict.fromkeys((*planned, *quoted)))[:_MOST_WORDS]


def _values(adding: Start, said: str) -> list[str]:
    """By what a thing that was added may be called: its words, its number, or what the program said of it."""
    words = [word for word in adding.arguments[1:] if not word.startswith("-")]
    return list(dict.fromkeys((*words[:2], "1", *_NUMBER.findall(said), "0")))[:_MOST_VALUES]


def _is_done(finding: Finding) -> bool:
    """Whether a command was carried out, as far as that can be seen."""
    return finding.rule == "clean_exit" and not _USAGE.search(_said(finding))


def _is_unclear(finding: Finding) -> bool:
    """Whether a command asks for more, or was given something else than it takes."""
    return finding.rule in ("asks_for_input", "started", "crashed") or bool(_USAGE.search(_said(finding)))


def _said(finding: Finding) -> str:
    return "\n".join(finding.facts.get("streams", ()))


def _without(finding: Finding, word: str) -> tuple[str, object]:
    """What a program said and how it ended, without a word."""
    return _said(finding).replace(word, "…"), finding.facts.get("exit_status")


def _files_in(folder: Path) -> Mapping[str, bytes] | None:
    """What lies in a folder; None where that is nothing that a software has."""
    try:
        return read_tree(folder)
    except WorkspaceError:
        return None
