"""What a program marks as finished, where its request shows the sign for that: `marks the finished ones with [x]`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.cases.wording import says
from chatdev.departments.software.trial.probe import KeepingStart, Probe, is_done

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
