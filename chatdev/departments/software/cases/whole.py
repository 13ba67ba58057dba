"""Whether what a program printed stands in its request, as all that is shown at that place.

A verbatim match of the complete shown text is accepted without further evidence.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Sequence

from chatdev.departments.software.cases.layout import label_role, without_margin
from chatdev.departments.software.cases.places import (
    ARROW,
    BARE,
    BULLET,
    CLOSING,
    OPENING,
    Place,
    command_pattern,
    label_of,
    marked_places,
)
from chatdev.departments.software.cases.texts import is_ruler
from chatdev.departments.software.cases.wording import (
    MARK,
    begins_with,
    is_all_of,
    is_word_of_speech,
    last_sentence,
    says,
)
from chatdev.sandbox.base import lines_of

_LEADS = re.compile(rf"(?:[:：=|,;(（。，{MARK}]|{ARROW})[ \t]*(?:(?:just|only|simply|again|nur)[ \t])?$")
_OVER = re.compile(rf"[ \t]*(?:$|[.:!?)）。！？|(（{MARK}]|{ARROW})(?![:.]?\d)")
_JOINS = r"(?:and|then|und|dann|followed by|below|under|on|in|the|a|next|second|third|new|last|line|it|that|[,;/&，、])"
_NEXT = re.compile(rf"[{CLOSING}](?:[ \t]*{_JOINS}){{1,6}}[ \t]*[{OPENING}]")
_SPEAKS_ON = re.compile(r"[ \t]+(?:and|but|on|in|as|for|with|und|aber|mit)\b")
_GAP = (rf"[{CLOSING}.:)]*(?:\n[ \t]*[>*-]*[ \t]*|[ \t]*[,;/，、。：和].{{0,25}}?|[ \t]+{_JOINS}\b.{{0,30}}?"
        rf"|[{CLOSING}].{{1,40}}?(?=[{OPENING}]))[ \t]*[{OPENING}(]*")
_NEAR, _LONGEST_SENTENCE = 60, 300  # characters that lead to an output, and of a sentence that may give a reason
_LONGEST, _MOST_SPOKEN = 3000, 5  # characters of an output, and lines of one in running text


def stands_whole(output: str, text: str, window: Place, command: str) -> bool:
    """Whether an output is all that a text shows at a place in the window: some lines, what is behind a label, between
    marks, or what a sentence says. In the text, what came in is hidden; `command` is the pattern of what stands before
    a program's arguments."""
    wanted = lines_of(output.lstrip("\r\n"))
    if not wanted or sum(map(len, wanted)) > _LONGEST:
        return False
    return _is_block(wanted, text, window, command_pattern(command)) or (
        len(wanted) <= _MOST_SPOKEN and _is_spoken(wanted, text, window))


def _is_block(wanted: Sequence[str], text: str, window: Place, command: re.Pattern[str]) -> bool:
    """Whether these are whole lines of the text, the first one perhaps behind a label or an arrow."""
    lines = [line.rstrip() for line in text.split("\n")]
    begin = 0
    for number in range(len(lines) - len(wanted) + 1):
        part = lines[number:number + len(wanted)]
        content = begin + len(lines[number]) - len(lines[number].lstrip(BARE + "-•>"))
        is_there = content < window[1] and window[0] < begin + len(lines[number])
        if is_there and _is_edge(lines, number + len(wanted), command) and (
                (_is_edge(lines, number - 1, command) and _are_same(part, wanted))
                or _is_behind_label(part, wanted, text, begin)):
            return True
        begin += len(text[begin:].partition("\n")[0]) + 1
    return False


