"""A trial of programs that keep things: what a user adds is listed, and is known to the commands that take it.

No request needs to say so. What a command says after something was added is compared with what it said before, and what
it does with that thing with what it does with something that nobody added; so no output has to be understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from chatdev.departments.software.cases.case import UNKNOWN, Start
from chatdev.departments.software.cases.wording import is_all_of, says
from chatdev.departments.software.toolchains.verdict import Finding
from chatdev.departments.software.trial.plan import Plan, quoted_words
from chatdev.departments.software.trial.probe import (
    OF_ARGUMENTS,
    Conventions,
    KeepingStart,
    NoTimeLeft,
    Probe,
    is_done,
    is_unclear,
)
from chatdev.departments.software.trial.sense import names
from chatdev.errors import WorkspaceError

# What a command lists before anything was added, while things are added, and when one is removed.

_LONG = 4  # characters of a thing that is in no other word by chance
_NUMBERED = re.compile(r"\W*(\d+)\b")


@dataclass(slots=True)
class Listing:
    """It said `before`, and says `now`; `growths` are the additions after which it said something else."""

    before: str
    now: str
    growths: list[Start] = field(default_factory=list)
    _new: list[str] = field(default_factory=list)
    """The lines that were not there before the last addition."""

    def note(self, text: str, added: Start) -> bool:
        """Note what it says after an addition; whether that is something else."""
        if text == self.now:
            return False
        self._new = [line for line in text.splitlines() if line not in self.now.splitlines()]
        self.now = text
        self.growths.append(added)
        return True

    def is_split(self, added: Start) -> bool:
        """Whether it shows the thing of several words that was added last as so many things: a word in a line each."""
        words = added.arguments[1].casefold().split()
        found = [[word for word in words if word in line.casefold()] for line in self._new]
        return len(words) > 1 and sorted(word for line in found for word in line) == sorted(words) and (
            max(map(len, found)) == 1)

    @property
    def is_merged(self) -> bool:
        """Whether it shows one thing right behind another one, without anything between."""
        return self._merges(self.now)

    def wrong_without(self, name: str, text: str) -> Literal["", "emptied", "another", "merged"]:
        """What is wrong when it says `text` once the thing called so is removed: it says what it said before anything
        was added, that thing is still there and another one is gone, or two that are left are shown as one."""
        if text == self.before and self._has_more_than(name):
            return "emptied"
        if self._merges(text):
            return "merged"
        thing, gone = self._thing_called(name), {thing for thing in self._things() if thing not in text}
        return "another" if gone and thing and thing in text else ""

    def _has_more_than(self, name: str) -> bool:
        others = [start for start in self.growths if name not in start.arguments]
        return len(others) > (0 if len(others) < len(self.growths) else 1)

    def _merges(self, text: str) -> bool:
        things = self._things()
        long = [thing for thing in things if len(thing) >= _LONG]
        pairs = (f"{one}{other}" for one in long for other in long)
        return any(pair in text and not any(pair in thing for thing in things) for pair in pairs)

    def _things(self) -> set[str]:
        """What was added and is shown, as it was typed."""
        words = {word for start in self.growths for word in start.arguments[1:2]}
        return {word for word in words if word in self.now and not word.isdigit()}

    def _thing_called(self, name: str) -> str:
        """The thing of this name, or the one in the only line that begins with this number; empty for none."""
        if name in self._things():
            return name
        lines = [line for line in self.now.splitlines() if (found := _NUMBERED.match(line)) and found[1] == name]
        things = [thing for thing in self._things() if lines and thing in lines[0]]
        return things[0] if len(lines) == len(things) == 1 else ""


# The trial.

_MOST_VALUES = 6
_MOST_COMMANDS = 12  # that may show what was added
_NUMBER = re.compile(r"\b\w*\d\w*\b")
_ANSWERS = "1\ny\ntoday\n\n2\nn\nq\nhome\n"  # to whatever a command may want to know
_ASKING = ("ignored", "asking")
_MISSING = re.compile(r"TypeError: .* missing \d+ required")


@dataclass(frozen=True, slots=True)
class Kept:
    """What a program keeps: what goes wrong, after what was added; else the commands for it that are not in the plan.
    `confirmed`: something that was added is then listed or taken, and nothing goes wrong."""

    starts: Sequence[KeepingStart] = ()
    confirmed: bool = False


def try_keeping(conventions: Conventions, plan: Plan, software: Mapping[str, bytes]) -> Kept:
    """Go through the Tester's own commands and look at what the program keeps of them."""
    if plan.own is None:
        return Kept()
    trial = _Keeping(Probe(conventions, plan.own, software), may_ask=says("dialogue", plan.request))
    with suppress(WorkspaceError, NoTimeLeft):  # it may leave what cannot be copied, such as a named pipe
        with trial.probe.fresh_copy() as folder:
            trial.go_through(folder)
        trial.judge_marks(plan.request)
    return _sum_up(trial, plan, {start.arguments[:1] for start in plan.own.starts})


