"""What of the starts of a case is certain: a program is held only to what it prints itself, and prints in every run."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.cases.volatile import is_volatile
from chatdev.departments.software.cases.wording import begins_with, request_says

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
