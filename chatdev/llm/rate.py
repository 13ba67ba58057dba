"""A provider's limits of requests and tokens a minute, kept by all companies of a process together."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from chatdev.errors import ConfigError
from chatdev.llm.base import Request, Usage

REPLY_TOKENS = 1024  # expected of a reply without `max_tokens` until its length is known
CREDIT = 1.0  # seconds of unused pace that may be made up for: clocks oversleep, and callers pause
LEARNING = 0.2  # weight of the latest call
_CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True)
class Admission:
    """One request that may go out; `tokens` is what it is expected to take, until `correct` says what it took."""

    tokens: float

    def correct(self, usage: Usage) -> None:
        """Take the count of the reply in place of the estimate."""
        self.tokens = usage.prompt_tokens + usage.completion_tokens


class RateLimit:
    """Lets requests out one after another at an even pace, first come first served, with at most `requests` requests
    and `tokens` tokens in any minute (of tokens one request more). None is without a limit.

    Hand one object to all runs that use a provider (`RunOptions.rate_limit`); they belong to one event loop. Where
    several processes or machines share the provider, each gets its `share` of the limits, e.g. 1/4 (`part`); handed to
    another process it begins anew there. The local model is not limited. Raises ConfigError for limits that are none.
    """

    def __init__(self, requests: float | None = None, tokens: float | None = None, *, share: float = 1.0) -> None:
        for name, limit in (("requests", requests), ("tokens", tokens)):
            if limit is not None and not limit > 0:
                raise ConfigError(f"{limit} {name} a minute: give a number greater than 0, or none for no limit")
        if not 0 < share <= 1:
            raise ConfigError(f"a share of {share}: give this process's part of the limits, greater than 0, at most 1")
        self._limits = requests, tokens, share
        self._requests = _Pace(requests * share) if requests else None
        self._tokens = _Pace(tokens * share) if tokens else None
        self._ratio = 1.0  # of the tokens that calls took lately to those that they were expected to take
        self._paces = [pace for pace in (self._requests, self._tokens) if pace]
        self._turn = asyncio.Lock()

    def part(self, processes: int) -> RateLimit:
        """The limits of one process among `processes`."""
        requests, tokens, share = self._limits
        return RateLimit(requests, tokens, share=share / processes)

    def __reduce__(self) -> tuple[Callable[[], RateLimit], tuple[()]]:
        requests, tokens, share = self._limits
        return partial(RateLimit, requests, tokens, share=share), ()

    @asynccontextmanager
    async def admission(self, request: Request) -> AsyncIterator[Admission]:
        """Wait until the request may go out."""
        async with self._turn:
            while (seconds := max((pace.seconds_left() for pace in self._paces), default=0)) > 0:
                await asyncio.sleep(seconds)
            if self._requests:
                self._requests.take(1)
            taken = self._tokens.take(likely_tokens(request) * self._ratio) if self._tokens else 0
        admission = Admission(taken)
        try:
            yield admission
        finally:
            if self._tokens:
                self._tokens.take(admission.tokens - taken)
                self._ratio += LEARNING * (admission.tokens / likely_tokens(request) - self._ratio)


def likely_tokens(request: Request) -> float:
    """The tokens that a request is likely to take, reply included: a rough figure, for it is put right afterwards."""
    letters = sum(len(message.content) for message in request.messages)
    return letters / _CHARACTERS_PER_TOKEN + (request.sampling.max_tokens or REPLY_TOKENS)


class _Pace:
    """What was taken is paid off evenly; the next may be taken when all is paid off."""

    def __init__(self, per_minute: float) -> None:
        self._per_second = per_minute / (60 + CREDIT)  # so that a minute that begins with credit keeps the limit, too
        self._paid_off = -math.inf  # by the clock of the event loop

    def seconds_left(self) -> float:
        return self._paid_off - asyncio.get_running_loop().time()

    def take(self, amount: float) -> float:
        earliest = asyncio.get_running_loop().time() - CREDIT
        self._paid_off = max(self._paid_off, earliest) + amount / self._per_second
        return amount
