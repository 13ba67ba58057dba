"""Fenced code blocks of a reply, found line by line as CommonMark does, with care for what models really send."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SLOPPY_INDENT = 3  # a closing fence may be indented this much deeper than its opening; deeper ones are content


@dataclass(frozen=True, slots=True)
class Fence:
    """One fence line: its character, how many of them, its indentation in columns, and the words behind it."""

    char: str
    length: int
    indent: int
    info: str


@dataclass(frozen=True, slots=True)
class FencedBlock:
    """A fenced block. `content` is as sent, with its line endings; `above` is the text since the block before.

    `start` and `end` are offsets of the whole block, fences included. `closed` is False when the reply ended inside.
    """

    info: str
    content: str
    above: str
    start: int
    end: int
    closed: bool


def lines_of(text: str) -> list[str]:
    r"""The lines of `text` with their ends; only `\n` ends a line, so form feeds and the like stay content."""
    return _LINE.findall(text)


def indentation(line: str) -> str:
    """The blanks a line begins with."""
    return line[:len(line) - len(line.lstrip(" \t"))]


def fence_of(line: str) -> Fence | None:
    """The fence on `line`, opening or closing, or None."""
    body = line.lstrip(" \t")
    if body[:3] not in ("```", "~~~"):
        return None
    char = body[0]
    rest = body.lstrip(char)
    info = rest.strip()
    if char == "`" and "`" in info:  # inline code
        return None
    indent = len(line[: len(line) - len(body)].expandtabs(4))
    return Fence(char, len(body) - len(rest), indent, info)


def closes(line: str, opening: Fence) -> bool:
    """Whether `line` ends the block that `opening` began."""
    fence = fence_of(line)
    return fence is not None and _closes(fence, opening)


def _closes(fence: Fence, opening: Fence) -> bool:
    return (not fence.info and fence.char == opening.char and fence.length >= opening.length
            and fence.indent <= opening.indent + _SLOPPY_INDENT)


def names_markdown(_above: str, info: str) -> bool:
    """Whether the words of the opening fence say that the block holds Markdown."""
    return info.split()[:1] in (["md"], ["markdown"])


def scan(text: str, is_markdown: Callable[[str, str], bool] = names_markdown) -> list[FencedBlock]:
    """All outermost blocks of `text`, in order.

    `is_markdown(above, info)` says whether a block holds a Markdown file: inside one, a fence with words behind it
    opens a nested block and a bare fence closes the innermost, or opens one where a blank line or a colon invites it.
    """
    return list(each_block(text, is_markdown))


def each_block(text: str, is_markdown: Callable[[str, str], bool] = names_markdown) -> Iterator[FencedBlock]:
    """The blocks of `scan`, one by one."""
    position = after = 0
    block: _OpenBlock | None = None
    lines = lines_of(text)
    for index, line in enumerate(lines):
        begin, position = position, position + len(line)
        fence = fence_of(line)
        if block is None and fence is not None:
            above = text[after:begin]
            block = _OpenBlock(fence, above, begin, is_markdown(above, fence.info))
        elif block is not None and not block.take(lines, index, fence):
            yield block.end(position, closed=True)
            block, after = None, position
    if block is not None:
        yield block.end(position, closed=False)


class _OpenBlock:
    """A block whose closing fence has not come yet."""

    def __init__(self, opening: Fence, above: str, start: int, nests: bool) -> None:
        self.opening, self.above, self.start, self.nests = opening, above, start, nests
        self.inner: list[Fence] = []
        self.lines: list[str] = []

    def take(self, lines: list[str], index: int, fence: Fence | None) -> bool:
        """Add a line; False when it is the closing fence instead."""
        if fence is not None and not self._step(lines, index, fence):
            return False
        self.lines.append(_dedent(lines[index], self.opening.indent))
        return True

    def _step(self, lines: list[str], index: int, fence: Fence) -> bool:
        """Open or close a nested block; False when `fence` closes this one."""
        innermost = self.inner[-1] if self.inner else self.opening
        if not _closes(fence, innermost):
            if self.nests and fence.info and fence.char == innermost.char:
                self.inner.append(fence)
        elif self.inner:
            self.inner.pop()
        elif self.nests and _opens_nested(lines, index):
            self.inner.append(fence)
        else:
            return False
        return True

    def end(self, position: int, *, closed: bool) -> FencedBlock:
        """The finished block; `position` is the offset behind it."""
        return FencedBlock(self.opening.info, "".join(self.lines), self.above, self.start, position, closed)


def _opens_nested(lines: list[str], index: int) -> bool:
    """Whether a bare fence in Markdown looks like the beginning of a nested block, not like the end of the file.

    Something introduces it (a blank line, a colon), code follows, and that is not the next file's path and fence.
    """
    before, following = lines[index - 1].strip(), [line.strip() for line in lines[index + 1:index + 3]]
    if (before and not before.endswith(":")) or len(following) < 2 or not following[0] or fence_of(following[0]):
        return False
    fence = fence_of(following[1])
    return fence is None or not fence.info


def _dedent(line: str, indent: int) -> str:
    """`line` without as much of its indentation as the opening fence had (a block inside a list)."""
    return line[min(indent, len(indentation(line))):] if indent else line
