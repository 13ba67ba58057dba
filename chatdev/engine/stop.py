"""When a phase ends (design §3): small rules over the progress of its dialogue, joined with `|`; the first that holds
gives the ending. One of them, `goes_in_circles`, rests on what `LoopDetector` has seen."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from chatdev.engine.context import SEMANTICS
from chatdev.llm.base import ToolCall
from chatdev.safe_text import load_json

Ending = Literal["consensus", "unchanged", "feedback", "rounds", "delivered", "stuck", "budget", "skipped"]

SAME_CALLS = 3  # equal tool calls, or equal results, in a turn that make a loop; the last call is not performed
SAME_AGAIN = 2  # consecutive deliveries that change nothing end a phase (ChatDev §3.1)


@dataclass(slots=True)
class DialogueProgress:
    """The progress of one dialogue so far: what its endings depend on.

    `same` counts deliveries in a row that changed nothing; `repeats` counts answers in a row that changed nothing or
    were, word for word, the one before. The others tell of the newest utterance.
    """

    rounds: int
    """How many there are at most."""
    loops: LoopDetector
    is_judged: bool
    """Whether feedback is asked for."""
    is_alone: bool
    """Whether the assistant has no instructor."""
    same_again: int = SAME_AGAIN
    round: int = 0
    same: int = 0
    repeats: int = 0
    event: Literal["agreed", "claimed", "delivered", "refused", "other"] = "other"
    """`agreed`: a side stated the consensus, without a delivery. `claimed`: so did the assistant, against failing
    feedback. `refused`: the last attempt of a round was."""
    concludes: bool = False
    """Whether the assistant's delivery states the consensus."""
    passed: bool = False
    """Whether the feedback passes."""
    answer: str = field(default="")
    report: str = ""
    """Latest report of the feedback."""
    semantics: int = SEMANTICS
    """See `RunSettings`."""

    @property
    def is_contradicted(self) -> bool:
        """Whether failing feedback outranks the assistant that says that it is done. (Under semantics 1 it does so only
        where there is no instructor.)"""
        return (self.is_alone or self.semantics > 1) and self.is_judged and not self.passed

    def begin_round(self) -> None:
        """The next round begins with the assistant's response."""
        self.round += 1

    def see_instruction(self, text: str, *, agrees: bool) -> None:
        """The instructor has spoken; `agrees`: it accepts what is there."""
        self.loops.see_instruction(text)
        self.event = "agreed" if agrees else "other"

    def see_answer(self, text: str, *, unchanged: bool) -> None:
        """The assistant has answered. What came again is asked for differently next time: at a higher temperature."""
        self.repeats = self.repeats + 1 if unchanged or text == self.answer else 0
        self.answer = text

    def see_agreement(self, text: str, *, passed: bool) -> None:
        """The assistant states the consensus without a delivery of its own. Where failing feedback contradicts it, that
        is an answer that changes nothing."""
        self.event, self.passed = "agreed", passed
        if self.is_contradicted:
            self.event = "claimed"
            self.see_answer(text, unchanged=True)
            self.same += 1

    def see_delivery(self, text: str, version: str, *, unchanged: bool, concludes: bool, passed: bool,
                     report: str = "") -> None:
        """A delivery is kept; `version` is the fingerprint of what stands now, `report` what the feedback says of it.
        Who calls it the solution while failing feedback says what it said before, insists: that is no change either."""
        self.loops.see_version(version)
        self.loops.see_response(text, delivered=True)
        self.event, self.concludes, self.passed = "delivered", concludes, passed
        before, self.report = self.report, report
        insists = self.semantics > 1 and concludes and self.is_contradicted and self.report == before
        self.same = self.same + 1 if unchanged or insists else 0

    def see_failed_round(self, text: str, *, refused: bool) -> None:
        """Record a round without a kept attempt; `refused`: the last one was readable, and worse than before."""
        self.loops.see_response(text, delivered=False)
        self.event = "refused" if refused else "other"
        self.same += refused


@dataclass(frozen=True, slots=True)
class StopRule:
    """Says how the phase ends after the newest utterance, or None: it goes on."""

    ending: Callable[[DialogueProgress], Ending | None]

    def __call__(self, progress: DialogueProgress) -> Ending | None:
        """The ending by this rule."""
        return self.ending(progress)

    def __or__(self, other: StopRule) -> StopRule:
        """The first ending of the two."""
        return StopRule(lambda progress: self(progress) or other(progress))


@StopRule
def feedback_passes(progress: DialogueProgress) -> Ending | None:
    """A delivery passes the feedback."""
    return "feedback" if progress.event == "delivered" and progress.passed else None


@StopRule
def consensus(progress: DialogueProgress) -> Ending | None:
    """A side that may conclude does so. Failing feedback outranks the assistant."""
    if progress.event == "agreed":
        return "consensus"
    agreed = progress.event == "delivered" and progress.concludes and not progress.is_contradicted
    return "consensus" if agreed else None


@StopRule
def nothing_changes(progress: DialogueProgress) -> Ending | None:
    """Deliveries in a row left the software as it was, or were refused; of a choice one is enough."""
    if progress.event == "delivered":
        return "unchanged" if progress.same >= progress.same_again else None
    return "unchanged" if progress.event == "refused" and progress.same >= SAME_AGAIN else None


