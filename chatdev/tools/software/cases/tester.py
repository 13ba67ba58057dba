"""The examples that a Tester copied out of a request: what stands there letter by letter holds, what does not is a
guess."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from chatdev.tools.software.cases.case import MOST_CASES, Case, Start, cases_from_value
from chatdev.tools.software.cases.sentences import command_in_prose
from chatdev.tools.software.cases.wording import FILE_NAME, status_in
from chatdev.tools.software.session import example_lines, examples

_FIELDS = {"starts", "arguments", "prints", "stdin", "writes"}
_MARKS = re.compile(r"[`\"“”„«»「」|]")
_WHOLE = re.compile(r"[`\"“”„«»「」|\n]|\s(?:[-=]{1,2}>|→|⇒)\s|:\s")
_WITHIN = re.compile(r"\w\w")
_LONGEST = 20_000  # characters of a request
_MOST_PLACES, _MOST_LINES, _MOST_PARTS = 20, 200, 200


def copied_cases(value: object, request: str, command: str) -> list[Case]:
    """The cases of a Tester's examples: JSON cases, or lines such as `COMMAND => OUTPUT`, of which everything that is
    expected stands in the request."""
    lines = _Lines(request, command)
    found: list[Case] = []
    for part in islice(_parts(value), _MOST_PARTS if len(request) <= _LONGEST else 0):
        known = [case.acts for case in found]
        found += [case for case in _cases_of_part(part, lines, command) if case.expects and case.acts not in known]
    return found[:MOST_CASES]


def _cases_of_part(part: object, lines: _Lines, command: str) -> list[Case]:
    if isinstance(part, Mapping) and _FIELDS & part.keys():
        return [case for case in cases_from_value(part, "tester", command) if _is_copied(case, lines)]
    return [Case("tester", (Start(session.arguments, prints=session.prints),))
            for session in examples(example_lines([part]), lines.request, command)]


def _parts(value: object) -> Iterator[object]:
    """The single examples: of a list, also where it stands in a field of an object."""
    if isinstance(value, Mapping) and not _FIELDS & value.keys():
        lists = [part for part in value.values() if isinstance(part, list | tuple)]
        if len(lists) == 1:
            value = lists[0]
    yield from value if isinstance(value, list | tuple) else [value]


def _is_copied(case: Case, lines: _Lines) -> bool:
    """Whether everything that a case types, finds and expects stands in the request, and what a start prints stands
    behind its command, before the next one."""
    files = all(FILE_NAME.fullmatch(name) and name in lines.request and lines.have(text)
                for name, text in case.files.items())
    return files and all(_is_copied_start(start, lines) for start in case.starts)


def _is_copied_start(start: Start, lines: _Lines) -> bool:
    if start.status and status_in(lines.request) != start.status:
        return False
    if not lines.have(start.stdin or "") or not all(name in lines.request and lines.have(text)
                                                    for name, text in start.writes.items()):
        return False
    places = lines.places_of(start)
    return bool(places) if start.prints is None else any(lines.follow(place, start.prints) for place in places)


class _Lines:
    """A request, to look for lines in. What is printed stands between marks, or is all of a line or of its end."""

    def __init__(self, request: str, command: str) -> None:
        self.request = request
        self._plain = _plain(request)
        self._commands = [found.span() for found in command_in_prose(command).finditer(self._plain)]
        self._wholes = set(map(_plain, _WHOLE.split(request)))

    def have(self, text: str) -> bool:
        """Whether each line of a text stands in the request."""
        return all(self._find(_plain(line), 0) is not None for line in _full_lines(text))

    def places_of(self, start: Start) -> list[int]:
        """Where the command of a start ends, wherever the request has it; the beginning for one without arguments."""
        if not start.arguments:
            return [0, *(end for _, end in self._commands)]
        places, words = list[int](), " ".join(map(_plain, start.arguments))
        place = self._find(words, 0)
        while place is not None and len(places) < _MOST_PLACES:
            places.append(place)
            place = self._find(words, place)
        return places

    def follow(self, place: int, text: str) -> bool:
        """Whether all lines of a text stand behind a place in their order, with no command between."""
        end = next((begin for begin, _ in self._commands if begin >= place), len(self._plain))
        lines = [_plain(line) for line in _full_lines(text)]
        for line in lines:
            found = self._find(line, place)
            if found is None or found > end or line not in self._wholes:
                return False
            place = found
        return bool(lines)

    def _find(self, text: str, place: int) -> int | None:
        """Where a text ends that stands behind a place and is no part of a word."""
        while text and (place := self._plain.find(text, place)) >= 0:
            end = place + len(text)
            if not _WITHIN.match(self._plain[place - 1:place] + text[0]) and not _WITHIN.match(
                    text[-1] + self._plain[end:end + 1]):
                return end
            place = end
        return None


def _full_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()][:_MOST_LINES]


def _plain(text: str) -> str:
    """A text without marks, with single blanks."""
    return " ".join(_MARKS.sub(" ", text).split())
