"""The calling convention of a program whose request shows no form of its commands: it takes them from its arguments, or
typed when it asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from chatdev.departments.software.cases.case import UNKNOWN, Start
from chatdev.departments.software.toolchains.toolchain import BuiltSoftware, Toolchain
from chatdev.departments.software.toolchains.verdict import Finding, shows_usage
from chatdev.errors import WorkspaceError

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

    def run(self, folder: Path, start: Start, like: str = "") -> Finding:
        """How a start goes in a folder, by the convention of its command, or of the command `like` it."""
        command = like or next(iter(start.arguments), "")
        if self.is_open and not like and command and start.stdin is None and command not in self._found:
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