@StopRule
def insists(progress: DialogueProgress) -> Ending | None:
    """The assistant says again that it is done, against failing feedback; that is as much as no change."""
    if progress.event != "claimed" or progress.same < SAME_AGAIN:
        return None
    return "unchanged" if progress.semantics > 1 else "consensus"


@StopRule
def nobody_answers(progress: DialogueProgress) -> Ending | None:
    """There is a delivery, and neither an instructor nor feedback that would say anything more."""
    done = progress.event == "delivered" and progress.is_alone and not progress.is_judged
    return "delivered" if done else None


@StopRule
def goes_in_circles(progress: DialogueProgress) -> Ending | None:
    """One of the rules of `LoopDetector` holds."""
    return "stuck" if progress.loops.reason else None


@StopRule
def last_round(progress: DialogueProgress) -> Ending | None:
    """The rounds are used up."""
    return "rounds" if progress.round >= progress.rounds else None


AFTER_INSTRUCTION = consensus | goes_in_circles
AFTER_RESPONSE = feedback_passes | consensus | nothing_changes | insists | nobody_answers
BEFORE_NEXT_ROUND = goes_in_circles | last_round


@dataclass(frozen=True, slots=True)
class Exchange:
    """One round without blanks and line ends; `instruction` is None in the opening round and without an instructor."""

    instruction: str | None
    response: str
    delivered: bool


@dataclass(slots=True)
class LoopDetector:
    """Whether a phase goes in circles, by three rules; none of them looks at what a model means. `reason` names the
    rule that holds, and is empty while none does.

    1. Both sides say word for word what they said in the round before, and it is no delivery; or the instructor repeats
       its instruction although the answer to it was, word for word, the one before it and no delivery. (Deliveries that
       change nothing end a phase as `unchanged`.) Without an instructor: the assistant repeats an answer that is no
       delivery.
    2. The solution goes back and forth between two versions: A B A B.
    3. In one turn, in which nothing else changes, the same tool is called with the same arguments a third time, or says
       the same to three calls in a row; and what the assistant then answers is no delivery.
    """

    on: bool
    reason: str = ""
    looping: bool = False
    """Whether the turn under way is in a tool loop."""
    _instruction: str | None = None
    _rounds: list[Exchange] = field(default_factory=list)
    _versions: list[str] = field(default_factory=list)
    _calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    _heard: tuple[str, str] = ("", "")
    """The tool that was called last, and what it said."""
    _times: int = 0
    """How often in a row it said so."""
    _loop: str = ""
    """Loop found since the round began."""

    def see_instruction(self, text: str) -> None:
        """The instructor has spoken."""
        self._instruction, self._loop = _plain(text), ""
        if len(self._rounds) < 2:
            return
        before, last = self._rounds[-2:]
        nothing_new = last.response == before.response and not last.delivered
        if nothing_new and self._instruction == last.instruction:
            self._stop("the instructor repeats its instruction, and the answer to it was the one before it")

    def see_response(self, text: str, *, delivered: bool) -> None:
        """The round is over with this response."""
        now = Exchange(self._instruction, _plain(text), delivered)
        last = self._rounds[-1] if self._rounds else None
        self._rounds.append(now)
        loop, self._loop = self._loop, ""
        if loop and not delivered:
            self._stop(loop)
        if delivered or last is None or (last.instruction, last.response) != (now.instruction, now.response):
            return
        both = now.instruction is not None
        self._stop("both sides repeat what they said in the round before" if both
                    else "the assistant repeats an answer that cannot be used")

    def see_version(self, version: str) -> None:
        """The solution as it stands now, by its fingerprint."""
        versions = self._versions
        if versions and versions[-1] == version:
            return
        versions.append(version)
        if len(versions) >= 4 and versions[-4:-2] == versions[-2:]:
            self._stop("the solution goes back and forth between two versions")

    def begin_turn(self) -> None:
        """A speaker begins a turn."""
        self._calls.clear()
        self._heard, self._times = ("", ""), 0
        self.looping = False

    def see_call(self, call: ToolCall) -> bool:
        """A tool is to be called; True when that is a loop."""
        key = (call.name, _arguments(call))
        self._calls[key] += 1
        self.looping = self.on and self._calls[key] >= SAME_CALLS
        if self.looping:
            self._loop = (f"{call.name} was called {SAME_CALLS} times with the same arguments, and no delivery came of "
                          "it")
        return self.looping

    def see_result(self, tool: str, result: str) -> int:
        """A tool has said something; how often in a row it has said it, whatever it was asked."""
        heard = (tool, result)
        self._times = self._times + 1 if heard == self._heard else 1
        self._heard = heard
        if self.on and self._times >= SAME_CALLS:
            self.looping = True
            self._loop = f"{tool} said the same {SAME_CALLS} times in a row, and no delivery came of it"
        return self._times

    def _stop(self, reason: str) -> None:
        if self.on and not self.reason:
            self.reason = reason


def _plain(text: str) -> str:
    return " ".join(text.split())


def _arguments(call: ToolCall) -> str:
    """The arguments in one spelling, if they can be read."""
    try:
        return json.dumps(load_json(call.arguments or "{}"), sort_keys=True)
    except ValueError:
        return call.arguments
