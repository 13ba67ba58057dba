"""A reply as its author meant it: small models put markers where none belongs, and forget the code block."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatdev.config.phases import Solution
from chatdev.config.protocol import SOLUTION_MARKER
from chatdev.replies.fences import NEWEST, lines_of, scan
from chatdev.replies.patch import holds_patch

_CLOSING_MARKERS = (SOLUTION_MARKER, SOLUTION_MARKER.replace("<", "</"))
_OF_CODE = re.compile(r"(?:\t| {2,})(?!\s|[-*+•] |\d{1,2}[.)] )|.*[;{}()\[\]]\s*$")
_FEWEST = 3  # lines that can be told from prose


def tidy_body(solution: Solution, body: str, *, semantics: int = NEWEST) -> str:
    """`body`, where the phase writes one file only, without the lines at either end of it or of a code block that are
    nothing but a marker; and within a block, where it is the source of that file without one. From semantics 6 on a
    patch is no such source."""
    sole = solution.only[0] if len(solution.only) == 1 and not set("*?[") & set(solution.only[0]) else None
    if solution.form != "files" or not (solution.as_file or sole):
        return body  # files that have names in the reply are kept byte for byte
    body = _strip_stray_markers(body)
    if solution.as_file or not _is_source(body) or (semantics > 5 and holds_patch(body)):
        return body
    return f"{sole}\n```\n{body.strip(chr(10))}\n```"


def _strip_stray_markers(body: str) -> str:
    kept: list[str] = []
    after = 0
    for block in scan(body):
        lines = lines_of(body[block.start:block.end])
        kept += (body[after:block.start], lines[0], *_without_markers(lines[1:len(lines) - block.closed]),
                 *lines[len(lines) - block.closed:])
        after = block.end
    return "".join((*kept, body[after:]) if kept else _without_markers(lines_of(body)))


def _without_markers(lines: Sequence[str]) -> Sequence[str]:
    """The lines without a marker above or below them."""
    begin = bool(lines) and lines[0].strip() == SOLUTION_MARKER
    end = len(lines) - (len(lines) > begin and lines[-1].strip() in _CLOSING_MARKERS)
    return lines[begin:end]


def _is_source(text: str) -> bool:
    """Whether at least half of the lines have the form of code, and none is a fence."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= _FEWEST and 2 * sum(map(bool, map(_OF_CODE.match, lines))) >= len(lines) and not scan(text)
