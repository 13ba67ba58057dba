"""What a run does and remembers: its activities, the state that its steps pass on (long-term memory), the utterances of
one phase as each side sees them (short-term memory; ChatDev §3.2, equations 3-4), and the context that all steps share.

Activities are the one way to the outside: every model call and every tool call is one (design §5). `Activities.perform`
gives the result that is on record, or performs the call and journals it. A result is one tagged value with one codec
for the JSON in which the journal holds it. `Record` is what a journal has of the activities of a run, and what to do
where the run goes another way now.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from chatdev.config.profiles import ModelProfile
from chatdev.config.schema import CompanyConfig
from chatdev.config.templates import render
from chatdev.engine.budget import Budget, LimitReached, Meter
from chatdev.errors import JournalError, MissingProgram, RecordEnds, RunChanged, ToolCrashed, ToolError
from chatdev.events import Event, Noted, PersonAsked, Place, Speaker
from chatdev.journal import Journal
from chatdev.llm.base import Image, Message, Model, Reply, Sampling, ToolCall, ToolSpec, Usage
from chatdev.safe_text import fields_of, is_amount, scrub_values

if TYPE_CHECKING:
    from chatdev.engine.people import PersonAnswer

T = TypeVar("T")

HALTS: ContextVar[tuple[Halt, ...]] = ContextVar("halts", default=())
"""Flags of the parallel steps around the running code; a raised one stops it before its next activity."""


class Halted(Exception):
    """A sibling branch failed; this branch stops before its next activity."""


@dataclass(slots=True)
class Halt:
    """Shared flag of `branches` parallel branches: the first that fails sets `raised`, and its siblings stop."""

    raised: bool = False
    branches: int = 1


def refuse_halted() -> None:
    """Raise Halted where a sibling of the running branch has failed."""
    if any(halt.raised for halt in HALTS.get()):
        raise Halted


def branches_at_work() -> int:
    """How many parallel branches are at work where the running code is one; 1 outside of parallel steps."""
    return math.prod(halt.branches for halt in HALTS.get())


def digest(value: Any) -> str:
    """A short fingerprint of plain JSON values."""
    return hashlib.sha256(_canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:24]


_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str).encode


class Performed(NamedTuple):
    """Outcome of an activity, and whether it came from the journal."""

    result: ActivityResult
    replayed: bool


class Activities:
    """Performs activities and journals them; one that is already on record is not performed again."""

    def __init__(self, journal: Journal, record: Record | None = None,
                 before_live: Callable[[], None] = lambda: None) -> None:
        self.journal = journal
        self._record = record or Record({})
        self._before_live = before_live

    async def perform(self, place: str, request: Mapping[str, Any],
                      call: Callable[[], Awaitable[ActivityResult]]) -> Performed:
        """The result of the activity at `place`: from the record when it finished there before, else by `call`, which
        is then journaled and on the disk before this returns. `before_live` is called before every `call`. Raises
        RunChanged and RecordEnds as `Record.find` does.

        A secret that comes back from outside is replaced here, before anybody reads it: so a replay, which knows no
        secrets, goes the same way as the run, and requests made of results have the same fingerprint."""
        refuse_halted()
        fingerprint = digest(request)
        known = await self._record.find(place, fingerprint, request)
        if known is not None:
            return Performed(known, replayed=True)
        self._before_live()
        result = scrub_values(result_to_json(self._record.mark_repeated(place, fingerprint, await call())))
        self.journal.append("Activity", place, {"digest": fingerprint, "request": request, "result": result})
        await self.journal.sync()
        return Performed(result_from_json(result), replayed=False)


Differing = Literal["refuse", "perform", "ignore"]
"""How to treat a request that differs from the recorded one: as an error, as a new call, or as equal."""

_VARYING = re.compile(r"chatdev-\w+|0x[0-9a-fA-F]+|\d+")
"""Parts of a text that vary between runs: temporary folders, addresses, numbers."""
_OF_THE_MODEL = ("sampling", "constraint")
"""Fields of a request that depend on the model."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished activity: the digest of its request, the request, and the result."""

    digest: str
    request: Mapping[str, Any]
    result: ActivityResult


