"""Running text: what stands in it between marks, and the commands in it that have none."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chatdev.departments.software.cases.bare import arguments_at, ends_command, listed_lines, output_at
from chatdev.departments.software.cases.command_line import TypedCommand, read_command
from chatdev.departments.software.cases.passage import Passage, make_passage, role_of
from chatdev.departments.software.cases.wording import (
    COLONS,
    FILE_NAME,
    MARK,
    begins_with,
    is_concrete,
    last_clause,
    last_sentence,
    places_of,
    rows_of,
    says,
    without,
    without_asides,
)

_SPAN = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^“”]+)”|„([^„“”]+)[“”]|«\s?([^«»]+?)\s?»|「([^「」]+)」")
_PIECE = re.compile(rf"[(（][^()（）]*[)）]|{MARK}|[^{MARK}(（]+|[(（]")
_FEW = 3  # words
_FURTHEST = 300  # characters before an output that say what it is


def strip_marks(text: str) -> str:
    """The text without the marks around it."""
    text = text.strip()
    found = _SPAN.fullmatch(text)
    return next(filter(None, found.groups())) if found else text


def start_passage(start: TypedCommand, group: int, *, certain: bool = True, cue: str = "",
                  inline: bool = False) -> Passage:
    """The passage of a command; one with names for what has to be typed is not known."""
    sure = certain and is_concrete(start.arguments)
    return Passage("command" if sure else "unknown", (), group, start, cue=cue, inline=inline,
                   form=not is_concrete(start.arguments))


class Sentences:
    """One reading of running text; `rest` is what is said behind the last passage."""

    def __init__(self, command: str, group: int) -> None:
        self._command = command
        self._in_prose = command_in_prose(command)
        self._group = group
        self.rest = ""

    def read(self, text: str) -> list[Passage]:
        """The passages of a paragraph, without what stands in brackets."""
        text = _without_marks_of_files(text)
        spans = deque(next(filter(None, span.groups())) for span in _SPAN.finditer(text))
        found: list[Passage] = []
        pieces = _PIECE.findall(_SPAN.sub(MARK, text))
        for place, piece in enumerate(pieces):
            if piece == MARK:
                found.append(self._span(spans.popleft()))
            elif piece[0] in "(（" and len(piece) > 1:
                for _ in range(piece.count(MARK)):
                    spans.popleft()
                self._pass_aside(piece, found)
            else:
                found += self._running(piece, last=place == len(pieces) - 1)
        return list(_add_what_follows(found, self.rest))

    def _pass_aside(self, aside: str, found: list[Passage]) -> None:
        """Brackets are left out; right behind an output, they may say that it can be another one."""
        if found and not self.rest.strip() and says("loosely", aside):
            found[-1] = replace(found[-1], role="unknown")
        self.rest += " " if found else aside.replace(MARK, " ")

    def awaits_output(self, found: Sequence[Passage]) -> bool:
        """Whether what was read ends with a command, and what stands below can only be its output: `COMMAND:`"""
        if not found or found[-1].role != "command" or not self.rest.rstrip().endswith(COLONS):
            return False
        if re.search(r"\w", self.rest):
            return role_of(self.rest, block=True) == "printed"
        before = without("wish", last_sentence(found[-1].cue))
        return not says("stop", before) and (says("printed", before) or _is_plain(before))

    def _take_cue(self) -> str:
        cue, self.rest = self.rest, ""
        return cue

    def _span(self, text: str) -> Passage:
        cue = self._take_cue()
        start = read_command(text, self._command)
        if start is None:
            return make_passage(cue, (text,), self._group, block=False)
        before = last_sentence(without_asides(cue))
        certain = not says("stop", without("wish", before)) or rows_of(FILE_NAME.sub("", before)) is not None
        return start_passage(start, self._group, certain=certain, cue=cue, inline=True)

    def _running(self, text: str, *, last: bool) -> Iterator[Passage]:
        """Text without marks; a command in it is one only where it is certain where it ends."""
        place = 0
        for found in self._in_prose.finditer(text):
            if found.start() < place:
                continue
            end, words = arguments_at(text, found.end())
            start = read_command(" ".join((found[0], *words)), self._command)
            yield from self._bare(text[place:found.start()], last=False)
            if start:
                certain = ends_command(text, end)
                yield start_passage(start, self._group, certain=certain, cue=self._take_cue(), inline=True)
            place = end
        yield from self._bare(text[place:], last=last)

    def _bare(self, text: str, *, last: bool) -> Iterator[Passage]:
        """Text without marks and commands, with the outputs in it that have a certain end."""
        place = 0
        for begin, end in places_of("printed", text):
            shown = output_at(text, end, last=last) if begin >= place else None
            if shown and role_of((self.rest + text[place:shown[0]])[-_FURTHEST:], block=False) == "printed":
                self.rest += text[place:shown[0]]
                yield make_passage(self._take_cue(), (text[slice(*shown)],), self._group, block=False)
                place = shown[1]
        if last and (listed := listed_lines(text)) and listed[0] >= place:
            self.rest += text[place:listed[0]]
            yield make_passage(self._take_cue(), tuple(listed[1]), self._group, block=False)
            place = len(text)
        self.rest += text[place:]


def _without_marks_of_files(text: str) -> str:
    """The text without the marks around the names of files, but for names that are what is printed or typed there."""
    plain, place = "", 0
    for span in _SPAN.finditer(text):
        name = next(filter(None, span.groups()))
        cue = text[max(place, span.start() - _FURTHEST):span.start()]
        is_spoken_of = FILE_NAME.fullmatch(name) and role_of(cue, block=False) not in ("printed", "typed")
        plain += text[place:span.start()] + (name if is_spoken_of else span[0])
        place = span.end()
    return plain + text[place:]


def _is_plain(text: str) -> bool:
    """Whether a text says nothing of what is typed or of a file."""
    rows = rows_of(text)
    if rows is None:
        return len(text.split()) <= _FEW and not FILE_NAME.search(text)
    return not rows & {"typed", "holds"}


def command_in_prose(command: str) -> re.Pattern[str]:
    """A command in running text, up to its arguments."""
    return re.compile(rf"(?<![\w./-])(?:{command})(?=\s|$|[?:,.;])")


def _add_what_follows(passages: Sequence[Passage], rest: str) -> Iterator[Passage]:
    """Each passage with the words behind it, which may say what it is: `6` is printed."""
    for place, passage in enumerate(passages):
        after = passages[place + 1].cue if place + 1 < len(passages) else rest
        behind = passage.role == "unknown" and not passage.command and begins_with("printed_behind", after)
        said_behind = behind and rows_of(last_clause(passage.cue)) is not None and not says("stop", passage.cue)
        yield replace(passage, after=after, role="printed" if said_behind else passage.role)
