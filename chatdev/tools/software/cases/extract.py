"""The cases that a request itself gives, found by rule. What cannot be read for certain makes no case: a wrong one
would mislead everybody who works by it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from chatdev.tools.software.cases.case import MOST_CASES, MOST_STARTS, Case, Start, texts_by_path
from chatdev.tools.software.cases.passage import Passage
from chatdev.tools.software.cases.passages import passages_of
from chatdev.tools.software.cases.wording import (
    FILE_NAME,
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

_LONGEST = 20_000  # characters of a request in which examples are looked for
_NEAR = 2  # paragraphs between what belongs together


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a request as a whole says of the way a program is started."""

    takes_arguments: bool
    takes_none: bool
    reads_typed: bool
    remembers: bool

    @classmethod
    def of(cls, request: str, passages: Sequence[Passage]) -> _Facts:
        none = says("no_arguments", request)
        called = any(passage.command and passage.command.arguments for passage in passages)
        return cls(called or (not none and says("arguments", request)), none, says("reads_typed", request),
                   says("remembers", request))


@dataclass(slots=True)
class _Chain:
    """Starts that belong together, while they are read."""

    group: int
    inline: bool = False
    starts: list[Start] = field(default_factory=list)
    broken: bool = False


def cases_of_request(request: str, command: str) -> list[Case]:
    """The cases that a request gives; `command` is the pattern of what stands before a program's arguments."""
    if len(request) > _LONGEST:
        return []
    passages = passages_of(request, command)
    facts = _Facts.of(request, passages)
    assembly = _Assembly(facts)
    for passage in passages:
        assembly.take(passage)
    found = []
    for chain in assembly.finish():
        case = _case(chain, assembly.files, facts)
        if case and case not in found and not _lacks_file(case, request):
            found.append(case)
    return found[:MOST_CASES]


class _Assembly:
    """Puts passages together, one after the other."""

    def __init__(self, facts: _Facts) -> None:
        self.files: dict[str, str] = {}
        self._facts = facts
        self._chains: list[_Chain] = []
        self._command: Passage | None = None
        self._typed: str | None = None
        self._writes: dict[str, str] = {}
        self._last: Passage | None = None
        self._list: tuple[Passage, list[str]] | None = None

    def take(self, passage: Passage) -> None:
        """The next passage."""
        if self._list and self._continues_list(passage):
            self._list[1].extend(passage.lines)
            self._last = passage
            return
        self._end_list()
        if self._last and passage.group - self._last.group > _NEAR:
            self._forget()
        getattr(self, f"_take_{passage.role}")(passage)
        self._last = passage

    def finish(self) -> list[_Chain]:
        """All chains, at the end of the request."""
        self._end_list()
        self._leave_command()
        return self._chains

    def _continues_list(self, passage: Passage) -> bool:
        """Whether a passage is one more line of the last one: `A`, `B` and `C`."""
        assert self._list
        first, _ = self._list
        if not passage.inline or passage.group != first.group or passage.command:
            return False
        rest = re.sub(r"[\s,;、，]+", " ", passage.cue).strip()
        return not rest or rows_of(rest) == {"together"} or passage.role == "more"

    def _end_list(self) -> None:
        """All lines of a passage are there: it holds if they are as many as were announced."""
        if not self._list:
            return
        (first, lines), self._list = self._list, None
        getattr(self, f"_end_{first.role}")(first, lines)

    def _begin_list(self, passage: Passage) -> None:
        self._list = passage, list(passage.lines)

    _take_printed = _take_typed = _take_file = _take_writes = _begin_list

    def _take_more(self, passage: Passage) -> None:
        self._take_unknown(passage)

    def _take_command(self, passage: Passage) -> None:
        self._leave_command()
        self._chain(passage)
        self._command = passage

    def _take_unknown(self, passage: Passage) -> None:
        if passage.command:
            self._leave_command()
            self._chain(passage).broken = True
        elif self._goes_on(passage) and says("either", passage.cue):
            self._break()
        elif self._command:
            self._leave_command()
        self._typed = None

    def _goes_on(self, passage: Passage) -> bool:
        """Whether a passage stands in the sentence that said what the last start prints."""
        last = self._last
        return bool(last and last.role == "printed" and passage.inline and not ends_sentence(passage.cue))

    def _chain(self, passage: Passage) -> _Chain:
        if not self._chains or self._chains[-1].group != passage.group:
            self._chains.append(_Chain(passage.group, passage.inline))
        return self._chains[-1]

    def _leave_command(self) -> None:
        """A command of which nothing is said: what it prints is left open."""
        if self._command and self._command.command:
            self._chains[-1].starts.append(_start_of(self._command))
        self._command = None

    def _forget(self) -> None:
        self._leave_command()
        self._typed = None

    def _break(self) -> None:
        """What the last start does is uncertain after all."""
        if self._chains:
            self._chains[-1].broken = True

    def _end_file(self, passage: Passage, lines: Sequence[str]) -> None:
        text = _text(lines)
        if not _is_counted(passage, lines) or self.files.get(passage.name, text) != text:
            text = ""  # two texts of one file: nobody can tell which example means which
        self.files[passage.name] = text

    def _end_writes(self, passage: Passage, lines: Sequence[str]) -> None:
        if _is_counted(passage, lines):
            self._writes[passage.name] = _text(lines)

    def _end_typed(self, passage: Passage, lines: Sequence[str]) -> None:
        self._typed = _text(lines) if _is_counted(passage, lines) or not passage.inline else None

    def _end_printed(self, passage: Passage, lines: Sequence[str]) -> None:
        start = self._expecting(passage)
        if start is None:
            if self._goes_on(passage):
                self._break()
            return
        if _is_certain(passage, lines, self._command):
            start = replace(start, prints="\n".join(lines), writes=self._writes,
                            status=status_in(first_sentence(passage.after)) if passage.inline else None)
        self._chains[-1].starts.append(start)
        self._command, self._typed, self._writes = None, None, {}

    def _expecting(self, passage: Passage) -> Start | None:
        """The start that prints this: of the command before it, or one without arguments where the request has none."""
        if self._command:
            start = _start_of(self._command)
            return start if self._typed is None else replace(start, stdin=self._typed)
        facts = self._facts
        if facts.takes_arguments or (self._typed is None) == facts.reads_typed:
            return None
        if self._typed is None and not self.files:
            return None
        self._chains.append(_Chain(passage.group))
        return Start(stdin=self._typed)


