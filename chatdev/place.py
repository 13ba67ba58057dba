"""Where in a run something happens: ids of activities and events are places (design §5), written and read only here.

    repeat#1/pass-2/system_test#1/round-2/assistant/ask-1

A step is `name#occurrence`; below it come the parts of the chain (`pass-2`, `item-ID`, `branch-1`), then those of a
phase (`round-2`, the speaker, and what the turn consists of).
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Literal, get_args

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