def _sum_up(trial: _Keeping, plan: Plan, planned: set[tuple[str, ...]]) -> Kept:
    early, wrong = trial.crashes_at_nothing(), [one for one in trial.tried if _is_fault(one, plan)]
    if early or wrong:
        return Kept([*early, *trial.added[:len(wrong[:1])], *wrong])
    right = [one for one in trial.tried if not one.wrong]
    return Kept([one for one in right if one.start.arguments[:1] not in planned], confirmed=bool(right))


def _is_fault(one: KeepingStart, plan: Plan) -> bool:
    """Whether something wrong is the program's fault: a command that only the Tester has, and that it takes in another
    way, or not at all, is none."""
    return one.wrong != "" and (one.wrong not in (*_ASKING, "hidden") or names(one.start, plan))


@dataclass(slots=True)
class _Keeping:
    """What the plan adds, and the commands that list it or take it. `may_ask` says that users want to be asked."""

    probe: Probe
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
        self._note_first(folder)
        for start in self.probe.own.starts:
            if self.added:
                self._judge_planned(folder, start)
            finding, changed = self.probe.run_and_look(folder, start)
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

    def judge_marks(self, request: str) -> None:
        """Judge what the lists mark as finished."""
        lists = [word for word, listing in self._listings.items() if listing.growths]
        added = [one.start for one in self.added]
        self.tried += judge_marks(self.probe, added, lists, self._names(), request)

    def crashes_at_nothing(self) -> list[KeepingStart]:
        """The lists that crash before anything is added, and later do not."""
        return [KeepingStart(Start((word,)), finding, "crash") for word, finding in self._first.items()
                if finding.rule == "crashed" and self._listings[word].growths]

    def _note_first(self, folder: Path) -> None:
        """Note what the lists say before anything is added, but for those that do not end."""
        for word in self.probe.words_of("lists"):
            if (first := self.probe.run(folder, Start((word,)))).rule != "started":
                self._first[word], self._listings[word] = first, Listing(first.said, first.said)

    def _note_added(self, start: Start, finding: Finding) -> None:
        self.added.append(KeepingStart(start, finding))
        self._heard += finding.said
        for word in start.arguments[1:3]:
            self._adders.setdefault(word, start.arguments[0])

    def _note_listings(self, folder: Path, added: Start) -> None:
        """Note which lists say something else now that something was added, the first time also what empties them."""
        for word, listing in self._listings.items():
            finding = self.probe.run(folder, Start((word,)))
            if finding.rule == "crashed" or not listing.note(finding.said, added):
                continue
            if listing.is_split(added):
                self.tried.append(KeepingStart(Start((word,)), finding, "split"))
            elif listing.is_merged:
                self.tried.append(KeepingStart(Start((word,)), finding, "merged"))
            elif len(listing.growths) == 1:
                self._heard += listing.now
                self.tried.append(KeepingStart(Start((word,)), finding))
        if len(self.added) == 1:
            self._judge_harmless(folder)

    def _judge_lists(self, folder: Path) -> None:
        """Lists that never said anything else, where no other one did."""
        if any(listing.growths for listing in self._listings.values()):
            return
        for start in (Start((word,)) for word in self._listings):
            if is_done(finding := self.probe.run(folder, start)) and self.probe.is_command(folder, start):
                self.tried.append(KeepingStart(start, finding, "unlisted"))
                return
        if self._keeps_files and not self.tried:
            self._judge_hidden(folder)

    def _judge_harmless(self, folder: Path) -> None:
        """Commands that by their names change nothing, if a list is then as it was before anything was added."""
        full = {word: listing.before for word, listing in self._listings.items() if listing.growths}
        for start in (Start((word,)) for word in self.probe.words_of("harmless") if full):
            with self.probe.copy_of(folder) as copy:
                finding = self.probe.run(copy, start)
                if any(self.probe.run(copy, Start((word,))).said == before for word, before in full.items()):
                    self.tried.append(KeepingStart(start, finding, "emptied"))
                    return

    def _judge_hidden(self, folder: Path) -> None:
        """A list of the plan that the program does not know, where nothing else shows what was added."""
        lists = [Start((word,)) for word in self._listings]
        unknown = [start for start in lists if not self.probe.is_command(folder, start)]
        words = [(), *((word,) for word in quoted_words(self.probe.software)[:_MOST_COMMANDS])]
        if unknown and not any(self._shows(folder, Start(one)) for one in words):
            self.tried.append(KeepingStart(unknown[0], self.probe.run(folder, unknown[0]), "hidden"))

    def _shows(self, folder: Path, start: Start) -> bool:
        """Whether a start says something else now than before anything was added, or knows what was added by name."""
        finding, _ = self.probe.try_alone(folder, start)
        with self.probe.fresh_copy() as fresh:
            if is_done(finding) and self.probe.run(fresh, start).said != finding.said:
                return True
        named = Start((*start.arguments, *self.added[0].start.arguments[1:2]))
        taken, _ = self.probe.try_alone(folder, named)
        return bool(start.arguments) and not self.probe.is_like_unknown(folder, named, taken, 1)

    def _judge_asking(self, folder: Path, start: Start, finding: Finding) -> None:
        """A start with a command that asks for input, and does the same without what it was given, or never ends to ask
        whatever is answered."""
        if self.may_ask or start.stdin or len(start.arguments) < 2 or any(one.wrong in _ASKING for one in self.tried):
            return
        if not self.probe.is_command(folder, start):
            return
        if self._is_same(folder, Start(start.arguments[:1]), finding):
            self.tried.append(KeepingStart(start, finding, "ignored"))
        elif self.probe.try_alone(folder, replace(start, stdin=_ANSWERS))[0].rule == finding.rule:
            self.tried.append(KeepingStart(start, finding, "asking"))

    def _is_same(self, folder: Path, start: Start, finding: Finding) -> bool:
        other, _ = self.probe.try_alone(folder, start)
        return other.rule == finding.rule and other.said == finding.said

    def _judge_planned(self, folder: Path, start: Start) -> None:
        """A start of the plan, if it is the first to remove something, or to take what another command added."""
        word, *rest = start.arguments or ("",)
        if is_all_of("removes", word):
            self._judge_removals(folder)
        elif rest and self._adders.pop(rest[0], word) != word:
            self._judge_taker(folder, start, rest[:1], must_change=False)

    def _judge_removals(self, folder: Path) -> None:
        """The commands that remove something, in the plan or not, while nothing is removed."""
        for word in self.probe.words_of("removes"):
            start = next((one for one in self.probe.own.starts if one.arguments[:1] == (word,)), Start((word,)))
            self._judge_taker(folder, start, [*start.arguments[1:2], *self._names()], must_change=self._keeps_files)

    def _names(self) -> list[str]:
        """What something that was added may be called: its words, its number, or what the program said of it."""
        words = [word for word in self._adders if not word.startswith("-")]
        return [*words[:3], "1", *_NUMBER.findall(self._heard), "0"]

    def _judge_taker(self, folder: Path, start: Start, values: Sequence[str], *, must_change: bool) -> None:
        """How a command takes what was added, called by whichever of these values."""
        word, rest = start.arguments[0], start.arguments[2:]
        starts = [Start((word, value, *rest), start.stdin) for value in dict.fromkeys(values)][:_MOST_VALUES]
        if word in self._judged or not self.probe.is_command(folder, starts[0]):
            return
        self._judged.add(word)
        outcomes = list(self._take_each(folder, starts, must_change=must_change))
        if outcomes and not outcomes[-1].wrong:
            start = outcomes[-1].start
            self.tried += [outcomes[-1], *self._crash_at_last(folder, start), *self._judge_rest(folder, start)]
        elif outcomes:
            self.tried += sorted(outcomes, key=lambda one: one.wrong)[:1]
        else:
            self.tried += self._crash_at_all(folder, starts)

    def _take_each(self, folder: Path, starts: Sequence[Start], *, must_change: bool) -> Iterator[KeepingStart]:
        """How these starts go, as far as that can be told, up to the first that takes something or does not end."""
        for start in starts:
            finding, changed = self.probe.try_alone(folder, start)
            if finding.rule == "started":
                yield KeepingStart(start, finding)
                return
            is_known = changed or not self.probe.is_like_unknown(folder, start, finding, 1)
            if is_unclear(finding) or (is_known and not is_done(finding)):
                continue
            wrong = _wrong_of(changed=changed or not must_change, is_known=is_known)
            yield KeepingStart(start, finding, wrong)
            if not wrong:
                return

    def _crash_at_all(self, folder: Path, starts: Sequence[Start]) -> list[KeepingStart]:
        """The crash of a command whatever it is given, where that does not come from what it is given."""
        findings = [self.probe.try_alone(folder, start)[0] for start in starts]
        if self._calls_wrongly(folder, starts[0], findings):
            return [KeepingStart(starts[0], findings[0], "crash")]
        kinds = {str(finding.facts.get("exception", "")).split(":")[0].rpartition(".")[2] for finding in findings}
        crashes = all(finding.rule == "crashed" for finding in findings) and not kinds & OF_ARGUMENTS
        return [KeepingStart(starts[0], findings[0], "crash")] if crashes else []

    def _calls_wrongly(self, folder: Path, start: Start, findings: Sequence[Finding]) -> bool:
        """Whether a command calls a function of its own without what that needs, however much it is given."""
        more, _ = self.probe.try_alone(folder, replace(start, arguments=(*start.arguments, UNKNOWN, UNKNOWN)))
        told = {str(finding.facts.get("exception", "")) for finding in (*findings, more)}
        return len(told) == 1 and bool(_MISSING.search(told.pop()))

    def _crash_at_last(self, folder: Path, start: Start) -> list[KeepingStart]:
        """The crash of a command that takes the first thing by its number, at the last one."""
        word, number, *rest = start.arguments
        last = Start((word, str(len(self.added)), *rest), start.stdin)
        if number != "1" or last == start:
            return []
        finding, _ = self.probe.try_alone(folder, last)
        return [KeepingStart(last, finding, "crash")] if finding.rule == "crashed" else []

    def _judge_rest(self, folder: Path, start: Start) -> list[KeepingStart]:
        """A start that removes something, if it does not leave everything else in the lists."""
        word, name = start.arguments[:2]
        if not is_all_of("removes", word):
            return []
        with self.probe.copy_of(folder) as copy:
            finding = self.probe.run(copy, start)
            wrongs = [listing.wrong_without(name, self.probe.run(copy, Start((one,))).said)
                      for one, listing in self._listings.items() if listing.growths]
        return [KeepingStart(start, finding, wrong) for wrong in wrongs if wrong][:1]


