"""What happens in a run, as frozen records.

Console, report, viewer, cost and process mining read events and nothing else (design §5). `place` is the path of
steps, rounds and speakers at which the event happened, e.g. `system_test#1/round-2/assistant`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

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
