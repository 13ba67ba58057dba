"""The model calls of one phase: fit for the context window, constrained where that helps, within the budgets,
journaled, each with its event."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from chatdev.config.json_schema import grammar_can_express
from chatdev.config.phases import SOLUTION_MARKER, Solution
from chatdev.config.profiles import ModelProfile
from chatdev.engine.budget import Budget, BudgetedModel, LimitReached, spending_of
from chatdev.engine.context import (
    ActivityResult,
    ContextOverflowed,
    PhaseBudgetReached,
    Replied,
    RoleModel,
    RunContext,
    branches_at_work,
    digest,
    result_from_json,
    result_to_json,
)
from chatdev.engine.people import SKIPPED, NobodyAnswers, turn_answered, turn_question
from chatdev.errors import ChatDevError, ContextOverflow, JournalError, ModelCrashed, UnusableReply
from chatdev.events import ModelCalled, Place, Speaker, TextStreamed
from chatdev.llm.base import (
    IMAGE_TOKENS,
    MESSAGE_TOKENS,
    Constraint,
    Message,
    Model,
    Reply,
    Request,
    ToolSpec,
    Usage,
    counts_exactly,
    is_cut,
    model_name,
    prompt_tokens,
)
from chatdev.replies.languages import program_extensions
from chatdev.replies.utterance import never_ends
from chatdev.safe_text import encodable_text, fields_of, short_name

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
    _digests: dict[Message, str] = field(default_factory=dict)
    """Digests of the messages of this execution: a dialogue sends each of them with every call."""

    async def ask(self, agent: Agent, place: Place, prompt: Prompt) -> Reply:
        """The reply to the prompt. Raises PhaseBudgetSpent, BudgetExhausted, or a ModelError, ContextOverflow among
        them; NobodyAnswers where the model is a person."""
        context, request = self.context, self._request(agent, place, prompt)
        performed = await context.activities.perform(place, self._record(request),
                                                     lambda: self._ask_live(agent, place, request))
        match performed.result:
            case ContextOverflowed(problem):
                raise ContextOverflow(problem).at(place)
            case PhaseBudgetReached(problem):
                raise PhaseBudgetExhausted(problem)
            case Replied(reply) if agent.role_model.profile.is_person:
                return self._heard(request, reply, performed.replayed)
            case Replied(reply, seconds):
                if performed.replayed:
                    self.budget.count(replace(spending_of(reply.usage, agent.role_model.profile), seconds=seconds))
                self.made += 1
                self._report(agent, place, performed.result, performed.replayed)
                self._note_cut_prompt(request, reply)
                if not performed.replayed:
                    self.context.refuse_overspent()
                return reply
        raise JournalError(f"{place} is a model call, and the journal holds another result for it; it is damaged")

    def _heard(self, request: Request, reply: Reply, replayed: bool) -> Reply:
        """A person's reply, which nothing is counted of."""
        if replayed:
            question = turn_question(request)
            self.context.emit(question)
            self.context.emit(turn_answered(question, reply))
        if reply.finish == SKIPPED:
            raise NobodyAnswers
        return reply

    def _note_cut_prompt(self, request: Request, reply: Reply) -> None:
        """Tell the user of the run once of a server that reads less than it was sent, and answers all the same."""
        usage, model, noted = reply.usage, request.sampling.model, self.context.noted
        if (sign := f"cut prompt {model}") in noted or usage.estimated or reply.retries:
            return
        if is_cut(usage.prompt_tokens, request):
            noted.add(sign)
            self.context.note_once([describe_cut(model, usage.prompt_tokens, prompt_tokens(request))])

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
        if agent.role_model.profile.is_person:
            return Replied(await agent.role_model.model.complete(request), 0.0)
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
        return {**agent.role_model.headers,
                **{f"X-ChatDev-{name}": short_name(quote(value, safe="#/ -._:", errors="replace"), _LONGEST_HEADER)
                   for name, value in values.items()}}

    def _record(self, request: Request) -> dict[str, Any]:
        """The request as the journal keeps it: messages by hash, everything that shapes the reply, nothing secret."""
        hashes = [self._digests.get(message) or self._note(message) for message in request.messages]
        return {"messages": hashes, "sampling": request.sampling.to_json(), "tools": [t.name for t in request.tools],
                "constraint": fields_of(request.constraint) if request.constraint else None}

    def _note(self, message: Message) -> str:
        """The digest of a message that is new in the phase; the journal has it from now on."""
        found, plain = _journal_form(message)
        self._digests[message] = found
        self.context.activities.journal.message(found, plain)
        return found

    def _report(self, agent: Agent, place: Place, replied: Replied, replayed: bool) -> None:
        reply, model = replied.reply, agent.role_model
        usage = reply.usage
        self.context.emit(ModelCalled(
            place, agent.role, reply.model or model.sampling.model, usage.prompt_tokens, usage.completion_tokens,
            replied.seconds, reply.retries, usage.estimated,
            model.profile.cost(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens), replayed,
            usage.cached_tokens, usage.reasoning_tokens))


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


