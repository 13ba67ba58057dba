"""Where Python software fails: the files that do not compile, the last traceback that a program wrote, and the text
around its line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chatdev.workspace.python_facts import fault_in_python, function_around

_CHANGING = ((re.compile(r"0x[0-9a-fA-F]{6,}"), "0x…"), (re.compile(r"/tmp/[\w.-]+"), "/tmp/…"))
_START = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s*File "(?P<path>.+?)", line (?P<line>\d{1,9})(?:, in (?P<function>.+))?$')
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(:|$)")
_MESSAGE_LINES = 5


@dataclass(frozen=True, slots=True)
class SourceError:
    """A syntax error and its line."""

    path: str
    line: int
    message: str
    source: str


def syntax_errors(files: Mapping[str, bytes]) -> list[SourceError]:
    """One error for each Python file that does not compile."""
    return [SourceError(path, line, f"{kind}: {message}", line_text(code_lines(source), line))
            for path, source in files.items() if path.endswith(".py")
            for kind, line, message in _faults_in_python(source, path)]


def _faults_in_python(source: bytes, path: str) -> list[tuple[str, int, str]]:
    try:
        found = fault_in_python(source, path)
    except SyntaxError as error:  # it takes too much to be read
        found = "SyntaxError", 1, str(error.msg)
    return [found] if found else []


def line_text(lines: Sequence[str], line: int) -> str:
    """A line's text; empty for one that is there for Python alone, which may read a file in another encoding."""
    return lines[line - 1].strip() if line <= len(lines) else ""


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of the call stack."""

    path: str
    line: int
    function: str
    source: str


@dataclass(frozen=True, slots=True)
class Trace:
    """A traceback: frames from the outside in, and the exception with its message."""

    frames: tuple[Frame, ...]
    exception: str

    @property
    def kind(self) -> str:
        """The exception's class name, without its module."""
        return self.exception.split(":", 1)[0].rsplit(".", 1)[-1].strip()


def stable_text(text: str, places: Mapping[str, str]) -> str:
    """What a program wrote, without that which differs from run to run."""
    for folder, shown in places.items():
        text = text.replace(folder, shown)
    for pattern, shown in _CHANGING:
        text = pattern.sub(shown, text)
    return text


def last_traceback(stderr: str) -> Trace | None:
    """The traceback that ends last in `stderr`, or None."""
    _, found, text = stderr.rpartition(_START)
    if not found:
        return None
    lines = text.splitlines()[1:]
    end = next((n for n, line in enumerate(lines) if _EXCEPTION.match(line)), len(lines))
    return Trace(_frames(lines[:end]), _message(lines[end:]))


def _frames(lines: list[str]) -> tuple[Frame, ...]:
    frames = []
    for line, following in pairwise([*lines, ""]):
        if match := _FRAME.match(line):
            source = "" if _FRAME.match(following) else following.strip()
            frames.append(Frame(match["path"], int(match["line"]), match["function"] or "<module>", source))
    return tuple(frames)


def _message(lines: list[str]) -> str:
    """The exception's line and those of its message that follow it at once."""
    until = next((n for n, line in enumerate(lines) if not line.strip()), len(lines))
    return "\n".join(lines[:min(until, _MESSAGE_LINES)])[:500]


# The text around the line at which a program failed, as a report shows it: the function whole, if it is short.

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
