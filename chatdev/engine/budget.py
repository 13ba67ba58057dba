"""Budgets: what a call may take is reserved before it is made, and replaced by what it took (design §5); tokens.

Amounts stand here in words, too, as errors, console and report tell them.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace

from chatdev.config.phases import Limits
from chatdev.config.profiles import FREE, ModelProfile, Price
from chatdev.errors import BudgetExhausted, ContextOverflow, ModelError, ModelRejected, UnusableReply
from chatdev.llm.base import Model, Reply, Request, Usage, counts_exactly, likely_usage, prompt_tokens

REPLY_TOKENS = 1024  # what must be left for a reply, or the call is not made; less, where the reply may only be shorter
SHARE = 32_768  # tokens that a reply of unknown length may have at least, however many branches share what is left
_DUST = 1e-9  # US dollars, lost in adding up


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


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """Upper bound of a call: tokens of its prompt, tokens of the longest reply (None: unknown) and price (None:
    unknown). `branches`: number of parallel branches that share the rest of the budget."""

    prompt: int = 0
    longest: int | None = 0
    price: Price | None = FREE
    branches: int = 1

    @property
    def shortest(self) -> int:
        """The tokens that must be left for its reply."""
        return REPLY_TOKENS if self.longest is None else min(self.longest, REPLY_TOKENS)

    def with_reply(self, tokens: int) -> Spending:
        """Spending of the call if its reply has `tokens` tokens."""
        return Spending(1, self.prompt + tokens, None if self.price is None else self.price.cost(self.prompt, tokens))

    def wasted(self, usage: Usage) -> Spending:
        """Spending of a failed attempt; it counts as part of the call."""
        tokens = usage.prompt_tokens, usage.completion_tokens
        return Spending(0, sum(tokens), None if self.price is None else self.price.cost(*tokens, usage.cached_tokens))

    def within(self, cap: int | None) -> CallEstimate:
        """The call, if its reply can be no longer than `cap`."""
        return self if cap is None else replace(self, longest=cap)

    def reply_for(self, dollars: float) -> float:
        """Maximum reply tokens for `dollars`, after the prompt is paid."""
        if self.price is None:
            return 0
        left, each = dollars - self.price.cost(self.prompt, 0), self.price.at(self.prompt).completion
        if not each:
            return math.inf if left >= 0 else -1
        return math.floor(left * 1_000_000 / each)


class LimitReached(Exception):
    """The next call does not fit, or the last one was cut; `limit` is the field of the `budget` that is in the way, and
    `lost` what was paid for a reply that was cut."""

    lost = Usage()

    def __init__(self, text: str, limit: str, budget: Budget | None = None) -> None:
        super().__init__(text)
        self.limit, self.budget = limit, budget

    def of_run(self) -> BudgetExhausted:
        """The same as the error that stops the run."""
        return BudgetExhausted(str(self), self.limit)


@dataclass(slots=True, eq=False)
class Reservation:
    """One reservation; `paid` is what the call really took, as soon as that is known. `cap`: the tokens that its reply
    may have; None where neither tokens nor dollars are limited."""

    estimate: Spending
    cap: int | None = None
    paid: Spending = field(default_factory=Spending)


_UNLIMITED = Limits()


class Clock:
    """Seconds of work: it stands still while a person is waited for, and so do the time limits that go by it."""

    def __init__(self) -> None:
        self._waits = 0
        self._since = 0.0
        self._waited = 0.0
        self._limits: dict[asyncio.Timeout, float] = {}  # and when they are up, by this clock

    def now(self) -> float:
        """Seconds, from no particular beginning."""
        return (self._since if self._waits else time.monotonic()) - self._waited

    @property
    def waited(self) -> float:
        """Seconds that it stood still."""
        return self._waited + (time.monotonic() - self._since if self._waits else 0.0)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stand still; within several of these, until the last one ends."""
        if not self._waits:
            self._since = time.monotonic()
        self._waits += 1
        self._reschedule()
        try:
            yield
        finally:
            self._waits -= 1
            if not self._waits:
                self._waited += time.monotonic() - self._since
            self._reschedule()

    @asynccontextmanager
    async def limit(self, seconds: float | None) -> AsyncIterator[asyncio.Timeout]:
        """`asyncio.timeout` by this clock."""
        async with asyncio.timeout(seconds) as timeout:
            if seconds is not None:
                self._limits[timeout] = self.now() + seconds
                self._reschedule()
            try:
                yield timeout
            finally:
                self._limits.pop(timeout, None)

    def _reschedule(self) -> None:
        left = {timeout: up - self.now() for timeout, up in self._limits.items() if not timeout.expired()}
        for timeout, seconds in left.items():
            timeout.reschedule(None if self._waits else asyncio.get_running_loop().time() + seconds)


