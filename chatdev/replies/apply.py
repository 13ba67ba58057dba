"""Bringing a block into the software: the file it is for, and the new text of that file.

The text is a whole new version, the old one with search/replace changes or a patch, or the old one with a part merged
into it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from chatdev.replies.blocks import Block
from chatdev.replies.elision import elided_line
from chatdev.replies.hunks import apply_hunks, stands_in
from chatdev.replies.languages import fits, is_python, usual_name
from chatdev.replies.patch import FilePatch
from chatdev.replies.problem import unreadable
from chatdev.replies.python.broken import read_around
from chatdev.replies.python.merge import merge
from chatdev.replies.python.outline import Outline
from chatdev.replies.python.parts import is_part
from chatdev.replies.python.reader import NotPython, fault, read, read_part
from chatdev.replies.search_replace import SearchReplace, apply_changes, quote
from chatdev.workspace.snapshot import safe_path

_READING = 16  # how often a text can be looked through while Python source of its length is read and merged into
_FRAGMENT = 0.5  # of the lines before: what a file that does not parse may shrink to without being marked `whole`
_PROGRAMMING = ("import", "function", "class", "call")
_JAVA_CLASS = re.compile(r"^[^\S\n]*public\s+(?:final\s+|abstract\s+)*(?:class|interface|enum|record)\s+(\w+)",
                         re.MULTILINE)


def safe_target(name: str, block: Block, files: Collection[str]) -> str:
    """The path of the software that `name` means for a block: changes are for a file that is there, so they find it in
    its folder when no other has its name. Raises UnsafePath."""
    path = safe_path(name)
    is_change = block.changes or (block.patch and block.patch.kind != "add")
    if not is_change or path in files:
        return path
    namesakes = [other for other in files if PurePosixPath(other).name == PurePosixPath(path).name]
    return namesakes[0] if len(namesakes) == 1 else path


def only_path(block: Block, only: Sequence[str]) -> str | None:
    """The one file that may be written, for a nameless block that can be it; `only` are patterns."""
    if len(only) != 1 or set("*?[") & set(only[0]):
        return None
    fitting = fits(only[0], block.language) or block.language == "text" or not block.word or block.patch
    return only[0] if fitting else None


def guess_path(block: Block, software: Mapping[str, str]) -> str | None:
    """The file meant by a nameless block; None when it is no program.

    The only file of its language, else the only one that has what the block changes, else the class it defines,
    else `main`. `software` maps paths to texts. Raises Unreadable when several files are possible.
    """
    if block.changes:
        return _searched_file(block.changes, software)
    if block.patch:
        return _patched_file(block.patch, software)
    language = block.language if block.word else _language_by_content(block.text)
    if language is None or usual_name(language) is None:
        return None
    existing = {path: text for path, text in software.items() if fits(path, language)}
    if len(existing) == 1:
        return next(iter(existing))
    defining = _defining_file(block.text, existing) if language == "python" else None
    return defining or _file_by_content(block.text, language, existing)


def _language_by_content(content: str) -> str | None:
    """`python` when a block without a language word is a Python program, else None."""
    try:
        outline = read(content)
    except NotPython:
        return None
    return "python" if any(statement.kind in _PROGRAMMING for statement in outline.statements) else None


def _searched_file(changes: SearchReplace, software: Mapping[str, str]) -> str:
    """The only file that holds all the lines searched for."""
    changes.require_complete(None)
    parts = ["".join(change.search).strip() for change in changes.found]
    found = [path for path, text in software.items() if all(part and part in text for part in parts)]
    if len(found) != 1:
        raise unreadable("which_file_searched", count=len(found))
    return found[0]


def _patched_file(patch: FilePatch, software: Mapping[str, str]) -> str:
    """The only file that holds the lines of all hunks."""
    patch.require_clear()
    found = [path for path, text in software.items() if stands_in(text, patch)]
    if len(found) != 1:
        raise unreadable("which_file_patched", count=len(found))
    return found[0]


def _defining_file(content: str, software: Mapping[str, str]) -> str | None:
    """The only file that defines something of what the block defines."""
    given = _definitions(content)
    found = [path for path, text in software.items() if given & _definitions(text)]
    return found[0] if len(found) == 1 else None


def _file_by_content(content: str, language: str, existing: Collection[str]) -> str | None:
    """The class that the block defines, else `main`; of files that are there only a main program is replaced so."""
    name = usual_name(language, _stem(language, content))
    if name in existing and not (language == "python" and _has_main_guard(content)):
        raise unreadable("which_file", files=sorted(existing))
    return name


def _definitions(text: str) -> set[str]:
    """Names of the functions and classes a Python text defines, methods given without their class included."""
    try:
        return read_part(text).definitions
    except NotPython:
        return set()


def _stem(language: str, content: str) -> str:
    """Name of a file by its content: its public class, else `main`."""
    if language == "java":
        found = _JAVA_CLASS.search(content)
        return found[1] if found else "Main"
    if language != "python":
        return "main"
    try:
        outline = read_part(content)
    except NotPython:
        return "main"
    public = [statement.name for statement in outline.statements
              if statement.kind == "class" and not statement.name.startswith("_")]
    return public[0].lower() if len(public) == 1 and not outline.acts else "main"


def _has_main_guard(content: str) -> bool:
    try:
        return any(statement.kind == "guard" for statement in read(content).statements)
    except NotPython:
        return False


def effort(block: Block, texts: Mapping[str, str]) -> int:
    """Number of characters that must be compared to place a block in one of these files."""
    changes = block.changes.found if block.changes else block.patch.hunks if block.patch else ()
    looks = max(len(changes), 1)
    return sum(len(text) * (looks + (_READING if is_python(path) else 0)) for path, text in texts.items())


@dataclass(frozen=True)
class Update:
    """A block for the file `path`, whose text is `old` so far (None: it is new)."""

    path: str
    old: str | None
    block: Block

    @cached_property
    def existing(self) -> Outline | NotPython:
        """The Python file so far, or why it cannot be read."""
        try:
            return read(self.old or "")
        except NotPython as error:
            return error

    @cached_property
    def part(self) -> Outline | NotPython:
        """The block as part of a Python file, or why it cannot be read."""
        try:
            return read_part(self.block.text)
        except NotPython as error:
            return error

    @cached_property
    def is_part(self) -> bool:
        """Whether the block is part of the file, not a new version of it."""
        if self.block.kind in ("changes", "patch"):
            return True
        if not is_python(self.path):
            return elided_line(self.path, self.block.text) is not None
        if isinstance(self.existing, NotPython) or isinstance(self.part, NotPython):
            return False
        return is_part(self.existing, self.part)

    def text(self) -> str:
        """The new text of the file.

        Raises Unreadable when it is not clear what is meant, when code is left out that cannot be filled in, or when
        the result no longer parses although the file did.
        """
        if self.block.changes:
            return self._changed_text(self.block.changes)
        if self.block.patch:
            return self._patched_text(self.block.patch)
        if self.block.whole or not (self.old or "").strip():
            return self._whole_text()
        if is_python(self.path):
            return self._python_text()
        line = elided_line(self.path, self.block.text)
        if line is not None:
            raise unreadable("change_elided", path=self.path, line=line)
        return self.block.text

    def _changed_text(self, changes: SearchReplace) -> str:
        """The file after its search/replace changes."""
        changes.require_complete(self.path)
        if self.old is None and any(line.strip() for change in changes.found for line in change.search):
            raise unreadable("nothing_to_change", path=self.path)
        text = apply_changes(self.old or "", changes, self.path)
        if is_python(self.path):
            self._require_parsing(text)
        return text

    def _patched_text(self, patch: FilePatch) -> str:
        """The file after a patch."""
        if self.old is None and any(hunk.old for hunk in patch.hunks):
            raise unreadable("nothing_to_change", path=self.path)
        for number, hunk in enumerate(patch.hunks, 1):
            line = elided_line(self.path, "\n".join(hunk.added))
            if line and not (is_python(self.path) and hunk.added[line - 1].strip() == "..."):
                raise unreadable("hunk_elided", path=self.path, hunk=number, line=quote(hunk.added[line - 1]))
        text = apply_hunks(self.old or "", patch, self.path)
        if is_python(self.path):
            self._require_parsing(text)
        return text

    def _whole_text(self) -> str:
        """The block as the whole file, if nothing is left out in it."""
        line = _line_left_out(self.path, self.block.text)
        if line is not None:
            raise unreadable("file_elided", path=self.path, line=line)
        return self.block.text

    def _python_text(self) -> str:
        """The new text of an existing Python file."""
        if isinstance(self.existing, NotPython):
            return self._text_for_broken(str(self.existing))
        if isinstance(self.part, NotPython):
            raise unreadable("block_broken", path=self.path, why=str(self.part))
        if not self.is_part:
            return self.block.text
        text = merge(self.path, self.existing, self.part)
        self._require_parsing(text)
        return text

    def _text_for_broken(self, why: str) -> str:
        """A file that does not parse gets whole functions in the place of its own; else it can only be replaced."""
        existing, part = read_around(self.old or ""), self.part
        if existing and isinstance(part, Outline) and part.definitions and is_part(existing, part):
            return merge(self.path, existing, part)
        if _filled_lines(self.block.text) < _FRAGMENT * _filled_lines(self.old or ""):
            raise unreadable("file_broken", path=self.path, why=why)
        return self._whole_text()

    def _require_parsing(self, new: str) -> None:
        """A file that parsed must still parse; a new one may be written in several blocks."""
        if self.old is not None and (why := fault(new)) and not fault(self.old):
            raise unreadable("change_breaks_file", path=self.path, why=why)


def _line_left_out(path: str, content: str) -> int | None:
    """Number of the first line of a whole file that stands for code left out."""
    if not is_python(path):
        return elided_line(path, content)
    try:
        outline = read(content)
    except NotPython:
        return None
    return next((line + 1 for line in outline.elided if outline.lines[line].lstrip().startswith("#")), None)


def _filled_lines(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())
