"""One model call: journaled, within the budgets of the phase and of the run, and told as an event."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import quote

from chatdev.engine.activity import Result, digest
from chatdev.engine.agent import Agent
from chatdev.engine.budget import Bill, Budget, Reached, Spending, estimated
from chatdev.engine.context import RoleModel, RunContext
from chatdev.engine.streamed import Streamed
from chatdev.errors import BudgetExhausted, ContextOverflow, ModelError
from chatdev.events import ModelCalled
from chatdev.llm.base import Constraint, Message, Reply, Request, ToolCall, ToolSpec, Usage


class PhaseSpent(Exception):
    """The budget of the phase leaves no room for the next call."""


@dataclass(slots=True)
class Calls:
    """Makes the model calls of one execution of a phase, and counts them."""

    context: RunContext
    phase: str
    budget: Budget
    """Of this execution of the phase; the run's is the context's."""
    made: int = 0

    async def make(self, agent: Agent, place: str, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...],
                   constraint: Constraint | None) -> Reply:
        """The reply to these messages. Raises PhaseSpent, BudgetExhausted, or a ModelError, ContextOverflow among
        them."""
        context, role_model = self.context, agent.role_model
        shown = tools if role_model.profile.native_tools else ()
        headers = self._headers(agent, place)
        request = Request(messages, role_model.sampling, shown, constraint, headers)
        if context.stream:
            streamed = Streamed(context, place)
            request = replace(request, on_begin=streamed.begin, on_text=streamed.add)
        performed = await context.activities.perform(place, self._record(request),
                                                    lambda: self._live(agent, place, request))
        result = performed.result
        if "overflow" in result:
            raise ContextOverflow(result["overflow"]).at(place)
        if "spent" in result:
            raise PhaseSpent(result["spent"])
        if performed.replayed:
            self.budget.count(replace(_spending(result["usage"], role_model), seconds=result["seconds"]))
        self.made += 1
        self._report(agent, place, result, performed.replayed)
        return _reply_from(result)

    async def _live(self, agent: Agent, place: str, request: Request) -> Result:
        """A call that no journal has, within the budgets of the phase and of the run. What ends or changes the phase
        is a result like another, so that a resumed run goes the same way; what stops the run is none."""
        run, phase, role_model = self.context.budget, self.budget, agent.role_model
        counts = run.counts_tokens or phase.counts_tokens
        estimate = estimated(request, role_model.profile) if counts else Spending(calls=1)
        started = time.monotonic()
        try:
            async with phase.reserved(estimate) as bill, self._of_the_run(estimate) as total:
                try:
                    reply = await role_model.model.complete(request)
                except ModelError as failure:
                    bill.paid = total.paid = self._wasted(agent, place, failure)
                    raise
                bill.paid = total.paid = _spending(asdict(reply.usage), role_model)
        except ContextOverflow as overflow:
            return {"overflow": str(overflow)}
        except Reached as reached:
            return {"spent": str(reached)}
        return {**asdict(reply), "seconds": round(time.monotonic() - started, 3)}

    def _wasted(self, agent: Agent, place: str, failure: ModelError) -> Spending:
        """What a failed call is known to have cost; it counts like another, and the event keeps it."""
        usage = Usage(failure.prompt_tokens, failure.completion_tokens)
        if usage == Usage():
            return Spending()
        result: Result = {"usage": asdict(usage), "model": "", "seconds": 0.0, "retries": 0}
        self._report(agent, place, result, replayed=False)
        return _spending(result["usage"], agent.role_model)

    @asynccontextmanager
    async def _of_the_run(self, estimate: Spending) -> AsyncIterator[Bill]:
        try:
            async with self.context.budget.reserved(estimate) as bill:
                yield bill
        except Reached as reached:
            raise BudgetExhausted(str(reached), reached.limit) from None

    def _headers(self, agent: Agent, place: str) -> dict[str, str]:
        values = {"Run": self.context.run_name, "Company": self.context.company.company, "Phase": self.phase,
                  "Role": agent.role, "Activity": place}
        return {f"X-ChatDev-{name}": quote(value, safe="#/ -._:") for name, value in values.items()}

    def _record(self, request: Request) -> dict[str, Any]:
        """The request as the journal keeps it: messages by hash, everything that shapes the reply, nothing secret."""
        hashes = []
        for message in request.messages:
            plain = _plain(message)
            hashes.append(digest(plain))
            self.context.activities.journal.message(hashes[-1], plain)
        return {"messages": hashes, "sampling": asdict(request.sampling), "tools": [t.name for t in request.tools],
                "constraint": asdict(request.constraint) if request.constraint else None}

    def _report(self, agent: Agent, place: str, result: dict[str, Any], replayed: bool) -> None:
        usage = result["usage"]
        self.context.emit(ModelCalled(
            place, agent.role, result["model"] or agent.role_model.sampling.model, usage["prompt_tokens"],
            usage["completion_tokens"], result["seconds"], result["retries"], usage["estimated"],
            agent.role_model.profile.cost(usage["prompt_tokens"], usage["completion_tokens"]), replayed))


def _plain(message: Message) -> dict[str, Any]:
    """A message as JSON values; images by fingerprint."""
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        plain["images"] = [digest(image.data.hex()) for image in message.images]
    if message.tool_calls:
        plain["tool_calls"] = [asdict(call) for call in message.tool_calls]
    if message.tool_call_id:
        plain["tool_call_id"] = message.tool_call_id
    return plain


def _spending(usage: Mapping[str, Any], role_model: RoleModel) -> Spending:
    """What a call took."""
    tokens: tuple[int, int] = usage["prompt_tokens"], usage["completion_tokens"]
    return Spending(1, sum(tokens), role_model.profile.cost(*tokens))


def _reply_from(result: dict[str, Any]) -> Reply:
    calls = tuple(ToolCall(**call) for call in result["tool_calls"])
    return Reply(result["text"], calls, Usage(**result["usage"]), result["finish"], result["model"], result["retries"])
