"""A request that somebody copied from: does a text stand there letter by letter, and is it whole?

What a program has to print is whole when it is all that the request shows at that place: the lines of a block, all
pieces between marks, or the end of a sentence that says so. Half of an output would make a right program wrong.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal

from chatdev.departments.software.cases.wording import (
    COLONS,
    MARK,
    begins_with,
    is_unmistakable,
    last_clause,
    last_sentence,
    request_says,
    rows_of,
    says,
)

Meaning = Literal["printed", "typed", "holds"]
"""What the words before a text have to say of it: rows of wording.yaml."""
Place = tuple[int, int]
"""A line, and a character in it."""

_MARKS = re.compile(r"[`\"“”„«»「」]")
_MARGIN = re.compile(r"(?:[-*•+>|]|\d{1,2}[.)])[ \t]+")
_GAP = rf"[\s{MARK}]+"
_BARE = f" \t{MARK}|"  # what may stand around a text that is whole
_SEPARATOR = re.compile(r"(?:[:：=→⇒⟶↦]|[-=]{1,2}>|\|)$")
_ENDS = re.compile(r"[.!?;。！？；(（|]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_FENCE = re.compile(r"(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}\s")
_ELISION = re.compile(r"\.\.\.|…")
_LIST = re.compile(r"\s*(?:[,，、]|\b(?:and|und)\b|和)\s*")
_MOST_LINES, _MOST_PLACES = 400, 10
_FURTHEST = 300  # characters before a text that say what it is


class CopiedRequest:
    """A request, to look for texts in. `command` is the pattern of what stands before a program's arguments."""

    def __init__(self, request: str, command: str) -> None:
        self.text = request
        self._command = re.compile(rf"(?<![\w./-])(?:{command})(?=[\s{MARK}|?:,.;]|$)")
        raw = request.splitlines()[:_MOST_LINES]
        self._fences = [bool(_FENCE.match(line.strip())) for line in raw]
        self._lines = [_plain(line) for line in raw]
        self._is_started = any(map(self._command.search, self._lines))
        self._whole_lines = [_plain(line, margin=False) for line in raw]  # with the bullets or numbers they begin with

    def places_of(self, arguments: Sequence[str]) -> list[Place]:
        """Where a command with these arguments ends; one without any may stand anywhere, also unsaid."""
        if not arguments:
            ends = [(n, found.end()) for n, line in enumerate(self._lines) for found in self._command.finditer(line)]
            return [(0, 0), *ends][:_MOST_PLACES]
        pattern = _pattern_of(" ".join(arguments))
        given = ((n, found.end()) for n, line in enumerate(self._lines) for found in pattern.finditer(line)
                 if self._may_be_arguments(line[max(0, found.start() - _FURTHEST):found.start()]))
        return list(islice(given, _MOST_PLACES))

    def _may_be_arguments(self, before: str) -> bool:
        """Whether what stands behind this part of a line may be given to the program as arguments: what is typed into
        a program, of whose arguments nobody speaks, is an answer."""
        if request_says("arguments", self.text):
            return True
        return self._is_started and bool(self._command.search(before) or not says("typed", last_clause(before)))

    def shows(self, text: str, meaning: Meaning, place: Place = (0, 0), *, before_command: bool = False,
              given: Collection[str] = ()) -> bool:
        """Whether a text stands behind a place, is whole, and is said to be what it is taken for. With `before_command`
        it has to stand before the next command. Without marks it may not speak of what was `given`."""
        lines = [_plain(line, margin=False) for line in text.splitlines() if line.strip()]
        if not lines or any(map(_ELISION.fullmatch, lines)):
            return False
        end = self._next_command(place) if before_command else (len(self._lines), 0)
        return self._is_block(lines, place[0], end[0], meaning) or any(
            _is_said(lines, sentence, meaning, first=not number and place[1] > 0, given=given)
            for number, sentence in enumerate(self._sentences(place, end)))

    def _next_command(self, place: Place) -> Place:
        """Where the next command begins, or the end."""
        for number in range(place[0], len(self._lines)):
            column = place[1] if number == place[0] else 0
            if found := self._command.search(self._lines[number], column):
                return number, found.start()
        return len(self._lines), 0

    def _is_block(self, lines: Sequence[str], first: int, end: int, meaning: Meaning) -> bool:
        """Whether lines of the request are these, all of them, with nothing more above or below."""
        last = min(end, len(self._lines)) - len(lines)
        return any(self._stand_at(start, lines) and self._is_edge(start - 1) and self._is_edge(start + len(lines))
                   and self._may_mean(start, meaning) for start in range(first, last + 1))

    def _stand_at(self, start: int, lines: Sequence[str]) -> bool:
        """Whether these are the lines from one on, all with what they begin with, or all without."""
        wanted = [line.strip(_BARE) for line in lines]
        return any([line.strip(_BARE) for line in source[start:start + len(lines)]] == wanted
                   for source in (self._lines, self._whole_lines))

    def _is_edge(self, number: int) -> bool:
        """Whether a block cannot go on in a line: it is empty, a label, a heading or a command."""
        if not 0 <= number < len(self._lines):
            return True
        line = self._lines[number].strip(_BARE)
        return bool(not line or self._fences[number] or line.endswith(COLONS) or _HEADING.match(line)
                    or self._command.search(line))

    def _may_mean(self, start: int, meaning: Meaning) -> bool:
        """Whether the words above a block allow it to be what it is taken for: below a command stands what it prints,
        but not where they say that it is no more than something like it."""
        above = next((line for line, fence in zip(self._lines[:start][::-1], self._fences[:start][::-1], strict=True)
                      if line.strip(_BARE) and not fence), "")
        sentence = last_sentence(above)
        return not (says("doubt", sentence) if meaning == "printed" else self._command.search(sentence))

    def _sentences(self, place: Place, end: Place) -> Iterator[str]:
        """The sentences between two places; a line that ends, ends one."""
        for number in range(place[0], min(end[0] + 1, len(self._lines))):
            line = self._lines[number]
            line = line[:end[1]] if number == end[0] else line
            begin = place[1] if number == place[0] else 0
            open_mark = line.count(MARK, 0, begin) % 2
            yield from _split_sentences(line[begin:].replace(MARK, "", open_mark))


