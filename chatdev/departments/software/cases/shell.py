"""Lines of a terminal that belong together, as single lines: a here-document with the command that gets it, and a start
of the program whose output goes into a file with the command that shows this file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from chatdev.departments.software.cases.case import PROMPT

_DOCUMENT = re.compile(r"(?<!<)<<(?P<tabs>-?)[ \t]*(?P<mark>['\"]?)(?P<end>\w{1,40})(?P=mark)(?![\w<'\"])")
_CONTINUED = re.compile(r"[ \t]*>(?: |$)")
"""What a terminal writes before the lines of a here-document."""
_EXPANDED = re.compile(r"[$`\\]")
_INTO = re.compile(r"(?P<command>[^|&;<>#]*[^|&;<>#\s])\s*>\s*(?P<file>[\w.-]{1,60})$")


def join_lines(lines: Sequence[str], is_start: Callable[[str], bool]) -> list[str]:
    """The lines, with those that belong together as one: a here-document stands as a word behind `<<<`, which does the
    same, and output that goes through a file needs no more than its command. `is_start` knows one of the program."""
    return list(_join_files(list(_join_documents(lines)), is_start)) if len(lines) > 1 else list(lines)


def _join_documents(lines: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(lines):
        line, place = lines[place], place + 1
        begin = _DOCUMENT.search(line)
        end = next((n for n in range(place, len(lines)) if begin and _without_mark(lines[n]) == begin["end"]), None)
        text = _text_of(lines[place:end + 1], begin) if begin and end is not None else None
        if begin and end is not None and text is not None:
            line, place = f"{line[:begin.start()]}<<< {shlex.quote(text)}{line[begin.end():]}", end + 1
        yield line


def _without_mark(line: str) -> str:
    return _CONTINUED.sub("", line, count=1).strip()


def _text_of(lines: Sequence[str], begin: re.Match[str]) -> str | None:
    """What a document holds, the last line being its end; None where a shell puts something else in it, or where it is
    empty."""
    if lines[-1].strip() != begin["end"]:
        lines = [_CONTINUED.sub("", line, count=1) for line in lines]
    text = "\n".join(line.lstrip("\t") if begin["tabs"] else line for line in lines[:-1])
    return None if not text or (_EXPANDED.search(text) and not begin["mark"]) else text


def _join_files(lines: Sequence[str], is_start: Callable[[str], bool]) -> Iterator[str]:
    shown = False
    for line, below in pairwise([*lines, ""]):
        into = _INTO.fullmatch(line.strip())
        goes_on = into is not None and is_start(into["command"]) and _shows(below, into["file"])
        if not shown:
            yield into["command"] if into and goes_on else line
        shown = goes_on


def _shows(line: str, file: str) -> bool:
    """Whether a line of a terminal shows a file."""
    prompt = PROMPT.match(line.strip())
    return line.strip()[prompt.end() if prompt else 0:].split() == ["cat", file]
