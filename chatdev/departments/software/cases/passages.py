"""What a request shows letter by letter, in its order: sessions, blocks, tables, lists and spans in running text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import dropwhile

from chatdev.departments.software.cases.command_line import read_command
from chatdev.departments.software.cases.layout import Block, blocks_of, without_margin
from chatdev.departments.software.cases.passage import Passage, Role, label_role, make_passage, role_of
from chatdev.departments.software.cases.script import Script
from chatdev.departments.software.cases.sentences import Sentences, command_in_prose, start_passage, strip_marks
from chatdev.departments.software.cases.wording import (
    COLONS,
    ENDS,
    begins_with,
    counts_of_arguments,
    is_literal,
    is_sentence,
    last_sentence,
    says,
    without_asides,
)

_OUTPUTS = ("printed", "result", "left")
_CODE = {"python", "py", "javascript", "js", "java", "c", "cpp", "html", "json"}


def passages_of(request: str, command: str) -> list[Passage]:
    """All passages of a request. `command` is the pattern of what stands before a program's arguments."""
    words = set(re.findall(r"[a-z]{2,}", request))
    return [_without_form(passage, words) for passage in _Reading(request, command).read(blocks_of(request))]


class _Reading:
    """One reading of a request; `cue` is what was said since the last passage."""

    def __init__(self, request: str, command: str) -> None:
        self._command = command
        self._arguments = counts_of_arguments(request)
        self._in_prose = command_in_prose(command)
        self._cue = ""
        self._group = 0
        self._below_command = False
        self._awaits_output = False
        self._last: Passage | None = None

    def read(self, blocks: Sequence[Block]) -> Iterator[Passage]:
        """The passages of blocks."""
        place = 0
        while place < len(blocks):
            block, end = blocks[place], _end_of_list(blocks, place)
            before = blocks[place - 1] if place else None
            self._group = block.group
            self._below_command = self._awaits_output or bool(before and self._is_command(before))
            self._awaits_output = False
            found = self._blocks(blocks[place:end], blocks[end:end + 1])
            denied = end < len(blocks) and begins_with("denied", blocks[end].text)
            for passage in found:
                self._last = replace(passage, role="lost") if denied else passage
                yield self._last
            place = end

    def _blocks(self, blocks: Sequence[Block], following: Sequence[Block]) -> Iterator[Passage]:
        """The passages of a block or of the items of a list."""
        if blocks[0].kind == "code":
            return self._code(blocks[0])
        if blocks[0].kind == "table":
            return self._table(blocks[0])
        return self._list(blocks, following) if blocks[0].kind == "item" else self._paragraph(blocks[0], following)

    def _list(self, items: Sequence[Block], following: Sequence[Block]) -> Iterator[Passage]:
        """The items of a list, which is an output, a script as a whole, or each of them running text."""
        if shown := self._listed_output(items, following) or self._listed_file(items):
            yield shown
            return
        lines = [item.lines[1:] if self._are_titled(items) else item.lines for item in items]
        if found := self._script([line for part in lines for line in part], following):
            yield from found
            return
        for place, item in enumerate(items):
            yield from self._paragraph(item, items[place + 1:place + 2] or following)

    def _are_titled(self, items: Sequence[Block]) -> bool:
        """Whether each item begins with what the session below it does, as in `2. List the books:`."""
        script = Script(self._command, self._group, marked=False)
        return not self._below_command and all(
            len(item.lines) > 1 and script.whole_command(item.lines[1].rstrip("".join(COLONS)))
            and not script.whole_command(item.lines[0].rstrip("".join(COLONS))) for item in items)

    def _listed_output(self, items: Sequence[Block], following: Sequence[Block]) -> Passage | None:
        """The passage of a list below a label that says that it is printed, signs included. They are printed too, since
        the lines above, which come in, have none."""
        role = label_role(self._cue.rstrip("".join(COLONS))) if self._cue.endswith(COLONS) else None
        if role not in ("printed", "result") or not _comes_in(self._last):
            return None
        if any(len(item.lines) > 1 for item in items) or not self._is_shown([one.text for one in items], following):
            return None
        return Passage(role, tuple(f"{one.tag} {one.text}" for one in items), self._group, cue=self._take_cue())

    def _listed_file(self, items: Sequence[Block]) -> Passage | None:
        """The passage of a list below words that say that a file holds these lines; without marks around them nobody
        knows whether the signs of the list are in the file, too."""
        lines = tuple(strip_marks(item.text) for item in items)
        if not self._cue.endswith(COLONS) or any(
                len(item.lines) > 1 or line == item.text for item, line in zip(items, lines, strict=True)):
            return None
        passage = make_passage(self._cue, lines, self._group, block=True)
        return replace(passage, cue=self._take_cue()) if passage.role == "file" else None

    def _take_cue(self) -> str:
        cue, self._cue = self._cue, ""
        return cue

    def _code(self, block: Block) -> Iterator[Passage]:
        """A block that is marked as meant letter by letter."""
        cue, script = self._take_cue(), Script(self._command, self._group, marked=True, arguments=self._arguments)
        lines = list(dropwhile(lambda line: not line, without_margin(block.lines)))
        if found := script.pairs(lines) or script.session(lines):
            yield replace(found[0], cue=found[0].cue or cue)
            yield from found[1:]
        elif block.tag in _CODE or block.shifted:
            yield Passage("unknown", block.lines, self._group)
        elif self._below_command:
            yield Passage("printed", block.lines, self._group)
        else:
            said = make_passage(cue, block.lines, self._group, block=True)
            yield from (said.role == "unknown" and script.labels(lines)) or [said]

    def _is_command(self, block: Block) -> bool:
        """Whether a paragraph is no more than a command."""
        script = Script(self._command, self._group, marked=block.kind == "code")
        return len(block.lines) == 1 and script.whole_command(block.text.rstrip(":：")) is not None

    def _table(self, block: Block) -> Iterator[Passage]:
        """Rows of a command and what it prints, under a heading that says so."""
        heading, *rows = block.cells
        self._take_cue()
        said = len(heading) == 2 and role_of(heading[1], block=False) == "printed"
        for row in rows:
            start = read_command(strip_marks(row[0]), self._command)
            if len(row) != 2 or start is None:
                yield Passage("unknown", block.lines, self._group)
                return
            output = strip_marks(row[1])
            is_marked = row[1].startswith("`") and output != row[1]
            certain = is_marked or (said and is_literal([output]) and not is_sentence(output))
            yield start_passage(start, self._group)
            yield Passage("printed" if certain else "unknown", (output,), self._group)

    def _paragraph(self, block: Block, following: Sequence[Block]) -> Iterator[Passage]:
        cue, lines = self._take_cue(), block.lines
        if (block.kind != "item" or "`" in block.text) and (found := self._script(lines, following)):
            yield replace(found[0], cue=found[0].cue or cue)
            yield from found[1:]
        elif self._is_said(cue, block, following):
            yield make_passage(cue, lines, self._group, block=True)
        elif lines[0].endswith(COLONS) and _role_of_plain(lines[0]) and self._is_shown(lines[1:], following):
            yield from self._sentences(lines[0])
            yield make_passage(self._take_cue(), lines[1:], self._group, block=True)
        else:
            yield from self._sentences(" ".join(map(str.strip, lines)))

    def _is_said(self, cue: str, block: Block, following: Sequence[Block]) -> bool:
        """Whether the words before a paragraph say what it is, and it is meant letter by letter."""
        return bool(_role_of_plain(cue)) and not block.shifted and self._is_shown(block.lines, following)

    def _script(self, lines: Sequence[str], following: Sequence[Block]) -> list[Passage]:
        """The passages of lines that are a script, also below a line that ends in a colon."""
        script = Script(self._command, self._group, marked=False, arguments=self._arguments)
        found = script.read(lines) or self._script_below(script, lines)
        self._cue = script.rest if found else ""
        if found and not script.ends and found[-1].role in _OUTPUTS and not self._ends(found[-1].lines, following):
            found[-1] = replace(found[-1], role="unknown")
        return found

    def _script_below(self, script: Script, lines: Sequence[str]) -> list[Passage]:
        """The passages of a script below the first line that ends in a colon."""
        above = next((place for place, line in enumerate(lines) if line.endswith(COLONS)), len(lines)) + 1
        found = script.read(lines[above:])
        return [*self._sentences(" ".join(map(str.strip, lines[:above]))), *found] if found else []

    def _ends(self, lines: Sequence[str], following: Sequence[Block]) -> bool:
        """Whether lines have an end before these blocks."""
        if not following or following[0].kind != "prose" or self._in_prose.search(following[0].text):
            return True
        told = _is_told(following[0].lines) and not any(line.endswith(ENDS) for line in lines)
        return told or _goes_on_otherwise(following[0].lines)

    def _sentences(self, text: str) -> Iterator[Passage]:
        reading = Sentences(self._command, self._group)
        found = reading.read(text)
        yield from found
        self._cue = reading.rest
        self._awaits_output = reading.awaits_output(found)

    def _is_shown(self, lines: Sequence[str], following: Sequence[Block]) -> bool:
        """Whether lines without marks are meant letter by letter, and end where they seem to."""
        if not lines or not is_literal(lines):
            return False
        if any(is_sentence(line) or self._in_prose.search(line) for line in lines):
            return False
        return self._ends(lines, following)