def _is_added(start: Start, finding: Finding, *, changed: bool) -> bool:
    """Whether a start added something, as far as that can be seen."""
    word, *rest = start.arguments or ("",)
    claims = changed or is_all_of("adds", word) or says("claims", finding.said)
    return bool(rest) and not start.stdin and claims and is_done(finding) and not is_all_of("removes", word)


def _wrong_of(*, changed: bool, is_known: bool) -> Literal["", "unknown", "unchanged"]:
    if not is_known:
        return "unknown"
    return "" if changed else "unchanged"


# What is marked as finished, where the request shows the sign: `marks the finished ones with [x]`.

_SIGN = re.compile(r"\[[xX*✓✔]\]|[✓✔☑]")
_NEAR = 60  # characters before a sign in which a word says that it marks something
_MOST_ADDED, _MOST_STARTS = 3, 6


def judge_marks(probe: Probe, added: Sequence[Start], lists: Sequence[str], names: Sequence[str],
                request: str) -> Iterator[KeepingStart]:
    """What is wrong with the marks in the `lists` of a program to which things are `added`, when the first of them is
    finished by one of its `names`: that thing is marked then, nothing else is, and before nothing was."""
    sign, added = _sign_in(request), added[:_MOST_ADDED]
    if not sign or not lists:
        return
    marks = _Marks(probe, sign, [start.arguments[1] for start in added], lists)
    with probe.fresh_copy() as folder:
        for start in added:
            probe.run(folder, start)
        early = list(islice(marks.too_early(folder), 1))
        yield from early
        for word in probe.words_of("finishes") if not early else ():
            yield from marks.after_finishing(folder, _finishing(word, probe.own.starts, names))


