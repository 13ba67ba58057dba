"""What of the starts of a case is certain: a program is held only to what it can print in every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chatdev.tools.software.cases.case import Start
from chatdev.tools.software.cases.transcript import is_transcript
from chatdev.tools.software.cases.volatile import is_volatile


def certain_starts(starts: Sequence[Start], files: Mapping[str, str], request: str) -> list[Start]:
    """The starts, without what may be another text in the next run. None of them where one is a dialogue of which it is
    not known what is typed: nobody knows what it leaves for those behind it."""
    given, found = "\n".join(files.values()), list[Start]()
    for start in starts:
        given = "\n".join((given, *start.arguments, start.stdin or "")).strip()
        if start.prints is not None and is_transcript(start, given, request):
            return []
        is_open = start.prints is not None and is_volatile(start.prints, given, request)
        writes = {name: text for name, text in start.writes.items() if not is_volatile(text, given, request)}
        found.append(replace(start, prints=None if is_open else start.prints, writes=writes))
    return found
