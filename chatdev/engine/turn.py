"""One turn of one agent: the model call, the tools it asks for, and what becomes of a cut or too long request."""

from __future__ import annotations

from dataclasses import dataclass, replace

from chatdev.engine.agent import Agent
from chatdev.engine.call import Calls
from chatdev.engine.context import RoleModel, RunContext
from chatdev.engine.continuation import counts_on, goes_in_circles, joined, without_circles
from chatdev.engine.memory import ShortTermMemory, Utterance, exchanges
from chatdev.engine.tool_use import ToolUse, asks_for_tool, wanted_calls
from chatdev.errors import ContextOverflow
from chatdev.llm.base import Constraint, Message, Reply, ToolSpec
from chatdev.replies import strip_thoughts

WARMER = 0.4  # added to the temperature for each time that the same came again
WARMEST = 1.0
AFRESH = 2  # times a reply is asked for again that went in circles until the length limit cut it
CONTINUATIONS = 4  # a reply cut more often than this is taken as it is
CHARACTERS_PER_TOKEN = 3  # on the safe side for code; only used to trim before the server has to refuse


@dataclass(slots=True)
class Turns:
    """Takes turns in one phase."""

    context: RunContext
    memory: ShortTermMemory
    window: int | None
    tool_use: ToolUse
    calls: Calls
    same: int = 0
    """How often in a row an answer changed nothing or was the one before it, word for word: the more often, the
    higher the temperature at which both sides speak next."""

    async def take(self, agent: Agent, place: str, constraint: Constraint | None = None) -> Utterance:
        """The agent's next utterance, after all the tool calls it wants (at most the phase's `tool_calls`). Raises
        PhaseSpent, and BudgetExhausted when the whole run may spend no more."""
        agent = _warmed(_brief(agent), self.same)
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
                text = await self._answer(agent, at, steps, text)
                return Utterance(agent.speaker, text, steps=tuple(steps))
            used += len(calls)
            steps += await self.tool_use.observe(agent.tools, calls, text, f"{place}/call-{used}",
                                                 native=bool(reply.tool_calls), left=self.tool_use.limit - used)

    async def _answer(self, agent: Agent, place: str, steps: list[Message], text: str) -> str:
        """The text of an answer. One that ends with a call of a tool, though there are no calls left, is none: it is
        asked for once more, warmer, and then it is empty."""
        if not asks_for_tool(text, agent.tools):
            return text
        reply = await self._reply(_warmed(agent, 1), f"{place}/answer", steps, (), None)
        text = strip_thoughts(reply.text)
        return "" if asks_for_tool(text, agent.tools) else text

    async def _reply(self, agent: Agent, place: str, steps: list[Message], tools: tuple[ToolSpec, ...],
                     constraint: Constraint | None) -> Reply:
        """One reply, over a view that fits the context window: the oldest exchanges go first, the opening never."""
        window, trims = self.window, 0
        while True:
            messages = self.memory.view(agent.system, agent.speaker, steps, window)
            if exchanges(messages) and not _fits(messages, agent.role_model):
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
        """One reply; when the length limit cut it, it is continued and joined. One that went in circles is asked for
        afresh instead, warmer: going on would bring more of it, and once in memory it would be said again. One that
        counts on is asked for afresh once; when it does so again, it may be a table, and is continued once."""
        reply = await self.calls.make(agent, place, messages, tools, constraint)
        for n in range(1, AFRESH + 1):
            if not (_in_circles(reply) or (n == 1 and _counts_on(reply))):
                break
            reply = await self.calls.make(_warmed(agent, n), f"{place}/again-{n}", messages, tools, constraint)
        if _in_circles(reply):
            return replace(reply, text=without_circles(reply.text))
        for n in range(1, CONTINUATIONS + 1 if _may_go_on(agent) else 1):
            if reply.finish != "length" or reply.tool_calls or not reply.text.strip() or _endless(reply, n):
                break
            cue = self.context.say("go_on", tail=reply.text[-200:])
            more = (*messages, Message("assistant", reply.text), Message("user", cue))
            rest = await self.calls.make(agent, f"{place}/more-{n}", more, (), None)
            reply = replace(rest, text=joined(reply.text, rest.text))
        return reply


def _in_circles(reply: Reply) -> bool:
    return reply.finish == "length" and goes_in_circles(reply.text)


def _counts_on(reply: Reply) -> bool:
    return reply.finish == "length" and counts_on(reply.text)


def _endless(reply: Reply, continuation: int) -> bool:
    """Whether this continuation would bring nothing but more of the same."""
    return goes_in_circles(reply.text) or (continuation > 1 and counts_on(reply.text))


def _may_go_on(agent: Agent) -> bool:
    """Whether a reply that the length limit cut is continued: an instruction that was limited is not."""
    return agent.speaker == "assistant" or agent.role_model.profile.instruction_tokens is None


def _brief(agent: Agent) -> Agent:
    """The agent with the limit of an instruction, if it instructs and its model has one."""
    if _may_go_on(agent):
        return agent
    role_model = agent.role_model
    limits = [limit for limit in (role_model.sampling.max_tokens, role_model.profile.instruction_tokens) if limit]
    return replace(agent, role_model=replace(role_model, sampling=replace(role_model.sampling, max_tokens=min(limits))))


def _warmed(agent: Agent, same: int) -> Agent:
    """The agent at the temperature for so many repetitions; one that is left to the server stays there."""
    role_model = agent.role_model
    own = role_model.sampling.temperature
    if not same or own is None:
        return agent
    temperature = max(own, min(WARMEST, round(own + WARMER * same, 2)))
    sampling = replace(role_model.sampling, temperature=temperature)
    return replace(agent, role_model=replace(role_model, sampling=sampling))


def _fits(messages: tuple[Message, ...], role_model: RoleModel) -> bool:
    """Whether the request probably fits the context window, with room for the reply."""
    if not role_model.profile.context:
        return True
    tokens = sum(len(m.content) for m in messages) // CHARACTERS_PER_TOKEN
    return tokens + (role_model.sampling.max_tokens or 0) <= role_model.profile.context