def _without_form(passage: Passage, words: Collection[str]) -> Passage:
    """The passage; a command with an argument in capital letters is a form where the request speaks of that thing."""
    if passage.command and any(word.isupper() and word.lower() in words for word in passage.command.arguments):
        return replace(passage, role="unknown", form=True)
    if passage.command and says("wrong", without_asides(last_sentence(passage.cue))):
        return replace(passage, role="lost")
    return passage


def _comes_in(passage: Passage | None) -> bool:
    """Whether some lines below each other are what the program gets."""
    return passage is not None and not passage.inline and passage.role in ("typed", "given", "file")


def _end_of_list(blocks: Sequence[Block], place: int) -> int:
    """Where the list ends that begins at a place; behind the place where none does."""
    first = blocks[place]
    end = place + 1
    while first.kind == "item" and end < len(blocks) and (blocks[end].kind, blocks[end].group) == ("item", first.group):
        end += 1
    return end


def _role_of_plain(cue: str) -> Role | None:
    """The role of lines without marks below a label, or below a sentence that does not end."""
    role = None if not cue or cue.rstrip().endswith(ENDS) else role_of(cue, block=True)
    return role if role in ("printed", "typed", "file", "given") else None


def _is_told(lines: Sequence[str]) -> bool:
    """Whether a paragraph is made of sentences, if short ones."""
    text = lines[-1].rstrip()
    if text.endswith("。"):  # has no blanks to count words by
        return True
    return lines[0][:1].isupper() and text.endswith(ENDS) and len(" ".join(lines).split()) > 2


def _goes_on_otherwise(lines: Sequence[str]) -> bool:
    """Whether a paragraph is a label or running text, and no more of the lines before it."""
    last, words = lines[-1].rstrip(), len(" ".join(lines).split())
    labelled = lines[0].endswith(COLONS) or len(lines) == 1
    if last.endswith(COLONS) or (labelled and _role_of_plain(lines[0])):
        return True
    return words > 8 or (words > 4 and last.endswith((*ENDS, ")")))
