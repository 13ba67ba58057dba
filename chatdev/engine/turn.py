"""One turn of one agent: the model call, the tools it asks for, and what becomes of a cut or too long request."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from chatdev.engine.context import (
    TOOL_LOG,
    ActivityResult,
    Files,
    RoleModel,
    RunContext,
    ShortTermMemory,
    State,
    ToolFailed,
    ToolReturned,
    Utterance,
    digest,
    exchanges,
)
from chatdev.engine.model_calls import Agent, ModelCalls, Prompt
from chatdev.engine.people import approve_call
from chatdev.engine.stop import SAME_CALLS, LoopDetector
from chatdev.errors import ContextOverflow, JournalError, MissingProgram, ToolCrashed, ToolError, UnsafePath
from chatdev.events import Noted, Place, ToolCalled
from chatdev.isolation.parent import read_beside
from chatdev.llm.base import Constraint, Message, Reply, ToolCall, ToolSpec
from chatdev.replies import Marked, read_marker, strip_thoughts
from chatdev.replies.problem import unreadable
from chatdev.replies.utterance import (
    counts_on,
    cut_circles,
    drop_new_thought,
    ends_with_tool_call,
    goes_in_circles,
    join_continuation,
    read_tool_call,
)
from chatdev.safe_text import encodable_text, load_json
from chatdev.tools.base import Verdict
from chatdev.workspace.file_tree import safe_path

# Tools at work: in a turn (ReAct), as feedback and guard of a phase, and as steps of the chain.

_NOT_JUDGED = -1e9  # the score of a version at which a tool failed: below all that tools give


@dataclass(frozen=True, slots=True)
class AgentTools:
    """Calls tools for the agents of one phase."""

    context: RunContext
    state: State
    limit: int
    """Most calls in one turn."""
    loops: LoopDetector
    observed: list[str] = field(default_factory=list)
    """Reports of the tools in this phase."""

    async def call_all(self, agent: Agent, calls: tuple[ToolCall, ...], text: str, place: Place, *,
                       native: bool, left: int) -> list[Message]:
        """The messages that follow a reply with tool calls: the calls themselves and what came back. `left`: how many
        are left after these; what a single reply asks for beyond the limit is not performed."""
        messages = [Message("assistant", text, tool_calls=calls if native else ())]
        possible = len(calls) + min(left, 0) * (self.context.settings.semantics > 3)
        for n, call in enumerate(calls):
            parts = [await self._result(agent, call, Place(f"{place}.{n}") if n else place)] if n < possible else []
            if left <= 0 and n >= possible - 1:
                parts.append(self.context.say("tool_calls_used_up", limit=self.limit))
            result = "\n\n".join(parts)
            if native:
                messages.append(Message("tool", result, tool_call_id=call.id))
            else:
                messages.append(Message("user", self.context.say("observation", tool=call.name, result=result)))
        return messages

    async def _result(self, agent: Agent, call: ToolCall, place: Place) -> str:
        """What the agent reads of one call."""
        if self.loops.see_call(call):
            return self.context.say("same_call", tool=call.name, times=SAME_CALLS)
        allowed = [tool.name for tool in agent.tools]
        if call.name not in allowed:
            return self.context.say_problem("unknown_tool", tool=repr(call.name), tools=allowed)
        try:
            arguments = load_json(call.arguments or "{}")
        except ValueError as error:
            return self.context.say_problem("arguments_not_json", why=str(error))
        if not isinstance(arguments, dict):
            return self.context.say_problem("arguments_no_object")
        if self.context.company.roles[agent.role].approve:
            approved = await approve_call(self.context, place, agent.role, call.name, arguments)
            if isinstance(approved, str):
                return self.context.say_problem("unwanted_call", tool=call.name, why=approved)
            arguments = approved
        return await self._call(call, arguments, place)

    async def _call(self, call: ToolCall, arguments: Mapping[str, Any], place: Place) -> str:
        try:
            result = await call_tool(self.context, self.state, place, ToolRequest(call.name, arguments))
        except ToolError as error:
            return self.context.say_problem("tool_failed", why=str(error))
        said = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=1)
        self.observed.append(said)
        times = self.loops.see_result(call.name, said)
        if times == 1:
            return said
        return self.context.say("same_result", tool=call.name, times=times, left=not self.loops.looping)


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool, what an agent gives it, and the long-term names it reads (None: those that it declares).

    `judges` is false where there is nothing to judge yet: then a verdict is not shown as one.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    reads: tuple[str, ...] | None = None
    judges: bool = True


async def call_tool(context: RunContext, state: State, place: Place, request: ToolRequest) -> Any:
    """Call a tool as an activity and return its result as plain JSON values. Raises ToolError."""
    name, arguments = request.tool, dict(request.arguments)
    names = [read.rstrip("?") for read in (context.toolbox.reads(name) if request.reads is None else request.reads)]
    values = {n: state.values[n] for n in names if n in state.values}
    software = state.software if "software" in names else {}

    async def call() -> ActivityResult:
        started = time.monotonic()
        try:
            value = await context.toolbox.call(name, software, values, arguments)
        except ToolError as error:  # a result like another: a resumed run must go the same way
            lacking, crashed = isinstance(error, MissingProgram), isinstance(error, ToolCrashed)
            return ToolFailed(encodable_text(str(error)), lacking, _seconds_since(started), crashed)
        return ToolReturned(value, _seconds_since(started))

    asked = {"tool": name, "arguments": arguments, "values": values, "software": fingerprint(software)}
    performed = await context.activities.perform(place, asked, call)
    match performed.result:
        case ToolFailed() as failed:
            _note_failure(context, name, place, failed)
            raise failed.error.at(place)
        case ToolReturned(value, seconds):
            passed, summary = _summarise(value)
            context.emit(ToolCalled(place, name, seconds, passed if request.judges else None, summary,
                                    performed.replayed))
            context.note_once(_notes(value))
            return value
    raise JournalError(f"{place} is a call of {name}, and the journal holds another result for it; it is damaged")


def _note_failure(context: RunContext, name: str, place: Place, failed: ToolFailed) -> None:
    """Pass a failure that the agents do not see as one to the user of the run."""
    if failed.repeated:
        context.emit(Noted(place, f"{name} failed as it did when that ended the run, so this is its result: "
                                  f"{failed.problem} (to try it again: --from {place})", "warning"))
    elif failed.crashed:
        where = f"a mistake in the tool: its traceback is in {TOOL_LOG} beside the journal"
        context.emit(Noted(place, f"{failed.problem} ({where})", "warning"))


def failed_verdict(context: RunContext, error: ToolError) -> Verdict:
    """Verdict of a tool that failed; no verdict ranks lower."""
    return Verdict(False, context.say_problem("tool_failed", why=str(error)), _NOT_JUDGED)


def apply_files(tool: str, result: Any, software: Files) -> Files:
    """The software with what a tool that writes files has made of it: `files` of its result, texts under their paths.
    Raises ToolError for a result of another form, and for a path that leaves the software."""
    files = result.get("files") if isinstance(result, dict) else None
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        raise ToolError(f"{tool} gives no files; a tool that writes the software returns {{\"files\": {{path: text}}}}")
    try:
        return {**software, **{safe_path(path): text.encode() for path, text in files.items()}}
    except UnsafePath as error:
        raise ToolError(f"{tool} writes outside of the software: {error}") from None


def fingerprint(software: Mapping[str, bytes]) -> str:
    """A short digest of a software snapshot."""
    return digest({path: data.hex() for path, data in sorted(software.items())}) if software else ""


def _notes(value: Any) -> list[str]:
    """Notes of a verdict for the user of the run."""
    notes = value.get("notes") if isinstance(value, dict) else None
    return [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []


def _summarise(value: Any) -> tuple[bool | None, str]:
    """Whether a result passes (None: it does not judge) and what it says."""
    if not isinstance(value, dict):
        return None, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    passed = value.get("passed") if value.get("judged", True) else None
    return passed if isinstance(passed, bool) else None, str(value.get("report", ""))


def _seconds_since(started: float) -> float:
    return round(time.monotonic() - started, 3)


# The turn.

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
            text = await self._without_thoughts(reply)
            calls = reply.tool_calls or await self._calls_in(text) if offered else ()
            if not calls:
                return Utterance(self.agent.speaker, await self._answer(at, text), steps=tuple(self.steps))
            used += len(calls)
            self.steps += await agent_tools.call_all(self.agent, calls, text, self.place.at("call", used),
                                                     native=bool(reply.tool_calls), left=agent_tools.limit - used)

    async def _answer(self, place: Place, text: str) -> str:
        """The text of an answer. One that ends with a call of a tool, though there are no calls left, is none: it is
        asked for once more, warmer, and then it is empty."""
        tools = self.agent.tools
        is_call = partial(ends_with_tool_call, tools=tools, semantics=self.shared.context.settings.semantics)
        if not tools or not await look_through(is_call, text):
            return text
        reply = await self._reply(warm(self.agent, 1), place.at("answer"), (), None)
        text = await self._without_thoughts(reply)
        return "" if await look_through(is_call, text) else text

    async def _without_thoughts(self, reply: Reply) -> str:
        return await look_through(partial(strip_thoughts, semantics=self.shared.context.settings.semantics), reply.text)

    async def _calls_in(self, text: str) -> tuple[ToolCall, ...]:
        """The tool call that stands in a text, for want of native ones (also of models that were offered these)."""
        read = partial(read_tool_call, tools=self.agent.tools, semantics=self.shared.context.settings.semantics)
        call = await look_through(read, text)
        return (call,) if call else ()

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


# Reading beside the event loop, so that nothing models say holds up a budget, Ctrl-C or another run.

T = TypeVar("T")
SECONDS = 60.0
"""For one look at a reply; one that takes longer is unreadable."""
SHORT = 20_000
"""Characters that are looked through at once: a thread would take longer."""


async def read_reply(function: Callable[..., T], *args: Any, **options: Any) -> T:
    """Result of the reader. Raises Unreadable when it takes too long, and the reader's own errors."""
    try:
        return await read_beside(SECONDS, function, *args, **options)
    except TimeoutError:
        raise unreadable("reading_slow", seconds=round(SECONDS)) from None


async def look_through(function: Callable[[str], T], text: str) -> T:
    """Result of a reader without a parser: immediate for short texts."""
    return function(text) if len(text) < SHORT else await read_beside(None, function, text)


async def marker_of(text: str) -> Marked:
    """`read_marker`, beside the event loop where the text is long."""
    return await look_through(read_marker, text)
