"""Short-term memory: what was said in one phase, as each side sees it (ChatDev §3.2, equations 3-4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chatdev.events import Speaker
from chatdev.llm.base import Image, Message

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
