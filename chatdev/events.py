"""What happens in a run, as frozen records, and where in it: ids of activities and events are places (design §5)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal, get_args

Speaker = Literal["instructor", "assistant"]
UtteranceKind = Literal["opening", "instruction", "response", "question", "answer", "reflection", "report"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened at `place`."""

    place: str

    @property
    def kind(self) -> str:
        """The record's name in the journal, e.g. `PhaseStarted`."""
        return type(self).__name__

    def to_dict(self) -> dict[str, Any]:
        """The event as plain JSON values."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    company: str
    name: str
    folder: str
    inputs: dict[str, str] = field(default_factory=dict)
    phases: tuple[str, ...] = ()
    """The phases that the chain may run, in its order."""


@dataclass(frozen=True, slots=True)
class RunResumed(Event):
    """What was on record has been gone through again: from here on the run goes on."""

    calls: int
    """Calls of models and tools that were on record."""


@dataclass(frozen=True, slots=True)
class RunFinished(Event):
    """The end of a session; `place` is the activity of which it failed, if it was one."""

    status: str  # success · failure · unjudged · stopped · error · interrupted
    reason: str
    seconds: float
    error: str = ""
    """The kind of error that ended it, e.g. `ModelRejected`."""


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    step: str  # tool · repeat · foreach · parallel · process
    detail: str = ""


@dataclass(frozen=True, slots=True)
class StepFinished(Event):
    step: str
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class StepSkipped(Event):
    step: str
    reason: str


@dataclass(frozen=True, slots=True)
class PhaseStarted(Event):
    phase: str
    about: str
    instructor: str | None
    assistant: str
    rounds: int


@dataclass(frozen=True, slots=True)
class PhaseFinished(Event):
    phase: str
    ending: str
    """consensus · unchanged · feedback · rounds · stuck · budget · skipped · refused · delivered · reflection · kept ·
    value · failed"""
    rounds: int
    calls: int


@dataclass(frozen=True, slots=True)
class Uttered(Event):
    """One utterance of the dialogue; `speaker` is None for a tool's report."""

    utterance: UtteranceKind
    speaker: Speaker | None
    role: str
    text: str
    round: int


@dataclass(frozen=True, slots=True)
class TextStreamed(Event):
    """A piece of a reply as it arrives; never journaled. `again`: the reply is asked for once more, and what came of it
    until now is void."""

    text: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class ModelCalled(Event):
    """One finished model call; token counts are estimates when `estimated`."""

    role: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    retries: int = 0
    estimated: bool = False
    cost: float | None = None
    replayed: bool = False
    cached_tokens: int = 0
    """Of the prompt: what the server had kept from earlier calls."""
    reasoning_tokens: int = 0
    """Of the completion: thoughts."""


@dataclass(frozen=True, slots=True)
class ToolCalled(Event):
    """One finished tool call; `passed` is None where the tool gives no verdict, where this machine cannot tell, or
    where there was nothing to judge yet."""

    tool: str
    seconds: float
    passed: bool | None = None
    summary: str = ""
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class DraftJudged(Event):
    """One of `of` drafts of a delivery at most; score and `passed` are the tool's that chooses between them, and are
    None where there was nothing to judge, as `problem` says."""

    number: int
    of: int
    score: float | None = None
    passed: bool | None = None
    examples: tuple[int, int] | None = None
    """How many examples of the request hold, of how many."""
    chosen: bool = False
    """Whether it is the best so far: the last one of which this is true is kept."""
    problem: str = ""

    def describe(self) -> str:
        """What became of it, in one line."""
        name = f"draft {self.number} of {self.of}"
        if self.passed is None or self.score is None:
            return f"{name} cannot be used: {self.problem}"
        if self.examples:
            return f"{name}: {' of '.join(map(str, self.examples))} examples"
        return f"{name} {'passes' if self.passed else 'fails'} (score {self.score:g})"


@dataclass(frozen=True, slots=True)
class DeliveryApplied(Event):
    """Files a delivery wrote or deleted, or the name of the solution it replaced."""

    written: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: bool = False
    lines: tuple[int, ...] = ()
    """Of each file in `written`."""
    gist: str = ""
    """The solution in a few words, where it is no file."""


@dataclass(frozen=True, slots=True)
class DeliveryRefused(Event):
    reason: str


@dataclass(frozen=True, slots=True)
class PersonAsked(Event):
    """A person is asked, and the step at `place` waits for the answer: a turn of a role that a person plays, or an
    approval of what is about to happen."""

    id: str
    """The same whenever the same is asked at this place, so that an answer holds after a restart."""
    asks: Literal["turn", "approval"] = "turn"
    role: str = ""
    """The role that the person plays, or whose work is to be approved; empty for a step without one."""
    about: str = ""
    """What it is, in one line."""
    text: str = ""
    """What the person reads: all that is new since they were asked last."""
    edits: dict[str, str] = field(default_factory=dict)
    """What may be edited before it is applied: texts by path, or by the name of the value. Empty: nothing."""
    problem: str = ""
    """Why the answer before could not be used; `edits` then has its texts."""


