"""Model servers that bill in their own ways: some keep to what they are asked for, some do not, some do not count."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.reliability.small import name_of
from chatdev.llm.base import count_tokens
from tests.support.chat_server import Received, Scripted

_WORDS = "one more word for the list and then another "
_WORDS_TOKENS = 9
_MOST = 4096  # what a server that refuses caps can say
SHORTEST, LONGEST = 50, 3000
"""Tokens of replies."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What a server is asked: tokens of the prompt, those that its reply would like, and the cap."""

    prompt: int
    wish: int
    cap: int | None

    @property
    def given(self) -> int:
        """The tokens of a reply that keeps to the cap."""
        return self.wish if self.cap is None else min(self.wish, self.cap)


@dataclass(frozen=True, slots=True)
class Bill:
    """An answer, and what the server bills for it."""

    answer: Scripted
    tokens: tuple[int, int]
    whole: bool = True
    """Whether it is a reply that a run can use."""


def _said(tokens: int) -> str:
    return "<SOLUTION> " + _WORDS * (tokens // _WORDS_TOKENS)


def _obedient(ask: Ask) -> Bill:
    whole = ask.given == ask.wish
    return Bill(Scripted(_said(20), usage=(ask.prompt, ask.given), finish_reason="stop" if whole else "length"),
                (ask.prompt, ask.given), whole)


def _counting_more(ask: Ask) -> Bill:
    prompt = ask.prompt * 4 // 3
    return _obedient(Ask(prompt, ask.wish, ask.cap))


def _heedless(ask: Ask) -> Bill:
    return Bill(Scripted(_said(20), usage=(ask.prompt, ask.wish)), (ask.prompt, ask.wish))


def _thinking_aside(ask: Ask) -> Bill:
    """Only its total has the thoughts, as at Gemini's compatible address."""
    bill = _obedient(ask)
    said, (prompt, paid) = min(30, ask.given), bill.tokens
    choice = {"message": {"content": bill.answer.text}, "finish_reason": bill.answer.finish_reason}
    usage = {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + paid}
    return replace(bill, answer=Scripted(body={"choices": [choice], "usage": usage}))


def _silent(usage: tuple[int, int] | None) -> Callable[[Ask], Bill]:
    def answer(ask: Ask) -> Bill:
        text = _said(ask.given)
        whole = ask.given == ask.wish
        return Bill(Scripted(text, usage=usage, finish_reason="stop" if whole else "length"),
                    (ask.prompt, count_tokens(text)), whole)
    return answer


def _empty_at_times(ask: Ask) -> Bill:
    if ask.wish % 3:
        return _obedient(ask)
    return Bill(Scripted("", usage=(ask.prompt, ask.given)), (ask.prompt, ask.given), whole=False)


def _refusing_caps(ask: Ask) -> Bill:
    if ask.cap is not None and ask.cap > _MOST:
        message = f"max_tokens is too large: {ask.cap}. This model says at most {_MOST} tokens."
        return Bill(Scripted(status=400, body={"error": {"message": message}}), (0, 0), whole=False)
    return _obedient(ask)


KINDS: Mapping[str, Callable[[Ask], Bill]] = {
    "keeps to the cap": _obedient, "counts a third more of prompts": _counting_more,
    "counts thoughts in its total only": _thinking_aside,
    "counts nothing": _silent((0, 0)), "sends no counts": _silent(None),
    "gives empty replies at times": _empty_at_times, "refuses caps beyond its limit": _refusing_caps,
    "ignores the cap": _heedless,
    "streams past the cap": lambda ask: Bill(Scripted(_said(ask.wish), usage=(ask.prompt, ask.wish)), (0, 0)),
}
"""Answers by the kind of server."""
HEEDLESS = "ignores the cap"
STREAMING = "streams past the cap"
"""What it bills is what was read of it: it stops where the connection ends."""


@dataclass(slots=True)
class Biller:
    """A route: answers as the kind of server that a run is for, and keeps what it bills."""

    seed: int
    kinds: dict[str, str] = field(default_factory=dict)
    """The kind of server by the name of the run."""
    billed: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    whole: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Replies that the run could use, by its name and the place."""
    _asked: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __call__(self, request: Received) -> Scripted:
        name, place = name_of(request.headers), request.headers["X-ChatDev-Activity"]
        kind = self.kinds[name]
        self._asked[name, place] += 1
        again = self._asked[name, place] if kind == "gives empty replies at times" else 0
        wish = random.Random(f"{self.seed} {name} {place} {again}").randint(SHORTEST, LONGEST)
        wish += again > 0 and again % 3 == 0 and wish % 3 == 0  # three empty ones in a row end a run
        bill = KINDS[kind](Ask(_prompt(request.body), wish, request.body.get("max_tokens")))
        self.billed.setdefault(name, []).append(bill.tokens)
        self.whole[name, place] += bill.whole
        return bill.answer


def _prompt(body: Mapping[str, Any]) -> int:
    return sum(count_tokens(message["content"]) + 4 for message in body["messages"])
