"""The model calls of one phase: journaled, within the budgets of the phase and of the run, each with its event."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import quote

from chatdev.engine.activity import (
    ActivityResult,
    ContextOverflowed,
    PhaseBudgetReached,
    Replied,
    branches_at_work,
    digest,
)
from chatdev.engine.budget import Budget, LimitReached
from chatdev.engine.checked_model import CheckedModel
from chatdev.engine.context import RoleModel, RunContext
from chatdev.engine.metering import BudgetedModel, spending_of
from chatdev.engine.request_size import reason_too_large
from chatdev.errors import ContextOverflow, JournalError
from chatdev.events import ModelCalled, Speaker, TextStreamed
from chatdev.llm.base import Constraint, Message, Reply, Request, ToolSpec, Usage
from chatdev.place import Place
from chatdev.plain_values import short_name
from chatdev.replies.circles import never_ends

_LONGEST_HEADER = 1000  # characters; servers refuse what is much longer (431)


@dataclass(frozen=True, slots=True)
class Agent:
    """One side of a phase's pair."""

    speaker: Speaker
    role: str
    title: str
    system: str
    role_model: RoleModel
    tools: tuple[ToolSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """Content of a request: messages, tools the model may call, and the constraint of the reply."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    constraint: Constraint | None = None


class PhaseBudgetExhausted(Exception):
    """The budget of the phase leaves no room for the next call."""


@dataclass(slots=True)
class ModelCalls:
    """Makes the model calls of one execution of the phase called `phase`, and counts them."""

    context: RunContext
    phase: str
    budget: Budget
    """Of this execution of the phase; the run's is the context's."""
    made: int = 0

    async def ask(self, agent: Agent, place: Place, prompt: Prompt) -> Reply:
        """The reply to the prompt. Raises PhaseBudgetSpent, BudgetExhausted, or a ModelError, ContextOverflow among
        them."""
        context, request = self.context, self._request(agent, place, prompt)
        performed = await context.activities.perform(place, self._record(request),
                                                     lambda: self._ask_live(agent, place, request))
        match performed.result:
            case ContextOverflowed(problem):
                raise ContextOverflow(problem).at(place)
            case PhaseBudgetReached(problem):
                raise PhaseBudgetExhausted(problem)
            case Replied(reply, seconds):
                if performed.replayed:
                    self.budget.count(replace(spending_of(reply.usage, agent.role_model.profile), seconds=seconds))
                self.made += 1
                self._report(agent, place, performed.result, performed.replayed)
                if not performed.replayed:
                    self.context.refuse_overspent()
                return reply
        raise JournalError(f"{place} is a model call, and the journal holds another result for it; it is damaged")

    def _request(self, agent: Agent, place: Place, prompt: Prompt) -> Request:
        tools = prompt.tools if agent.role_model.profile.native_tools else ()
        request = Request(prompt.messages, agent.role_model.sampling, tools, prompt.constraint,
                          self._headers(agent, place))
        if agent.role_model.profile.stream or self.context.settings.stream:
            request = replace(request, stop_when=never_ends)
        if self.context.settings.stream:
            streaming = StreamedReply(self.context, place)
            request = replace(request, on_begin=streaming.begin, on_text=streaming.add)
        return request

    async def _ask_live(self, agent: Agent, place: Place, request: Request) -> ActivityResult:
        """A call that no journal has, within all budgets. What ends or changes the phase is a result like another, so
        that a resumed run goes the same way; what stops the run is none."""
        if problem := reason_too_large(request, agent.role_model.profile):
            return ContextOverflowed(problem)
        await asyncio.sleep(0)  # drafts beside it whose replies are on record count theirs first
        started = time.monotonic()
        try:
            reply = await self._budgeted(agent, place).complete(request)
        except ContextOverflow as overflow:
            return ContextOverflowed(str(overflow))
        except LimitReached as reached:
            if reached.budget is not self.budget:
                raise reached.of_run() from None
            return PhaseBudgetReached(str(reached))
        return Replied(reply, round(time.monotonic() - started, 3))

    def _budgeted(self, agent: Agent, place: Place) -> BudgetedModel:
        """The agent's model within all budgets. What is paid for in vain has its event, which counts it; when the run
        is resumed, it is asked for anew."""
        def report(usage: Usage) -> None:
            self._report(agent, place, Replied(Reply("", usage=usage), 0.0), replayed=False)

        model, context = agent.role_model, self.context
        return BudgetedModel(CheckedModel(model.model), model.profile, (self.budget, *context.budgets), context.meter,
                             report, branches_at_work())

    def _headers(self, agent: Agent, place: Place) -> dict[str, str]:
        values = {"Run": self.context.settings.name, "Company": self.context.company.company, "Phase": self.phase,
                  "Role": agent.role, "Activity": place}
        return {f"X-ChatDev-{name}": short_name(quote(value, safe="#/ -._:", errors="replace"), _LONGEST_HEADER)
                for name, value in values.items()}

    def _record(self, request: Request) -> dict[str, Any]:
        """The request as the journal keeps it: messages by hash, everything that shapes the reply, nothing secret."""
        hashes = []
        for message in request.messages:
            plain = _message_to_json(message)
            hashes.append(digest(plain))
            self.context.activities.journal.message(hashes[-1], plain)
        return {"messages": hashes, "sampling": asdict(request.sampling), "tools": [t.name for t in request.tools],
                "constraint": asdict(request.constraint) if request.constraint else None}

    def _report(self, agent: Agent, place: Place, replied: Replied, replayed: bool) -> None:
        reply, model = replied.reply, agent.role_model
        usage = reply.usage
        self.context.emit(ModelCalled(
            place, agent.role, reply.model or model.sampling.model, usage.prompt_tokens, usage.completion_tokens,
            replied.seconds, reply.retries, usage.estimated,
            model.profile.cost(usage.prompt_tokens, usage.completion_tokens), replayed))


@dataclass(slots=True)
class StreamedReply:
    """Emits the pieces of the reply at `place`, and when they are void because it is written once more."""

    context: RunContext
    place: Place
    _heard: bool = field(default=False)

    def add(self, piece: str) -> None:
        """Emit the next piece."""
        self._heard = True
        self.context.emit(TextStreamed(self.place, piece))

    def begin(self) -> None:
        """The reply begins."""
        if self._heard:
            self._heard = False
            self.context.emit(TextStreamed(self.place, "", again=True))


def _message_to_json(message: Message) -> dict[str, Any]:
    """A message as JSON values; images by fingerprint."""
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        plain["images"] = [digest(image.data.hex()) for image in message.images]
    if message.tool_calls:
        plain["tool_calls"] = [asdict(call) for call in message.tool_calls]
    if message.tool_call_id:
        plain["tool_call_id"] = message.tool_call_id
    return plain