class Budget:
    """Limits, and what was spent of them. Every live call is made within `reserve`.

    `spent` is what was spent before: of a resumed run everything until then, its seconds included. `sharers`: how many
    runs spend of it at the same time. `clock`: by which its minutes pass.
    """

    def __init__(self, limits: Limits | None = None, spent: Spending | None = None, sharers: int = 1,
                 clock: Clock | None = None) -> None:
        self.limits = limits or Limits()
        self.clock = clock or Clock()
        self._paid = spent or Spending()
        self._sharers = sharers
        self._reservations: list[Reservation] = []
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._started = self.clock.now()

    @property
    def spent(self) -> Spending:
        """Calls, tokens and dollars that were paid, and the time since the beginning."""
        return replace(self._paid, seconds=self._paid.seconds + self.clock.now() - self._started)

    @property
    def counts_tokens(self) -> bool:
        """Whether calls must be estimated before they are made."""
        return self.limits.tokens is not None or self.limits.cost is not None

    def count(self, spending: Spending) -> None:
        """Add what was spent in another session: a call that the journal has. It is never refused."""
        self._paid += spending

    @asynccontextmanager
    async def reserve(self, call: CallEstimate) -> AsyncIterator[Reservation]:
        """Room for one call. Raises LimitReached when there is none, and ends the call when the minutes are up.

        The reply may have all that is left, if the model can write so much. A call for whose longest reply there is
        room only if others under way take less than they reserved waits until that is known; those that wait are
        admitted in the order in which they came.
        """
        async with self.time_limit():
            reservation = await self._admit(call)
            self._reservations.append(reservation)
            try:
                yield reservation
            finally:
                self._reservations.remove(reservation)
                self._paid += reservation.paid
                self._changed.set()

    @asynccontextmanager
    async def time_limit(self) -> AsyncIterator[None]:
        """Ends what is done within when the minutes are up, and raises LimitReached."""
        if self.limits.minutes is None:
            yield
            return
        try:
            async with self.clock.limit(self._seconds_left()) as clock:
                yield
        except TimeoutError:
            if not clock.expired():
                raise
            raise self._limit_error("minutes", CallEstimate()) from None

    def refuse(self, call: CallEstimate) -> None:
        """Raise LimitReached when the call does not fit, even if all others that are under way take nothing."""
        if limit := self._first_limit_over(self.spent + call.with_reply(call.shortest)):
            raise self._limit_error(limit, call)

    def refuse_overspent(self) -> None:
        """Raise LimitReached when more was spent than the limits allow: by a server that gave more than it was asked
        for, or counts other than we do."""
        limit = self._first_limit_over(self.spent)
        if limit == "minutes":
            raise self._limit_error(limit, CallEstimate())
        if limit:
            raise LimitReached(f"the budget of {self._words(limit)} is exceeded, the last reply took more than it had "
                               f"room for {self._spent_words()}", limit, self)

    def cut(self, call: CallEstimate, cap: int) -> LimitReached:
        """Error to raise when the budget cut a reply at `cap` tokens."""
        by_tokens, by_cost = self._rooms(self.spent, call)
        limit = "tokens" if by_tokens <= by_cost else "cost"
        return LimitReached(f"a reply was cut at {count_noun(cap, 'token')}, which is what the budget of "
                            f"{self._words(limit)} had left for it {self._spent_words()}", limit, self)

    def renew(self, reservation: Reservation, call: CallEstimate, wasted: Usage) -> int | None:
        """The tokens that the reply of another attempt may have when those before it took so much; 0 when there is no
        room for one."""
        if reservation.cap is None:
            return None
        used = call.wasted(wasted)
        room = self._room(self._taken(beside=reservation) + used, call)
        if room < call.shortest:
            return 0
        reservation.cap = int(min(self._wanted(call), room))
        reservation.estimate = used + call.with_reply(reservation.cap)
        return reservation.cap

    async def _admit(self, call: CallEstimate) -> Reservation:
        if self.limits == _UNLIMITED:
            return Reservation(call.with_reply(call.shortest))
        async with self._turn:
            while True:
                self.refuse(call)
                taken = self._taken()
                wanted, room = self._wanted(call), self._room(taken, call)
                fits = room >= wanted and not self._first_limit_over(taken + call.with_reply(0))
                if fits or not self._reservations:
                    cap = min(wanted, room)
                    return Reservation(call.with_reply(int(cap)), int(cap)) if math.isfinite(room) else \
                        Reservation(call.with_reply(call.shortest))
                self._changed.clear()
                await self._changed.wait()

    def _taken(self, beside: Reservation | None = None) -> Spending:
        """Spending so far, plus all reservations except `beside`."""
        return sum((one.estimate for one in self._reservations if one is not beside), self.spent)

    def _wanted(self, call: CallEstimate) -> float:
        """Maximum reply tokens, or this branch's share of the rest if unknown."""
        if call.longest is not None:
            return call.longest
        sharers = self._sharers * call.branches
        room = self._room(self.spent, call)
        return room if sharers == 1 or not math.isfinite(room) else max(room // sharers, SHARE)

    def _room(self, taken: Spending, call: CallEstimate) -> float:
        """The tokens that the call's reply may have beside what is taken; infinite without a limit."""
        return min(self._rooms(taken, call))

    def _rooms(self, taken: Spending, call: CallEstimate) -> tuple[float, float]:
        """The same by the limit of tokens, and by that of dollars."""
        limits = self.limits
        by_tokens = math.inf if limits.tokens is None else limits.tokens - taken.tokens - call.prompt
        by_cost = math.inf if limits.cost is None else call.reply_for(limits.cost - (taken.cost or 0.0))
        return by_tokens, by_cost

    def _first_limit_over(self, total: Spending) -> str:
        """The first limit that so much would break; empty when it fits."""
        limits = self.limits
        if limits.calls is not None and total.calls > limits.calls:
            return "calls"
        if limits.tokens is not None and total.tokens > limits.tokens:
            return "tokens"
        if limits.cost is not None and (total.cost is None or total.cost > limits.cost + _DUST):
            return "cost"
        return "minutes" if limits.minutes is not None and total.seconds >= limits.minutes * 60 else ""

    def _seconds_left(self) -> float | None:
        return None if self.limits.minutes is None else self.limits.minutes * 60 - self.spent.seconds

    def _limit_error(self, limit: str, call: CallEstimate) -> LimitReached:
        least = call.with_reply(call.shortest)
        needs = {"tokens": f"estimated at {least.tokens} tokens", "cost": f"estimated at {money(least.cost)}"}
        text = f"the budget of {self._words(limit)} is used up" if limit not in needs else \
            f"the next call, {needs[limit]}, does not fit the budget of {self._words(limit)}"
        return LimitReached(f"{text} {self._spent_words()}", limit, self)

    def _words(self, limit: str) -> str:
        limits = self.limits
        return {"calls": count_noun(limits.calls or 0, "call"), "tokens": count_noun(limits.tokens or 0, "token"),
                "cost": money(limits.cost), "minutes": f"{limits.minutes or 0:g} minutes"}[limit]

    def _spent_words(self) -> str:
        spent = self.spent
        return (f"(spent so far: {count_noun(spent.calls, 'call')}, {spent.tokens} tokens, {money(spent.cost)}, "
                f"{spent.seconds:.0f} s)")


def describe_spending(limits: Limits, spending: Spending) -> str:
    """Spending against each limit; empty without limits."""
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


def describe_budget(limits: Limits) -> str:
    """What may be spent at most; empty without limits."""
    parts = [count_noun(limits.calls, "call")] if limits.calls is not None else []
    parts += [f"{limits.tokens} tokens"] if limits.tokens is not None else []
    parts += [money(limits.cost)] if limits.cost is not None else []
    parts += [f"{limits.minutes:g} minutes"] if limits.minutes is not None else []
    return ", ".join(parts)


def count_noun(number: int, noun: str) -> str:
    """`1 round`, `2 rounds`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def money(cost: float | None) -> str:
    """US dollars; unknown is not zero."""
    return "cost unknown" if cost is None else f"${cost:.4f}"


# Tokens of model calls: estimated before a call, capped in its request, and counted afterwards.

_UNLIKE = 1.25  # tokens of a model with another vocabulary than ours to ours, until it has counted a prompt
_MARGIN = 1.02  # prompts of one kind differ a little
_NEARLY = 0.5  # of the cap: a reply that we count ourselves and that ends beyond it, was cut by the cap


@dataclass(slots=True)
class AdmittedCall:
    """A call that all its budgets have room for. `cap`: the tokens that its reply may have; None where none of them
    counts tokens. `tightest`: the budget that allows less than the model could say; None where none does."""

    call: CallEstimate
    cap: int | None = None
    tightest: Budget | None = None
    _reserved: list[tuple[Budget, Reservation]] = field(default_factory=list)
    _wasted: int = 0
    """Tokens of the replies that attempts before the last one brought in vain."""

    def include(self, budget: Budget, reservation: Reservation) -> None:
        """Take the budget in."""
        self._reserved.append((budget, reservation))
        self._narrow(budget, reservation.cap)

    def pay(self, spending: Spending) -> None:
        """Count what the call took."""
        for _, reservation in self._reserved:
            reservation.paid = spending

    def has_cut(self, reply: Reply) -> bool:
        """Whether the reply ends where a budget, and not the model, wanted it to."""
        if reply.finish != "length" or self.tightest is None or self.cap is None:
            return False
        tokens = reply.usage.completion_tokens - self._wasted
        return tokens >= self.cap * (_NEARLY if reply.usage.estimated else 1)

    def room(self, wasted: Usage, longest: int | None = None) -> int | None:
        """The tokens for the reply of another attempt, as `Room` says."""
        self.cap, self.tightest, self._wasted = None, None, wasted.completion_tokens
        if longest is not None:
            self.call = replace(self.call, longest=longest)
        for budget, reservation in self._reserved:
            self._narrow(budget, budget.renew(reservation, self.call, wasted))
        return self.cap

    def _narrow(self, budget: Budget, cap: int | None) -> None:
        """Take the budget's cap, where it is the lowest one."""
        if cap is None or (self.cap is not None and cap >= self.cap):
            return
        self.cap = cap
        if self.call.longest is None or cap < self.call.longest:
            self.tightest = budget


@asynccontextmanager
async def admit(call: CallEstimate, budgets: Sequence[Budget]) -> AsyncIterator[AdmittedCall]:
    """Room for a call in all budgets. Raises LimitReached as `Budget.reserve` does."""
    admitted = AdmittedCall(call)
    async with AsyncExitStack() as reservations:
        for budget in budgets:
            within = call.within(admitted.cap)
            admitted.include(budget, await reservations.enter_async_context(budget.reserve(within)))
        yield admitted


class Meter:
    """Lessons from earlier replies by model: how it counts prompts, and which caps it refuses."""

    def __init__(self) -> None:
        self._ratios: dict[str, float] = {}  # of the tokens that a model reports of a prompt to those that we count
        self._refused: dict[str, tuple[int, int]] = {}  # the cap that a model refused last, and behind what prompt

    def estimate(self, request: Request, profile: ModelProfile, branches: int) -> CallEstimate:
        """Upper estimate of a call: the prompt by our own count, rounded up; the longest reply by the sampling, else by
        the model's profile."""
        model = request.sampling.model
        prompt = math.ceil(prompt_tokens(request) * self._ratios.get(model, 1.0 if counts_exactly(model) else _UNLIKE))
        window = None if profile.context is None else max(profile.context - prompt, 1)
        known = [most for most in (request.sampling.max_tokens, profile.longest_reply, window) if most is not None]
        return CallEstimate(prompt, min(known, default=None), profile.price, branches)

    async def ask(self, model: Model, request: Request, admitted: AdmittedCall) -> Reply:
        """The reply, capped where a budget or the sampling limits it, with the tokens that it took in truth."""
        capped = replace(request, most=self._wire_cap(request, admitted), room=admitted.room)
        try:
            reply = await model.complete(capped)
        except (ModelRejected, ContextOverflow):
            if capped.longest_reply == request.longest_reply:
                raise
            reply = await model.complete(replace(request, room=admitted.room))
            # what it does not take as a limit, it cannot say behind a prompt as long as this one
            self._refused[request.sampling.model] = admitted.cap or 0, admitted.call.prompt
        usage = likely_usage(reply.usage, request, reply.text, reply.tool_calls)
        if not usage.estimated and not reply.retries:
            self._learn_ratio(request, usage)
        return replace(reply, usage=usage)

    def _wire_cap(self, request: Request, admitted: AdmittedCall) -> int | None:
        """Cap of tokens to send; None if the model's reply cannot be longer anyway."""
        if admitted.tightest is None and request.sampling.max_tokens is None:
            return None
        cap, prompt = self._refused.get(request.sampling.model, (math.inf, 0))
        refused = admitted.cap is not None and admitted.cap >= cap and admitted.call.prompt >= prompt
        return None if refused else admitted.cap

    def _learn_ratio(self, request: Request, usage: Usage) -> None:
        counted, model = prompt_tokens(request), request.sampling.model
        ratio = usage.prompt_tokens / counted * _MARGIN if counted else 1.0
        self._ratios[model] = max(1.0, ratio, self._ratios.get(model, 1.0))


@dataclass(frozen=True, slots=True)
class BudgetedModel:
    """A model that is asked within budgets. `on_loss` hears what was paid for without a reply that can be used: failed
    calls, and replies that a budget cut. `branches`: how many parallel ones ask at the same time."""

    model: Model
    profile: ModelProfile
    budgets: Sequence[Budget]
    meter: Meter
    on_loss: Callable[[Usage], object] = lambda _: None
    branches: int = 1

    async def complete(self, request: Request) -> Reply:
        """The reply. Raises LimitReached when a budget has no room for the call, or cut the reply."""
        counted = any(budget.counts_tokens for budget in self.budgets)
        call = self.meter.estimate(request, self.profile, self.branches) if counted else CallEstimate()
        try:
            async with admit(call, self.budgets) as admitted:
                reply = await self._ask(request, admitted, counted=counted)
        except UnusableReply:
            for budget in self.budgets:
                if budget.counts_tokens:  # it may be no failure of the model that there was no room for a better reply
                    budget.refuse(call)
            raise
        if admitted.tightest and admitted.has_cut(reply) and not _stopped_itself(request, reply):
            self.on_loss(reply.usage)
            reached = admitted.tightest.cut(call, admitted.cap or 0)
            reached.lost = reply.usage
            raise reached
        return reply

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()

    async def _ask(self, request: Request, admitted: AdmittedCall, *, counted: bool) -> Reply:
        """The reply; what it took, or what failed attempts took, is paid."""
        try:
            reply = await (self.meter.ask(self.model, request, admitted) if counted else self.model.complete(request))
        except ModelError as failure:
            usage = usage_of(failure)
            if usage != Usage():
                admitted.pay(spending_of(usage, self.profile))
                self.on_loss(usage)
            raise
        admitted.pay(spending_of(reply.usage, self.profile))
        return reply


def _stopped_itself(request: Request, reply: Reply) -> bool:
    """Whether `stop_when`, and not a budget, cut the reply."""
    return request.stop_when is not None and request.stop_when(reply.text)


def usage_of(failure: ModelError) -> Usage:
    """The tokens that a call took without bringing a reply."""
    return Usage(failure.prompt_tokens, failure.completion_tokens, failure.estimated)


def spending_of(usage: Usage, profile: ModelProfile) -> Spending:
    """Spending of a call."""
    cost = profile.cost(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
    return Spending(1, usage.prompt_tokens + usage.completion_tokens, cost)
