"""What a listener hears of a reply while it is being written."""

from __future__ import annotations

from dataclasses import dataclass, field

from chatdev.engine.context import RunContext
from chatdev.events import TextStreamed


@dataclass(slots=True)
class Streamed:
    """Tells the pieces of the reply at `place`, and when they are void because it is written once more."""

    context: RunContext
    place: str
    _heard: bool = field(default=False)

    def add(self, piece: str) -> None:
        """Tell the next piece."""
        self._heard = True
        self.context.emit(TextStreamed(self.place, piece))

    def begin(self) -> None:
        """The reply begins."""
        if self._heard:
            self._heard = False
            self.context.emit(TextStreamed(self.place, "", again=True))
