"""Whether a program prints what is wanted: letter by letter, but for the ends of lines, the prompts that it writes
while it waits for input, what its request leaves open, and what changes from run to run."""

from __future__ import annotations

import functools
import json
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.cases.wording import any_word_of, begins_with, request_says, says
from chatdev.errors import WorkspaceError
from chatdev.sandbox.base import lines_of, printed_lines
from chatdev.workspace.file_tree import read_tree

_ASKS = ":>?…：？"
_PROMPTS = re.compile(rf"(?:[^{_ASKS}]{{0,80}}[{_ASKS}])+[ \t$€£]*")
_CONTROLS = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|c)")  # colours and places on a terminal


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What may differ from an expected text. `silent` is what a program that writes prompts says when nobody answers
    them, None for one that writes none: prompts may stand before a text, and its greeting, menu and farewell around
    it. `coloured`: the request wants colours, and cannot show them. `any_layout`: it does not say how JSON is laid
    out."""

    silent: str | None = None
    coloured: bool = False
    any_layout: bool = False

    def seen(self, text: str) -> str:
        """What the request can show of a text."""
        return without_colours(text) if self.coloured else text


def without_colours(text: str) -> str:
    """A text as it is read at a terminal."""
    return _CONTROLS.sub("", text)


def is_prompt(text: str) -> bool:
    """Whether the text can be what a program writes before it waits for input, once or several times."""
    return _PROMPTS.fullmatch(text) is not None


def prints_what_is_wanted(start: Start, streams: tuple[str, str], status: int | None, allowed: Tolerance) -> bool:
    """Whether standard output, or standard error beside a failure, holds what the start has to print."""
    if start.prints is None:
        return True
    stdout, stderr = map(allowed.seen, streams)
    wanted, seen = lines_of(start.prints), lines_of(stdout)
    if printed_lines(stdout, stderr, status) == wanted or (status != 0 and seen == wanted):
        return True
    if allowed.silent is not None and start.stdin is not None:
        silent = lines_of(allowed.seen(allowed.silent))
        if _matches_between_prompts(seen, wanted, silent):
            return True
    return allowed.any_layout and _are_same_data(stdout, start.prints)


def _are_same_data(text: str, wanted: str) -> bool:
    """Whether both are JSON that holds the same objects, however it is laid out."""
    if "{" in wanted:
        with suppress(ValueError, RecursionError):
            return bool(json.loads(text) == json.loads(wanted))
    return False


def _matches_between_prompts(printed: Sequence[str], wanted: Sequence[str], silent: Collection[str]) -> bool:
    """Whether the wanted lines come one after another, with nothing but prompts before each, and nothing around them
    but lines that are said even when nobody answers; the last line may be prompts alone."""
    rest = deque(wanted)
    for number, line in enumerate(printed, 1):
        if rest and _is_behind_prompts(line, rest[0]):
            rest.popleft()
        elif line not in silent and not (number == len(printed) and is_prompt(line)):
            return False
    return not rest


def _is_behind_prompts(line: str, text: str) -> bool:
    return line == text or (line.endswith(text) and is_prompt(line[:len(line) - len(text)]))


def wrong_files(start: Start, folder: Path, allowed: Tolerance) -> Mapping[str, str | None]:
    """The files that are not as the start has to write them, and what they hold; None for one that is not there."""
    if not start.writes:
        return {}
    there = _files_in(folder)
    held = {name: there[name].decode("utf-8", "replace") if name in there else None for name in start.writes}
    return {name: text for name, text in held.items() if text is None or not _holds(text, start.writes[name], allowed)}


def _holds(text: str, wanted: str, allowed: Tolerance) -> bool:
    return lines_of(text) == lines_of(wanted) or (allowed.any_layout and _are_same_data(text, wanted))


def _files_in(folder: Path) -> Mapping[str, bytes]:
    """What a program left; nothing where that is something which no software has."""
    try:
        return read_tree(folder)
    except WorkspaceError:
        return {}


# What of a case's starts is certain: only what a program prints itself, and prints in every run.

_ANSWERED = re.compile(r"(?P<prompt>[^:?>：？]{1,80}[:?：？]{1,2}>?|>{1,3}|[\w-]{1,12}>)[ \t]+(?P<answer>\S.{0,80})")
_YES_OR_NO = re.compile(r"[(\[] ?[yYjJ]\w{0,3} ?/ ?[nN]\w{0,4} ?[)\]]")
_LABEL = re.compile(r"[^\W\d]+(?: [^\W\d]+){0,3}[:：]")


def certain_starts(starts: Sequence[Start], files: Mapping[str, str], request: str) -> list[Start]:
    """The starts, without what may be another text in the next run. None of them where one is a dialogue of which it is
    not known what is typed: nobody knows what it leaves for those behind it."""
    given, found = "\n".join(files.values()), list[Start]()
    for start in starts:
        given = "\n".join((given, *start.arguments, start.stdin or "")).strip()
        if start.prints is not None and _is_transcript(start, given, request):
            return []
        is_open = start.prints is not None and is_volatile(start.prints, given, request)
        writes = {name: text for name, text in start.writes.items() if not is_volatile(text, given, request)}
        found.append(replace(start, prints=None if is_open else start.prints, writes=writes))
    return found


def _is_transcript(start: Start, given: str, request: str) -> bool:
    """Whether what a start has to print shows, or may show, what a user typed: as a terminal shows a dialogue, where a
    prompt and its answer stand in one line. `given` is all that the program got before it began."""
    lines = (start.prints or "").splitlines()
    if start.stdin is not None:
        return _echoes(lines, start.stdin.splitlines(), request)
    answers = [found for found in answers_in(lines) if found.text not in given]
    is_asked = request_says("asks_user", request)
    if _shows_prompts(lines, answers) or (is_asked and not start.arguments):
        return True
    return (is_asked or not given) and any(map(functools.partial(_is_taken_up, lines), answers))


@dataclass(frozen=True, slots=True)
class TypedAnswer:
    """What may be an answer, behind what may be its prompt, in the line of this number."""

    line: int
    prompt: str
    text: str


def answers_in(lines: Sequence[str]) -> Iterator[TypedAnswer]:
    """What may be answers in these lines, each behind its prompt."""
    for number, line in enumerate(lines):
        if found := _ANSWERED.fullmatch(line.strip()):
            yield TypedAnswer(number, found["prompt"], found["answer"].strip())


def _shows_prompts(lines: Sequence[str], answers: Iterable[TypedAnswer]) -> bool:
    return any(map(_asks, lines)) or any(_is_prompt(found.prompt, len(lines)) for found in answers)


def _is_taken_up(lines: Sequence[str], answer: TypedAnswer) -> bool:
    """Whether an answer behind a label comes again in a later line."""
    return bool(_LABEL.fullmatch(answer.prompt)) and _comes_again(answer.text, lines[answer.line + 1:])


def _is_prompt(prompt: str, lines: int) -> bool:
    """Whether something that an answer follows asks for it, in an output of so many lines."""
    is_question = prompt.endswith(("?", "？")) and begins_with("question_words", prompt)
    return is_question or (prompt.endswith(">") and lines > 1)


def _asks(line: str) -> bool:
    """Whether a line asks a user to type something, whatever stands behind it."""
    is_prompt = re.search(r"[:?>：？](?:\s|$)", line) is not None
    return (is_prompt and begins_with("asking", line)) or bool(_YES_OR_NO.search(line))


def _comes_again(answer: str, lines: Sequence[str]) -> bool:
    """Whether a later line takes up an answer."""
    return any(re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", line) for line in lines)


def _echoes(lines: Sequence[str], typed: list[str], request: str) -> bool:
    """Whether all lines that are typed stand in the output, each behind a prompt."""
    answers = list(filter(None, map(str.strip, typed)))
    shown = [found.text for found in answers_in(lines)]
    is_asked = any(map(_asks, lines)) or request_says("asks", request)
    return bool(answers) and is_asked and _are_in_order(answers, iter(shown))


def _are_in_order(answers: list[str], shown: Iterator[str]) -> bool:
    return all(any(answer == one for one in shown) for answer in answers)


# What may be printed otherwise the next time (the day, a time, a file's place, a password): an example that shows it
# tells nothing for certain, unless it comes from what was given.

_MONTH = rf"{any_word_of('months')}\.?"
_DAY_OF_MONTH = rf"\b\d{{1,2}}(?:\.|er|º)? (?:de |di )?{_MONTH}"
_DATE = re.compile(rf"\b\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?!\d)|\b\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}}\b"
                   rf"|{_DAY_OF_MONTH}(?:,| de| del)? \d{{4}}\b|\b{_MONTH} \d{{1,2}},? \d{{4}}\b|\b\d{{4}}年")
_DAY = re.compile(rf"{_DAY_OF_MONTH}|\b{_MONTH} \d{{1,2}}\b|\d{{1,2}}月\d{{1,2}}日")
_TIME = re.compile(r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])")
_STAMP = re.compile(rf"(?:\b(?:at|on|um|am|a las|à|alle|ore|às)\b|^\W?\[) ?{_TIME.pattern}")
"""A time that is written beside something that happened then."""
_COUNTED = re.compile(r"\d{5,}")
"""A number of days or seconds that stands for a date."""
_TOOK = re.compile(
    rf"(?:\b\w{{1,20}}ed in|{any_word_of('took')})[: ]{{1,3}}"
    r"\d{1,9}(?:[.,]\d{1,9})? ?(?:s|secs?|seconds?|ms|milliseconds?|µs|ns|Sekunden?)\b", re.IGNORECASE)
_PLACE = re.compile(r"(?<![\w./-])(?:/(?:home|Users|tmp|root|var|usr|etc|opt|mnt|srv)/[\w./-]+|[A-Za-z]:\\[\w\\.-]+)"
                    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b0x[0-9a-fA-F]{8,16}\b")
"""Where a file or an object lies, or a name that nothing else has."""
_WORD = re.compile(r"[\w$@#%&*!?^+=]{8,64}")
_RUN = re.compile(r"[0-9]+|[a-z]+|[A-Z]+|[^0-9a-zA-Z]+")
_MOST_RUNS = 5  # of signs of one kind, in a word that somebody made up
_GAP = re.compile(r"(?<!\.)(?:\.{3}|…)(?=[^.]*[^.\s])|(?:^|[\s,;])(?:\.{3}|…)\s*$")


def is_volatile(text: str, given: str, request: str) -> bool:
    """Whether a text may be another one in the next run, or leaves something out. `given` is all that the program got:
    a date or a time is certain where it can come from there."""
    return any(_is_volatile_line(line, given, request) for line in text.splitlines())


def _is_volatile_line(line: str, given: str, request: str) -> bool:
    if _GAP.search(line) and any(map(str.isalnum, line)) and "..." not in given and "…" not in given:
        return True
    if _TOOK.search(line) or any(found[0] not in given for found in _PLACE.finditer(line)):
        return True
    return _tells_when(line, given) or any(_is_made_up(word, given, request) for word in _WORD.findall(line))


def _tells_when(line: str, given: str) -> bool:
    """Whether a line tells the day or the time of day, and neither can come from what was given."""
    if _DATE.search(line) or (says("today", line) and says("weekdays", line)):
        return not _gives_date(line, given)
    if _STAMP.search(line):
        return not (_TIME.search(given) or _COUNTED.search(given))
    return bool(_TIME.search(line) or _DAY.search(line)) and re.search(r"\d", given) is None


def _gives_date(line: str, given: str) -> bool:
    """Whether the date in a line can come from what was given."""
    years = re.findall(r"\d{4}", line)
    return bool(_DATE.search(given) or _COUNTED.search(given)) or any(year in given for year in years)


def _is_made_up(word: str, given: str, request: str) -> bool:
    """Whether a word is mixed of signs as a password is, and no code that is worked out of what was given."""
    is_mixed = len(_RUN.findall(word)) > _MOST_RUNS and all(
        re.search(kind, word) for kind in ("[0-9]", "[a-z]", "[A-Z]"))
    return is_mixed and word not in given and not request_says("encodes", request)
