"""Putting the passages of a request together: which output belongs to which command, input and file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from chatdev.tools.software.cases.case import Start
from chatdev.tools.software.cases.passage import Passage
from chatdev.tools.software.cases.sentences import command_in_prose
from chatdev.tools.software.cases.wording import (
    begins_with,
    ends_sentence,
    first_sentence,
    last_sentence,
    number_of_lines,
    rows_of,
    says,
    status_in,
    wording,
)

_NEAR = 2  # paragraphs between what belongs together


@dataclass(frozen=True, slots=True)
class Facts:
    """What a request as a whole says of the way a program is started."""

    takes_arguments: bool = False
    reads_typed: bool = False
    remembers: bool = False

    @classmethod
    def of(cls, request: str, passages: Sequence[Passage], command: str) -> Facts:
        """The facts of a request and its passages. `command` is what stands before a program's arguments."""
        called = any(passage.command and passage.command.arguments for passage in passages) or any(
            request[found.end():found.end() + 1] == " " and not begins_with("after_command", request[found.end():][:40])
            for found in command_in_prose(command).finditer(request))
        named = not says("no_arguments", request) and says("arguments", request)
        return cls(called or named, says("reads_typed", request), says("remembers", request))


@dataclass(slots=True)
class Chain:
    """Starts that belong together, while they are read. A broken one is not certain."""

    group: int
    inline: bool = False
    starts: list[Start] = field(default_factory=list)
    broken: bool = False


class Assembly:
    """Takes the passages of a request one after the other."""

    def __init__(self, facts: Facts) -> None:
        self._files: dict[str, str] = {}  # one that is shown in two ways has no text
        self._facts = facts
        self._chains: list[Chain] = []
        self._command: Passage | None = None
        self._typed: str | None = None
        self._writes: dict[str, str] = {}
        self._last: Passage | None = None
        self._list: tuple[Passage, list[str]] | None = None

    @property
    def known_files(self) -> dict[str, str]:
        """The files that the request shows, with what they hold."""
        return {name: text for name, text in self._files.items() if text}

    def take(self, passage: Passage) -> None:
        """The next passage."""
        if self._list and _continues(self._list[0], passage):
            self._list[1].extend(passage.lines)
            self._last = passage
            return
        self._end_list()
        if self._last and passage.group - self._last.group > _NEAR:
            self._leave_command()
            self._typed = None
        if passage.role in ("printed", "typed", "file", "writes"):
            self._list = passage, list(passage.lines)
        elif passage.role == "command":
            self._leave_command()
            self._chain(passage)
            self._command = passage
        else:
            self._take_unknown(passage)
        self._last = passage

    def finish(self) -> list[Chain]:
        """All chains, at the end of the request."""
        self._end_list()
        self._leave_command()
        return self._chains

    def _take_unknown(self, passage: Passage) -> None:
        """What nobody can tell: a command stays without what it prints, and a list of outputs is none."""
        if passage.command:
            self._leave_command()
            self._chain(passage).broken = True
        elif self._goes_on(passage) and says("either", passage.cue):
            self._break()
        else:
            self._leave_command()
        self._typed = None

    def _chain(self, passage: Passage) -> Chain:
        if not self._chains or self._chains[-1].group != passage.group:
            self._chains.append(Chain(passage.group, passage.inline))
        return self._chains[-1]

    def _leave_command(self) -> None:
        """A command of which nothing is said: what it prints is left open."""
        if self._command:
            self._chains[-1].starts.append(self._start_of(self._command))
        self._command = None

    def _break(self) -> None:
        """What the last start does is uncertain after all."""
        if self._chains:
            self._chains[-1].broken = True

    def _goes_on(self, passage: Passage) -> bool:
        """Whether a passage stands in the sentence that said what the last start prints."""
        last = self._last
        return bool(last and last.role == "printed" and passage.inline and not ends_sentence(passage.cue))

    def _end_list(self) -> None:
        """All lines of a passage are there: it holds if they are as many as were announced."""
        if not self._list:
            return
        (passage, lines), self._list = self._list, None
        text, counted = "".join(f"{line}\n" for line in lines), _is_counted(passage, lines)
        if passage.role == "printed":
            self._end_output(passage, lines)
        elif passage.role == "typed":
            self._typed = text if counted else None
        elif passage.role == "writes":
            self._writes |= {passage.name: text} if counted else {}
        else:
            other = self._files.get(passage.name, text) != text
            self._files[passage.name] = "" if other or not counted else text

    def _end_output(self, passage: Passage, lines: Sequence[str]) -> None:
        start = self._expecting_start(passage)
        if start is None:
            if self._goes_on(passage):
                self._break()
            return
        if _is_certain(passage, lines, self._command):
            status = status_in(first_sentence(passage.after)) if passage.inline else None
            start = replace(start, prints="\n".join(lines), writes=self._writes, status=status)
        self._chains[-1].starts.append(start)
        self._command, self._typed, self._writes = None, None, {}

    def _start_of(self, passage: Passage) -> Start:
        """The start of a command; one that is fed a file which the request does not show makes no case."""
        assert passage.command
        file = passage.command.stdin_file
        text = self._files.get(file, "") if file else ""
        self._chains[-1].broken |= bool(file and not text)
        return Start(passage.command.arguments, text if file else passage.command.stdin)

    def _expecting_start(self, passage: Passage) -> Start | None:
        """The start that prints this: of the command before it, or one without arguments where the request has none."""
        if self._command:
            start = self._start_of(self._command)
            return start if self._typed is None else replace(start, stdin=self._typed)
        if self._facts.takes_arguments or (self._typed is None) == self._facts.reads_typed:
            return None
        if self._typed is None and not self._files:
            return None
        self._chains.append(Chain(passage.group))
        return Start(stdin=self._typed)


def _continues(first: Passage, passage: Passage) -> bool:
    """Whether a passage is one more line of a list that began with the first: `A`, `B` and `C`."""
    if not passage.inline or passage.group != first.group or passage.command:
        return False
    rest = re.sub(r"[\s,;、，]+", " ", passage.cue).strip()
    return not rest or rows_of(rest) == {"together"} or passage.role == "more"


def _is_counted(passage: Passage, lines: Sequence[str]) -> bool:
    """Whether a passage has as many lines as its words announce; several between marks have to be announced."""
    if not passage.inline:
        return True
    announced = number_of_lines(last_sentence(passage.cue))
    several = any(word in passage.cue for word in wording()["line_words"])
    return announced in (None, len(lines)) and (len(lines) == 1 or announced is not None or several)


def _is_certain(passage: Passage, lines: Sequence[str], command: Passage | None) -> bool:
    """Whether it is this that the command before prints: said of it, without a condition."""
    if not passage.inline or not command:
        return True
    cue, after = passage.cue, first_sentence(passage.after)
    if passage.group != command.group or ends_sentence(cue):
        rows = rows_of(last_sentence(cue))
        told = rows is not None and "subject" in rows
    else:
        told = not says("stop", cue)
    vague = begins_with("stop", after) or begins_with("either", after)
    return told and not vague and _is_counted(passage, lines)