def _are_same(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether lines are the wanted ones, further in, or each behind a bullet or between marks."""
    bare = [BULLET.sub("", line, count=1).strip(BARE) for line in lines]
    apart = all(BULLET.match(line) or line.lstrip()[:1] in tuple(OPENING + "|") for line in lines)
    return without_margin(lines) == without_margin(wanted) or (
        apart and all(bare) and bare == [line.strip(BARE) for line in wanted])


def _is_behind_label(lines: Sequence[str], wanted: Sequence[str], text: str, begin: int) -> bool:
    """Whether the first line ends in the first wanted one, behind something that leads to it, and the others are as
    wanted."""
    head, first = lines[0].rstrip(BARE), wanted[0].strip(BARE)
    if not first or not head.endswith(first) or (len(lines) > 1 and not _are_same(lines[1:], wanted[1:])):
        return False
    place = begin + len(head) - len(first)
    return bool(_LEADS.search(head.removesuffix(first))) and not _is_part_of_marked(text, (place, place + len(first)))


def _is_edge(lines: Sequence[str], number: int, command: re.Pattern[str]) -> bool:
    """Whether a block cannot go on in a line: it is empty, a ruler, a label, a heading, a command, or came in."""
    if not 0 <= number < len(lines):
        return True
    line = lines[number].strip()
    if line.endswith((":", "：")) and lines[number].startswith(("    ", "\t")):
        return label_role(line.rstrip(":：")) is not None  # within a block a line may end so, too
    if line.endswith((":", "：")) or label_of(line) or command.search(line):
        return True
    return _parts_blocks(line)


def _parts_blocks(line: str) -> bool:
    """Whether a line has nothing that is printed: it is empty, drawn, a heading, or came in."""
    is_drawn = is_ruler(line) or set(line) <= set("|-+: ")
    return is_drawn or not line.strip(BARE + MARK) or MARK in line or line.startswith(("```", "~~~", "# ", "## "))


def _is_spoken(wanted: Sequence[str], text: str, window: Place) -> bool:
    """Whether running text has these lines one after another, as all that it shows there."""
    lines = [line for line in wanted if line.strip()]
    words = [r"\s+".join(map(re.escape, line.split())) for line in lines]
    left = r"(?<![\w.])" if lines[0].strip()[0].isalnum() and lines[0].isascii() else ""
    right = r"(?!\w)" if lines[-1].strip()[-1].isalnum() and lines[-1].isascii() else ""
    pattern = re.compile(left + _GAP.join(words) + right)
    return any(_is_whole_at(text, found.span(), lines) for found in pattern.finditer(text, window[0])
               if found.start() < window[1])


def _is_whole_at(text: str, place: Place, lines: Sequence[str]) -> bool:
    """Whether what stands around a place in running text belongs to something else."""
    if len(lines) > 1 and not text[text.rfind("\n", 0, place[0]) + 1:place[0]].strip():
        return False  # lines below each other are a block, or nothing
    first, last = len(lines[0].strip()), len(lines[-1].strip())
    parts = (place, (place[0], place[0] + first), (place[1] - last, place[1]))
    if any(_is_part_of_marked(text, part) for part in parts):
        return False
    before = text[max(0, place[0] - _LONGEST_SENTENCE):place[0]]
    return _leads_to(text[:place[0]]) and _is_over(text[place[1]:]) and not says("because", last_sentence(before))


def _is_part_of_marked(text: str, place: Place) -> bool:
    """Whether a place is a part, and not the whole, of what stands between marks; a sentence may end there, too."""
    def is_all(begin: int, end: int) -> bool:
        rest = text[place[1]:end]
        return begin == place[0] and (not rest or (rest in ".,!" and text[end + 1:end + 2] not in tuple(".,;:")))

    spans = _marked_places(text)
    number = bisect_right(spans, (place[0], len(text))) - 1  # the last one that begins before it
    return number >= 0 and place[1] <= spans[number][1] and not is_all(*spans[number])


@functools.lru_cache(maxsize=4)
def _marked_places(text: str) -> tuple[Place, ...]:
    """What stands between marks, worked out once for all places of a text."""
    return tuple(marked_places(text))


def _leads_to(before: str) -> bool:
    """Whether a text leads to an output: by a mark, a sign, or a word that says so."""
    line = before[max(before.rfind("\n") + 1, len(before) - _NEAR):]
    if line.rstrip()[-1:] in tuple(OPENING) or _LEADS.search(line):
        return True
    words = re.findall(r"[\w'’-]+", before[max(before.rfind("\n\n"), len(before) - _NEAR, 0):])
    return bool(words) and (says("printed", " ".join(words[-3:])) or is_all_of("states", words[-1]))


def _is_over(after: str) -> bool:
    """Whether an output cannot go on in what follows it."""
    line = after.partition("\n")[0]
    if line.lstrip()[:1] in tuple(CLOSING):
        return not _NEXT.match(line.lstrip())
    if re.match(r"[ \t]*[,;，；]", line):
        return _goes_on_behind_comma(line.lstrip(" \t,;，；"))
    return bool(_OVER.match(line) or _SPEAKS_ON.match(line)) or _goes_on(line)


def _goes_on_behind_comma(rest: str) -> bool:
    """Whether the sentence goes on there, and not the output."""
    word = re.match(r"[\w'-]+", rest)
    return not rest or rest[0] in OPENING + MARK or bool(word and is_word_of_speech(word[0])) or _goes_on(rest)


def _goes_on(text: str) -> bool:
    """Whether a text goes on with a reason or a condition."""
    return any(begins_with(row, text) for row in ("reason", "because", "ends_output", "condition"))
