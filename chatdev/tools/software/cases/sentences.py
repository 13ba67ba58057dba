"""Running text: what stands in it between marks, and the commands in it that have none."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chatdev.tools.software.cases.command_line import TypedCommand, read_command
from chatdev.tools.software.cases.passage import Passage, make_passage
from chatdev.tools.software.cases.wording import (
    FILE_NAME,
    begins_with,
    is_concrete,
    last_clause,
    last_sentence,
    rows_of,
    says,
    without_asides,
)

_SPAN = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|「([^「」]+)」")
_MARK = "\ue000"  # stands for a span in the text around it
_PIECE = re.compile(rf"[(（][^()（）]*[)）]|{_MARK}|[^{_MARK}(（]+|[(（]")
_NEXT_WORD = re.compile(r"\s+(\S+)")


def strip_marks(text: str) -> str:
    """The text without the marks around it."""
    text = text.strip()
    found = _SPAN.fullmatch(text)
    return next(filter(None, found.groups())) if found else text


def start_passage(start: TypedCommand, group: int, *, certain: bool = True, cue: str = "",
                  inline: bool = False) -> Passage:
    """The passage of a command; one with names for what has to be typed is not known."""
    sure = certain and is_concrete(start.arguments)
    return Passage("command" if sure else "unknown", (), group, start, cue=cue, inline=inline)


class Sentences:
    """One reading of running text; `rest` is what is said behind the last passage."""

    def __init__(self, command: str, group: int) -> None:
        self._command = command
        self._in_prose = command_in_prose(command)
        self._group = group
        self.rest = ""

    def read(self, text: str) -> list[Passage]:
        """The passages of a paragraph, without what stands in brackets."""
        spans = deque(next(filter(None, span.groups())) for span in _SPAN.finditer(text))
        found: list[Passage] = []
        for piece in _PIECE.findall(_SPAN.sub(_MARK, text)):
            if piece == _MARK:
                found.append(self._span(spans.popleft()))
            elif piece[0] in "(（" and len(piece) > 1:
                for _ in range(piece.count(_MARK)):
                    spans.popleft()
                self.rest += " " if found else piece.replace(_MARK, " ")
            else:
                found += self._running(piece)
        return list(_add_what_follows(found, self.rest))

    def _take_cue(self) -> str:
        cue, self.rest = self.rest, ""
        return cue

    def _span(self, text: str) -> Passage:
        cue = self._take_cue()
        start = read_command(text, self._command)
        if start is None:
            return make_passage(cue, (text,), self._group, block=False)
        before = last_sentence(without_asides(cue))
        certain = not says("stop", before) or rows_of(FILE_NAME.sub("", before)) is not None
        return start_passage(start, self._group, certain=certain, cue=cue, inline=True)

    def _running(self, text: str) -> Iterator[Passage]:
        """Text without marks; a command in it is one only where it is certain where it ends."""
        place = 0
        for found in self._in_prose.finditer(text):
            if found.start() < place:
                continue
            end, words = _read_arguments(text, found.end())
            start = read_command(" ".join((found[0], *words)), self._command)
            rest = text[end:].lstrip()
            certain = not rest or text[end - 1] in "?:,;." or begins_with("after_command", rest)
            self.rest += text[place:found.start()]
            if start:
                yield start_passage(start, self._group, certain=certain, cue=self._take_cue(), inline=True)
            place = end
        self.rest += text[place:]


def command_in_prose(command: str) -> re.Pattern[str]:
    """A command in running text, up to its arguments."""
    return re.compile(rf"(?<![\w./-])(?:{command})(?=\s|$|[?:,.;])")


def _read_arguments(text: str, place: int) -> tuple[int, list[str]]:
    """The words behind a command in running text that can only be arguments, and where they end."""
    words: list[str] = []
    while found := _NEXT_WORD.match(text, place):
        plain = found[1].rstrip("?:,;.")
        if plain.isalpha() or not plain:
            break
        words.append(plain)
        place = found.end()
        if plain != found[1]:
            break
    return place, words


def _add_what_follows(passages: Sequence[Passage], rest: str) -> Iterator[Passage]:
    """Each passage with the words behind it, which may say what it is: `6` is printed."""
    for place, passage in enumerate(passages):
        after = passages[place + 1].cue if place + 1 < len(passages) else rest
        behind = passage.role == "unknown" and not passage.command and begins_with("printed_behind", after)
        said_behind = behind and rows_of(last_clause(passage.cue)) is not None and not says("stop", passage.cue)
        yield replace(passage, after=after, role="printed" if said_behind else passage.role)
