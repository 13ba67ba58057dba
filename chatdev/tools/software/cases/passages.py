"""What a request shows letter by letter, in its order, each with what the words next to it say of it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from chatdev.tools.software.cases.command_line import PROMPT, TypedCommand, read_command
from chatdev.tools.software.cases.layout import Block, blocks_of
from chatdev.tools.software.cases.wording import (
    FILE_NAME,
    begins_with,
    is_concrete,
    is_literal,
    last_clause,
    last_sentence,
    rows_of,
    says,
    without_asides,
)

Role = Literal["command", "printed", "more", "typed", "file", "writes", "unknown"]
_SPAN = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|「([^「」]+)」")
_MARK = "\ue000"  # stands for a span in the text around it
_PIECE = re.compile(rf"[(（][^()（）]*[)）]|{_MARK}|[^{_MARK}(（]+|[(（]")
_ARROW = re.compile(r"\s(?:[-=]{1,2}>|→|⇒|⟶|↦)\s")
_LABEL = re.compile(r"([^:：]{1,40})[:：]\s+(\S.*)$")
_CODE = {"python", "py", "javascript", "js", "java", "c", "cpp", "html", "json"}


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines, and their role. `group` tells what belongs together (a paragraph, a list, a block); `name` is that of
    a file; `cue` and `after` are the words around it, `inline` says that those go on in the same line."""

    role: Role
    lines: tuple[str, ...]
    group: int
    command: TypedCommand | None = None
    name: str = ""
    cue: str = ""
    after: str = ""
    inline: bool = False


def passages_of(request: str, command: str) -> list[Passage]:
    """All passages of a request. `command` is the pattern of what stands before a program's arguments."""
    return list(_Reading(command).read(blocks_of(request)))