class Record:
    """Finished activities by place.

    `complete`: nothing may be performed that is not on record (replays). `changed`: the company is another one now, so
    that a new activity before the record's end is a difference too. `any_model`: the user chose another model, so that
    what depends on it may differ. `speed`: give results after the time that they took, divided by this; None: at once.
    `failed`: activities that ended an earlier session and are tried again.
    """

    def __init__(self, finished: Mapping[str, Finished], differing: Differing = "refuse", *, complete: bool = False,
                 changed: bool = False, any_model: bool = False, speed: float | None = None,
                 failed: Mapping[str, Finished] = MappingProxyType({})) -> None:
        self._finished = finished
        self._failed = failed
        self._left = dict.fromkeys(finished)
        self._differing = differing
        self._complete = complete
        self._changed = changed
        self._any_model = any_model
        self._speed = speed
        self.found = 0
        """Activities whose results were given."""
        self.differences = 0
        """Those among them that were not as recorded."""

    async def find(self, place: str, digest: str, request: Mapping[str, Any]) -> ActivityResult | None:
        """The result on record, or None when the activity must be performed. Raises RunChanged when it differs and
        that is refused, RecordEnds when there is none in a replay."""
        known = self._finished.get(place)
        self._left.pop(place, None)
        if known is None:
            self._refuse_unknown(place, request)
            return None
        if known.digest != digest and not self._differs_by_model_only(known.request, request):
            if self._differing == "refuse":
                raise RunChanged(place, known.request, request)
            if self._differing == "perform":
                return None
            self.differences += 1
        self.found += 1
        if self._speed:
            await asyncio.sleep(getattr(known.result, "seconds", 0.0) / self._speed)
        return known.result

    def mark_repeated(self, place: str, digest: str, result: ActivityResult) -> ActivityResult:
        """The result of a new call; a tool that fails as it did when it ended an earlier session has its result."""
        before = self._failed.get(place)
        if isinstance(result, ToolFailed) and before and before.digest == digest \
                and isinstance(before.result, ToolFailed) and result.is_like(before.result):
            return replace(result, repeated=True)
        return result

    def end(self) -> None:
        """The chain is done. Raises RunChanged when the company is another one now and does not come to an activity
        that is on record, where that is refused."""
        if self._changed and self._left and self._differing == "refuse":
            place = next(iter(self._left))
            raise RunChanged(place, self._finished[place].request, {},
                             f"{place} was in the run, and the company does not come to it any more")

    def _differs_by_model_only(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
        return self._any_model and _without_model(before) == _without_model(now)

    def _refuse_unknown(self, place: str, request: Mapping[str, Any]) -> None:
        later = next((left for left in self._left if not Place(place).in_other_branch(left)), None)
        if self._changed and later and self._differing == "refuse":
            raise RunChanged(place, {}, request, f"{place} was not in the run before, and {later} was: the company has "
                                                 "changed")
        if self._complete:
            raise RecordEnds(f"the record ends here: nothing is written of {place}")


def _without_model(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name not in _OF_THE_MODEL}


@dataclass(frozen=True, slots=True)
class Replied:
    """A model's reply and the seconds it took."""

    reply: Reply
    seconds: float


@dataclass(frozen=True, slots=True)
class ContextOverflowed:
    """The request was longer than the model's context; the same one is never sent again."""

    problem: str


@dataclass(frozen=True, slots=True)
class PhaseBudgetReached:
    """The call did not fit the budget of the phase and was not made."""

    problem: str


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool's result as plain JSON values and the seconds it took."""

    value: Any
    seconds: float


@dataclass(frozen=True, slots=True)
class ToolFailed:
    """A tool could not do its work; `lacking`: because a program is not installed; `crashed`: because of a mistake in
    the tool itself; `repeated`: as before, when that had ended a session, so that it is its result now."""

    problem: str
    lacking: bool
    seconds: float
    crashed: bool = False
    repeated: bool = False

    def is_like(self, other: ToolFailed) -> bool:
        """Whether both problems read the same apart from numbers and temporary folders; a missing program never counts,
        since the user can install it."""
        return not self.lacking and _VARYING.sub("", self.problem) == _VARYING.sub("", other.problem)

    @property
    def error(self) -> ToolError:
        """The error that the tool raised."""
        kind = MissingProgram if self.lacking else ToolCrashed if self.crashed else ToolError
        error = kind(self.problem)
        error.repeated = self.repeated
        return error


ActivityResult = Replied | ContextOverflowed | PhaseBudgetReached | ToolReturned | ToolFailed


def result_to_json(result: ActivityResult) -> dict[str, Any]:
    """The result as the journal holds it; the tag is the key that only its kind has."""
    match result:
        case Replied(reply, seconds):
            return {**fields_of(reply), "tool_calls": [fields_of(call) for call in reply.tool_calls],
                    "usage": reply.usage.to_json(), "seconds": seconds}
        case ContextOverflowed(problem):
            return {"overflow": problem}
        case PhaseBudgetReached(problem):
            return {"spent": problem}
        case ToolReturned(value, seconds):
            return {"value": value, "seconds": seconds}
        case ToolFailed(problem, lacking, seconds, crashed, repeated):
            return {"error": problem, "lacking": lacking, "seconds": seconds, **({"crashed": True} if crashed else {}),
                    **({"repeated": True} if repeated else {})}


def result_from_json(data: Mapping[str, Any]) -> ActivityResult:
    """The result that `result_to_json` wrote. Raises JournalError for anything else."""
    try:
        return _decode(data)
    except (AttributeError, KeyError, TypeError) as error:
        raise JournalError(f"the result of an activity lacks what belongs to it ({error!r}); the journal is "
                           "damaged") from error


def _decode(data: Mapping[str, Any]) -> ActivityResult:
    if "overflow" in data:
        return ContextOverflowed(_of(str, data["overflow"]))
    if "spent" in data:
        return PhaseBudgetReached(_of(str, data["spent"]))
    if "error" in data:
        lacking, crashed = _of(bool, data["lacking"]), _of(bool, data.get("crashed", False))
        repeated = _of(bool, data.get("repeated", False))
        return ToolFailed(_of(str, data["error"]), lacking, _amount(data["seconds"]), crashed, repeated)
    if "value" in data:
        return ToolReturned(data["value"], _amount(data["seconds"]))
    calls = tuple(ToolCall(**{name: _of(str, text) for name, text in call.items()}) for call in data["tool_calls"])
    counts = {name: _of(bool, count) if name == "estimated" else _amount(count)
              for name, count in data["usage"].items()}
    reply = Reply(_of(str, data["text"]), calls, Usage(**counts), _of(str, data["finish"]), _of(str, data["model"]),
                  _amount(data["retries"]))
    return Replied(reply, _amount(data["seconds"]))


def _of(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.80} is no {kind.__name__}")
    return value


def _amount(value: Any) -> Any:
    if not (is_amount(value) and value >= 0):
        raise TypeError(f"{value!r:.80} is no amount")
    return value


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
