"""Whether a phase goes in circles, by three stated rules; none of them looks at what a model means.

1. Both sides say word for word what they said in the round before, and it is no delivery; or the instructor repeats its
   instruction although the answer to it was, word for word, the one before it and no delivery. (Deliveries that change
   nothing end a phase as `unchanged`.) Without an instructor: the assistant repeats an answer that is no delivery.
2. The solution goes back and forth between two versions: A B A B.
3. In one turn, in which nothing else changes, the same tool is called with the same arguments a third time, or says the
   same to three calls in a row; and what the assistant then answers is no delivery.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field

from chatdev.llm.base import ToolCall
from chatdev.replies.values import load_json

SAME_CALLS = 3  # so many equal tool calls in a turn are a loop, the last of them not performed; so are equal results


@dataclass(frozen=True, slots=True)
class Exchange:
    """One round, blanks and line ends aside; `instruction` is None where the opening or nobody instructed."""

    instruction: str | None
    response: str
    delivered: bool


@dataclass(slots=True)
class Stuck:
    """Watches one execution of a phase. `reason` tells the rule that holds, and is empty while none does."""

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
    """What looped since the round began."""

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
