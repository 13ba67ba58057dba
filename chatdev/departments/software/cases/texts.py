"""The texts of a request that may come in: what is typed or piped into a program, or what a file holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from chatdev.departments.software.cases.layout import label_role, without_margin
from chatdev.departments.software.cases.places import (
    ASIDE,
    BARE,
    BULLET,
    Place,
    command_pattern,
    hide,
    label_of,
    marked_places,
    placed_lines,
)
from chatdev.departments.software.cases.wording import (
    ENDS,
    FILE_NAME,
    MARK,
    begins_with,
    is_word_of_speech,
    last_sentence,
    places_of,
    says,
)

_FENCE = re.compile(r"\s*(?:```|~~~)")
_INDENTED = re.compile(r"(?: {4}|\t).*|\s*$")
_PROMPT = re.compile(r"\s*(?:[$%] |> ?(?:cat|type|more|echo|printf) )")
_TITLE = re.compile(r"([-=_~*#])\1{2}.*\1{3}")
_JOINED = r"(?:and|then|und|dann|y|et|puis)"
_LIST = re.compile(rf"(?<!\s)\s*[,;，、]\s*(?:{_JOINED}\s+)?|(?<!\s)\s+{_JOINED}\s+|和")
_SLASHES = re.compile(r"(?<!\s)\s*/\s*|\\n")
_COMMA = re.compile(r",\s*")
_ITEM = r"[^\s,;:()`\"，、。；]+(?: [^\s,;:()`\"，、。；]+){0,2}"
_ENUMERATION = re.compile(rf"(?<![^\s,;:()`\"，、。；]){_ITEM}"
                          rf"(?:[,，、] ?(?:{_JOINED} )?{_ITEM})+(?: {_JOINED} {_ITEM})?")
_LONG_LINE = 60  # characters; what is longer is a sentence
_NEAR, _FAR = 20, 200  # characters between a list and a word that says what it is, and of the sentence around it
_LONGEST, _MOST_SPANS = 3000, 4

Line = tuple[int, str]


@dataclass(frozen=True, slots=True)
class PlacedText:
    """Lines that may come in, and where they stand. `loose` ones are put together out of running text, which calls
    them lines that come in where they are `told`; a `block` is one that its author set apart, and that no label
    parts."""

    lines: tuple[str, ...]
    places: tuple[Place, ...]
    loose: bool = False
    block: bool = False
    told: bool = False

    @property
    def text(self) -> str:
        """The lines as a file holds them."""
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def is_shown(self) -> bool:
        """Whether it has the form of something shown: it is set apart or told, or lines below each other that are not
        mostly prose or a list."""
        prose = sum(line.endswith(ENDS) or BULLET.match(line) is not None for line in self.lines)
        is_prose = self.loose or 2 * prose >= len(self.lines)
        return self.block or self.told or (len(self.lines) > 1 and len(self.places) == 1 and not is_prose)

    def lies_in(self, other: PlacedText) -> bool:
        """Whether it is a part of the other one, which is a block."""
        return other.block and all(any(begin <= place[0] and place[1] <= end for begin, end in other.places)
                   for place in self.places) and self.places != other.places


def texts_in(request: str, command: str) -> list[PlacedText]:
    """The texts of a request, likely ones first, each once. `command` is the pattern of what stands before a program's
    arguments."""
    found = dict[tuple[str, ...], PlacedText]()
    pattern = command_pattern(command)
    for text in chain(_runs(request, pattern), _behind_labels(request, pattern), _between_marks(request, pattern),
                      _enumerations(request)):
        lines = tuple(line.rstrip() for line in text.lines)
        if any(map(str.strip, lines)) and sum(map(len, lines)) < _LONGEST:
            found.setdefault(lines, replace(text, lines=lines))
    return list(found.values())


def _runs(request: str, command: re.Pattern[str]) -> Iterator[PlacedText]:
    """Lines below each other: indented ones, and those between labels, commands, fences, rulers and sentences."""
    def ends_block(line: str) -> bool:
        return any(found(line) for found in (command.search, _FENCE.match, _PROMPT.match, is_ruler))

    def ends_labelled(line: str) -> bool:
        return ends_block(line) or _ends_in_colon(line) or len(line) > _LONG_LINE

    kinds: tuple[Callable[[str], bool], ...] = (
        lambda line: ends_block(line) or not _INDENTED.match(line),
        lambda line: ends_labelled(line) or not line.strip(),
        ends_labelled,
        lambda line: ends_block(line) or not line.strip() or len(line) > _LONG_LINE)
    lines = list(placed_lines(request))
    for ends in kinds:
        for run in _split_runs(lines, ends):
            yield from _variants(run)


def _ends_in_colon(line: str) -> bool:
    return line.rstrip().endswith((":", "："))


def is_ruler(line: str) -> bool:
    """Whether a line is drawn to part others."""
    line = line.strip()
    return len(line) > 1 and (set(line) <= set("-=_~*#") or bool(_TITLE.fullmatch(line)))


def _split_runs(lines: Sequence[Line], ends: Callable[[str], bool]) -> Iterator[list[Line]]:
    """The runs of lines that end nothing, without empty lines around them."""
    run = list[Line]()
    for line in [*lines, None]:
        if line is not None and not ends(line[1]):
            run += [line] if run or line[1].strip() else []
            continue
        while run and not run[-1][1].strip():
            run.pop()
        if run:
            yield run
        run = []


def _variants(run: Sequence[Line]) -> Iterator[PlacedText]:
    """A run as it is, without its bullets or quote marks, and without the name of the file above it."""
    last, text = run[-1], [line for _, line in run]
    places = ((run[0][0], last[0] + len(last[1])),)
    block = all(map(_INDENTED.match, text)) and not _is_labelled(text)
    yield PlacedText(tuple(without_margin(text)), places, block=block)
    if all(map(BULLET.match, text)):
        is_list = not text[0].lstrip().startswith(">")
        yield PlacedText(tuple(BULLET.sub("", line, count=1) for line in text), places, loose=is_list)
    if len(run) > 1 and FILE_NAME.fullmatch(text[0].strip(BARE + ":")):
        yield PlacedText(tuple(without_margin(text[1:])), ((run[1][0], last[0] + len(last[1])),))


def _is_labelled(lines: Sequence[str]) -> bool:
    """Whether a label that says what follows it stands between the lines."""
    return any(_ends_in_colon(line) and label_role(line.strip().rstrip(":：")) for line in lines)


def _behind_labels(request: str, command: re.Pattern[str]) -> Iterator[PlacedText]:
    """What stands behind labels, as a list and as one line."""
    for begin, line in placed_lines(request):
        label = label_of(line)
        if not label or label[1] == len(line) or command.search(line):
            continue
        said = _without_count(ASIDE.sub("", line[label[1]:]))
        places = ((begin + label[1], begin + label[1] + len(said)),)
        for parts in (_SLASHES.split(said.strip(BARE)), _split_list(said), [said.strip(BARE)]):
            yield PlacedText(tuple(part.removesuffix(".") for part in parts), places, loose=len(parts) > 1)


def _without_count(text: str) -> str:
    """A list without words behind it that say that each item is a line."""
    return next((text[:begin] for begin, end in places_of("own_line", text) if not text[end:].strip(" .")), text)


def _split_list(text: str) -> list[str]:
    return [part.strip(BARE) for part in _LIST.split(text) if part.strip(BARE)]


def _between_marks(request: str, command: re.Pattern[str]) -> Iterator[PlacedText]:
    """What stands between marks: parts of it, and several ones near each other as lines."""
    spans = [(begin, end) for begin, end in marked_places(request)
             if not command.search(request[begin:end]) and not FILE_NAME.fullmatch(request[begin:end])]
    for begin, end in spans:
        for sign in (_SLASHES, _COMMA):
            if sign.search(request[begin:end]):
                parts = sign.split(request[begin:end])
                yield PlacedText(tuple(filter(None, parts)), ((begin, end),), loose=True)
    for part in _neighbours(spans):
        yield PlacedText(tuple(request[begin:end] for begin, end in part), tuple(part))


def _neighbours(places: Sequence[Place]) -> Iterator[Sequence[Place]]:
    """Some places that stand near each other, the most first."""
    for count in range(_MOST_SPANS, 0, -1):
        for part in (places[number:number + count] for number in range(len(places) - count + 1)):
            if all(after[0] - before[1] < _LONG_LINE for before, after in pairwise(part)):
                yield part


def _enumerations(request: str) -> Iterator[PlacedText]:
    """Lists in running text; what belongs to the sentence may stand before the first item and behind the last."""
    text = hide(request, list(places_of("own_line", request)))
    for found in _ENUMERATION.finditer(text):
        parts = tuple(_split_list(found[0]))
        for items in dict.fromkeys((_without_speech(parts), parts)):
            if len(items) > 1 and not any(MARK in item for item in items):
                yield from _as_texts(items, found, request)


def _without_speech(parts: Sequence[str]) -> tuple[str, ...]:
    """A list without what belongs to the sentence around it."""
    items = list(parts)
    while items and (MARK in items[0] or is_word_of_speech(items[0].rpartition(" ")[2])):
        items.pop(0)
    while items and is_word_of_speech(items[-1].partition(" ")[0]):
        items.pop()
    return tuple(items)


def _as_texts(items: Sequence[str], found: re.Match[str], request: str) -> Iterator[PlacedText]:
    """The texts that a list may be, by where its first item begins and its last one ends."""
    first, *others = items
    for head in dict.fromkeys((first, first.split()[-1], first.split(maxsplit=1)[-1])):
        for tail in dict.fromkeys((others[-1], others[-1].split()[0])):
            begin = found.start() + found[0].index(head)
            end = found.start() + found[0].rindex(tail) + len(tail)
            yield PlacedText((head, *others[:-1], tail.rstrip(".。")), ((begin, end),), loose=True,
                             told=_are_told(request[max(0, begin - _FAR):begin], request[end:end + _FAR]))


def _are_told(before: str, after: str) -> bool:
    """Whether the words around a list call it the lines of a file, or what is typed."""
    clause = last_sentence(before)
    if after[:1] == " " and (begins_with("own_line", after) or begins_with("typed", after)):
        return not says("printed", clause)
    last = list(places_of("own_list", clause))[-1:]
    named = any(len(clause) - end <= _NEAR and not re.search(r"[.,:;]", clause[end:].rstrip(" :")) for _, end in last)
    return named and bool(FILE_NAME.search(clause)) and says("holds", clause) and not says("printed", clause)
