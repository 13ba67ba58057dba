"""Tokens of model calls: estimated before a call, capped in its request, and counted afterwards.

Only calls under a budget of tokens or dollars are metered; other requests stay unchanged. Caps are no part of a
request's fingerprint, so that a run can be resumed with another budget.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from chatdev.config.profiles import ModelProfile
from chatdev.engine.budget import Budget, CallEstimate, Reservation, Spending
from chatdev.errors import ContextOverflow, ModelError, ModelRejected, UnusableReply
from chatdev.llm.base import Model, Reply, Request, Usage
from chatdev.llm.tokens import counts_exactly
from chatdev.llm.usage import likely_usage, prompt_tokens

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

    def room(self, wasted: Usage) -> int | None:
        """The tokens for the reply of another attempt, as `Request.room` says."""
        self.cap, self.tightest, self._wasted = None, None, wasted.completion_tokens
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
    cost = profile.cost(usage.prompt_tokens, usage.completion_tokens)
    return Spending(1, usage.prompt_tokens + usage.completion_tokens, cost)
