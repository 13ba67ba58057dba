"""A trial of programs that keep things: what a user adds is listed, and is known to the commands that take it.

No request needs to say so. What a command says after something was added is compared with what it said before, and what
it does with that thing with what it does with something that nobody added; so no output has to be understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from chatdev.errors import WorkspaceError
from chatdev.tools.software.cases.case import Case, Start
from chatdev.tools.software.cases.wording import is_all_of, says
from chatdev.tools.software.listing import Listing
from chatdev.tools.software.plan import Plan, command_words, quoted_words
from chatdev.tools.software.session import Session
from chatdev.tools.software.toolchain import BuiltSoftware, Toolchain
from chatdev.tools.software.verdict import Finding
from chatdev.workspace.file_tree import read_tree

_UNKNOWN = "zq7"  # what nobody added, and no command
_MOST_WORDS, _MOST_VALUES = 3, 6
_MOST_COMMANDS = 12  # that may show what was added
_USAGE = re.compile(r"\busage\b", re.IGNORECASE)
_NUMBER = re.compile(r"\b\w*\d\w*\b")


@dataclass(frozen=True, slots=True)
class KeepingStart:
    """A start, and how it went: `unlisted` says the same as before something was added, `unknown` does with that what
    it does with something that nobody added, `unchanged` is to remove it, and leaves all files as they are, `emptied`
    removes everything with it, `another` something else, `ignored` asks for what it was given, and `hidden` is a list
    that there is not, nor anything else that shows what was added."""

    start: Start
    finding: Finding
    wrong: Literal["", "crash", "unlisted", "unknown", "unchanged", "emptied", "another", "ignored",
                   "hidden"] = ""


def try_keeping(toolchain: Toolchain, built: BuiltSoftware, plan: Plan,
                software: Mapping[str, bytes]) -> list[KeepingStart]:
    """Go through the Tester's own commands and look at what the program keeps of them. What goes wrong, after what was
    added; else the commands for it that are not in the plan. Empty for software that keeps nothing."""
    if plan.own is None:
        return []
    trial = _Keeping(toolchain, built, plan.own, software, may_ask=says("dialogue", plan.request))
    with built.copy(plan.own.files) as folder:
        trial.go_through(folder)
    early, wrong = trial.crashes_at_nothing(), [one for one in trial.tried if one.wrong]
    if early or wrong:
        return [*early, *(trial.added[:1] if wrong else ()), *wrong]
    planned = {start.arguments[:1] for start in plan.own.starts}
    return [one for one in trial.tried if one.start.arguments[:1] not in planned]


@dataclass(slots=True)
class _Keeping:
    """What the plan adds, and the commands that list it or take it. `may_ask` says that users want to be asked."""

    toolchain: Toolchain
    built: BuiltSoftware
    own: Case
    software: Mapping[str, bytes]
    may_ask: bool
    added: list[KeepingStart] = field(default_factory=list)
    tried: list[KeepingStart] = field(default_factory=list)
    _adders: dict[str, str] = field(default_factory=dict)
    """The command by which each thing was added that nothing has taken yet."""
    _heard: str = ""
    """What was said of the things that were added: they may be called so."""
    _judged: set[str] = field(default_factory=set)
    _listings: dict[str, Listing] = field(default_factory=dict)
    _first: dict[str, Finding] = field(default_factory=dict)
    """How each list went before anything was added."""
    _keeps_files: bool = False

    def go_through(self, folder: Path) -> None:
        """Carry out the plan in a folder, and judge what lists and what takes on the way: each command once, where
        there is first something for it. What comes later may rightly find nothing."""
        for word in self._words_of("lists"):
            self._first[word] = self._run(folder, Start((word,)))
            self._listings[word] = Listing(_text_of(self._first[word]), _text_of(self._first[word]))
        for start in self.own.starts:
            if self.added:
                self._judge_planned(folder, start)
            finding, changed = self._run_and_look(folder, start)
            if finding.rule == "started":
                return  # each start that does not end takes seconds
            if finding.rule == "asks_for_input":
                self._judge_asking(folder, start, finding)
            if _is_added(start, finding, changed=changed):
                self._note_added(start, finding)
                self._keeps_files |= changed
                self._note_listings(folder, start)
        if self.added:
            self._judge_removals(folder)
            self._judge_lists(folder)

    def crashes_at_nothing(self) -> list[KeepingStart]:
        """The lists that crash before anything is added, and later do not."""
        return [KeepingStart(Start((word,)), finding, "crash") for word, finding in self._first.items()
                if finding.rule == "crashed" and self._listings[word].growths]

    def _note_added(self, start: Start, finding: Finding) -> None:
        self.added.append(KeepingStart(start, finding))
        self._heard += _text_of(finding)
        for word in start.arguments[1:3]:
            self._adders.setdefault(word, start.arguments[0])

    def _note_listings(self, folder: Path, added: Start) -> None:
        """Note which lists say something else now that something was added."""
        for word, listing in self._listings.items():
            finding = self._run(folder, Start((word,)))
            if finding.rule != "crashed" and listing.note(_text_of(finding), added) and len(listing.growths) == 1:
                self._heard += listing.now
                self.tried.append(KeepingStart(Start((word,)), finding))

    def _judge_lists(self, folder: Path) -> None:
        """Lists that never said anything else, where no other one did."""
        if any(listing.growths for listing in self._listings.values()):
            return
        for start in (Start((word,)) for word in self._listings):
            if _is_done(finding := self._run(folder, start)) and self._is_command(folder, start):
                self.tried.append(KeepingStart(start, finding, "unlisted"))
                return
        if self._keeps_files and not self.tried:
            self._judge_hidden(folder)

    def _judge_hidden(self, folder: Path) -> None:
        """A list of the plan that the program does not know, where nothing else shows what was added."""
        lists = [Start((word,)) for word in self._listings]
        unknown = [start for start in lists if not self._is_command(folder, start)]
        words = [(), *((word,) for word in quoted_words(self.software)[:_MOST_COMMANDS])]
        if unknown and not any(self._shows(folder, Start(one)) for one in words):
            self.tried.append(KeepingStart(unknown[0], self._run(folder, unknown[0]), "hidden"))

    def _shows(self, folder: Path, start: Start) -> bool:
        """Whether a start says something else now than before anything was added, or knows what was added by name."""
        finding, _ = self._try_alone(folder, start)
        with self.built.copy(self.own.files) as fresh:
            if _is_done(finding) and _text_of(self._run(fresh, start)) != _text_of(finding):
                return True
        named = Start((*start.arguments, *self.added[0].start.arguments[1:2]))
        return bool(start.arguments) and not self._is_like_unknown(folder, named, self._try_alone(folder, named)[0], 1)

    def _judge_asking(self, folder: Path, start: Start, finding: Finding) -> None:
        """A start with a command that asks for input, and does the same without what it was given."""
        if self.may_ask or start.stdin or len(start.arguments) < 2 or any(one.wrong == "ignored" for one in self.tried):
            return
        bare, _ = self._try_alone(folder, Start(start.arguments[:1]))
        if bare.rule == finding.rule and _text_of(bare) == _text_of(finding) and self._is_command(folder, start):
            self.tried.append(KeepingStart(start, finding, "ignored"))

    def _judge_planned(self, folder: Path, start: Start) -> None:
        """A start of the plan, if it is the first to remove something, or to take what another command added."""
        word, *rest = start.arguments or ("",)
        if is_all_of("removes", word):
            self._judge_removals(folder)
        elif rest and self._adders.pop(rest[0], word) != word:
            self._judge_taker(folder, start, rest[:1], must_change=False)

    def _judge_removals(self, folder: Path) -> None:
        """The commands that remove something, in the plan or not, while nothing is removed."""
        for word in self._words_of("removes"):
            start = next((one for one in self.own.starts if one.arguments[:1] == (word,)), Start((word,)))
            self._judge_taker(folder, start, [*start.arguments[1:2], *self._names()], must_change=self._keeps_files)

    def _names(self) -> list[str]:
        """What something that was added may be called: its words, its number, or what the program said of it."""
        words = [word for word in self._adders if not word.startswith("-")]
        return [*words[:3], "1", *_NUMBER.findall(self._heard), "0"]

    def _judge_taker(self, folder: Path, start: Start, values: Sequence[str], *, must_change: bool) -> None:
        """How a command takes what was added, called by whichever of these values."""
        word, rest = start.arguments[0], start.arguments[2:]
        starts = [Start((word, value, *rest), start.stdin) for value in dict.fromkeys(values)][:_MOST_VALUES]
        if word in self._judged or not self._is_command(folder, starts[0]):
            return
        self._judged.add(word)
        outcomes = list(self._take_each(folder, starts, must_change=must_change))
        if outcomes and not outcomes[-1].wrong:
            start = outcomes[-1].start
            self.tried += [outcomes[-1], *self._crash_at_last(folder, start), *self._judge_rest(folder, start)]
        else:
            self.tried += sorted(outcomes, key=lambda one: one.wrong)[:1]

    def _take_each(self, folder: Path, starts: Sequence[Start], *, must_change: bool) -> Iterator[KeepingStart]:
        """How these starts go, as far as that can be told, up to the first that takes something or does not end."""
        for start in starts:
            finding, changed = self._try_alone(folder, start)
            if finding.rule == "started":
                yield KeepingStart(start, finding)
                return
            is_known = changed or not self._is_like_unknown(folder, start, finding, 1)
            if _is_unclear(finding) or (is_known and not _is_done(finding)):
                continue
            wrong = _wrong_of(changed=changed or not must_change, is_known=is_known)
            yield KeepingStart(start, finding, wrong)
            if not wrong:
                return

    def _crash_at_last(self, folder: Path, start: Start) -> list[KeepingStart]:
        """The crash of a command that takes the first thing by its number, at the last one."""
        word, number, *rest = start.arguments
        last = Start((word, str(len(self.added)), *rest), start.stdin)
        if number != "1" or last == start:
            return []
        finding, _ = self._try_alone(folder, last)
        return [KeepingStart(last, finding, "crash")] if finding.rule == "crashed" else []

    def _judge_rest(self, folder: Path, start: Start) -> list[KeepingStart]:
        """A start that removes something, if it does not leave everything else in the lists."""
        word, name = start.arguments[:2]
        if not is_all_of("removes", word):
            return []
        with self._copy_of(folder) as copy:
            finding = self._run(copy, start)
            wrongs = [listing.wrong_without(name, _text_of(self._run(copy, Start((one,)))))
                      for one, listing in self._listings.items() if listing.growths]
        return [KeepingStart(start, finding, wrong) for wrong in wrongs if wrong][:1]

    def _words_of(self, row: str) -> list[str]:
        return command_words(row, self.own, self.software)[:_MOST_WORDS]

    def _is_command(self, folder: Path, start: Start) -> bool:
        """Whether the software knows the first word of a start."""
        finding, _ = self._try_alone(folder, start)
        return not self._is_like_unknown(folder, start, finding, 0)

    def _is_like_unknown(self, folder: Path, start: Start, finding: Finding, place: int) -> bool:
        """Whether a start with an unknown word at a place of its arguments goes as this one went."""
        words = start.arguments
        other, _ = self._try_alone(folder, Start((*words[:place], _UNKNOWN, *words[place + 1:]), start.stdin))
        return _without(finding, "") == _without(other, "") or (
            _without(finding, words[place]) == _without(other, _UNKNOWN))

    def _try_alone(self, folder: Path, start: Start) -> tuple[Finding, bool]:
        """How a start goes in a copy of a folder, and whether it changes files there."""
        with self._copy_of(folder) as copy:
            return self._run_and_look(copy, start)

    def _copy_of(self, folder: Path) -> AbstractContextManager[Path]:
        return BuiltSoftware(folder, self.built.scratch).copy({})

    def _run_and_look(self, folder: Path, start: Start) -> tuple[Finding, bool]:
        before = _files_in(folder)
        finding = self._run(folder, start)
        return finding, _files_in(folder) != before

    def _run(self, folder: Path, start: Start) -> Finding:
        return self.toolchain.start(folder, Session(start.arguments, tuple((start.stdin or "").splitlines())))


def _is_added(start: Start, finding: Finding, *, changed: bool) -> bool:
    """Whether a start added something, as far as that can be seen."""
    word, *rest = start.arguments or ("",)
    claims = changed or is_all_of("adds", word) or says("claims", _text_of(finding))
    return bool(rest) and not start.stdin and claims and _is_done(finding) and not is_all_of("removes", word)


def _is_done(finding: Finding) -> bool:
    """Whether a command was carried out, as far as that can be seen."""
    return finding.rule == "clean_exit" and not _USAGE.search(_text_of(finding))


def _is_unclear(finding: Finding) -> bool:
    """Whether a command asks for more, or was given something else than it takes."""
    return finding.rule in ("asks_for_input", "crashed") or bool(_USAGE.search(_text_of(finding)))


def _wrong_of(*, changed: bool, is_known: bool) -> Literal["", "unknown", "unchanged"]:
    if not is_known:
        return "unknown"
    return "" if changed else "unchanged"


def _text_of(finding: Finding) -> str:
    return "\n".join(finding.facts.get("streams", ()))


def _without(finding: Finding, word: str) -> tuple[str, object]:
    """What a program said and how it ended, without a word."""
    text = _text_of(finding)
    return text.replace(word, "…") if word else text, finding.facts.get("exit_status")


def _files_in(folder: Path) -> Mapping[str, bytes] | None:
    """What lies in a folder; None where that is nothing that a software has."""
    try:
        return read_tree(folder)
    except WorkspaceError:
        return None
