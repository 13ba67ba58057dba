"""When a phase ends (design §3): small rules over the course of its dialogue, joined with `|`; the first that holds
gives the ending."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from chatdev.engine.stuck import Stuck

Ending = Literal["consensus", "unchanged", "feedback", "rounds", "delivered", "stuck", "budget"]

SAME_AGAIN = 2  # consecutive deliveries that change nothing end a phase (ChatDev §3.1)


@dataclass(slots=True)
class Course:
    """The course of one dialogue so far: what its endings depend on.

    `same` counts deliveries in a row that changed nothing; `repeats` counts answers in a row that changed nothing or
    were, word for word, the one before. The others tell of the newest utterance.
    """

    rounds: int
    """How many there are at most."""
    stuck: Stuck
    is_judged: bool
    """Whether feedback is asked for."""
    is_alone: bool
    """Whether the assistant has no instructor."""
    same_again: int = SAME_AGAIN
    round: int = 0
    same: int = 0
    repeats: int = 0
    event: Literal["agreed", "delivered", "refused", "other"] = "other"
    """`agreed`: a side stated the consensus, without a delivery. `refused`: the last attempt of a round was."""
    concludes: bool = False
    """Whether the assistant's delivery states the consensus."""
    passed: bool = False
    """Whether the feedback passes."""
    answer: str = field(default="")

    @property
    def is_contradicted(self) -> bool:
        """Whether an assistant without an instructor says that it is done while the feedback says that it is not."""
        return self.is_alone and self.is_judged and not self.passed

    def count_answer(self, answer: str, *, unchanged: bool) -> None:
        """What came again is asked for differently next time: at a higher temperature."""
        self.repeats = self.repeats + 1 if unchanged or answer == self.answer else 0
        self.answer = answer


@dataclass(frozen=True, slots=True)
class StopRule:
    """Says how the phase ends after the newest utterance, or None: it goes on."""

    ending: Callable[[Course], Ending | None]

    def __call__(self, course: Course) -> Ending | None:
        """The ending by this rule."""
        return self.ending(course)

    def __or__(self, other: StopRule) -> StopRule:
        """The first ending of the two."""
        return StopRule(lambda course: self(course) or other(course))


@StopRule
def feedback_passes(course: Course) -> Ending | None:
    """A delivery passes the feedback."""
    return "feedback" if course.event == "delivered" and course.passed else None


@StopRule
def consensus(course: Course) -> Ending | None:
    """A side that may conclude does so. Failing feedback outranks an assistant alone, unless it insists."""
    if course.event == "agreed":
        return "consensus" if not course.is_contradicted or course.same >= SAME_AGAIN else None
    agreed = course.event == "delivered" and course.concludes and not course.is_contradicted
    return "consensus" if agreed else None


@StopRule
def nothing_changes(course: Course) -> Ending | None:
    """Deliveries in a row left the software as it was, or were refused; of a choice one is enough."""
    if course.event == "delivered":
        return "unchanged" if course.same >= course.same_again else None
    return "unchanged" if course.event == "refused" and course.same >= SAME_AGAIN else None


@StopRule
def nobody_answers(course: Course) -> Ending | None:
    """There is a delivery, and neither an instructor nor feedback that would say anything more."""
    done = course.event == "delivered" and course.is_alone and not course.is_judged
    return "delivered" if done else None


@StopRule
def goes_in_circles(course: Course) -> Ending | None:
    """One of the rules of `Stuck` holds."""
    return "stuck" if course.stuck.reason else None


@StopRule
def last_round(course: Course) -> Ending | None:
    """The rounds are used up."""
    return "rounds" if course.round >= course.rounds else None


AFTER_INSTRUCTION = consensus | goes_in_circles
AFTER_RESPONSE = feedback_passes | consensus | nothing_changes | nobody_answers
BEFORE_NEXT_ROUND = goes_in_circles | last_round
