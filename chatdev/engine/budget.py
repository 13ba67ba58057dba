"""Budgets: what a call may take is reserved before it is made, and replaced by what it took (design §5).

Amounts stand here in words, too, as errors, console and report tell them.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from chatdev.config.phases import Limits
from chatdev.config.profiles import ModelProfile
from chatdev.llm.base import Message, Request
from chatdev.llm.tokens import count_tokens

REPLY_TOKENS = 1024  # reserved for a reply where neither the company nor the model's profile sets `max_tokens`
MESSAGE_TOKENS = 4  # what a message takes beside its text
IMAGE_TOKENS = 1000  # of one picture, a round figure for a screenshot


@dataclass(frozen=True, slots=True)
class Spending:
    """Model calls, tokens in and out, US dollars (None: a price is unknown) and seconds."""

    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0

    def __add__(self, other: Spending) -> Spending:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Spending(self.calls + other.calls, self.tokens + other.tokens, cost, self.seconds + other.seconds)


class LimitReached(Exception):
    """The next call does not fit; `limit` is the field of the budget that is in the way."""

    def __init__(self, text: str, limit: str) -> None:
        super().__init__(text)
        self.limit = limit


@dataclass(slots=True, eq=False)
class Reservation:
    """One reservation; `paid` is what the call really took, as soon as that is known."""

    estimate: Spending
    paid: Spending = field(default_factory=Spending)


class Budget:
    """Limits, and what was spent of them. Every live call is made within `reserve`.

    `spent` is what was spent before: of a resumed run everything until then, its seconds included.
    """

    def __init__(self, limits: Limits | None = None, spent: Spending | None = None) -> None:
        self.limits = limits or Limits()
        self._paid = spent or Spending()
        self._reservations: list[Reservation] = []
        self._changed = asyncio.Event()
        self._started = time.monotonic()

    @property
    def spent(self) -> Spending:
        """Calls, tokens and dollars that were paid, and the time since the beginning."""
        return replace(self._paid, seconds=self._paid.seconds + time.monotonic() - self._started)

    @property
    def counts_tokens(self) -> bool:
        """Whether calls must be estimated before they are made."""
        return self.limits.tokens is not None or self.limits.cost is not None

    def count(self, spending: Spending) -> None:
        """Add what was spent in another session: a call that the journal has. It is never refused."""
        self._paid += spending

    @asynccontextmanager
    async def reserve(self, estimate: Spending) -> AsyncIterator[Reservation]:
        """Room for one call. Raises LimitReached when there is none, and ends the call when the minutes are up.

        A call that would only fit if others under way took less than they reserved waits until that is known.
        """
        reservation = Reservation(estimate)
        try:
            async with asyncio.timeout(self._seconds_left()) as clock:
                await self._admit(estimate)
                self._reservations.append(reservation)
                yield reservation
        except TimeoutError:
            if not clock.expired():
                raise
            raise self._limit_error("minutes", estimate) from None
        finally:
            if reservation in self._reservations:
                self._reservations.remove(reservation)
                self._paid += reservation.paid
                self._changed.set()

    async def _admit(self, estimate: Spending) -> None:
        while True:
            wanted = self.spent + estimate
            if limit := self._first_limit_over(wanted):
                raise self._limit_error(limit, estimate)
            if not self._first_limit_over(sum((reservation.estimate for reservation in self._reservations), wanted)):
                return
            self._changed.clear()
            await self._changed.wait()

    def _first_limit_over(self, total: Spending) -> str:
        """The first limit that so much would break; empty when it fits."""
        limits = self.limits
        if limits.calls is not None and total.calls > limits.calls:
            return "calls"
        if limits.tokens is not None and total.tokens > limits.tokens:
            return "tokens"
        if limits.cost is not None and (total.cost is None or total.cost > limits.cost):
            return "cost"
        return "minutes" if limits.minutes is not None and total.seconds >= limits.minutes * 60 else ""

    def _seconds_left(self) -> float | None:
        return None if self.limits.minutes is None else self.limits.minutes * 60 - self.spent.seconds

    def _limit_error(self, limit: str, estimate: Spending) -> LimitReached:
        limits = self.limits
        texts = {
            "calls": f"the budget of {count_noun(limits.calls or 0, 'call')} is used up",
            "tokens": f"the next call, estimated at {estimate.tokens} tokens, does not fit the budget of "
                      f"{limits.tokens} tokens",
            "cost": f"the next call, estimated at {money(estimate.cost)}, does not fit the budget of "
                    f"{money(limits.cost)}",
            "minutes": f"the budget of {limits.minutes:g} minutes is used up" if limits.minutes else "",
        }
        spent = self.spent
        return LimitReached(f"{texts[limit]} (spent so far: {count_noun(spent.calls, 'call')}, {spent.tokens} tokens, "
                       f"{money(spent.cost)}, {spent.seconds:.0f} s)", limit)


def estimate_spending(request: Request, profile: ModelProfile) -> Spending:
    """What a call takes at most, as far as can be known before it: its messages and tools by our own count, and a
    reply of `max_tokens`, or of REPLY_TOKENS where there is no such limit."""
    model = request.sampling.model
    prompt = sum(_tokens(message, model) for message in request.messages)
    prompt += sum(count_tokens(tool.description + json.dumps(tool.parameters), model) for tool in request.tools)
    reply = request.sampling.max_tokens or REPLY_TOKENS
    return Spending(1, prompt + reply, profile.cost(prompt, reply))


def _tokens(message: Message, model: str) -> int:
    calls = sum(count_tokens(call.arguments, model) for call in message.tool_calls)
    return count_tokens(message.content, model) + calls + MESSAGE_TOKENS + IMAGE_TOKENS * len(message.images)


def describe_spending(limits: Limits, spending: Spending) -> str:
    """What was spent of each limit; empty without limits."""
    parts = []
    if limits.calls is not None:
        parts.append(f"{spending.calls} of {limits.calls} calls")
    if limits.tokens is not None:
        parts.append(f"{spending.tokens} of {limits.tokens} tokens")
    if limits.cost is not None:
        parts.append(f"{money(spending.cost)} of {money(limits.cost)}")
    if limits.minutes is not None:
        parts.append(f"{spending.seconds / 60:.1f} of {limits.minutes:g} minutes")
    return ", ".join(parts)


def count_noun(number: int, noun: str) -> str:
    """`1 round`, `2 rounds`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def money(cost: float | None) -> str:
    """US dollars; unknown is not zero."""
    return "cost unknown" if cost is None else f"${cost:.4f}"
