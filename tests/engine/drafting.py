"""What tests of drafts share: deliveries of known worth, and how drafts are found in a run."""

from __future__ import annotations

from typing import Any

from chatdev import Run
from chatdev.events import DraftJudged
from tests.engine.studio import WRITE, Studio, program

TURN = "write#1/round-1/assistant"
ALONE = {**WRITE, "instructor": None, "feedback": "software.complete", "drafts": 4, "rounds": 1,
         "model": {"temperature": 0.2}}


def stubs(count: int, version: int = 0) -> str:
    """A delivery with so many functions that have no body yet."""
    return program("\n\n".join([f"VERSION = {version}", *(f"def f{n}():\n    pass" for n in range(count))]))


def judged(studio: Studio, place: str = "write") -> list[DraftJudged]:
    """What was told of the drafts of a phase."""
    return [event for event in studio.events if isinstance(event, DraftJudged) and event.place.startswith(place)]


def replies(*texts: Any, turn: str = TURN) -> dict[str, Any]:
    """The drafts of a turn by place."""
    return {turn if number == 1 else f"{turn}/draft-{number}": text for number, text in enumerate(texts, start=1)}


def version(run: Run) -> str:
    """The line by which a program says which draft it is."""
    return run.software.text("main.py").splitlines()[0]
