"""Patches as models write them: unified diffs and `*** Begin Patch` blocks, read into what each does to its file.

A hunk goes on as long as its lines do: models miscount, so what its header says of numbers is kept as evidence only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from chatdev.replies.problem import ReplyProblem, Unreadable

Kind = Literal["update", "add", "delete"]
BEGIN = re.compile(r"\*\*\* ?Begin Patch\b")
END = re.compile(r"\*\*\* ?End Patch\b")
FILE = re.compile(r"\*\*\* ?(?P<kind>Update|Add|Delete) File: *(?P<path>\S.*)")
GIT = re.compile(r"diff --git (?P<old>\S.*?) (?P<new>(?:\"?b/).*)|diff -\S* .*")
HUNK = re.compile(r"@@(?: -(?P<old>\d{1,9})(?:,(?P<gone>\d{1,9}))? \+(?P<new>\d{1,9})(?:,(?P<come>\d{1,9}))?(?= |@|$))?"
                  r"(?P<anchor>.*)")
EXTENDED = re.compile(r"(?P<key>(?:new|deleted) file mode|(?:old|new) mode|(?:rename|copy) (?:from|to)|Index:|={9,}"
                      r"|(?:dis)?similarity index|index(?= [0-9a-f]{4}))(?: +(?P<value>\S.*))?")
_OLD, _NEW = re.compile(r"--- +\S"), re.compile(r"\+\+\+ +\S")
_MOVE = re.compile(r"\*\*\* ?Move to: *(?P<path>\S.*)")
_END_OF_FILE = re.compile(r"\*\*\* ?End of File\b")
_SIGNED = re.compile(r"\+|-(?!--\s*$)")
_HERE = re.compile(r"[^\n]*\b(?:apply_patch|git apply|patch)\b[^\n]*<<-?\s*(['\"]?)(?P<word>\w+)\1\s*")
_FIRST_LINES = 5  # of a block: where a command may stand that is given a patch
_COMMAND = 300  # characters of such a command
_DEEPEST = 9  # lines that name a place within each other
_BESIDE_PATH = re.compile(r"\t.*|(?<!\s)\s++(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*|\([^()]*+\)$)")
_SIGNATURE = re.compile(r"\d+(?:\.\d+)+.*")  # of git, below a line `-- `
_PREFIXES = {("a", "b"), ("b", "a"), ("i", "w"), ("c", "w"), ("c", "i"), ("o", "w")}
_BACKUPS = (".orig", ".old", ".bak")
_NOWHERE = {"/dev/null", "a/dev/null", "b/dev/null"}


class HunkLine(NamedTuple):
    """A line of a hunk without its sign; `other` is what it is if the blank before a line that stays was left out."""

    sign: str
    text: str
    other: str


class Numbers(NamedTuple):
    """What the header of a hunk says of its place: lines from 1, and counts of them."""

    old: int
    gone: int
    new: int
    come: int


@dataclass(frozen=True)
class Hunk:
    """Lines that stay, go and come, and what tells where. `ends_file`: they are the last ones of their file; `unended`
    are the signs of lines that are marked to have no line end."""

    lines: tuple[HunkLine, ...]
    numbers: Numbers | None = None
    anchors: tuple[str, ...] = ()
    ends_file: bool = False
    unended: frozenset[str] = frozenset()

    @cached_property
    def old(self) -> tuple[HunkLine, ...]:
        """The lines that must be in the file."""
        return tuple(line for line in self.lines if line.sign != "+")

    @cached_property
    def added(self) -> tuple[str, ...]:
        """The lines that come."""
        return tuple(line.text for line in self.lines if line.sign == "+")

    @property
    def changes(self) -> bool:
        """Whether any line goes or comes."""
        return any(line.sign != " " for line in self.lines)


@dataclass(frozen=True, slots=True)
class FilePatch:
    """Change of a patch to one file (None: unnamed). `flaw`: why it is ambiguous."""

    path: str | None
    kind: Kind = "update"
    hunks: tuple[Hunk, ...] = ()
    move_to: str | None = None
    flaw: ReplyProblem | None = None

    def require_clear(self) -> None:
        """Raise Unreadable when there is a flaw."""
        if self.flaw:
            raise Unreadable(self.flaw)


def begins_patch(lines: Sequence[str], index: int = 0) -> bool:
    """Whether a patch, or a part of one, begins at a line; one hunk of it needs line numbers to be known."""
    if index >= len(lines) or lines[index][:1] not in ("*", "d", "-", "@"):
        return False
    line = lines[index].rstrip()
    if BEGIN.match(line) or FILE.match(line) or line.startswith("diff --git "):
        return True
    found = HUNK.fullmatch(line)
    return is_pair(lines, index) or bool(found and found["old"])


def is_pair(lines: Sequence[str], index: int) -> bool:
    """Whether a line that begins with `---` and one with `+++` stand there, which name a file."""
    return index + 1 < len(lines) and bool(_OLD.match(lines[index]) and _NEW.match(lines[index + 1]))


def is_signature(lines: Sequence[str], index: int) -> bool:
    """Whether a mail of git ends at a line: its version stands below."""
    below = lines[index + 1:index + 2]
    return lines[index].rstrip("\r\n") == "-- " and bool(below and _SIGNATURE.fullmatch(below[0].rstrip("\r\n")))


def is_patch(text: str) -> bool:
    """Whether a text begins as a patch does, or with a command that is given one."""
    lines = text.lstrip("\r\n")[:20_000].split("\n")
    here = _here_document(lines)
    below = [line for line in lines[here:] if line.strip()] if here else lines
    return begins_patch(below)


def holds_patch(text: str) -> bool:
    """Whether a patch begins at any line of a text."""
    lines = text.split("\n")
    return any(begins_patch(lines, index) for index in range(len(lines)))


def _here_document(lines: Sequence[str]) -> int:
    """The index of the line behind the command that is given a patch; 0 for none."""
    return next((index for index, line in enumerate(lines[:_FIRST_LINES], 1)
                 if len(line) <= _COMMAND and _HERE.fullmatch(line)), 0)


def read_patch(text: str, known: Collection[str]) -> list[FilePatch]:
    """Changes of a patch, file by file; `known`: the paths of the software."""
    lines = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
    if here := _here_document(lines):
        found = _HERE.fullmatch(lines[here - 1])
        word = found["word"] if found else ""
        lines = lines[here:next((at for at in range(len(lines) - 1, here, -1) if lines[at].strip() == word), None)]
    return list(_Reader(lines, known).read())


@dataclass
class _HunkDraft:
    """A hunk while it is read, its lines with their signs."""

    numbers: Numbers | None = None
    anchors: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    ends_file: bool = False
    unended: set[str] = field(default_factory=set)

    def hunk(self) -> Hunk:
        """The hunk, without the blank lines around it that may be layout: those that its header does not count."""
        filled = [index for index, line in enumerate(self.lines) if line]
        first, behind = (filled[0], filled[-1] + 1) if filled else (0, 0)
        if behind - first > 1 and is_signature(self.lines, behind - 2):
            behind -= 2
        found = tuple(map(_hunk_line, self.lines[first:behind]))
        if self.numbers:
            gone, come = (sum(line.sign != sign for line in found) for sign in "+-")
            blank = self.numbers.gone - gone
            if blank == self.numbers.come - come and 0 < blank <= len(self.lines) - behind + first:
                found = tuple(map(_hunk_line, self.lines[first - min(blank, first):behind + max(blank - first, 0)]))
        return Hunk(found, self.numbers, tuple(self.anchors), self.ends_file, frozenset(self.unended))


def _hunk_line(line: str) -> HunkLine:
    if line[:1] in ("+", "-"):
        return HunkLine(line[0], line[1:], line[1:])
    return HunkLine(" ", line[1:] if line.startswith(" ") else line, line)


@dataclass
class _FileDraft:
    """A file of a patch while it is read, with both of its names as they are written."""

    old: str = ""
    new: str = ""
    kind: Kind = "update"
    move_to: str | None = None
    form: Literal["diff", "git", "own"] = "diff"
    has_prefixes: bool = False
    """Whether git's own line says that both names have one."""
    changes: bool = True
    """Whether its header says, or lets expect, that anything changes."""
    hunks: list[_HunkDraft] = field(default_factory=list)

    def open_hunk(self) -> _HunkDraft:
        """The hunk that goes on; a new one where there is none."""
        if not self.hunks:
            self.hunks.append(_HunkDraft())
        return self.hunks[-1]

    def extend(self, key: str, value: str) -> None:
        """Take a line of git's header."""
        if key == "rename from":
            self.old = self.new = _path_of(value)
        elif key == "rename to":
            self.move_to = _path_of(value)
        elif key.endswith("file mode"):
            self.kind = "add" if key.startswith("new") else "delete"
        self.changes = self.changes or key.endswith("file mode") or key == "rename to"

    def sign_lines(self) -> None:
        """Let the lines of a new file come, where the patch gives none of them a sign."""
        if self.form == "own" and not any(line.startswith("+") for hunk in self.hunks for line in hunk.lines):
            for hunk in self.hunks:
                hunk.lines = [f"+{line}" for line in hunk.lines]


