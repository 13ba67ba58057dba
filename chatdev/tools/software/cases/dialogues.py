"""Dialogues that a request shows as a terminal does: what a program asks, what is answered, and what comes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from chatdev.tools.software.cases.certainty import answers_in
from chatdev.tools.software.cases.texts import PlacedText
from chatdev.tools.software.cases.wording import request_says

_MOST_DIALOGUES = 4


def dialogues_in(texts: Iterable[PlacedText], request: str) -> list[tuple[PlacedText, bool]]:
    """The texts that may be a dialogue, the longest first, and whether each surely is one: the program asks for
    something, or the same prompt comes again with other lines between."""
    found = list(_with_answers(texts, asks=request_says("asks_user", request)))
    return sorted(found, key=lambda one: -len(one[0].lines))[:_MOST_DIALOGUES]


def _with_answers(texts: Iterable[PlacedText], *, asks: bool) -> Iterator[tuple[PlacedText, bool]]:
    for text in texts:
        answers = list(answers_in(text.lines))
        prompts = Counter(answer.prompt for answer in answers if answer.prompt.endswith(">"))
        if answers and len(text.lines) > 1 and not text.loose:
            yield text, asks or (max(prompts.values(), default=0) > 1 and len(answers) < len(text.lines))
