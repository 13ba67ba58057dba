"""What a command of a program lists before anything was added, while things are added, and when one is removed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from chatdev.departments.software.cases.case import Start

_LONG = 4  # characters of a thing that is in no other word by chance
_NUMBERED = re.compile(r"\W*(\d+)\b")


@dataclass(slots=True)
class Listing:
    """It said `before`, and says `now`; `growths` are the additions after which it said something else."""

    before: str
    now: str
    growths: list[Start] = field(default_factory=list)
    _new: list[str] = field(default_factory=list)
    """The lines that were not there before the last addition."""

    def note(self, text: str, added: Start) -> bool:
        """Note what it says after an addition; whether that is something else."""
        if text == self.now:
            return False
        self._new = [line for line in text.splitlines() if line not in self.now.splitlines()]
        self.now = text
        self.growths.append(added)
        return True

    def is_split(self, added: Start) -> bool:
        """Whether it shows the thing of several words that was added last as so many things: a word in a line each."""
        words = added.arguments[1].casefold().split()
        found = [[word for word in words if word in line.casefold()] for line in self._new]
        return len(words) > 1 and sorted(word for line in found for word in line) == sorted(words) and (
            max(map(len, found)) == 1)

    @property
    def is_merged(self) -> bool:
        """Whether it shows one thing right behind another one, without anything between."""
        return self._merges(self.now)

    def wrong_without(self, name: str, text: str) -> Literal["", "emptied", "another", "merged"]:
        """What is wrong when it says `text` once the thing called so is removed: it says what it said before anything
        was added, that thing is still there and another one is gone, or two that are left are shown as one."""
        if text == self.before and self._has_more_than(name):
            return "emptied"
        if self._merges(text):
            return "merged"
        thing, gone = self._thing_called(name), {thing for thing in self._things() if thing not in text}
        return "another" if gone and thing and thing in text else ""

    def _has_more_than(self, name: str) -> bool:
        others = [start for start in self.growths if name not in start.arguments]
        return len(others) > (0 if len(others) < len(self.growths) else 1)

    def _merges(self, text: str) -> bool:
        things = self._things()
        long = [thing for thing in things if len(thing) >= _LONG]
        pairs = (f"{one}{other}" for one in long for other in long)
        return any(pair in text and not any(pair in thing for thing in things) for pair in pairs)

    def _things(self) -> set[str]:
        """What was added and is shown, as it was typed."""
        words = {word for start in self.growths for word in start.arguments[1:2]}
        return {word for word in words if word in self.now and not word.isdigit()}

    def _thing_called(self, name: str) -> str:
        """The thing of this name, or the one in the only line that begins with this number; empty for none."""
        if name in self._things():
            return name
        lines = [line for line in self.now.splitlines() if (found := _NUMBERED.match(line)) and found[1] == name]
        things = [thing for thing in self._things() if lines and thing in lines[0]]
        return things[0] if len(lines) == len(things) == 1 else ""
