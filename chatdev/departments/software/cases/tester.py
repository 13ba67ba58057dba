"""The examples that a Tester copied out of a request: what stands there letter by letter holds, what does not is a
guess."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from chatdev.departments.software.cases.case import MOST_CASES, Case, Start, cases_from_value
from chatdev.departments.software.cases.certainty import certain_starts
from chatdev.departments.software.cases.copied import CopiedRequest
from chatdev.departments.software.cases.tester_lines import example_lines, examples
from chatdev.departments.software.cases.wording import FILE_NAME, is_readable, new_files, says, status_in

_FIELDS = {"starts", "arguments", "prints", "stdin", "writes"}
_MOST_PARTS = 2 * MOST_CASES


def copied_cases(value: object, request: str, command: str) -> list[Case]:
    """The cases of a Tester's examples: JSON cases, or lines such as `COMMAND => OUTPUT`, of which everything that is
    expected stands in the request."""
    if not is_readable(request):
        return []
    source = CopiedRequest(request, command)
    found: list[Case] = []
    for part in islice(_parts(value), _MOST_PARTS):
        known = [case.acts for case in found]
        found += [case for case in _cases_of_part(part, source, command) if case.expects and case.acts not in known]
    return found[:MOST_CASES]


def _cases_of_part(part: object, request: CopiedRequest, command: str) -> list[Case]:
    if isinstance(part, Mapping) and _FIELDS & part.keys():
        cases = cases_from_value(part, "tester", command)
        return [copied for case in cases for copied in _copied_parts(case, request)]
    return [Case("tester", (start,)) for start in examples(example_lines([part]), request.text, command)]


def _parts(value: object) -> Iterator[object]:
    """The single examples: of a list, also where it stands in a field of an object."""
    if isinstance(value, Mapping) and not _FIELDS & value.keys():
        lists = [part for part in value.values() if isinstance(part, list | tuple)]
        if len(lists) == 1:
            value = lists[0]
    yield from value if isinstance(value, list | tuple) else [value]


def _copied_parts(case: Case, request: CopiedRequest) -> list[Case]:
    """The case; where some of it is made up, and the program keeps nothing from one start to the next, what is copied
    of its starts, each by itself."""
    if (whole := _copied_case(case, request)) or says("remembers", request.text):
        return [whole] if whole else []
    parts = (replace(case, starts=(start,)) for start in case.starts)
    return [copied for part in parts if (copied := _copied_case(part, request))]


def _copied_case(case: Case, request: CopiedRequest) -> Case | None:
    """The case, if all that it types, finds and expects stands in the request."""
    case = _put_files(case, request.text)
    starts = certain_starts(case.starts, case.files, request.text)
    sound = all(request.shows(text, "holds") for text in case.files.values()) and all(
        _is_copied(start, request) for start in case.starts)
    return replace(case, starts=tuple(starts)) if starts and sound else None


def _put_files(case: Case, request: str) -> Case:
    """The case with its files where they belong: what the program makes is there in the end. Files that cannot be a
    user's do not count, nor empty ones: small models show the program itself, too."""
    files = {name: text for name, text in case.files.items()
             if FILE_NAME.fullmatch(name) and name in request and text.strip()}
    made = {name: files.pop(name) for name in files.keys() & new_files(request)}
    *before, last = case.starts
    return replace(case, files=files, starts=(*before, replace(last, writes={**made, **last.writes})))


def _is_copied(start: Start, request: CopiedRequest) -> bool:
    """Whether what a start prints stands behind its command, before the next one, and all else somewhere."""
    if start.status and status_in(request.text) != start.status:
        return False
    if start.stdin and not request.shows(start.stdin, "typed"):
        return False
    if not all(name in request.text and request.shows(text, "holds") for name, text in start.writes.items()):
        return False
    places = request.places_of(start.arguments)
    if start.prints is None:
        return bool(places)
    return any(request.shows(start.prints, "printed", place, before_command=True, given=start.arguments)
               for place in places)
