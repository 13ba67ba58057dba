"""One turn of one agent: the model call, the tools it asks for, and what becomes of a cut or too long request."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

from chatdev.engine.context import RoleModel, RunContext
from chatdev.engine.memory import ShortTermMemory, Utterance, exchanges
from chatdev.engine.model_calls import Agent, ModelCalls, Prompt
from chatdev.engine.reading import look_through
from chatdev.engine.tool_use import AgentTools
from chatdev.errors import ContextOverflow
from chatdev.llm.base import Constraint, Message, Reply, ToolCall, ToolSpec
from chatdev.place import Place
from chatdev.replies import strip_thoughts
from chatdev.replies.circles import counts_on, cut_circles, goes_in_circles
from chatdev.replies.utterance import drop_new_thought, ends_with_tool_call, join_continuation, read_tool_call

WARMER = 0.4  # added to the temperature for each time that the same came again
WARMEST = 1.0
AFRESH = 2  # times a reply is asked for again that went in circles until the length limit cut it
CONTINUATIONS = 4  # a reply cut more often than this is taken as it is
CHARACTERS_PER_TOKEN = 3  # on the safe side for code; only used to trim before the server has to refuse


@dataclass(frozen=True, slots=True)
class Turns:
    """State shared by the turns over one short-term memory."""

    context: RunContext
    memory: ShortTermMemory
    calls: ModelCalls
    agent_tools: AgentTools
    window: int | None = None
    """Exchanges that a request holds beside the opening; None: all."""

    async def take(self, agent: Agent, place: Place, constraint: Constraint | None = None, *,
                   repeats: int = 0) -> Utterance:
        """The agent's next utterance, after all the tool calls it wants (at most the phase's `tool_calls`).

        `repeats`: how often in a row an answer changed nothing or was, word for word, the one before it; the more
        often, the higher the temperature. Raises PhaseBudgetSpent, and BudgetExhausted when the whole run may spend no
        more.
        """
        return await Turn(self, warm(limit_instruction(agent), repeats), place, constraint).take()


@dataclass(slots=True)
class Turn:
    """One turn of `agent` at `place`."""

    shared: Turns
    agent: Agent
    place: Place
    constraint: Constraint | None
    steps: list[Message] = field(default_factory=list)
    """Tool calls and observations so far."""

    async def take(self) -> Utterance:
        """The utterance at the end of the turn."""
        agent_tools, used = self.shared.agent_tools, 0
        agent_tools.loops.begin_turn()
        while True:
            offered = self.agent.tools if used < agent_tools.limit and not agent_tools.loops.looping else ()
            at = self.place.at("act", used) if used else self.place
            reply = await self._reply(self.agent, at, offered, self.constraint)
            text = await look_through(strip_thoughts, reply.text)
            calls = reply.tool_calls or (await look_through(_calls_in, text)) if offered else ()
            if not calls:
                return Utterance(self.agent.speaker, await self._answer(at, text), steps=tuple(self.steps))
            used += len(calls)
            self.steps += await agent_tools.call_all(self.agent.tools, calls, text, self.place.at("call", used),
                                                     native=bool(reply.tool_calls), left=agent_tools.limit - used)

    async def _answer(self, place: Place, text: str) -> str:
        """The text of an answer. One that ends with a call of a tool, though there are no calls left, is none: it is
        asked for once more, warmer, and then it is empty."""
        names = {tool.name for tool in self.agent.tools}
        if not names or not ends_with_tool_call(text, names):
            return text
        reply = await self._reply(warm(self.agent, 1), place.at("answer"), (), None)
        text = await look_through(strip_thoughts, reply.text)
        return "" if ends_with_tool_call(text, names) else text

    async def _reply(self, agent: Agent, place: Place, tools: tuple[ToolSpec, ...],
                     constraint: Constraint | None) -> Reply:
        """One reply, over a view that fits the context window: the oldest exchanges go first, the opening never."""
        window, trims = self.shared.window, 0
        while True:
            messages = self.shared.memory.view(agent.system, agent.speaker, self.steps, window)
            if exchanges(messages) and not _fits(messages, agent.role_model):
                window = exchanges(messages) - 1
                continue
            try:
                at = place.at("trim", trims) if trims else place
                return await self._whole_reply(agent, at, Prompt(messages, tools, constraint))
            except ContextOverflow:
                if not exchanges(messages):
                    raise
                window, trims = exchanges(messages) - 1, trims + 1

    async def _whole_reply(self, agent: Agent, place: Place, prompt: Prompt) -> Reply:
        """One reply; when the length limit cut it, it is continued and joined. One that went in circles is asked for
        afresh instead, warmer: going on would bring more of it, and once in memory it would be said again. One that
        counts on is asked for afresh once; when it does so again, it may be a table, and is continued once."""
        ask, context = self.shared.calls.ask, self.shared.context
        reply = await ask(agent, place, prompt)
        for n in range(1, AFRESH + 1):
            if not (_is_circular(reply) or (n == 1 and _is_counting(reply))):
                break
            reply = await ask(warm(agent, n), place.at("again", n), prompt)
        if _is_circular(reply):
            return replace(reply, text=cut_circles(reply.text))
        for n in range(1, CONTINUATIONS + 1 if _may_continue(agent) else 1):
            if not _is_worth_continuing(reply, n):
                break
            cue = context.say("go_on", tail=reply.text[-200:])
            more = Prompt((*prompt.messages, Message("assistant", reply.text), Message("user", cue)))
            rest = await ask(agent, place.at("more", n), more)
            own = drop_new_thought(reply.text, rest.text) if context.settings.semantics > 3 else rest.text
            join = partial(join_continuation, rest=own, semantics=context.settings.semantics)
            reply = replace(rest, text=await look_through(join, reply.text))
        return reply


def warm(agent: Agent, repeats: int) -> Agent:
    """The agent with the temperature for this number of repetitions; unchanged where the server chooses it."""
    model = agent.role_model
    own = model.sampling.temperature
    if not repeats or own is None:
        return agent
    sampling = replace(model.sampling, temperature=max(own, min(WARMEST, round(own + WARMER * repeats, 2))))
    return replace(agent, role_model=replace(model, sampling=sampling))


def limit_instruction(agent: Agent) -> Agent:
    """The agent with the limit of an instruction, if it instructs and its model has one."""
    if _may_continue(agent):
        return agent
    model = agent.role_model
    limits = [limit for limit in (model.sampling.max_tokens, model.profile.instruction_tokens) if limit]
    return replace(agent, role_model=replace(model, sampling=replace(model.sampling, max_tokens=min(limits))))


def _calls_in(text: str) -> tuple[ToolCall, ...]:
    """The tool call that stands in a text, for want of native ones (also of models that were offered these)."""
    call = read_tool_call(text)
    return (call,) if call else ()


def _may_continue(agent: Agent) -> bool:
    """Whether a reply that the length limit cut is continued: an instruction that was limited is not."""
    return agent.speaker == "assistant" or agent.role_model.profile.instruction_tokens is None


def _is_worth_continuing(reply: Reply, continuation: int) -> bool:
    """Whether the reply was cut and a continuation would not only repeat it."""
    if reply.finish != "length" or reply.tool_calls or not reply.text.strip():
        return False
    return not (goes_in_circles(reply.text) or (continuation > 1 and counts_on(reply.text)))


def _is_circular(reply: Reply) -> bool:
    return reply.finish == "length" and goes_in_circles(reply.text)


def _is_counting(reply: Reply) -> bool:
    return reply.finish == "length" and counts_on(reply.text)


def _fits(messages: tuple[Message, ...], model: RoleModel) -> bool:
    """Whether the request probably fits the context window, with room for the reply."""
    if not model.profile.context:
        return True
    tokens = sum(len(m.content) for m in messages) // CHARACTERS_PER_TOKEN
    return tokens + (model.sampling.max_tokens or 0) <= model.profile.context
