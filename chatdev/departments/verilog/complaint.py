"""Which outputs a bench speaks of when it complains: by the statement that printed the complaint, what it prints and
what was asked before, and by how the bench connects the tested module. By the text alone, as nothing depends on it but
where a trace begins."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from chatdev.departments.verilog.target import blank_comments

_NAME = re.compile(r"(?<![\w$'.])[A-Za-z_]\w*")
_WITHIN = r"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\))*+"  # brackets, three deep
_CONNECTION = re.compile(rf"\.\s*(?P<port>\w+)\s*+\((?P<to>{_WITHIN})\)")
_PRINT = re.compile(r'\$(?:display|write|strobe|error|fatal)[bho]?\s*+\(\s*+(?:\d\s*+,\s*+)?'
                    r'"(?P<format>(?:\\.|[^"\\\n])*+)"')
_FORMAT = re.compile(r"%[-\d.]*[a-zA-Z]")
_ASKED = re.compile(rf"\b(?:if|assert|while|wait)\s*+\((?P<what>{_WITHIN})\)")
_TASK = re.compile(r"\b(?P<end>end)?task\b\s*+(?:automatic\s++)?(?P<name>\w*)")
_AFTER_DOT = re.compile(r"\.\s*(\w+)")
_LINE = re.compile(r"\(line (\d{1,6}) of the bench\)")  # where a test in Python failed
_NEAR = 2000  # characters before a statement in which the question is looked for
_LONGEST = 400  # characters of a complaint that are compared


def outputs_spoken_of(bench: str, complaint: str, outputs: Collection[str]) -> set[str]:
    """Those of the outputs that the complaint is about; where that is not found, those that the bench connects by name;
    none where it connects none of them so. Of a bench in Python they are those in the line at which it failed."""
    if line := _LINE.search(complaint):
        failed = "".join(bench.split("\n")[int(line[1]) - 1:int(line[1])])
        return {*_AFTER_DOT.findall(failed)}.intersection(outputs)
    code = blank_comments(bench)
    connected = {found["port"]: {*_NAME.findall(found["to"])} for found in _CONNECTION.finditer(code)
                 if found["port"] in outputs}
    for place, end in _statements(bench, code, complaint[:_LONGEST]):
        words = {*_names_near(code, place, end)}
        for known in (words, words | {*_names_given(code, place)}, words | {*_names_assigned(code, words)}):
            if found := {port for port, names in connected.items() if not names.isdisjoint(known)}:
                return found
    return {port for port, names in connected.items() if names}


def _statements(bench: str, code: str, complaint: str) -> Iterator[tuple[int, int]]:
    """Where the prints stand that may have printed it."""
    for found in _PRINT.finditer(bench):
        parts = _FORMAT.split(found["format"].replace("%%", "%").replace("\\n", ""))
        if any(map(str.strip, parts)) and re.fullmatch(".*".join(map(re.escape, parts)), complaint.strip()):
            end = code.find(";", found.end())
            yield found.start(), end if end > 0 else len(code)


def _names_near(code: str, place: int, end: int) -> Iterator[str]:
    """What the statement prints, and what was asked last before it."""
    yield from _NAME.findall(code[place:end])
    *_, asked = (None, *_ASKED.finditer(code, max(0, place - _NEAR), place))
    yield from _NAME.findall(asked["what"]) if asked else ()


def _names_given(code: str, place: int) -> Iterator[str]:
    """What the task that it stands in is given, wherever it is called."""
    *_, task = (None, *_TASK.finditer(code, 0, place))
    if task and task["name"] and not task["end"]:
        for call in re.finditer(rf"\b{task['name']}\s*+\((?P<given>{_WITHIN})\)", code):
            yield from _NAME.findall(call["given"])


def _names_assigned(code: str, words: Collection[str]) -> Iterator[str]:
    """What the bench makes these of."""
    for found in re.finditer(r"(?<![\w.])(?P<name>[A-Za-z_]\w*)\s*+<?=(?!=)(?P<made_of>[^;]{1,400});", code):
        if found["name"] in words:
            yield from _NAME.findall(found["made_of"])