class _Reader:
    """Reads the lines of a patch one by one."""

    def __init__(self, lines: Sequence[str], known: Collection[str]) -> None:
        self._lines, self._known = lines, known
        self._files: list[_FileDraft] = []
        self._above: list[str] = []  # lines before anything of a patch

    def read(self) -> Iterator[FilePatch]:
        """Every file of the patch, in order."""
        index, ended = 0, False
        while index < len(self._lines):
            line = self._lines[index]
            taken = self._header(index, line)
            ended = END.match(line) is not None or (ended and not taken)
            if not taken and not ended:
                self._line(line)
            index += taken or 1
        return (self._file_patch(file) for file in self._files if file.changes or file.hunks)

    def _header(self, index: int, line: str) -> int:
        """Take the header that begins at a line; how many lines it has, 0 for none."""
        if line[:1] in ("", " ", "+"):
            return 0
        if BEGIN.match(line) or END.match(line):
            return 1
        return self._own_header(line) or self._pair(index) or self._file_header(line) or self._hunk_header(line)

    def _own_header(self, line: str) -> int:
        """A header of a `*** Begin Patch`."""
        if found := FILE.match(line):
            path = _path_of(found["path"])
            kind: Kind = "add" if found["kind"] == "Add" else "delete" if found["kind"] == "Delete" else "update"
            self._files.append(_FileDraft(path, path, kind, form="own"))
        elif self._files and (found := _MOVE.match(line)):
            self._files[-1].move_to = _path_of(found["path"])
        elif self._files and _END_OF_FILE.match(line):
            self._files[-1].open_hunk().ends_file = True
        else:
            return 0
        return 1

    def _pair(self, index: int) -> int:
        """The names of a file in a unified diff. Within a hunk they may be lines of SQL or C that go and come."""
        if not is_pair(self._lines, index):
            return 0
        old, new = _path_of(self._lines[index][4:]), _path_of(self._lines[index + 1][4:])
        file = self._files[-1] if self._files else None
        if file and file.hunks and not self._names_file(index, old, new):
            return 0
        if not file or file.hunks or file.form != "git":
            file = _FileDraft()
            self._files.append(file)
        if not file.move_to:
            file.old, file.new = old, new
        file.changes = True
        return 2

    def _names_file(self, index: int, old: str, new: str) -> bool:
        below = next((line for line in self._lines[index + 2:index + 4] if line.strip()), "")
        return below.startswith("@@") or bool({*_bare_pair(old, new, self._known)} & {*self._known, *_NOWHERE})

    def _file_header(self, line: str) -> int:
        """A line of a unified diff above the names of a file."""
        if found := GIT.fullmatch(line):
            names = _path_of(found["old"] or ""), _path_of(found["new"] or "")
            has_prefixes = names[0].startswith("a/") and names[1].startswith("b/")
            self._files.append(_FileDraft(*names, form="git", has_prefixes=has_prefixes, changes=False))
        elif self._files and not self._files[-1].hunks and (found := EXTENDED.fullmatch(line)):
            self._files[-1].extend(found["key"], found["value"] or "")
        else:
            return 0
        return 1

    def _hunk_header(self, line: str) -> int:
        if not (found := HUNK.fullmatch(line)):
            return 0
        file = self._files[-1] if self._files else _FileDraft()
        self._files = self._files or [file]
        numbers = Numbers(*(int(found[name] or 1) for name in Numbers._fields)) if found["old"] else None
        anchor = found["anchor"].strip().removesuffix("@@").removeprefix("@@").strip(" .…")
        above = file.hunks[-1].anchors if file.hunks and not file.hunks[-1].lines else []
        if numbers or not 0 < len(above) < _DEEPEST:
            file.hunks.append(_HunkDraft(numbers))
        file.hunks[-1].anchors += [anchor] * bool(anchor)
        return 1

    def _line(self, line: str) -> None:
        """A line of a hunk, or one above anything of a patch."""
        if not self._files:
            self._above.append(line)
            if _SIGNED.match(line):  # no header at all: one hunk
                self._files.append(_FileDraft(hunks=[_HunkDraft(lines=self._above)]))
            return
        file = self._files[-1]
        if line.startswith("\\"):
            hunk = file.open_hunk()
            hunk.unended |= {_hunk_line(hunk.lines[-1]).sign} if hunk.lines else set()
        elif line or file.hunks:
            file.open_hunk().lines.append(line)

    def _file_patch(self, file: _FileDraft) -> FilePatch:
        path, kind, flaw = _target(file, self._known)
        if kind == "add":
            file.sign_lines()
        hunks = tuple(found for hunk in file.hunks if (found := hunk.hunk()).changes)
        may_be_empty = kind == "delete" or file.move_to or (kind == "add" and file.form != "own")
        if not hunks and not may_be_empty:
            flaw = flaw or ReplyProblem("patch_empty", {"path": path})
        return FilePatch(path, kind, hunks, file.move_to, flaw)