def _split_sentences(line: str) -> Iterator[str]:
    """The sentences of a line, the first one even if it is empty; none ends between marks."""
    begin = 0
    for end in _SENTENCE.finditer(line):
        if line.count(MARK, 0, end.start()) % 2 == 0:
            yield line[begin:end.start()].strip()
            begin = end.end()
    yield line[begin:].strip()


def _is_said(lines: Sequence[str], sentence: str, meaning: Meaning, *, first: bool, given: Collection[str]) -> bool:
    """Whether a sentence says that these lines are printed (typed, held), and no more than these; the `first` one
    stands right behind a command."""
    if _is_doubtful(sentence, given, first=first):
        return False
    pieces = [piece.strip() for piece in sentence.split(MARK)[1::2]]
    if pieces == list(lines) and sentence.count(MARK) == 2 * len(pieces):
        return True
    if len(lines) > 1:
        return _is_enumerated(lines, sentence)
    return any(_is_led_to(before, meaning, first=first) and _is_ended(sentence[end:])
               and not (meaning == "printed" and _may_describe(lines[0].split(), given, before))
               for before, end in _occurrences(lines[0], sentence))


def _is_doubtful(sentence: str, given: Collection[str], *, first: bool) -> bool:
    """Whether a sentence takes back what it shows, or speaks of a condition and not of what was given: `if the room is
    unknown`."""
    may_be_of_others = bool(given) and not first and set(given).isdisjoint(re.findall(r"[\w.-]+", sentence))
    return says("doubt", sentence) or (may_be_of_others and says("condition", sentence))


def _occurrences(text: str, sentence: str) -> Iterator[tuple[str, int]]:
    """What stands before a text in a sentence, and where the text ends, each time that it stands there."""
    for found in islice(_pattern_of(text).finditer(sentence), _MOST_PLACES):
        yield sentence[max(0, found.start() - _FURTHEST):found.start()], found.end()


def _may_describe(words: Sequence[str], given: Collection[str], before: str) -> bool:
    """Whether words that are printed speak of what was given, and so are not meant letter by letter: of a given
    10 `10 kilometres in miles` only says what is made. Right behind a command they may say what it does."""
    if not re.search(r"\w", before):
        return not is_unmistakable(" ".join(words), given)
    return len(words) > 1 and not set(given).isdisjoint(words) and says("printed", before)


def _is_enumerated(lines: Sequence[str], sentence: str) -> bool:
    """Whether a sentence that speaks of lines lists just these."""
    if not says("line_words", sentence) or any(_LIST.search(line) for line in lines):
        return False
    return any(_is_list(lines, re.split(r"[(（.。:：]", sentence[found.start():], maxsplit=1)[0])
               and not _LIST.search(sentence[:found.start()][-3:])
               for found in islice(_pattern_of(lines[0]).finditer(sentence), _MOST_PLACES))


def _is_list(lines: Sequence[str], text: str) -> bool:
    """Whether a text begins with a list of just these lines, and goes on with words that are none of it."""
    count, last = len(lines), lines[-1]
    parts = [part.strip(_BARE) for part in _LIST.split(text) if part.strip(_BARE)]
    if len(parts) < count or parts[:count - 1] != list(lines[:-1]) or not parts[count - 1].startswith(last):
        return False
    listed = rows_of(parts[count - 1].removeprefix(last)) is not None
    return listed and (len(parts) == count or begins_with("printed", parts[count]))


def _is_led_to(before: str, meaning: Meaning, *, first: bool) -> bool:
    """Whether the words before a text lead to it: nothing but the command, a label, or words that say what it is."""
    before = before.rstrip(_BARE)
    label = _SEPARATOR.sub("", before).strip(_BARE)
    if not label:
        return first
    rows = rows_of(last_clause(label))
    speaks = meaning == "printed" and label != before and rows is not None and rows <= {"subject", "filler"}
    return speaks or (rows is not None and meaning in rows)


def _is_ended(after: str) -> bool:
    """Whether nothing that stands behind a text can belong to it."""
    after = after.lstrip(_BARE)
    return not after or bool(_ENDS.match(after)) or begins_with("reason", after)


@lru_cache(maxsize=64)  # one text is looked for in every sentence
def _pattern_of(text: str) -> re.Pattern[str]:
    """A text as a pattern, whatever marks and blanks stand in it; no part of a word. Marks alone match nothing."""
    words = text.replace(MARK, " ").split()
    if not words:
        return re.compile(r"(?!)")
    left, right = (r"(?<!\w)" if words[0][0].isascii() and words[0][0].isalnum() else "",
                   r"(?!\w)" if words[-1][-1].isascii() and words[-1][-1].isalnum() else "")
    return re.compile(left + _GAP.join(map(re.escape, words)) + right)


def _plain(line: str, *, margin: bool = True) -> str:
    """A line with single blanks, without the bullet or number that it begins with."""
    line = line.strip()
    line = _MARGIN.sub("", line, count=1) if margin and _MARGIN.match(line) else line
    return " ".join(_MARKS.sub(MARK, line).split()).strip()
