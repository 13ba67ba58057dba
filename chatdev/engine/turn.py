"""One turn of one agent: the model call, the tools it asks for, and what becomes of a cut or too long request."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import quote

from chatdev.engine.activity import Result, digest
from chatdev.engine.budget import Bill, Budget, Reached, Spending, estimated
from chatdev.engine.continuation import joined
from chatdev.engine.memory import ShortTermMemory, Utterance, exchanges
from chatdev.engine.office import Office, Seat
from chatdev.engine.solution import strip_thoughts
from chatdev.engine.tool_use import ToolUse, wanted_calls
from chatdev.errors import BudgetExhausted, ContextOverflow
from chatdev.events import ModelCalled, Speaker, TextStreamed
from chatdev.llm.base import Constraint, Message, Reply, Request, ToolCall, ToolSpec, Usage

CONTINUATIONS = 4  # a reply cut more often than this is taken as it is
CHARACTERS_PER_TOKEN = 3  # on the safe side for code; only used to trim before the server has to refuse


@dataclass(frozen=True, slots=True)
class Agent:
    """One side of a phase's pair."""

    speaker: Speaker
    role: str
    title: str
    system: str
    seat: Seat
    tools: tuple[ToolSpec, ...] = ()


class PhaseSpent(Exception):
    """The budget of the phase leaves no room for the next call."""


