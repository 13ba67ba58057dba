"""What a run remembers: the state that its steps pass on (long-term memory), the utterances of one phase as each side
sees them (short-term memory; ChatDev §3.2, equations 3-4), and the context that all steps share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from chatdev.config.profiles import ModelProfile
from chatdev.config.schema import CompanyConfig
from chatdev.config.templates import render
from chatdev.engine.activity import Activities
from chatdev.engine.budget import Budget, LimitReached, Meter
from chatdev.events import Event, Noted, PersonAsked, Speaker
from chatdev.llm.base import Image, Message, Model, Sampling, ToolSpec

if TYPE_CHECKING:
    from chatdev.engine.people import PersonAnswer


Files = Mapping[str, bytes]
TOOL_LOG = "tool_errors.log"
"""The file beside a run's journal in which the tracebacks of tools are, for their authors."""
SEMANTICS = 7
"""The version of what a phase does with what is said in it; every run keeps the one that it began with. From 2 on
failing feedback outranks the assistant's marker in a pair, too, the assistant is told of an answer that changed
nothing, and a choice that is made again ends its phase at once. From 3 on markers that stand astray in a reply are no
part of a file, and source that stands there without a code block is no agreement. From 4 on a reply with more tool
calls than a turn has left gets those only, what a model thinks before it goes on with a reply is no part of it, and
what a loop in a parallel branch unsets is unset after the join. From 5 on files that a run was given are not written
anew, and none is removed without a request; a fence within a file of a reply does not end the block of the
file, and a patch is refused by its name. From 6 on a choice, a value, a list or the one file that a phase asks for is
its solution without a marker, where the assistant may conclude and no feedback judges; and a patch in a reply is
applied. From 7 on a call of a tool in the tags of a chat template, or by its name on the wire, is one."""


class SoftwareHistory(Protocol):
    """Keeps every version of the software."""

    async def commit(self, software: Files, message: str) -> None:
        """Make `software` the newest version."""
        ...


@dataclass(slots=True)
class State:
    """State passed from step to step."""

    values: dict[str, Any]
    software: Files
    history: SoftwareHistory
    given: Files = field(default_factory=dict)
    """The files that the run began with: those of its user."""

    def names(self) -> dict[str, Any]:
        """Everything an expression may name."""
        return {**self.values, "software": self.software}

    async def set_software(self, software: Files, message: str) -> None:
        """Replace the software and keep the version."""
        self.software = software
        await self.history.commit(software, message)


Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class RoleModel:
    """A model, how to draw from it, and what is known of it, for one role in one phase."""

    model: Model
    sampling: Sampling
    profile: ModelProfile
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of every request, beside those that say its place in the run."""


class Toolbox(Protocol):
    """The tools of this run."""

    def spec(self, name: str) -> ToolSpec:
        """Description of the tool for agents."""
        ...

    def reads(self, name: str) -> tuple[str, ...]:
        """Long-term names that the tool declares to read (`name?` when it may be absent)."""
        ...

    def call(self, name: str, software: Files, values: Mapping[str, Any],
             arguments: Mapping[str, Any]) -> Awaitable[Any]:
        """The tool's result as plain JSON values; a verdict has `passed`, `report` and `score`. Whatever is wrong with
        the tool or its result is a ToolError."""
        ...


class People(Protocol):
    """Those who can be asked."""

    async def ask(self, question: PersonAsked) -> PersonAnswer:
        """The first answer that anybody gives; question and answer are emitted."""
        ...


@dataclass(frozen=True, slots=True)
class RunInputs:
    """Inputs visible to agents: values by name, and images. Hidden inputs reach only tools, through the toolbox."""

    values: Mapping[str, Any] = field(default_factory=dict)
    images: Mapping[str, Image] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of a whole run."""

    name: str
    """By which requests name it (`X-ChatDev-Run`)."""
    language: str = "English"
    """Of the documents that the agents write."""
    stream: bool = False
    """Whether replies are emitted as they arrive."""
    semantics: int = SEMANTICS
    """The version of it that the run began with."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """Everything that the steps of a run share beside the state that they change."""

    company: CompanyConfig
    settings: RunSettings
    inputs: RunInputs
    activities: Activities
    toolbox: Toolbox
    role_model: Callable[[str, str], RoleModel]
    """The model of (phase, role)."""
    budget: Budget
    """Budget of the whole run, over all its sessions."""
    emit: Emit
    people: People
    shared_budget: Budget | None = None
    """Budget shared with other runs."""
    meter: Meter = field(default_factory=Meter)
    noted: set[str] = field(default_factory=set)
    """Notes of tools for the user of the run."""

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """All that the run's calls must fit."""
        return (self.budget, self.shared_budget) if self.shared_budget else (self.budget,)

    def refuse_overspent(self) -> None:
        """Raise BudgetExhausted when the run has spent more than it may, whatever came of it."""
        try:
            self.budget.refuse_overspent()
        except LimitReached as reached:
            raise reached.of_run() from None

    def note_once(self, texts: Iterable[str]) -> None:
        """Pass new notes to the user of the run."""
        for text in texts:
            if text not in self.noted:
                self.noted.add(text)
                self.emit(Noted("", text, "warning"))

    def say(self, entry: str, **values: Any) -> str:
        """One of the protocol's texts, rendered."""
        template = getattr(self.company.protocol, entry)
        return render(template, values, f"protocol.{entry}")

    def say_problem(self, code: str, **facts: Any) -> str:
        """One of the protocol's problems, in words."""
        return render(self.company.protocol.problems[code], facts, f"protocol.problems.{code}")

    def names(self, state: State) -> dict[str, Any]:
        """Everything that an expression or an opening may name: the inputs and the long-term memory."""
        return {**self.inputs.values, **state.names(), "inputs": self.inputs.values}