@dataclass(frozen=True, slots=True)
class PersonAnswered(Event):
    """The answer to a `PersonAsked`, by its `id`."""

    id: str
    action: str = "say"
    """say · accept · refuse · edit · skip (nobody could be asked)"""
    text: str = ""
    """What was said, or why it is refused."""


@dataclass(frozen=True, slots=True)
class Noted(Event):
    """Something a reader of the run should know; `level` is info or warning."""

    text: str
    level: Literal["info", "warning"] = "info"


KINDS: dict[str, type[Event]] = {cls.__name__: cls for cls in Event.__subclasses__()}


def from_dict(kind: str, values: dict[str, Any]) -> Event:
    """The event that `to_dict` wrote; raises KeyError for an unknown kind."""
    cls = KINDS[kind]
    known = {f.name for f in dataclasses.fields(cls)}
    fields: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in values.items() if n in known}
    return cls(**fields)


# Where in a run something happens: ids of activities and events are places (design §5), written and read only here.

Part = Literal[
    "pass", "item", "branch",  # of the chain
    "round", "reflection", "feedback", "guard", "mend",  # of a phase
    "instructor", "assistant", "ask", "answer", "retry", "draft",  # utterances
    "approve",  # by a person
    "act", "trim", "more", "again", "call",  # of a turn: after a tool, to fit, to go on, afresh; a tool
]
_OF_A_TURN: frozenset[Part] = frozenset({"act", "trim", "more", "again", "call"})
_OF_A_DRAFT: frozenset[Part] = frozenset({"draft", "feedback", "guard", "mend", *_OF_A_TURN})


class Place(str):
    """A place as the journal holds it; a text, so that it is its own key and needs no codec."""

    __slots__ = ()

    def step(self, name: str, occurrence: int) -> Place:
        """The `occurrence`-th time that the step `name` runs here."""
        return self._below(f"{name}#{occurrence}")

    def at(self, part: Part, which: int | str | None = None) -> Place:
        """A part of this place: `at("round", 2)`, `at("assistant")`."""
        return self._below(part if which is None else f"{part}-{which}")

    def _below(self, part: str) -> Place:
        return Place(f"{self}/{part}" if self else part)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts from the outermost to the innermost."""
        return tuple(self.split("/")) if self else ()

    @property
    def nearest_step(self) -> Place:
        """The innermost step that this is a part of, with the loops and branches around it: `…/system_test#1`."""
        last = max((n for n, part in enumerate(self.parts) if "#" in part), default=-1)
        return Place("/".join(self.parts[:last + 1]))

    @property
    def step_name(self) -> str:
        """The name of that step: `system_test`; empty outside of any."""
        *_, last = ("", *self.nearest_step.parts)
        return last.partition("#")[0]

    @property
    def speaker(self) -> Literal["instructor", "assistant"]:
        """Whose turn it is at this place."""
        return "instructor" if "instructor" in self.parts else "assistant"

    @property
    def turn(self) -> Place:
        """The turn that a request belongs to: without its continuations, tool rounds and second attempts."""
        parts = list(self.parts)
        while parts and (_kind(parts[-1]) in _OF_A_TURN or parts[-1] == "answer"):  # the instructor's has a number
            parts.pop()
        return Place("/".join(parts))

    @property
    def draft(self) -> int:
        """Which draft of a response is made here; 1 where there are no others."""
        numbers = (part.partition("-")[2] for part in self.parts if _kind(part) == "draft")
        return next((int(number) for number in numbers if number.isdecimal() and len(number) < 10), 1)

    @property
    def first_draft(self) -> Place:
        """The place of the first draft, where this is the place of another one."""
        parts = self.parts
        return Place("/".join(parts[:-1])) if parts and _kind(parts[-1]) == "draft" else self

    @property
    def is_second_attempt(self) -> bool:
        """Whether the request is made because the reply to the one before it is not used."""
        kinds = [_kind(part) for part in self.parts]
        while kinds and kinds[-1] == "more":
            kinds.pop()
        return bool(kinds) and (kinds[-1] == "again" or self.parts[len(kinds) - 1] == "answer")

    def holds(self, other: str) -> bool:
        """Whether `other` is this place, one below it, or an occurrence of the step that it names."""
        return other == self or other.startswith((f"{self}/", f"{self}#"))

    def in_other_branch(self, other: str) -> bool:
        """Whether two places are in different branches of a parallel step or belong to different drafts, so that either
        may come first."""
        for own, another in zip_longest(self.parts, Place(other).parts, fillvalue=""):
            if own != another:
                kinds = {_kind(own), _kind(another)}
                return kinds == {"branch"} or ("draft" in kinds and kinds <= {None, *_OF_A_DRAFT})
        return False


def _kind(part: str) -> str | None:
    """Which part of a place this is: `round` of `round-2`; None for a step."""
    kind = part.partition("-")[0]
    return kind if "#" not in part and kind in get_args(Part) else None