@dataclass(slots=True)
class Turns:
    """Takes turns in one phase; counts the calls."""

    office: Office
    phase: str
    memory: ShortTermMemory
    window: int | None
    tool_use: ToolUse
    budget: Budget
    """Of this execution of the phase."""
    calls: int = field(default=0)

    async def take(self, agent: Agent, place: str, constraint: Constraint | None = None) -> Utterance:
        """The agent's next utterance, after all the tool calls it wants (at most the phase's `tool_calls`). Raises
        PhaseSpent, and BudgetExhausted when the whole run may spend no more."""
        steps: list[Message] = []
        used = 0
        self.tool_use.stuck.begin_turn()
        while True:
            offered = agent.tools if used < self.tool_use.limit and not self.tool_use.stuck.looping else ()
            at = f"{place}/act-{used}" if used else place
            reply = await self._reply(agent, at, steps, offered, constraint)
            text = strip_thoughts(reply.text)
            calls = wanted_calls(reply, text) if offered else ()
            if not calls:
                return Utterance(agent.speaker, text, steps=tuple(steps))
            used += len(calls)
            steps += await self.tool_use.observe(agent.tools, calls, text, f"{place}/call-{used}",
                                                 native=bool(reply.tool_calls), left=self.tool_use.limit - used)

    async def _reply(self, agent: Agent, place: str, steps: list[Message], tools: tuple[ToolSpec, ...],
                     constraint: Constraint | None) -> Reply:
        """One reply, over a view that fits the context window: the oldest exchanges go first, the opening never."""
        window, trims = self.window, 0
        while True:
            messages = self.memory.view(agent.system, agent.speaker, steps, window)
            if exchanges(messages) and not _fits(messages, agent.seat):
                window = exchanges(messages) - 1
                continue
            try:
                at = f"{place}/trim-{trims}" if trims else place
                return await self._whole_reply(agent, at, messages, tools, constraint)
            except ContextOverflow:
                if not exchanges(messages):
                    raise
                window, trims = exchanges(messages) - 1, trims + 1

    async def _whole_reply(self, agent: Agent, place: str, messages: tuple[Message, ...],
                           tools: tuple[ToolSpec, ...], constraint: Constraint | None) -> Reply:
        """One reply; when the length limit cut it, it is continued and joined."""
        reply = await self._call(agent, place, messages, tools, constraint)
        for n in range(1, CONTINUATIONS + 1):
            if reply.finish != "length" or reply.tool_calls or not reply.text.strip():
                break
            cue = self.office.say("go_on", tail=reply.text[-200:])
            more = (*messages, Message("assistant", reply.text), Message("user", cue))
            rest = await self._call(agent, f"{place}/more-{n}", more, (), None)
            reply = replace(rest, text=joined(reply.text, rest.text))
        return reply

    async def _call(self, agent: Agent, place: str, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...],
                    constraint: Constraint | None) -> Reply:
        office, seat = self.office, agent.seat
        shown = tools if seat.profile.native_tools else ()
        headers = self._headers(agent, place)
        on_text = (lambda text: office.emit(TextStreamed(place, text))) if office.stream else None
        request = Request(messages, seat.sampling, shown, constraint, headers, on_text)
        performed = await office.activities.perform(place, self._record(request), lambda: self._live(seat, request))
        result = performed.result
        if "overflow" in result:
            raise ContextOverflow(result["overflow"])
        if "spent" in result:
            raise PhaseSpent(result["spent"])
        if performed.replayed:
            self.budget.count(replace(_spending(result["usage"], seat), seconds=result["seconds"]))
        self.calls += 1
        self._report(agent, place, result, performed.replayed)
        return _reply_from(result)

    async def _live(self, seat: Seat, request: Request) -> Result:
        """A call that no journal has, within the budgets of the phase and of the run. What ends or changes the phase
        is a result like another, so that a resumed run goes the same way; what stops the run is none."""
        run, phase = self.office.budget, self.budget
        estimate = estimated(request, seat.profile) if run.counts_tokens or phase.counts_tokens else Spending(calls=1)
        started = time.monotonic()
        try:
            async with phase.reserved(estimate) as bill, self._of_the_run(estimate) as total:
                reply = await seat.model.complete(request)
                bill.paid = total.paid = _spending(asdict(reply.usage), seat)
        except ContextOverflow as overflow:
            return {"overflow": str(overflow)}
        except Reached as reached:
            return {"spent": str(reached)}
        return {**asdict(reply), "seconds": round(time.monotonic() - started, 3)}

    @asynccontextmanager
    async def _of_the_run(self, estimate: Spending) -> AsyncIterator[Bill]:
        try:
            async with self.office.budget.reserved(estimate) as bill:
                yield bill
        except Reached as reached:
            raise BudgetExhausted(str(reached), reached.limit) from None

    def _headers(self, agent: Agent, place: str) -> dict[str, str]:
        values = {"Run": self.office.run_name, "Company": self.office.company.company, "Phase": self.phase,
                  "Role": agent.role, "Activity": place}
        return {f"X-ChatDev-{name}": quote(value, safe="#/ -._:") for name, value in values.items()}

    def _record(self, request: Request) -> dict[str, Any]:
        """The request as the journal keeps it: messages by hash, everything that shapes the reply, nothing secret."""
        hashes = []
        for message in request.messages:
            plain = _plain(message)
            hashes.append(digest(plain))
            self.office.activities.journal.message(hashes[-1], plain)
        return {"messages": hashes, "sampling": asdict(request.sampling), "tools": [t.name for t in request.tools],
                "constraint": asdict(request.constraint) if request.constraint else None}

    def _report(self, agent: Agent, place: str, result: dict[str, Any], replayed: bool) -> None:
        usage = result["usage"]
        self.office.emit(ModelCalled(
            place, agent.role, result["model"] or agent.seat.sampling.model, usage["prompt_tokens"],
            usage["completion_tokens"], result["seconds"], result["retries"], usage["estimated"],
            agent.seat.profile.cost(usage["prompt_tokens"], usage["completion_tokens"]), replayed))


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


def _spending(usage: Mapping[str, Any], seat: Seat) -> Spending:
    """What a call took."""
    tokens: tuple[int, int] = usage["prompt_tokens"], usage["completion_tokens"]
    return Spending(1, sum(tokens), seat.profile.cost(*tokens))


def _reply_from(result: dict[str, Any]) -> Reply:
    calls = tuple(ToolCall(**call) for call in result["tool_calls"])
    return Reply(result["text"], calls, Usage(**result["usage"]), result["finish"], result["model"], result["retries"])


def _fits(messages: tuple[Message, ...], seat: Seat) -> bool:
    """Whether the request probably fits the context window, with room for the reply."""
    if not seat.profile.context:
        return True
    tokens = sum(len(m.content) for m in messages) // CHARACTERS_PER_TOKEN
    return tokens + (seat.sampling.max_tokens or 0) <= seat.profile.context
