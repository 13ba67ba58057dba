"""A person for tests: answers in turn; and what a run of people has to leave."""

from __future__ import annotations

from typing import Any

import chatdev
from chatdev import Run
from chatdev.events import Event, PersonAnswered, PersonAsked, PhaseFinished
from chatdev.runner.people import PersonAnswer
from tests.engine.studio import CHANGE, WRITE, program

ALONE = {**WRITE, "instructor": None}
REVIEW = {**CHANGE, "opens": "instructor", "concludes": "instructor"}
WRITTEN, REVIEWED = "write#1/round-1/assistant", "review#1/round-1/assistant"
REPLIES = {WRITTEN: "<SOLUTION>\n" + program(), REVIEWED: program("print('hello world')")}
ACCEPT = PersonAnswer("accept")


class Person:
    """Gives the answers in turn, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.asked: list[PersonAsked] = []
        self._answers = list(answers)

    def __call__(self, question: PersonAsked) -> Any:
        self.asked.append(question)
        return self._answers.pop(0)


def play_again(run: Run) -> tuple[Run, list[Event]]:
    """The replay of a run, with its events."""
    events: list[Event] = []
    return chatdev.replay(run.folder, on_event=events.append), events


def said_the_same(before: list[Event], after: list[Event]) -> bool:
    """Whether two runs asked and answered the same, in the same order."""
    kinds = (PersonAsked, PersonAnswered, PhaseFinished)
    return [e for e in before if isinstance(e, kinds)] == [e for e in after if isinstance(e, kinds)]
