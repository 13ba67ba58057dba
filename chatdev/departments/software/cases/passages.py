"""What a request shows letter by letter, in its order: sessions, blocks, tables, lists, lines below each other, and
spans in running text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile

from chatdev.departments.software.cases.case import (
    PROMPT,
    TypedCommand,
    join_lines,
    read_command,
    read_shell,
    split_words,
)
from chatdev.departments.software.cases.layout import (
    Block,
    Passage,
    Role,
    blocks_of,
    label_role,
    make_passage,
    role_of,
    without_margin,
)
from chatdev.departments.software.cases.sentences import Sentences, command_in_prose, start_passage, strip_marks
from chatdev.departments.software.cases.wording import (
    COLONS,
    ENDS,
    FILE_NAME,
    begins_with,
    counts_of_arguments,
    is_literal,
    is_sentence,
    is_unmistakable,
    is_wrapped,
    last_sentence,
    rows_of,
    says,
    without_asides,
    wording,
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


# Lines below each other: commands and labels, each with what stands behind it or beneath it.

_HALVES = (re.compile(r"\s(?:[-=]{1,2}>|→|⇒|⟶|↦)\s"), re.compile(r"(?<=\S):\s+|：\s*"), re.compile(r"[ \t]{3,}|\t"))
"""What stands between a command and what it prints, in the same line."""
_LABEL = re.compile(r"([^:：]{1,40})(?::\**\s+|：\**\s*)(\S.*)$")
_ALONE = re.compile(r"([^:：]{1,60})[:：]\**$")
_ASIDE = re.compile(r"(?<!\s)\s*[(（][^()（）\w]*\w[^()（）]*[)）]$")
_COMMENT = re.compile(r"#\s+[^\W\d]|.*(?:\s(?:#|//)\s+[^\W\d]|\s(?:<-+|<=+|←)\s)")
_ANY = 1000  # lines
_NUMBERING = re.compile(r"[\d#*]")
_ELISIONS = ("...", "…", "[...]")


@dataclass(slots=True)
class _Head:
    """A line that gives the lines below it their role; as many of them as `free` says
    may be sentences."""

    passages: list[Passage]
    role: Role
    cue: str = ""
    free: int = 0
    lines: list[str] = field(default_factory=list)

    @property
    def is_bare(self) -> bool:
        """Whether it only says something of what stands further below."""
        return bool(self.cue) and not any(map(str.strip, self.lines))


class Script:
    """One reading of the lines of a paragraph, of a list or, with `marked`, of a block that is meant letter by letter.
    `rest` is what the last line says of what follows, `ends` whether each text ends with its line;
    `arguments` are the numbers of arguments that the request speaks of."""

    def __init__(self, command: str, group: int, *, marked: bool, arguments: Collection[int] = ()) -> None:
        self._command = command
        self._in_prose = command_in_prose(command)
        self._group = group
        self._marked = marked
        self._arguments = arguments
        self.rest = ""
        self.ends = False

    def read(self, lines: Sequence[str]) -> list[Passage]:
        """The passages of lines that are a script from the first to the last; none of others."""
        return self.pairs(lines) or self.labels(lines) or self.session(lines)

    def pairs(self, lines: Sequence[str]) -> list[Passage]:
        """Lines such as `COMMAND => OUTPUT`; none where one of them is another line."""
        found: list[Passage] = []
        doubtful = set[int]()
        for line in filter(str.strip, lines):
            start, text = self._halves(line.strip())
            if not start:
                return []
            shown = self._shown_text(text, "printed")
            found += [start, shown]
            doubtful |= set() if _is_surely_output(text, shown, start) else {len(found) - 1}
        self.ends = bool(found)
        return [replace(passage, role="unknown") if place in doubtful else passage
                for place, passage in enumerate(_all_or_none(found))]

    def _halves(self, line: str) -> tuple[Passage | None, str]:
        """A command, and the text behind it."""
        for mark in _HALVES:
            left, *right = mark.split(line, maxsplit=1)
            start = self.whole_command(left) or (self._bare_arguments(left) if mark is _HALVES[0] else None)
            if start and right:
                return start, right[0]
        return None, ""

    def _bare_arguments(self, text: str) -> Passage | None:
        """The passage of a command of which only the arguments stand there: as many as the request says it has."""
        words = split_words(strip_marks(text)) or []
        fits = len(words) > 1 and len(words) in self._arguments and not any(word.operator for word in words)
        return start_passage(TypedCommand(tuple(word.text for word in words)), self._group) if fits else None

    def whole_command(self, text: str) -> Passage | None:
        """The passage of a command that is all of a text."""
        plain = strip_marks(text)
        start = read_command(plain, self._command)
        wrapped = start and plain == text.strip() and not self._marked and is_wrapped(start.arguments)
        return start_passage(start, self._group) if start and not wrapped else None

    def labels(self, lines: Sequence[str]) -> list[Passage]:
        """Lines such as `You type: COMMAND` and `It says: OUTPUT`, or labels with lines below them."""
        full = list(filter(None, map(str.strip, lines)))
        inline = list(filter(None, map(self._inline_label, full)))
        if len(full) > 1 and len(inline) == len(full):
            self.ends = True
            return _all_or_none(inline)
        return [] if inline or not full or not self._label_head(full[0]) else self._below(lines, self._label_head)

    def _inline_label(self, line: str) -> Passage | None:
        label = _LABEL.match(line)
        if not label:
            return None
        role = label_role(label[1].strip("* "))
        if role != "printed" and (start := self._labelled_command(label)):
            return start
        return None if role in (None, "file", "writes") else self._shown_text(label[2], role)

    def _labelled_command(self, label: re.Match[str]) -> Passage | None:
        """The command behind a label that says nothing of its own, as `Command: COMMAND`."""
        return self.whole_command(label[2]) if rows_of(_NUMBERING.sub(" ", label[1])) is not None else None

    def _label_head(self, line: str) -> _Head | None:
        """A label that is alone in its line, or has a command behind it."""
        if (label := _LABEL.match(line)) and (start := self._labelled_command(label)):
            return _Head([start], "printed")
        label = _ALONE.match(line)
        role = label_role(label[1].strip("* ")) if label else None
        return _Head([], role, line, free=_ANY if role in ("given", "result") else 0) if role else self._cue_head(line)

    def session(self, lines: Sequence[str]) -> list[Passage]:
        """Commands, each with what it prints below it. Where one stands after a prompt, all do."""
        lines = join_lines(_without_quotes(lines), lambda line: self.whole_command(line) is not None)
        first = lines[0].strip() if lines else ""
        prompted = bool(PROMPT.match(first))
        if not self._session_head(first, prompted=prompted):
            return self._below(lines, self._cue_head) if self._cue_head(first) else []
        sure = self._marked or prompted or not any(map(self._is_hidden, lines))
        return self._below(lines, lambda line: self._session_head(line, prompted=prompted)) if sure else []

    def _is_hidden(self, line: str) -> bool:
        """Whether a line has a command in it, and is none."""
        return bool(self._in_prose.search(line)) and self._session_head(line.strip(), prompted=False) is None

    def _session_head(self, line: str, *, prompted: bool) -> _Head | None:
        prompt = PROMPT.match(line)
        if bool(prompt) != prompted:
            return None
        if start := self.whole_command(line.removesuffix(":") if prompt is None else line):
            return _Head([start], "printed", free=int(prompted))
        return _shell_head(line, self._group) if prompt or "\n" in line else None

    def _cue_head(self, line: str) -> _Head | None:
        """Words and a command, with a colon at their end: `Next time, COMMAND:`."""
        if not line.endswith(COLONS) or not self._in_prose.search(line):
            return None
        reading = Sentences(self._command, self._group)
        found = reading.read(line)
        if not reading.awaits_output(found):
            return None
        return _Head([*found[:-1], replace(found[-1], inline=False)], "printed", reading.rest)

    def _below(self, lines: Sequence[str], head_of: Callable[[str], _Head | None]) -> list[Passage]:
        """The passages of heads and the lines below each of them; none where other lines stand before the first."""
        heads = _heads_of(lines, head_of)
        *others, last = heads
        if not all(head.passages or any(head.lines) for head in others) or (last.is_bare and not others):
            return []
        _add_what_surrounds(heads)
        self.rest = last.cue if last.is_bare else ""
        return [passage for head in heads for passage in (*head.passages, *self._lines_of(head))]

    def _lines_of(self, head: _Head) -> Iterator[Passage]:
        """The lines below a head, as one passage."""
        below = "\n".join(head.lines).rstrip().split("\n")
        if head.passages and not self._marked and _is_titled(below):
            head, below = replace(head, cue=below[0]), below[1:]
        lines = without_margin(below) if head.cue or not self._marked else below
        if lines != [""]:
            names, literal = FILE_NAME.findall(head.cue), self._is_literal_below(head, lines, moved=lines != below)
            yield Passage(head.role if literal else "unknown", tuple(lines), self._group,
                          name=names[-1] if names else "", cue=head.cue)

    def _is_literal_below(self, head: _Head, lines: Sequence[str], *, moved: bool) -> bool:
        """Whether the lines below a head are meant letter by letter, and none is a remark on them."""
        if any(map(_is_remark, lines)) or (moved and not self._marked and _may_be_described(head, lines)):
            return False
        return self._is_shown(lines, free=_ANY if self._marked else head.free, moved=moved)

    def _is_shown(self, lines: Sequence[str], *, free: int, moved: bool) -> bool:
        """Whether lines without marks are meant letter by letter. Where they were `moved` to the left, nobody knows
        what a blank before one of them is."""
        if moved and any(line[:1] == " " for line in lines):
            return False
        if len(lines) <= free:
            return True
        return is_literal(lines) and not any(is_sentence(line) or self._in_prose.search(line) for line in lines)

    def _shown_text(self, text: str, role: Role) -> Passage:
        """A text at the end of a line; one without marks may only speak of what is meant."""
        aside = _ASIDE.search(text)
        if aside and says("own_line", aside[0]):
            lines = [part.strip() for part in text[:aside.start()].split(",")]
            return Passage(role if is_literal(lines) else "unknown", tuple(lines), self._group)
        output = strip_marks(text)
        literal = output != text.strip() or (is_literal([output]) and not aside and not is_sentence(output))
        return Passage(role if literal and "\\n" not in output else "unknown", (output,), self._group)


def _is_titled(lines: Sequence[str]) -> bool:
    """Whether lines stand further in below a label that says that they are printed."""
    label = _ALONE.match(lines[0])
    return bool(label) and label_role(lines[0].strip(" *:：")) == "printed" and len(lines) > 1 and all(
        line.startswith((" ", "\t")) for line in lines[1:] if line)


def _is_surely_output(text: str, shown: Passage, start: Passage) -> bool:
    """Whether what stands behind a command in its line is its output, and cannot be a description of it."""
    assert start.command
    is_marked = strip_marks(text) != text.strip() or len(shown.lines) > 1
    return is_marked or is_unmistakable(shown.lines[0], start.command.arguments)


def _may_be_described(head: _Head, lines: Sequence[str]) -> bool:
    """Whether lines further in than the command above them may say what it does."""
    commands = [passage.command for passage in head.passages if passage.command]
    return bool(commands) and not head.cue and not any(is_unmistakable(line, commands[-1].arguments) for line in lines)


def _heads_of(lines: Sequence[str], head_of: Callable[[str], _Head | None]) -> list[_Head]:
    """The heads among lines of which the first is one, with the lines below each."""
    heads: list[_Head] = []
    for line in lines:
        if head := head_of(line.strip()):
            heads.append(head)
        elif heads:
            heads[-1].lines.append(line)
    return heads


def _is_remark(line: str) -> bool:
    """Whether a line leaves something out, or says something of what is printed."""
    return line.strip() in _ELISIONS or bool(_COMMENT.match(line))


def _without_quotes(lines: Sequence[str]) -> Sequence[str]:
    """Lines without the mark of a quotation that all of them have."""
    quoted = all(line.lstrip().startswith("> ") for line in lines)
    return [line.lstrip()[2:] for line in lines] if quoted else lines


def _add_what_surrounds(heads: Sequence[_Head]) -> None:
    """What the other heads say of one: lines between two prompts are whole, a file that is shown after a start is what
    that left."""
    ran = False
    for place, head in enumerate(heads):
        if head.free and place + 1 < len(heads):
            head.free = _ANY
        if ran and head.role == "file" and not head.cue.endswith(COLONS):
            head.role = "left"
        ran |= any(passage.role == "command" for passage in head.passages)


def _shell_head(line: str, group: int) -> _Head | None:
    """Another command of a terminal: one that shows or makes a file, one that changes nothing, or one of which nobody
    knows what it does."""
    words, name, text = read_shell(line)
    if name and text is None:
        return _Head([], "file", name, free=_ANY)
    if name:
        return _Head([Passage("file", tuple(str(text).splitlines()), group, name=name)], "unknown")
    if not words or words[0] in wording()["shell_idle"]:
        return _Head([], "unknown")
    known = words[0] in wording()["shell"] or (line[0] == "$" and (words[0].isalpha() or words == ["?"]))
    return _Head([Passage("lost", (), group)], "unknown") if known else None


def _all_or_none(passages: Sequence[Passage]) -> list[Passage]:
    """The rows of a list; where one of them speaks of what happens, none is meant letter by letter."""
    spoken = any(passage.role == "unknown" for passage in passages)
    return [replace(passage, role="unknown") for passage in passages] if spoken else list(passages)