@lru_cache(maxsize=32)  # a phase that is entered again has the system messages that it had
def _journal_form(message: Message) -> tuple[str, dict[str, Any]]:
    """A message's digest, and the message as the journal keeps it."""
    plain = _message_to_json(message)
    return digest(plain), plain


def _message_to_json(message: Message) -> dict[str, Any]:
    """A message as JSON values; images by fingerprint."""
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        plain["images"] = [digest(image.data.hex()) for image in message.images]
    if message.tool_calls:
        plain["tool_calls"] = [fields_of(call) for call in message.tool_calls]
    if message.tool_call_id:
        plain["tool_call_id"] = message.tool_call_id
    return plain


# Models may be the caller's own objects: what they give is looked at before it is counted, journaled and read.

_SHOWN = 300  # characters of an exception's message


@dataclass(frozen=True, slots=True)
class CheckedModel:
    """A model whose replies can be journaled: the journal would give the same back."""

    model: Model

    async def complete(self, request: Request) -> Reply:
        """The reply. Raises UnusableReply for what is none, the model's ChatDevErrors as they are, and ModelCrashed for
        all else that it raises; a cancelled run and what ends a program pass through."""
        try:
            reply = await self.model.complete(request)
        except ChatDevError:
            raise
        except Exception as error:
            raise self._crash(error) from error
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) and task.cancelling():
                raise
            raise self._crash(error) from error  # of something else that the model awaits
        try:
            result_from_json(result_to_json(Replied(reply, 0.0)))
        except (AttributeError, TypeError, JournalError):
            raise UnusableReply(f"the model {model_name(self.model)!r} gave {reply!r:.200}, which is no reply; it must "
                                "be a `chatdev.llm.base.Reply` with texts, and with counts in its usage") from None
        return reply

    def _crash(self, error: BaseException) -> ModelCrashed:
        try:
            message = " ".join(str(error).split())[:_SHOWN]
        except Exception:  # noqa: BLE001 - an exception of the model's own may break on that, too
            message = ""
        return ModelCrashed(f"the model {model_name(self.model)!r} ended with an unexpected {type(error).__name__}"
                            f"{': ' if message else ''}{encodable_text(message)}")

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()


# Constrained decoding for small models, where it helps the format (research: it never helps the judgement).

_LONGEST_LINE = 200  # characters
_MOST_FILES = 6  # in one delivery
_NAME = '([a-z0-9_]{{1,20}} "/"){{0,2}} [a-z] [a-z0-9_-]{{0,30}} "." ( {extensions} | "md" | "txt" | "json" | "csv" )'
"""Of a file that is not there yet; sentences begin with capitals."""
_WILD = set("*?[")


def constraint_for(solution: Solution, profile: ModelProfile, concludes: bool,
                   paths: Collection[str] = ()) -> Constraint | None:
    """Constraint of a reply to this form, for models whose profile asks for it; None: free. `paths`: existing files;
    without any, the reply may name new ones with a known extension. Files that the solution names take precedence."""
    make = _MAKERS.get(solution.form) if profile.constrained else None
    return make(solution, concludes, paths) if make else None


def _of_choice(solution: Solution, concludes: bool, paths: Collection[str]) -> Constraint:
    marker = json.dumps(f"{SOLUTION_MARKER} ") + " " if concludes else ""
    return Constraint(grammar=f"root ::= {marker}( {' | '.join(map(_quote, solution.options))} )")


