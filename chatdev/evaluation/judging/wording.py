"""What a judge is told, read from YAML."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field

from chatdev.config.prompts import render
from chatdev.config.source import read
from chatdev.config.strict import Strict
from chatdev.config.validation import validated
from chatdev.evaluation.judging.pairs import Pair
from chatdev.evaluation.judging.shown import shown
from chatdev.llm.base import Message


class Wording(Strict):
    """The file `judge.yaml`, whose comments explain the fields."""

    characters: int = Field(gt=0)
    hidden: list[str]
    temperature: float
    seed: int
    system: str
    opening: str
    again: str
    schema_: dict[str, Any] = Field(alias="schema")

    def messages(self, pair: Pair) -> tuple[Message, Message]:
        """What is asked about a pair, in its order."""
        first, second = (shown(each.software, self.characters, self.hidden) for each in (pair.first, pair.second))
        values = {"requirement": pair.requirement, "first": first, "second": second}
        return Message("system", self.system), Message("user", render(self.opening, values, "judge.opening"))

    def complaint(self, problem: str) -> Message:
        """What is said to a judge whose answer could not be read."""
        return Message("user", render(self.again, {"problem": problem}, "judge.again"))


@cache
def wording() -> Wording:
    """The wording that ships with the package."""
    return validated(Wording, read(Path(__file__).with_name("judge.yaml")))
