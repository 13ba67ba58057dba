"""A dialogue as a terminal shows it: what the program asks and what a user answers stand in one line, so nobody knows
what the program itself prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatdev.tools.software.cases.case import Start
from chatdev.tools.software.cases.wording import begins_with, request_says

_ANSWERED = re.compile(r"(?P<prompt>[^:?>：？]{1,80}[:?：？]{1,2}>?|>{1,3}|[\w-]{1,12}>)[ \t]+(?P<answer>\S.{0,80})")
_YES_OR_NO = re.compile(r"[(\[] ?[yYjJ]\w{0,3} ?/ ?[nN]\w{0,4} ?[)\]]")
_LABEL = re.compile(r"[^\W\d]+(?: [^\W\d]+){0,3}[:：]")


def is_transcript(start: Start, given: str, request: str) -> bool:
    """Whether what a start has to print shows, or may show, what a user typed. `given` is all that the program got
    before it began."""
    lines = (start.prints or "").splitlines()
    if start.stdin is not None:
        return _echoes(lines, start.stdin.splitlines(), request)
    answered = [(n, found["prompt"], found["answer"].strip()) for n, line in enumerate(lines)
                if (found := _ANSWERED.fullmatch(line.strip())) and found["answer"].strip() not in given]
    if any(map(_asks, lines)) or any(_is_question(prompt) or (prompt.endswith(">") and len(lines) > 1)
                                     for _, prompt, _ in answered):
        return True
    is_asked = request_says("asks_user", request)
    if is_asked and not start.arguments:
        return True
    return (is_asked or not given) and any(_LABEL.fullmatch(prompt) and _comes_again(answer, lines[n + 1:])
                                           for n, prompt, answer in answered)


def _asks(line: str) -> bool:
    """Whether a line asks a user to type something, whatever stands behind it."""
    is_prompt = re.search(r"[:?>：？](?:\s|$)", line) is not None
    return (is_prompt and begins_with("asking", line)) or bool(_YES_OR_NO.search(line))


def _is_question(prompt: str) -> bool:
    """Whether something that an answer follows asks for it."""
    return prompt.endswith(("?", "？")) and begins_with("question_words", prompt)


def _comes_again(answer: str, lines: list[str]) -> bool:
    """Whether a later line takes up an answer."""
    return any(re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", line) for line in lines)


def _echoes(lines: list[str], typed: list[str], request: str) -> bool:
    """Whether all lines that are typed stand in the output, each behind a prompt."""
    answers = list(filter(None, map(str.strip, typed)))
    shown = [found["answer"].strip() for line in lines if (found := _ANSWERED.fullmatch(line.strip()))]
    is_asked = any(map(_asks, lines)) or request_says("asks", request)
    return bool(answers) and is_asked and _are_in_order(answers, iter(shown))


def _are_in_order(answers: list[str], shown: Iterator[str]) -> bool:
    return all(any(answer == one for one in shown) for answer in answers)