def _of_list(solution: Solution, concludes: bool, paths: Collection[str]) -> Constraint:
    return Constraint(grammar=_list_grammar(solution.longest, concludes=concludes))


def _of_files(solution: Solution, concludes: bool, paths: Collection[str]) -> Constraint | None:
    if solution.as_file:
        return None
    has_patterns = any(_WILD & set(pattern) for pattern in solution.only)
    named = paths if has_patterns else solution.only or paths
    return Constraint(grammar=_files_grammar(named, concludes=concludes))


def _of_json(solution: Solution, concludes: bool, paths: Collection[str]) -> Constraint | None:
    can_express = bool(solution.schema_) and grammar_can_express(solution.schema_)
    return Constraint(schema=solution.schema_) if can_express else None


_MAKERS: Mapping[str, Callable[[Solution, bool, Collection[str]], Constraint | None]] = {
    "choice": _of_choice, "list": _of_list, "files": _of_files, "json": _of_json}


def _files_grammar(paths: Collection[str], *, concludes: bool) -> str:
    """Files, each a path above a fenced block."""
    marker = f'("{SOLUTION_MARKER}\\n")? ' if concludes else ""
    path = _any_of(paths) if paths else _NAME.format(extensions=_any_of(program_extensions()))
    return (f'root ::= {marker}file ("\\n\\n" file){{0,{_MOST_FILES - 1}}}\n'
            'file ::= path "\\n```" [a-z]* "\\n" line+ "```"\n'
            f'path ::= {path}\nline ::= ([^`\\n] [^\\n]*)? "\\n"')


def _any_of(texts: Collection[str]) -> str:
    return " | ".join(map(_quote, sorted(texts)))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _list_grammar(most: int | None, *, concludes: bool) -> str:
    """Lines with bullets; a list of bounded length has lines of bounded length, too."""
    marker = f'("{SOLUTION_MARKER}\\n")? ' if concludes else ""
    more, line = (f"{{0,{most - 1}}}", f"{{1,{_LONGEST_LINE}}}") if most else ("*", "+")
    return f'root ::= {marker}item ("\\n" item){more}\nitem ::= "- " [^\\n]{line}'


# Size of a request: one that exceeds its model's context window is not sent.

LEAST_REPLY = 256  # tokens: with less room for it, no reply is worth anything
_UNLIKE = 0.8  # of our count: models with another vocabulary may count so few


def reason_too_large(request: Request, profile: ModelProfile) -> str:
    """Reason, with figures, why the request exceeds the model's context window; empty if it may fit or the window is
    unknown. Counts by another model's vocabulary are rounded in its favour."""
    if profile.context is None:
        return ""
    reply = min(request.sampling.max_tokens or LEAST_REPLY, LEAST_REPLY)
    if _most_tokens(request) + reply <= profile.context:
        return ""
    tokens = prompt_tokens(request)
    model = request.sampling.model
    if tokens * (1.0 if counts_exactly(model) else _UNLIKE) + reply <= profile.context:
        return ""
    return describe_excess(model, tokens, profile.context)


def describe_excess(model: str, tokens: int, context: int) -> str:
    """Message for a request of `tokens` tokens to a model that takes `context`."""
    return (f"the request has about {tokens:,} tokens, and {model} takes {context:,} with its reply, so nothing was "
            "sent; give it less (a part of the software, a shorter task), or take a model with a larger window")


def describe_cut(model: str, read: int, sent: int) -> str:
    """Note for a request of about `sent` tokens of which a server reports `read`."""
    return (f"the server of {model} counts {read:,} tokens of a prompt of about {sent:,}: it cuts the beginning off, "
            "where the rules of the company are, or it does not count all. Load the model with a larger context window "
            "(Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH, LM Studio: context length), or name the one it has as "
            "`context` in its profile, under `models` in the settings file, so that no more is sent")


def _most_tokens(request: Request) -> int:
    """More than the tokens can be: no token is shorter than a byte."""
    tools = sum(_size(tool.description) + _size(json.dumps(tool.parameters)) for tool in request.tools)
    return tools + sum(_size(message.content) + sum(_size(call.arguments) for call in message.tool_calls)
                       + MESSAGE_TOKENS + IMAGE_TOKENS * len(message.images) for message in request.messages)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
