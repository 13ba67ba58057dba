"""What is tried of software: the cases that the request gives, those that the Tester copied from it, and the Tester's
own commands; and `software.examples`, which reads the first of these."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Any, Literal

from chatdev.departments.software.cases.case import MOST_STARTS, Case, Start
from chatdev.departments.software.cases.copied import PYTHON_COMMAND, copied_cases, plan_lines, starts_of
from chatdev.departments.software.cases.extract import RequestReading, lacks_file, part_contradictions, read_request
from chatdev.departments.software.cases.sentences import Facts
from chatdev.departments.software.cases.wording import FILE_NAME, is_all_of, is_form, wording
from chatdev.tools.base import ToolContext, tool
from chatdev.workspace.languages import languages

MOST_TRIED = 60  # starts of all cases; one that does not end takes seconds
_LONGEST_REQUEST = 100_000  # characters in which what a program says is looked for
_SHOWN = 60  # characters of what is left out
_LONGEST_SOURCE = 200_000  # characters in which commands are looked for
_QUOTED = re.compile(r"""(?P<mark>["'])(\w[\w-]{1,19})(?P=mark)""")
_BARE_PROGRAM = r"(?:\./)?[\w-]+\.py"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is not tried, in words, and why: it names a file that nobody gives, or nobody can do it."""

    what: str
    why: Literal["file", "words", "length", "signs"]


@dataclass(frozen=True, slots=True)
class Plan:
    """`cases` expect something; `own` are the Tester's commands in their order, of which nobody knows what they print.
    `left_out` are those that need a file which nobody makes, and what nobody can do, each with the reason."""

    cases: tuple[Case, ...]
    own: Case | None
    left_out: tuple[LeftOut, ...]
    request: str
    reading: RequestReading

    @property
    def all_cases(self) -> tuple[Case, ...]:
        """Everything that is tried, in its order."""
        return (*self.cases, *((self.own,) if self.own else ()), *self.reading.plain_refusals)


@tool(reads=("task?", "examples?", "checks?"), pure=True)
def examples(context: ToolContext) -> list[dict[str, Any]]:
    """The examples that the request gives, as cases to try: those that can be read for certain by rule, and those
    among the Tester's `examples` and `checks` that stand there letter by letter.

    Each is `{from, files, starts: [{arguments, stdin, prints, writes, status}]}`; what is left open is left out.
    Examples that contradict each other are none.
    """
    return [case.to_dict() for case in _sound_cases(read_request(_request_of(context), any_command()), context)]


def plan_of(context: ToolContext, command: str) -> Plan:
    """The plan for software that is started by `command`, a pattern."""
    request = _request_of(context)
    reading = read_request(request, any_command())
    sound, lines = _sound_cases(reading, context), starts_of(plan_lines(context.values.get("commands")), command)
    cases = _as_many_as_fit(sound)
    starts = _own_starts(lines, cases, reading, request)
    lacking = [start for start in starts if _needs_file(start, reading, context.software)]
    own = _own_case([start for start in starts if start not in lacking], reading)
    left_out = (*(LeftOut(" ".join(start.arguments), "file") for start in lacking),
                *_unfit_ones([*lines, *(start for case in sound for start in case.starts)]),
                *_too_long(_texts_of_tester(context)))
    return Plan(tuple(cases), own, left_out, request[:_LONGEST_REQUEST], reading)


def _own_starts(lines: Iterable[Start], cases: Iterable[Case], reading: RequestReading, request: str) -> list[Start]:
    """What of the Tester's lines somebody may do, and no case does, nor nobody wants."""
    done = {act for case in cases for act in case.acts}
    return _without_middle([start for start in lines if not start.unfit and start.act not in done
                            and not _is_invented(start, reading.facts, request)])


def _unfit_ones(starts: Iterable[Start]) -> Iterator[LeftOut]:
    """What of these nobody can do."""
    for start in starts:
        if why := start.unfit:
            yield LeftOut(ascii(" ".join((*start.arguments, start.stdin or "")))[1:_SHOWN + 1], why)


def _too_long(examples: object) -> Iterator[LeftOut]:
    """The Tester's examples that are longer than any that a request gives."""
    for part in examples if isinstance(examples, list | tuple) else [examples]:
        if len(text := repr(part)) > _LONGEST_REQUEST:
            yield LeftOut(text[:_SHOWN], "length")


def shows_example(request: str) -> bool:
    """Whether a request surely shows what its program prints for some input."""
    return bool(read_request(request, any_command()).cases)


def _as_many_as_fit(cases: Sequence[Case]) -> list[Case]:
    """The first cases that somebody can do, so many that a trial comes to its end."""
    cases = [case for case in cases if not any(start.unfit for start in case.starts)]
    starts = accumulate(len(case.starts) for case in cases)
    return [case for case, number in zip(cases, starts, strict=True) if number <= MOST_TRIED]


def _own_case(starts: Iterable[Start], reading: RequestReading) -> Case | None:
    """The Tester's own commands as one case, with the files that the request shows."""
    kept = tuple(starts)[:MOST_STARTS]
    return Case("tester", kept, reading.files or {}) if kept else None


@functools.cache
def any_command() -> str:
    """What stands before a program's arguments, in any language that can be tried, as a pattern."""
    rows = [language.command for language in languages() if language.command]
    return "|".join(dict.fromkeys((PYTHON_COMMAND, _BARE_PROGRAM, *rows)))


def _request_of(context: ToolContext) -> str:
    """What the customer asks for."""
    return str(context.values.get("task") or context.inputs.get("task") or "")


def _sound_cases(reading: RequestReading, context: ToolContext) -> list[Case]:
    """The cases of the request, those of the Tester that try something else and lack nothing, and what the request has
    the program refuse."""
    given, able = [*reading.cases, *reading.told_refusals], _able_cases(reading, context)
    sound, _ = part_contradictions([*given, *able])
    more = [case for case in (*reading.told_refusals, *able) if case in sound]
    told = reading.refusal_beside(more[0]) if more else None
    if told and (told.acts, told.files) not in [(case.acts, case.files) for case in more]:
        more.append(told)
    return [*reading.cases, *more]


def _able_cases(reading: RequestReading, context: ToolContext) -> list[Case]:
    """The Tester's cases that try what no case of the request does, and lack nothing."""
    copied = copied_cases(_texts_of_tester(context), _request_of(context), any_command())
    known = [case.acts for case in (*reading.cases, *reading.told_refusals, *reading.contradictory)]
    made = reading.made if len(copied) == 1 else {}
    more = [_with_files(case, reading.files or {}, made) for case in copied if case.acts not in known]
    return [case for case in more if _is_able(case, reading)]


def _texts_of_tester(context: ToolContext) -> object:
    """What the Tester wrote down that the request may hold letter by letter: examples, and checks with an output."""
    found, checks = context.values.get("examples"), context.values.get("checks")
    printing = [check for check in checks if _prints(check)] if isinstance(checks, list | tuple) else []
    return [*(found if isinstance(found, list | tuple) else [found]), *printing] if printing else found


def _prints(check: object) -> bool:
    """Whether a check says all that one of its starts prints."""
    starts = check.get("starts") if isinstance(check, Mapping) else None
    return isinstance(starts, list | tuple) and any(isinstance(one, Mapping) and one.get("prints") for one in starts)


def _with_files(case: Case, files: Mapping[str, str], made: Mapping[str, str]) -> Case:
    """A case with the files that the request shows, and with those that are made, which are there in the end."""
    *before, last = case.starts
    return replace(case, files={**files, **case.files},
                   starts=(*before, replace(last, writes={**made, **last.writes})))


def _is_able(case: Case, reading: RequestReading) -> bool:
    """Whether a case has the files and the input that its program reads."""
    if reading.facts.reads_typed and not all(start.stdin for start in case.starts):
        return False
    return not lacks_file(case, reading.lacking - case.files.keys(), reading.commands)


def _without_middle(starts: Sequence[Start]) -> list[Start]:
    """Each start where it stands first and, with others between, where it stands last: a list shows what they did."""
    ends = [start for number, start in enumerate(starts)
            if start not in starts[:number] or start not in starts[number + 1:]]
    return [start for start, _ in groupby(ends)]


def _is_sample(start: Start, request: str) -> bool:
    """Whether a command is the one that prompts show as a sample: copied from there, and not from the request."""
    words = " ".join(start.arguments)
    return words in wording()["samples"] and words not in request


def _is_invented(start: Start, facts: Facts, request: str) -> bool:
    """Whether a command is the sample that prompts show or the form that the request does, or has arguments of its own
    for a program that reads what is typed, and takes none."""
    takes_none = facts.reads_typed and not facts.takes_arguments
    if _is_sample(start, request) or (is_form(start.arguments) and " ".join(start.arguments) in request):
        return True
    return takes_none and not all(word in request for word in start.arguments)


def _needs_file(start: Start, reading: RequestReading, software: Iterable[str]) -> bool:
    """Whether a command names a file that neither the software nor the request brings."""
    there = {*software, *(reading.files or {})}
    return any(FILE_NAME.fullmatch(word) and word not in there for word in start.arguments)


def command_words(row: str, own: Case, software: Mapping[str, bytes]) -> list[str]:
    """The words of a row of wording.yaml that are commands of the plan, or stand between quotes in the software."""
    planned = [start.arguments[0] for start in own.starts if start.arguments]
    quoted = quoted_words(software)
    return list(dict.fromkeys((*(word for word in planned if is_all_of(row, word)),
                               *(word for word in wording()[row] if word in quoted))))


def quoted_words(software: Mapping[str, bytes]) -> list[str]:
    """All words that stand alone between quotes, in their order."""
    sources = (data.decode("utf-8", "replace")[:_LONGEST_SOURCE] for data in software.values())
    return list(dict.fromkeys(found[2] for text in sources for found in _QUOTED.finditer(text)))