# Short-term memory: what was said in one phase, as each side sees it (ChatDev §3.2, equations 3-4).

_OBSERVED = 3  # of what tools said that a reflection reads


@dataclass(frozen=True, slots=True)
class Utterance:
    """Something said. `speaker` is None for a report of a tool or of the engine, which only `to` reads, or the pair
    where that is None, too.

    `steps` holds the tool calls and observations that led to `text`; only the speaker remembers them. `dropped`: the
    speaker no longer remembers the text itself.
    """

    speaker: Speaker | None
    text: str
    to: Speaker | None = None
    steps: tuple[Message, ...] = ()
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A message of a view; `is_step`: a tool call or an observation, and nothing that was said."""

    message: Message
    is_step: bool = False


@dataclass(slots=True)
class ShortTermMemory:
    """The opening and the utterances of one phase."""

    opening: str
    images: tuple[Image, ...] = ()
    utterances: list[Utterance] = field(default_factory=list)

    def add(self, utterance: Utterance) -> None:
        """Remember one more utterance."""
        self.utterances.append(utterance)

    def begin_anew(self, opening: str) -> None:
        """Forget all but a new opening and what was reported since anybody spoke."""
        spoken = [at for at, one in enumerate(self.utterances, start=1) if one.speaker]
        self.opening, self.utterances = opening, self.utterances[max(spoken, default=0):]

    def drop(self, speaker: Speaker, text: str) -> None:
        """Let a speaker forget that it ever said this: what it reads of itself it says again."""
        self.utterances = [replace(one, dropped=True) if (one.speaker, one.text) == (speaker, text) else one
                           for one in self.utterances]

    def view(self, system: str, speaker: Speaker, steps: Sequence[Message] = (),
             window: int | None = None) -> tuple[Message, ...]:
        """The messages of a request by `speaker`: own words as `assistant`, everything else as `user`, neighbouring
        user texts merged (many chat templates demand strict alternation). `steps` are the tool calls and observations
        of the turn under way. `window`: number of latest exchanges kept beside the opening."""
        said = [entry for utterance in self.utterances for entry in _entries_for(speaker, utterance)]
        recent = _last_exchanges([*said, *(Entry(step, is_step=True) for step in steps)], window)
        opening = Message("user", self.opening, self.images)
        return (Message("system", system), *merge_users([opening, *(entry.message for entry in recent)]))

    def transcript(self, names: Mapping[Speaker, str]) -> str:
        """The utterances as text, for reflection, after what tools said last (each observation once)."""
        spoken = [utterance for utterance in self.utterances if utterance.speaker]
        observed = dict.fromkeys(step.content for utterance in spoken for step in utterance.steps
                                 if step.role != "assistant")
        said = [f"{names[one.speaker]}: {one.text}" for one in spoken if one.speaker and one.text]
        return "\n\n".join([*list(observed)[-_OBSERVED:], *said])


def exchanges(messages: Sequence[Message]) -> int:
    """How many own turns (utterances and tool calls) a view holds."""
    return sum(message.role == "assistant" for message in messages)


def merge_users(messages: Iterable[Message]) -> list[Message]:
    """Join neighbouring user messages with a blank line."""
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role == "user":
            last = merged.pop()
            merged.append(Message("user", f"{last.content}\n\n{message.content}", (*last.images, *message.images)))
        else:
            merged.append(message)
    return merged


def _entries_for(speaker: Speaker, utterance: Utterance) -> Sequence[Entry]:
    """Entries of one side's memory for an utterance."""
    if utterance.speaker == speaker:
        steps = (Entry(step, is_step=True) for step in utterance.steps)
        return (*steps, *([] if utterance.dropped else [Entry(Message("assistant", utterance.text))]))
    if utterance.speaker is None and utterance.to not in (speaker, None):
        return ()
    return (Entry(Message("user", utterance.text)),)


def _last_exchanges(entries: list[Entry], window: int | None) -> list[Entry]:
    """The last `window` own turns, each with what it answers to; an observation goes with its tool call."""
    own = [i for i, entry in enumerate(entries) if entry.message.role == "assistant"]
    if window is None or len(own) <= window:
        return entries
    start = own[-window] if window else len(entries)
    while start > 0 and entries[start - 1].message.role == "user" and not entries[start - 1].is_step:
        start -= 1
    return entries[start:]