def _path_of(text: str) -> str:
    """The path in a header, without a time, a remark and quotes."""
    return _BESIDE_PATH.sub("", text.strip(), count=1).strip().strip("\"`'")


def _target(file: _FileDraft, known: Collection[str]) -> tuple[str | None, Kind, ReplyProblem | None]:
    """The file of a patch, what becomes of it, and why that is not clear."""
    folders = () if file.has_prefixes else known
    if file.old in _NOWHERE:
        return _bare(file.new, "b", folders), "add", None
    if file.new in _NOWHERE:
        return _bare(file.old, "a", folders), "delete", None
    if file.form == "own" or file.move_to:
        return file.old, file.kind, None
    path, flaw = _path_of_pair(*_bare_pair(file.old, file.new, known), known)
    return path, file.kind, flaw


def _path_of_pair(old: str, new: str, known: Collection[str]) -> tuple[str | None, ReplyProblem | None]:
    """The one file that two names stand for, of which one may be that of a backup, or a word in the place of a name,
    such as `original` or `modified`; and why they do not."""
    if old == new or any(old == new + backup for backup in _BACKUPS):
        return new or None, None
    if old not in known:
        return new if new in known else None, None
    names_two = new in known or PurePosixPath(new).suffix
    return old, ReplyProblem("patch_two_names", {"one": old, "other": new}) if names_two else None


def _bare_pair(old: str, new: str, known: Collection[str]) -> tuple[str, str]:
    """Both names of a file without the prefixes that diffs give them."""
    one, two = old.partition("/"), new.partition("/")
    if (one[0], two[0]) in _PREFIXES and one[2] and two[2]:
        return one[2], two[2]
    return _bare(old, "a", known), _bare(new, "b", known)


def _bare(path: str, prefix: str, known: Collection[str]) -> str:
    """A path without its prefix, unless a folder of the software is called so."""
    folder, _, rest = path.partition("/")
    if folder != prefix or not rest or any(name.startswith(f"{prefix}/") for name in known):
        return path
    return rest