def _finishing(word: str, planned: Sequence[Start], names: Sequence[str]) -> list[Start]:
    """The starts by which a command may finish a thing: as the plan does, and by whatever the thing may be called."""
    given = [start.arguments[1] for start in planned if start.arguments[:1] == (word,) and len(start.arguments) > 1]
    return [Start((word, name)) for name in dict.fromkeys((*given, *names))][:_MOST_STARTS]


@dataclass(frozen=True, slots=True)
class _Marks:
    """The things that were added, and the lists in which a sign marks those that are finished."""

    probe: Probe
    sign: str
    things: Sequence[str]
    lists: Sequence[str]

    def too_early(self, folder: Path) -> Iterator[KeepingStart]:
        """The lists that mark something before anything is finished."""
        for word in self.lists:
            finding = self.probe.run(folder, Start((word,)))
            if self._count_marked(finding.said):
                yield KeepingStart(Start((word,)), finding, "marked")

    def after_finishing(self, folder: Path, starts: Sequence[Start]) -> Iterator[KeepingStart]:
        """The first of these starts that finishes a thing, with what is wrong with the marks after it."""
        for start in starts:
            with self.probe.copy_of(folder) as copy:
                finding, changed = self.probe.run_and_look(copy, start)
                if not (changed and is_done(finding)):
                    continue
                said = [self.probe.run(copy, Start((word,))).said for word in self.lists]
            if not any(self.sign in text.casefold() for text in said):
                yield KeepingStart(start, finding, "unmarked")
            elif any(self._count_marked(text) > 1 for text in said):
                yield KeepingStart(start, finding, "marked")
            return

    def _count_marked(self, text: str) -> int:
        """How many lines show the sign beside a thing."""
        return sum(self.sign in line and any(thing.casefold() in line for thing in self.things)
                   for line in text.casefold().splitlines())


def _sign_in(request: str) -> str:
    """The sign by which a request says that something is marked; empty where it shows none, or several."""
    signs = {found[0].casefold() for found in _SIGN.finditer(request)
             if says("marks", request[max(0, found.start() - _NEAR):found.start()])}
    return signs.pop() if len(signs) == 1 else ""
