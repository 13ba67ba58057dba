"""A likely example: what may come in, and where in the request what comes out has to stand.

Only what comes in was read. The program is started with it, and what it prints is looked for in the request
(`whole.py`), so that an uncertain reading may speak for a program and never against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from chatdev.departments.software.cases.case import Case, Start
from chatdev.departments.software.cases.places import Place, hide, shows_output
from chatdev.departments.software.cases.whole import stands_whole


@dataclass(frozen=True, slots=True)
class LikelyStart:
    """A start that a request seems to show; `place` is where its command or input stands, None where that says nothing
    of where its output does."""

    arguments: tuple[str, ...] = ()
    stdin: str | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class LikelyExample:
    """Starts of one program, one after another, and the files that lie beside it. `inputs` is where all that comes in
    stands, `window` where what comes out has to. Of several examples those of the lowest `rank` say most; one that is
    `shown` has the form of an example, whatever comes out."""

    rank: int
    starts: tuple[LikelyStart, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Place, ...] = ()
    window: Place | None = None
    shown: bool = True
    dialogue: str = ""
    """What a terminal shows of it, with the answers that are typed."""
    part_of: int = 0
    """How many of the examples before it bring a text of which this one brings a part."""

    @property
    def has_input(self) -> bool:
        """Whether anything comes in."""
        return bool(self.files) or any(start.arguments or start.stdin for start in self.starts)

    @property
    def case(self) -> Case:
        """What is done in it, as a case of which nobody says what comes of it."""
        return Case("request", tuple(Start(start.arguments, start.stdin) for start in self.starts), self.files)

    def is_all(self, held: int) -> bool:
        """Whether so many starts that hold are all that the request shows there."""
        return held == len(self.starts) + self.part_of

    def count_held(self, outputs: Sequence[str | None], request: str, command: str) -> int:
        """How many of the outputs stand whole in the request: each before the next start, where there are several. Of
        these, one that prints nothing beside one that does holds, too, where nothing is shown for it."""
        text = hide(request, self.inputs)
        held = sum(bool(output) and stands_whole(output or "", text, self._window(start, text), command)
                   for start, output in zip(self.starts, outputs, strict=True))
        silent = [start for start, output in zip(self.starts, outputs, strict=True) if output == "" and held]
        return held + sum(self._shows_nothing(start, request) for start in silent)

    def _shows_nothing(self, start: LikelyStart, request: str) -> bool:
        """Whether nothing that has the form of an output stands next to the command of a start."""
        return start.place is not None and not shows_output(request, start.place, self._window(start, request)[1])

    def _window(self, start: LikelyStart, text: str) -> Place:
        """Where the output of a start has to begin: of several ones behind its own place and before the next."""
        if len(self.starts) < 2 or not start.place:
            return self.window or (0, len(text))
        after = [other.place[0] for other in self.starts if other.place and other.place > start.place]
        return start.place[1], min(after, default=len(text))


def best_of(held: Iterable[tuple[LikelyExample, int]]) -> tuple[int, int]:
    """How many starts hold, of how many: of the surest example of which any does, and there of the one of which most
    do. Where a part of a text holds and the whole does not, that is not all."""
    found = [(example.rank, -count, len(example.starts) + example.part_of) for example, count in held if count]
    if not found:
        return 0, 1
    _, count, there = min(found)
    return -count, there
