"""What is tried of software: the cases that the request gives, and `software.examples`, which reads them from it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from chatdev.tools.base import ToolContext
from chatdev.tools.function import tool
from chatdev.tools.software.cases.case import Case
from chatdev.tools.software.cases.extract import cases_of_request
from chatdev.tools.software.languages import languages
from chatdev.tools.software.session import PYTHON_COMMAND

_BARE_PROGRAM = r"(?:\./)?[\w-]+\.py"


@tool(reads=("task?",))
def examples(context: ToolContext) -> list[dict[str, Any]]:
    """The examples that the request itself gives and that can be read for certain, as cases to try.

    Each is `{from, files, starts: [{arguments, stdin, prints, writes, status}]}`; what is left open is left out.
    Examples that contradict each other are none.
    """
    sound, _ = part_contradictions(cases_of_request(request_of(context), any_command()))
    return [case.to_dict() for case in sound]


def request_of(context: ToolContext) -> str:
    """What the customer asks for."""
    return str(context.values.get("task") or context.inputs.get("task") or "")


@functools.cache
def any_command() -> str:
    """What stands before a program's arguments, in any language that can be tried, as a pattern."""
    rows = [language.command for language in languages() if language.command]
    return "|".join(dict.fromkeys((PYTHON_COMMAND, _BARE_PROGRAM, *rows)))


def part_contradictions(cases: Iterable[Case]) -> tuple[list[Case], list[Case]]:
    """The cases that no other one contradicts, and those that are contradicted: the same was done, and something else
    is expected of it."""
    known, cases = dict[object, tuple[object, set[int]]](), list(cases)
    wrong = set[int]()
    for number, case in enumerate(cases):
        done: list[object] = [_as_key(case.files)]
        for start in case.starts:
            done.append((start.arguments, start.stdin))
            if not start.expects:
                continue
            expected = (start.prints, _as_key(start.writes), start.status)
            first, who = known.setdefault(tuple(done), (expected, set()))
            who.add(number)
            if first != expected:
                wrong |= who
    return ([case for number, case in enumerate(cases) if number not in wrong],
            [case for number, case in enumerate(cases) if number in wrong])


def _as_key(texts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(texts.items()))
