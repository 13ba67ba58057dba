"""What a request shows letter by letter, in its order: sessions, blocks, tables, lists and spans in running text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chatdev.tools.software.cases.command_line import PROMPT, read_command
from chatdev.tools.software.cases.layout import Block, blocks_of
from chatdev.tools.software.cases.passage import Passage, Role, make_passage, role_of
from chatdev.tools.software.cases.sentences import Sentences, command_in_prose, start_passage, strip_marks
from chatdev.tools.software.cases.wording import is_literal

_ARROW = re.compile(r"\s(?:[-=]{1,2}>|→|⇒|⟶|↦)\s")
_LABEL = re.compile(r"([^:：]{1,40})[:：]\s+(\S.*)$")
_CODE = {"python", "py", "javascript", "js", "java", "c", "cpp", "html", "json"}
_ENDS = (".", "!", "?", "。", "！", "？")
_COMMENT = re.compile(r"#\s+[^\W\d]")
_ELISIONS = ("...", "…", "[...]")


def passages_of(request: str, command: str) -> list[Passage]:
    """All passages of a request. `command` is the pattern of what stands before a program's arguments."""
    return list(_Reading(command).read(blocks_of(request)))


class _Reading:
    """One reading of a request; `cue` is what was said since the last passage."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._in_prose = command_in_prose(command)
        self._cue = ""
        self._group = 0
        self._below_command = False

    def read(self, blocks: Sequence[Block]) -> Iterator[Passage]:
        """The passages of blocks."""
        for place, block in enumerate(blocks):
            self._group = block.group
            before = blocks[place - 1] if place else None
            self._below_command = bool(before and before.kind == "prose" and self._is_command(before))
            if block.kind == "code":
                yield from self._code(block)
            elif block.kind == "table":
                yield from self._table(block)
            else:
                yield from self._paragraph(block, blocks[place + 1:place + 2])

    def _take_cue(self) -> str:
        cue, self._cue = self._cue, ""
        return cue

    def _code(self, block: Block) -> Iterator[Passage]:
        """A block that is marked as meant letter by letter."""
        cue = self._take_cue()
        if arrows := self._arrows(block.lines):
            yield from arrows
        elif self._is_session(block.lines):
            yield from self._session(block.lines)
        elif block.tag in _CODE:
            yield Passage("unknown", block.lines, self._group)
        elif self._below_command:
            yield Passage("printed", block.lines, self._group)
        else:
            yield make_passage(cue, block.lines, self._group, block=True)

    def _is_command(self, block: Block) -> bool:
        """Whether a paragraph is no more than a command."""
        return len(block.lines) == 1 and read_command(strip_marks(block.text.rstrip(":：")), self._command) is not None

    def _is_session(self, lines: Sequence[str]) -> bool:
        return bool(lines) and read_command(lines[0], self._command) is not None

    def _session(self, lines: Sequence[str]) -> Iterator[Passage]:
        """Commands, each with what it prints below it. Where one stands after a prompt, all do."""
        prompted = bool(PROMPT.match(lines[0]))
        said: list[str] = []
        for line in lines:
            prompt = PROMPT.match(line)
            start = read_command(line, self._command) if bool(prompt) == prompted else None
            if prompted and prompt and prompt.end() == len(line):
                continue
            if start is None:
                said.append(line)
                continue
            yield from self._output(said)
            said = []
            yield start_passage(start, self._group)
        yield from self._output(said)

    def _output(self, lines: Sequence[str]) -> Iterator[Passage]:
        text = "\n".join(lines).rstrip()
        if text:
            elided = any(line.strip() in _ELISIONS or _COMMENT.match(line) for line in lines)
            yield Passage("unknown" if elided else "printed", tuple(text.split("\n")), self._group)

    def _arrows(self, lines: Sequence[str]) -> list[Passage]:
        """Lines such as `COMMAND => OUTPUT`; none where one of them is another line."""
        found: list[Passage] = []
        for line in filter(str.strip, lines):
            left, *right = _ARROW.split(line.strip(), maxsplit=1)
            start = read_command(strip_marks(left), self._command)
            if start is None or not right:
                return []
            found += [start_passage(start, self._group), self._shown_text(right[0], "printed")]
        return _all_or_none(found)

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
            certain = said or (row[1].startswith("`") and output != row[1])
            yield start_passage(start, self._group)
            yield Passage("printed" if certain else "unknown", (output,), self._group)

    def _labels(self, lines: Sequence[str]) -> list[Passage]:
        """Lines such as `You type: COMMAND` and `It says: OUTPUT`; none where one of them is another line."""
        found: list[Passage] = []
        for line in lines:
            label = _LABEL.match(line)
            role = role_of(label[1], block=False) if label else None
            if not label or role not in ("printed", "typed"):
                return []
            start = read_command(strip_marks(label[2]), self._command)
            shown = self._shown_text(label[2], role)
            found.append(start_passage(start, self._group) if start and role == "typed" else shown)
        return _all_or_none(found) if len(found) > 1 else []

    def _shown_text(self, text: str, role: Role) -> Passage:
        """A text at the end of a line; one without marks may only speak of what is meant."""
        output = strip_marks(text)
        literal = output != text.strip() or is_literal([output])
        return Passage(role if literal else "unknown", (output,), self._group)

    def _paragraph(self, block: Block, following: Sequence[Block]) -> Iterator[Passage]:
        cue, lines = self._take_cue(), block.lines
        if PROMPT.match(lines[0]) and self._is_session(lines):
            yield from self._session(lines)
        elif rows := self._arrows(lines) or self._labels(lines):
            yield from rows
        elif _role_of_plain(cue) and self._is_shown(lines, following):
            yield make_passage(cue, lines, self._group, block=True)
        elif lines[0].endswith((":", "：")) and _role_of_plain(lines[0]) and self._is_shown(lines[1:], following):
            yield from self._sentences(lines[0])
            yield make_passage(self._take_cue(), lines[1:], self._group, block=True)
        else:
            yield from self._sentences(" ".join(lines))

    def _sentences(self, text: str) -> Iterator[Passage]:
        reading = Sentences(self._command, self._group)
        yield from reading.read(text)
        self._cue = reading.rest

    def _is_shown(self, lines: Sequence[str], following: Sequence[Block]) -> bool:
        """Whether lines without marks are meant letter by letter, and end where they seem to."""
        if not lines or not is_literal(lines):
            return False
        if any(_is_sentence(line) or self._in_prose.search(line) for line in lines):
            return False
        return not following or following[0].kind != "prose" or _goes_on_otherwise(following[0].lines)


def _role_of_plain(cue: str) -> Role | None:
    """The role of lines without marks below a label, or below a sentence that does not end."""
    role = None if not cue or cue.rstrip().endswith(_ENDS) else role_of(cue, block=True)
    return role if role in ("printed", "typed", "file") else None


def _all_or_none(passages: Sequence[Passage]) -> list[Passage]:
    """The rows of a list; where one of them speaks of what happens, none is meant letter by letter."""
    spoken = any(passage.role == "unknown" for passage in passages)
    return [replace(passage, role="unknown") for passage in passages] if spoken else list(passages)


def _is_sentence(line: str) -> bool:
    return line.rstrip().endswith(_ENDS) and len(line.split()) > 4


def _goes_on_otherwise(lines: Sequence[str]) -> bool:
    """Whether a paragraph is a label or running text, and no more of the lines before it."""
    last, words = lines[-1].rstrip(), len(" ".join(lines).split())
    if last.endswith((":", "：")) or (lines[0].endswith((":", "：")) and _role_of_plain(lines[0])):
        return True
    return words > 8 or (words > 4 and last.endswith((*_ENDS, ")")))
