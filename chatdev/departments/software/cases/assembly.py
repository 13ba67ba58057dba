"""Putting the passages of a request together: which output belongs to which command, input and file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.cases.facts import Facts
from chatdev.departments.software.cases.passage import Passage, Role
from chatdev.departments.software.cases.wording import (
    begins_with,
    ends_sentence,
    first_sentence,
    last_sentence,
    number_of_lines,
    rows_of,
    says,
    status_in,
    without,
    wording,
)

_NEAR = 2  # paragraphs between what belongs together


@dataclass(slots=True)
class Shown:
    """Lines of one role, gathered from spans that follow each other: `A`, `B` and `C`. `loose` says whether some of
    them are joined by no more than a comma or an `and`, which does not say that they are lines; `before` is the passage
    before the first."""

    first: Passage
    lines: list[str]
    before: Passage | None = None
    loose: bool = False

    def take(self, passage: Passage) -> None:
        """One more line."""
        self.lines.extend(passage.lines)
        self.loose |= not says("below", passage.cue)

    @property
    def counted(self) -> bool:
        """Whether there are as many lines as the words before them announce, where they have to."""
        if not self.first.inline:
            return True
        announced = number_of_lines(last_sentence(self.first.cue))
        if announced is None:
            return not self.loose or any(word in self.first.cue for word in wording()["line_words"])
        return announced == len(self.lines)


@dataclass(slots=True)
class Chain:
    """Starts that belong together, while they are read. A broken one is not certain. `in_turn`: running text says of
    each that it comes after the one before it."""

    group: int
    inline: bool = False
    cue: str = ""
    in_turn: bool = True
    starts: list[Start] = field(default_factory=list)
    broken: bool = False


class Assembly:
    """Takes the passages of a request one after the other."""

    def __init__(self, facts: Facts) -> None:
        self._files: dict[str, str] = {}  # one that is shown in two ways has no text
        self._facts = facts
        self._chains: list[Chain] = []
        self._command: Passage | None = None
        self._anchor: Passage | None = None  # a command, input or file of which it is not said yet what comes of it
        self._typed: str | None = None
        self._writes: dict[str, str] = {}
        self._last: Passage | None = None
        self._shown: Shown | None = None

    @property
    def known_files(self) -> dict[str, str]:
        """The files that the request shows, with what they hold."""
        return {name: text for name, text in self._files.items() if text}

    def take_all(self, passages: Iterable[Passage]) -> list[Chain]:
        """All passages of a request, one after another; all chains of it."""
        for passage in passages:
            self._take(self._resolve(passage))
        self._end_shown()
        self._leave_command()
        self._leave_file(self._writes if [len(chain.starts) for chain in self._chains] == [1] else {})
        return _join(self._chains) if self._facts.remembers else self._chains

    def _resolve(self, passage: Passage) -> Passage:
        """A passage with the role that it has in a program which takes its input in one way."""
        if passage.role == "given" and not self._facts.reads_typed and len(self._facts.files) == 1:
            return replace(passage, role="file", name=min(self._facts.files))
        if passage.role == "file" and passage.name in self._facts.new_files:
            return replace(passage, role="left")
        if passage.role not in ("given", "result"):
            return passage
        role: Role = "unknown" if not self._facts.reads_typed else "typed" if passage.role == "given" else "printed"
        return replace(passage, role=role)

    def _take(self, passage: Passage) -> None:
        """The next passage."""
        if self._shown and _continues(self._shown.first, passage):
            self._shown.take(passage)
            self._last = passage
            return
        self._end_shown()
        if self._last and passage.group - self._last.group > _NEAR:
            self._leave_command()
            self._typed = None
        if passage.role in ("printed", "typed", "file", "writes", "left"):
            self._shown = Shown(passage, list(passage.lines), self._last)
        elif passage.role == "command":
            self._leave_command()
            self._take_pointed(passage)
            chain = self._chain(passage)
            chain.in_turn &= not chain.starts or _comes_after(passage)
            self._command = self._anchor = passage
        elif passage.role == "lost":
            self._leave_command()
            self._chain(passage).broken = True
        else:
            self._take_unknown(passage)
        self._last = passage

    def _take_pointed(self, passage: Passage) -> None:
        """The block above a command that is said to be typed: `If I pipe these lines into COMMAND`."""
        block, said = self._last, last_sentence(passage.cue)
        if not block or (block.role, block.inline, block.group) != ("unknown", False, passage.group - 1):
            return
        if says("pointing", said) and says("typed", said) and not says("holds", said):
            self._typed = "".join(f"{line}\n" for line in block.lines) or None

    def _take_unknown(self, passage: Passage) -> None:
        """What nobody can tell: a command stays without what it prints, and a list of outputs is none."""
        if passage.command:
            self._leave_command()
            self._anchor = None
            if not passage.inline or not (passage.form or not passage.command.arguments):
                self._chain(passage).broken = True
        elif _goes_on(passage, self._last):
            self._break()
        elif not _is_aside(passage, self._command):
            self._leave_command()
        self._typed = None

    def _chain(self, passage: Passage) -> Chain:
        if not self._chains or self._chains[-1].group != passage.group:
            self._chains.append(Chain(passage.group, passage.inline, last_sentence(passage.cue)))
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

    def _end_shown(self) -> None:
        """All lines of a role are there."""
        if not self._shown:
            return
        shown, self._shown = self._shown, None
        passage, text = shown.first, "".join(f"{line}\n" for line in shown.lines)
        if passage.role == "printed":
            self._end_output(shown)
        elif passage.role == "writes":
            self._writes |= {passage.name: text} if shown.counted else {}
        elif passage.role == "left":
            self._leave_command()
            self._leave_file({passage.name: text})
        else:
            self._anchor = self._command or passage
            self._take_input(passage, text if shown.counted else "")

    def _leave_file(self, texts: Mapping[str, str]) -> None:
        """What files hold after the last start."""
        starts = self._chains[-1].starts if self._chains else []
        if starts:
            starts[-1] = replace(starts[-1], writes={**starts[-1].writes, **texts})

    def _take_input(self, passage: Passage, text: str) -> None:
        """What is typed, or what a file holds; empty where that is not certain."""
        if passage.role == "typed":
            self._typed = text or None
        elif self._files.get(passage.name, text) != text:
            self._files[passage.name] = ""
        else:
            self._files[passage.name] = text

    def _end_output(self, shown: Shown) -> None:
        passage, start = shown.first, self._expecting_start(shown.first)
        if start is None:
            if _goes_on(passage, shown.before):
                self._break()
            return
        if shown.counted and _is_certain(passage, self._anchor):
            status = status_in(first_sentence(passage.after)) if passage.inline else None
            start = replace(start, prints="\n".join(shown.lines), writes=self._writes, status=status)
        self._chains[-1].starts.append(start)
        self._command, self._anchor, self._typed, self._writes = None, None, None, {}

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
            return start if self._typed is None or start.stdin is not None else replace(start, stdin=self._typed)
        if not self._anchor or self._facts.takes_arguments or (self._typed is None) == self._facts.reads_typed:
            return None
        self._chains.append(Chain(passage.group))
        return Start(stdin=self._typed)


def _join(chains: Sequence[Chain]) -> list[Chain]:
    """The chains of a program that remembers things: one that tells of the next start goes on with the one before, and
    of another one nobody knows what was done before it."""
    joined: list[Chain] = []
    for chain in chains:
        if joined and says("next_time", chain.cue):
            joined[-1].starts += chain.starts
            joined[-1].broken |= chain.broken
        else:
            chain.broken |= bool(joined)
            joined.append(chain)
    return joined


def _comes_after(passage: Passage) -> bool:
    """Whether the words before a command say that it comes after another one."""
    return says("next_time", passage.cue) or begins_with("together", passage.cue)


def _is_aside(passage: Passage, command: Passage | None) -> bool:
    """Whether a text is only spoken of in a sentence that goes on to say what the command prints."""
    if not command or not (command.inline and passage.inline) or command.group != passage.group:
        return False
    return not ends_sentence(passage.cue) and not says("condition", passage.cue)


def _goes_on(passage: Passage, last: Passage | None) -> bool:
    """Whether a passage stands in the sentence that said what the last start prints."""
    if not last or last.role != "printed" or not (last.inline and passage.inline) or last.group != passage.group:
        return False
    return not ends_sentence(passage.cue)


def _continues(first: Passage, passage: Passage) -> bool:
    """Whether a passage is one more line of a list that began with the first: `A`, `B` and `C`."""
    if not passage.inline or passage.group != first.group or passage.command:
        return False
    rest = re.sub(r"[\s,;、，]+", " ", passage.cue).strip()
    return not rest or rows_of(rest) == {"together"} or passage.role == "more"


def _is_certain(passage: Passage, anchor: Passage | None) -> bool:
    """Whether it is this that comes of the command, the input or the file before: said of it, without a condition."""
    if not passage.inline or not anchor:
        return True
    cue, after = passage.cue, first_sentence(passage.after)
    if passage.group != anchor.group or ends_sentence(cue):
        rows = rows_of(last_sentence(cue))
        if rows is None or "subject" not in rows:
            return False
    hedged = says("stop", without("wish", cue)) or begins_with("stop", after)
    return not hedged and not begins_with("either", after)