def _start_of(passage: Passage) -> Start:
    assert passage.command
    return Start(passage.command.arguments, passage.command.stdin)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


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
    cue = passage.cue
    if passage.group != command.group or ends_sentence(cue):
        rows = rows_of(last_sentence(cue))
        told = rows is not None and "subject" in rows
    else:
        told = not says("stop", cue)
    after = first_sentence(passage.after)
    vague = begins_with("stop", after) or begins_with("either", after)
    return told and not vague and _is_counted(passage, lines)


def _case(chain: _Chain, files: dict[str, str], facts: _Facts) -> Case | None:
    """The case of a chain, where it is certain."""
    starts = _starts_of_case(chain, facts)
    if chain.broken or not 0 < len(starts) <= MOST_STARTS or not any(start.prints is not None for start in starts):
        return None
    if facts.reads_typed and any(start.stdin is None for start in starts):
        return None
    if facts.remembers and chain.inline and len(starts) == 1 and len(starts[0].arguments) < 2:
        return None
    known = texts_by_path({name: text for name, text in files.items() if text})
    return None if known is None else Case("request", tuple(starts), known)


def _starts_of_case(chain: _Chain, facts: _Facts) -> list[Start]:
    """The starts up to the last one that prints something known. Commands in running text are no session: without
    memory only those of which something is said count, and with memory none of them may be left open."""
    last = max((n for n, start in enumerate(chain.starts) if start.expects), default=-1)
    starts = chain.starts[:last + 1]
    if not chain.inline:
        return starts
    said = [start for start in starts if start.expects]
    return [] if facts.remembers and len(said) != len(starts) else said


def _lacks_file(case: Case, request: str) -> bool:
    """Whether the case needs a file whose text the request does not show, and that the program does not make itself."""
    made = {name for start in case.starts for name in start.writes}
    words = {word for start in case.starts for word in start.arguments}
    lacking = set(FILE_NAME.findall(request)) - case.files.keys() - made
    return any(name in words or not _is_made(name, request) for name in lacking)


def _is_made(name: str, request: str) -> bool:
    """Whether each sentence about a file says that the program keeps or writes it, or one does and comes first."""
    sentences = [part for part in re.split(r"(?<=[.!?:])\s+|[。！？]", request) if name in part]
    return bool(sentences) and any(says("remembers", part) or says("printed", part) for part in sentences[:1])
