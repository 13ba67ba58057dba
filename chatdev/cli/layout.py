"""How texts of models and tools are laid out on a terminal."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator
from itertools import islice

import click

from chatdev.engine.wording import counted

INDENT = "    "
CODE_LINES = 8  # of one code block, unless everything is shown
TEXT_LINES = 30  # of one utterance, likewise
_WIDEST = 100  # columns; longer lines are hard to read
_FENCE = re.compile(r"\s*(```|~~~)")


def width() -> int:
    """Columns to write in."""
    return min(_WIDEST, shutil.get_terminal_size().columns)


def first_line(text: str) -> str:
    """The first line that says something, cut to the terminal."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return textwrap.shorten(line, max(20, width() - 20), placeholder=" …")


def laid_out(text: str, *, everything: bool) -> Iterator[str]:
    """The lines of a text: wrapped, indented, code dimmed, and cut unless `everything` is wanted."""
    lines = _lines(text.strip("\n"), everything=everything)
    if everything:
        yield from lines
        return
    yield from islice(lines, TEXT_LINES)
    if more := sum(1 for _ in lines):
        yield _more(more)


def _lines(text: str, *, everything: bool) -> Iterator[str]:
    in_code, shown = False, 0
    for line in text.split("\n"):
        if _FENCE.match(line):
            if in_code and shown > CODE_LINES and not everything:
                yield _more(shown - CODE_LINES)
            in_code, shown = not in_code, 0
            yield _dim(line)
        elif in_code:
            shown += 1
            if everything or shown <= CODE_LINES:
                yield _dim(line)
        else:
            yield from _wrapped(line)
    if in_code and shown > CODE_LINES and not everything:
        yield _more(shown - CODE_LINES)


def _wrapped(line: str) -> list[str]:
    hanging = INDENT + " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line.strip(), width(), initial_indent=hanging, subsequent_indent=hanging,
                         break_on_hyphens=False) or [""]


def _dim(line: str) -> str:
    return click.style(INDENT + line, dim=True)


def _more(count: int) -> str:
    return _dim(f"… {counted(count, 'more line')}")