class _Reading:
    """One reading of a request; `cue` is what was said since the last passage."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._in_prose = re.compile(rf"(?<![\w./])(?:{command})(?=\s|$|[?:,.;])")
        self._cue = ""
        self._group = 0

    def read(self, blocks: Sequence[Block]) -> Iterator[Passage]:
        """The passages of blocks."""
        for place, block in enumerate(blocks):
            self._group = block.group
            if block.kind == "code":
                yield from self._code(block.lines, block.tag)
            elif block.kind == "table":
                yield from self._table(block)
            else:
                yield from self._paragraph(block, blocks[place + 1:place + 2])

    def _take_cue(self) -> str:
        cue, self._cue = self._cue, ""
        return cue

    def _code(self, lines: Sequence[str], tag: str = "") -> Iterator[Passage]:
        """A block that is marked as meant letter by letter."""
        cue = self._take_cue()
        if arrows := self._arrows(lines):
            yield from arrows
        elif self._is_session(lines):
            yield from self._session(lines)
        elif tag in _CODE:
            yield Passage("unknown", tuple(lines), self._group)
        else:
            yield self._literal(cue, tuple(lines), block=True)

    def _is_session(self, lines: Sequence[str]) -> bool:
        return bool(lines) and read_command(lines[0], self._command) is not None

    def _session(self, lines: Sequence[str]) -> Iterator[Passage]:
        """Commands, each with what it prints below it. Where one stands after a prompt, all do."""
        prompted = bool(PROMPT.match(lines[0]))
        said: list[str] = []
        for line in lines:
            start = read_command(line, self._command) if bool(PROMPT.match(line)) == prompted else None
            if start is None:
                said.append(line)
                continue
            yield from self._said(said)
            said = []
            yield self._start(start)
        yield from self._said(said)

    def _said(self, lines: Sequence[str]) -> Iterator[Passage]:
        text = "\n".join(lines).rstrip()
        if text:
            elided = any(line.strip() in ("...", "…", "[...]") for line in lines)
            yield Passage("unknown" if elided else "printed", tuple(text.split("\n")), self._group)

    def _start(self, start: TypedCommand, *, certain: bool = True, inline: bool = False) -> Passage:
        sure = certain and is_concrete(start.arguments)
        return Passage("command" if sure else "unknown", (), self._group, start, inline=inline)

    def _arrows(self, lines: Sequence[str]) -> list[Passage]:
        """Lines such as `COMMAND => OUTPUT`; none where one of them is another line."""
        found: list[Passage] = []
        for line in filter(str.strip, lines):
            left, *right = _ARROW.split(line.strip(), maxsplit=1)
            start = read_command(_strip_marks(left), self._command)
            if start is None or not right:
                return []
            output = _strip_marks(right[0])
            literal = output != right[0].strip() or is_literal([output])
            found += [self._start(start), Passage("printed" if literal else "unknown", (output,), self._group)]
        return _all_or_none(found)

    def _table(self, block: Block) -> Iterator[Passage]:
        """Rows of a command and what it prints, under a heading that says so."""
        heading, *rows = block.cells
        cue = self._take_cue()
        says_printed = len(heading) == 2 and self._role_of(heading[1], block=False) == "printed"
        for row in rows:
            start = read_command(_strip_marks(row[0]), self._command)
            if len(row) != 2 or start is None:
                yield Passage("unknown", block.lines, self._group, cue=cue)
                return
            certain = says_printed or (row[1].startswith("`") and _strip_marks(row[1]) != row[1])
            yield self._start(start)
            yield Passage("printed" if certain else "unknown", (_strip_marks(row[1]),), self._group)

    def _paragraph(self, block: Block, following: Sequence[Block]) -> Iterator[Passage]:
        lines = block.lines
        if PROMPT.match(lines[0]) and self._is_session(lines):
            self._take_cue()
            yield from self._session(lines)
        elif arrows := self._arrows(lines):
            self._take_cue()
            yield from arrows
        elif labelled := self._labelled(lines):
            self._take_cue()
            yield from labelled
        elif self._cue and self._is_shown(lines, following) and (role := self._loose(self._cue)):
            yield self._literal(self._take_cue(), lines, block=True, role=role)
        elif self._is_label(lines[0]) and self._is_shown(lines[1:], following):
            self._cue = ""
            yield from self._sentences(lines[0])
            yield self._literal(self._take_cue(), lines[1:], block=True)
        else:
            self._cue = ""
            yield from self._sentences(" ".join(lines))

    def _loose(self, cue: str) -> Role | None:
        """The role of lines without marks below a label, or below a sentence that does not end."""
        if cue.rstrip().endswith((".", "!", "?", "。", "！", "？")):
            return None
        role = self._role_of(cue, block=True)
        return role if role in ("printed", "typed", "file") else None

    def _is_label(self, line: str) -> bool:
        return line.endswith((":", "：")) and self._loose(line) is not None

    def _is_shown(self, lines: Sequence[str], following: Sequence[Block]) -> bool:
        """Whether lines without marks are meant letter by letter, and end where they seem to."""
        if not lines or not is_literal(lines) or any(map(_is_sentence, lines)):
            return False
        if any(map(self._in_prose.search, lines)):
            return False
        return not following or following[0].kind != "prose" or _is_prose(following[0].lines)

    def _labelled(self, lines: Sequence[str]) -> list[Passage]:
        """Lines such as `You type: COMMAND` and `It says: OUTPUT`; none where one of them is another line."""
        found: list[Passage] = []
        for line in lines:
            label = _LABEL.match(line)
            role = self._role_of(label[1], block=False) if label else None
            if not label or role not in ("printed", "typed"):
                return []
            text = _strip_marks(label[2])
            start = read_command(text, self._command)
            literal = text != label[2].strip() or is_literal([text])
            if start and role == "typed":
                found.append(self._start(start))
            else:
                found.append(Passage(role if literal else "unknown", (text,), self._group))
        return _all_or_none(found) if len(found) > 1 else []

    def _sentences(self, text: str) -> Iterator[Passage]:
        """The spans between marks in running text, and the commands in it that have none."""
        queue = deque(next(filter(None, span.groups())) for span in _SPAN.finditer(text))
        held: list[Passage] = []
        for piece in _PIECE.findall(_SPAN.sub(_MARK, text)):
            if piece == _MARK:
                held.append(self._span(queue.popleft()))
            elif piece[0] in "(（" and len(piece) > 1:
                for _ in range(piece.count(_MARK)):
                    queue.popleft()
                self._cue += " " if held else piece.replace(_MARK, " ")
            else:
                held += self._running(piece)
        yield from _with_what_follows(held, self._cue)

    def _span(self, text: str) -> Passage:
        cue = self._take_cue()
        if start := read_command(text, self._command):
            before = last_sentence(without_asides(cue))
            certain = not says("stop", before) or rows_of(FILE_NAME.sub("", before)) is not None
            passage = self._start(start, certain=certain)
            return Passage(passage.role, (), self._group, start, cue=cue, inline=True)
        return self._literal(cue, (text,), block=False)

    def _running(self, text: str) -> Iterator[Passage]:
        """Text without marks; a command in it is one only where it is certain where it ends."""
        place = 0
        for found in self._in_prose.finditer(text):
            if found.start() < place:
                continue
            end, words = _arguments(text, found.end())
            start = read_command(" ".join((found[0], *words)), self._command)
            rest = text[end:].lstrip()
            certain = not rest or text[end - 1] in "?:,;." or begins_with("after_command", rest)
            self._cue += text[place:found.start()]
            cue = self._take_cue()
            if start:
                passage = self._start(start, certain=certain)
                yield Passage(passage.role, (), self._group, start, cue=cue, inline=True)
            place = end
        self._cue += text[place:]

    def _literal(self, cue: str, lines: tuple[str, ...], *, block: bool, role: Role | None = None) -> Passage:
        role = role or self._role_of(cue, block=block) or "unknown"
        names = FILE_NAME.findall(last_sentence(cue))
        if role in ("file", "writes") and len(set(names)) != 1:
            role = "unknown"
        return Passage(role, lines, self._group, name=names[-1] if names else "", cue=cue, inline=not block)

    def _role_of(self, cue: str, *, block: bool) -> Role | None:
        """What a cue says of what stands behind it."""
        sentence = last_sentence(without_asides(cue) if not block else cue)
        clause = last_clause(sentence)
        names = FILE_NAME.findall(sentence)
        rows = rows_of(FILE_NAME.sub(" ", clause))
        if names and (FILE_NAME.search(clause) or (block and rows is None)):
            return self._role_with_name(FILE_NAME.sub(" ", sentence), rows, block=block)
        if rows is None:
            return self._role_of_block(sentence) if block else None
        return _role_of_rows(rows, clause)

    def _role_with_name(self, sentence: str, rows: set[str] | None, *, block: bool) -> Role | None:
        if says("printed", sentence) or says("typed", sentence):
            return None
        if says("afterwards", sentence):
            return "writes"
        if block:
            return None if says("stop", sentence) else "file"
        return "file" if rows is not None and "holds" in rows else None

    def _role_of_block(self, sentence: str) -> Role | None:
        """The role of a block below a sentence with words of its own."""
        if says("stop", sentence) or says("typed", sentence) or says("holds", sentence) or ":" not in sentence[-2:]:
            return None
        return "printed" if says("printed", sentence) else None


def _role_of_rows(rows: set[str], clause: str) -> Role | None:
    if "printed" in rows and "typed" not in rows:
        return None if says("stop", clause) else "printed"
    if "typed" in rows and "printed" not in rows:
        return "typed"
    if rows and rows <= {"below", "together", "filler", "subject"} and rows & {"below", "together"}:
        return "more"
    return None


def _with_what_follows(passages: Sequence[Passage], rest: str) -> Iterator[Passage]:
    for place, passage in enumerate(passages):
        after = passages[place + 1].cue if place + 1 < len(passages) else rest
        behind = passage.role == "unknown" and not passage.command and begins_with("printed_behind", after)
        said_behind = behind and rows_of(last_clause(passage.cue)) is not None and not says("stop", passage.cue)
        yield replace(passage, after=after, role="printed" if said_behind else passage.role)


def _all_or_none(passages: Sequence[Passage]) -> list[Passage]:
    """The rows of a list; where one of them speaks of what happens, none is meant letter by letter."""
    spoken = any(passage.role == "unknown" for passage in passages)
    return [replace(passage, role="unknown") for passage in passages] if spoken else list(passages)


def _strip_marks(text: str) -> str:
    """The text without the marks around it."""
    text = text.strip()
    found = _SPAN.fullmatch(text)
    return next(filter(None, found.groups())) if found else text


def _arguments(text: str, place: int) -> tuple[int, list[str]]:
    """The words behind a command in running text that can only be arguments, and where they end."""
    words: list[str] = []
    for word in re.compile(r"\s+(\S+)").finditer(text, place):
        plain = word[1].rstrip("?:,;.")
        if word.start() != place or plain.isalpha() or not plain:
            break
        words.append(plain)
        place = word.end()
        if plain != word[1]:
            break
    return place, words


def _is_sentence(line: str) -> bool:
    return bool(re.search(r"[.!?]\s*$", line)) and len(line.split()) > 4


def _is_prose(lines: Sequence[str]) -> bool:
    last = lines[-1].rstrip()
    return last.endswith((":", "：")) or (last.endswith((*".!?)。！？",)) and len(" ".join(lines).split()) > 4)
