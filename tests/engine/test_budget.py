"""The budget itself: reservations of calls that run at the same time, and the time they may take."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.config.phases import Limits
from chatdev.config.profiles import FREE, ModelProfile, Price, profile_for
from chatdev.engine.budget import REPLY_TOKENS, Budget, CallEstimate, LimitReached, Meter, Spending
from chatdev.llm.base import IMAGE_TOKENS, Image, Message, Request, Sampling, ToolSpec

UNKNOWN = ModelProfile(match=["*"], price=FREE)


def estimate_spending(request: Request, profile: ModelProfile) -> Spending:
    """What must be left for the call at least."""
    call = Meter().estimate(request, profile, branches=1)
    return call.with_reply(call.shortest)


@dataclass(frozen=True)
class Call:
    """A call that is estimated at `estimate` tokens, takes `actual` ones, and lasts so many ticks of the loop."""

    estimate: int
    actual: int
    ticks: int

    @property
    def excess(self) -> int:
        return max(0, self.actual - self.estimate)


@dataclass
class Office:
    """Makes calls on one budget, and writes down which were under way when the last one began."""

    budget: Budget
    made: int = 0
    refused: int = 0
    under_way: tuple[Call, ...] = ()
    at_the_last: tuple[Call, ...] = ()

    async def make(self, call: Call) -> None:
        try:
            async with self.budget.reserve(CallEstimate(call.estimate)) as bill:
                self.made += 1
                self.under_way = self.at_the_last = (*self.under_way, call)
                for _ in range(call.ticks):
                    await asyncio.sleep(0)
                self.under_way = tuple(other for other in self.under_way if other is not call)
                bill.paid = Spending(1, call.actual)
        except LimitReached:
            self.refused += 1

    def all_at_once(self, calls: list[Call]) -> Spending:
        async def together() -> Spending:
            await asyncio.wait_for(asyncio.gather(*map(self.make, calls)), 10)
            return self.budget.spent

        return asyncio.run(together())


calls = st.builds(Call, st.integers(1, 200), st.integers(0, 400), st.integers(0, 4))
honest = calls.map(lambda call: Call(call.estimate, min(call.estimate, call.actual), call.ticks))


@given(st.integers(1, 8), st.integers(1, 600), st.lists(calls, max_size=20))
def test_parallel_calls_exceed_a_budget_only_beyond_their_estimates(
        most_calls: int, most_tokens: int, wanted: list[Call]) -> None:
    office = Office(Budget(Limits(calls=most_calls, tokens=most_tokens)))
    spent = office.all_at_once(wanted)
    assert spent.calls == office.made <= most_calls
    assert office.made + office.refused == len(wanted)
    assert spent.tokens <= most_tokens + sum(call.excess for call in office.at_the_last)


@given(st.integers(1, 600), st.lists(honest, max_size=20))
def test_calls_that_keep_to_their_estimates_never_exceed_the_tokens(most: int, wanted: list[Call]) -> None:
    office = Office(Budget(Limits(tokens=most)))
    assert office.all_at_once(wanted).tokens <= most


@given(st.integers(1, 600), st.lists(calls, max_size=20))
def test_one_call_at_a_time_exceeds_the_tokens_by_its_reply_at_most(most: int, wanted: list[Call]) -> None:
    office = Office(Budget(Limits(tokens=most)))

    async def one_by_one() -> None:
        for call in wanted:
            await office.make(call)

    asyncio.run(one_by_one())
    over = office.budget.spent.tokens - most
    assert over <= max((call.excess for call in wanted), default=0)


def test_a_call_waits_for_room_that_a_reservation_only_may_need() -> None:
    office = Office(Budget(Limits(tokens=100)))
    assert office.all_at_once([Call(60, 10, 3)] * 4).tokens == 40
    assert office.refused == 0


def test_what_was_reserved_is_free_again_when_a_call_fails() -> None:
    async def fail_then_go_on() -> Spending:
        budget = Budget(Limits(calls=1))
        with pytest.raises(ConnectionError):
            async with budget.reserve(CallEstimate()):
                raise ConnectionError
        async with budget.reserve(CallEstimate()) as bill:
            bill.paid = Spending(1, 12)
        return budget.spent

    spent = asyncio.run(fail_then_go_on())
    assert (spent.calls, spent.tokens) == (1, 12)


@pytest.mark.parametrize(("limits", "text"), [
    (Limits(calls=3), "the budget of 3 calls is used up"),
    (Limits(tokens=110), "the next call, estimated at 20 tokens, does not fit the budget of 110 tokens"),
    (Limits(cost=0.3), "the next call, estimated at $0.1000, does not fit the budget of $0.3000"),
    (Limits(minutes=2), "the budget of 2 minutes is used up"),
])
def test_what_earlier_sessions_spent_counts_and_the_reason_says_all_of_it(limits: Limits, text: str) -> None:
    async def call() -> None:
        budget = Budget(limits, Spending(3, 100, 0.25, 120))
        async with budget.reserve(CallEstimate(20, 0, Price(prompt=5000, completion=1))):
            raise AssertionError("the call was let through")

    with pytest.raises(LimitReached) as reached:
        asyncio.run(call())
    assert str(reached.value) == f"{text} (spent so far: 3 calls, 100 tokens, $0.2500, 120 s)"
    assert getattr(limits, reached.value.limit) is not None


def test_an_unknown_cost_fits_no_budget_in_dollars() -> None:
    async def call() -> None:
        async with Budget(Limits(cost=5)).reserve(CallEstimate(20, price=None)):
            raise AssertionError("the call was let through")

    with pytest.raises(LimitReached, match="cost unknown"):
        asyncio.run(call())


def test_minutes_end_the_call_that_is_under_way() -> None:
    async def call() -> None:
        async with Budget(Limits(minutes=0.1 / 60)).reserve(CallEstimate()):
            await asyncio.sleep(30)

    started = time.monotonic()
    with pytest.raises(LimitReached, match="minutes is used up"):
        asyncio.run(call())
    assert time.monotonic() - started < 5


def test_a_timeout_of_the_call_itself_is_not_taken_for_the_budgets() -> None:
    async def call() -> None:
        async with Budget(Limits(minutes=1)).reserve(CallEstimate()):
            raise TimeoutError("of somebody else")

    with pytest.raises(TimeoutError, match="of somebody else"):
        asyncio.run(call())


def test_calls_of_the_journal_count_and_are_never_refused() -> None:
    budget = Budget(Limits(calls=1))
    for _ in range(3):
        budget.count(Spending(1, 12, 0.0, 2.0))
    assert budget.spent.calls == 3
    assert budget.spent.seconds >= 6


@pytest.mark.parametrize(("most", "reply"), [(500, 500), (None, REPLY_TOKENS)])
def test_an_estimate_has_the_prompt_and_the_longest_reply(most: int | None, reply: int) -> None:
    request = Request((Message("user", "hello world"),), Sampling("gpt-4o", max_tokens=most))
    assert estimate_spending(request, UNKNOWN) == Spending(1, 2 + 4 + reply)


def test_pictures_and_tools_are_estimated_too() -> None:
    message, sampling = Message("user", "hello"), Sampling("gpt-4o")
    plain = estimate_spending(Request((message,), sampling), UNKNOWN)
    seen = estimate_spending(Request((Message("user", "hello", (Image(b"x"),)),), sampling), UNKNOWN)
    tool = ToolSpec("a.b", "Does something useful.", {"type": "object", "properties": {}})
    assert seen.tokens == plain.tokens + IMAGE_TOKENS
    assert estimate_spending(Request((message,), sampling, (tool,)), UNKNOWN).tokens > plain.tokens + 5


def test_the_cost_of_an_estimate_is_that_of_the_model() -> None:
    request = Request((Message("user", "hello world"),), Sampling("gpt-4o", max_tokens=1000))
    assert estimate_spending(request, profile_for("gpt-4o")).cost == pytest.approx((6 * 2.5 + 1000 * 10) / 1e6)
    assert estimate_spending(request, profile_for("who-knows")).cost is None
