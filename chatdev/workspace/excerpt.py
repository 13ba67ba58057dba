"""The text around the line at which a program failed, as a report shows it: the function whole, if it is short."""

from __future__ import annotations

import re
from collections.abc import Mapping

from chatdev.workspace.python_reading import function_around

_MOST_LINES = 30  # of a function; of a longer one its head, and what stands around the line
_AROUND = 5  # lines on either side where no function holds the line, or the text is no Python
_LONGEST = 200  # characters of a line
_LONGEST_MARK = 60
_LARGEST = 400_000  # bytes of a file that is looked into
_LINE_END = re.compile(r"\r\n|\r|\n")


def excerpt(files: Mapping[str, bytes], path: str, line: int) -> str:
    """The function around the line of a file, as it stands there, with a row of `^` under that line; `…` stands for
    what is left out. Empty where there is no such line."""
    source = files.get(path, b"")
    lines = code_lines(source) if len(source) <= _LARGEST else []
    if not 1 <= line <= len(lines) or not lines[line - 1].strip():
        return ""
    first, last = _lines_shown(source, path, line, len(lines))
    numbers = list(range(first, last + 1))
    if len(numbers) > _MOST_LINES:
        start = min(max(first + 1, line - _MOST_LINES // 2), last - _MOST_LINES + 2)
        numbers = [first, *range(start, start + _MOST_LINES - 1)]
    return "\n".join(_mark(lines, numbers, last, line))


def code_lines(source: bytes) -> list[str]:
    """The lines of a source as compilers count them: a form feed, for one, ends none."""
    return _LINE_END.split(source.decode("utf-8", errors="replace"))


def _lines_shown(source: bytes, path: str, line: int, count: int) -> tuple[int, int]:
    """The function's lines, else those around the line."""
    try:
        function = function_around(source, path, line) if path.endswith(".py") else None
    except SyntaxError:
        function = None
    first, last = function or (line - _AROUND, line + _AROUND)
    return max(first, 1), min(last, count)


def _mark(lines: list[str], numbers: list[int], last: int, failing: int) -> list[str]:
    """The lines as they are shown: nothing stands before them, so that they can be copied into a change."""
    shown = []
    for before, number in zip([numbers[0] - 1, *numbers], numbers, strict=False):
        if number > before + 1:
            shown.append("…")
        text = lines[number - 1].rstrip()
        shown.append(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …")
        if number == failing:
            blank = text[:len(text) - len(text.lstrip())]
            shown.append(f"{blank}{'^' * min(len(text.strip()), _LONGEST_MARK)} line {number}")
    return [*shown, "…"] if numbers[-1] < last else shown
