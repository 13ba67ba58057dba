"""One block for one file: a whole new version, search/replace changes, or a part to merge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from chatdev.replies.blocks import Block
from chatdev.replies.elision import elided_line
from chatdev.replies.languages import is_python
from chatdev.replies.problem import unreadable
from chatdev.replies.python.broken import read_around
from chatdev.replies.python.merge import merge
from chatdev.replies.python.outline import Outline
from chatdev.replies.python.parts import is_part
from chatdev.replies.python.reader import NotPython, fault, read, read_part
from chatdev.replies.search_replace import Changes, apply_changes

_READING = 16  # how often a text can be looked through while Python source of its length is read and merged into
_FRAGMENT = 0.5  # of the lines before: what a file that does not parse may shrink to without being marked `whole`


def effort(block: Block, texts: Mapping[str, str]) -> int:
    """How many characters must be looked at to bring a block into one of these files."""
    looks = len(block.changes.found) if block.changes else 1
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
        if self.block.kind == "changes":
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
        if self.block.whole or not (self.old or "").strip():
            return self._whole_text()
        if is_python(self.path):
            return self._python_text()
        line = elided_line(self.path, self.block.text)
        if line is not None:
            raise unreadable("change_elided", path=self.path, line=line)
        return self.block.text

    def _changed_text(self, changes: Changes) -> str:
        """The file after its search/replace changes."""
        changes.require_complete(self.path)
        if self.old is None and any(line.strip() for change in changes.found for line in change.search):
            raise unreadable("nothing_to_change", path=self.path)
        text = apply_changes(self.old or "", changes, self.path)
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
