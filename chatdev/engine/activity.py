"""The one way to the outside: every model call and every tool call is an activity (design §5)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple

from chatdev.engine.record import Record
from chatdev.engine.results import ActivityResult, result_from_json, result_to_json
from chatdev.journal import Journal
from chatdev.secrets import scrubbed_values

HALTS: ContextVar[tuple[Halt, ...]] = ContextVar("halts", default=())
"""Flags of the parallel steps around the running code; a raised one stops it before its next activity."""


class Halted(Exception):
    """A sibling branch failed; this branch stops before its next activity."""


@dataclass(slots=True)
class Halt:
    """Raised by a failing branch, seen by its siblings."""

    raised: bool = False


def digest(value: Any) -> str:
    """A short fingerprint of plain JSON values."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


class Performed(NamedTuple):
    """What an activity gave, and whether the journal already had it."""

    result: ActivityResult
    replayed: bool


class Activities:
    """Performs activities and journals them; one that is already on record is not performed again."""

    def __init__(self, journal: Journal, record: Record | None = None,
                 before_live: Callable[[], None] = lambda: None) -> None:
        self.journal = journal
        self._record = record or Record({})
        self._before_live = before_live

    async def perform(self, place: str, request: Mapping[str, Any],
                      call: Callable[[], Awaitable[ActivityResult]]) -> Performed:
        """The result of the activity at `place`: from the record when it finished there before, else by `call`, which
        is then journaled and on the disk before this returns. `before_live` is called before every `call`. Raises
        RunChanged and RecordEnds as `Record.find` does.

        A secret that comes back from outside is replaced here, before anybody reads it: so a replay, which knows no
        secrets, goes the same way as the run, and requests made of results have the same fingerprint."""
        if any(halt.raised for halt in HALTS.get()):
            raise Halted
        fingerprint = digest(request)
        known = await self._record.find(place, fingerprint, request)
        if known is not None:
            return Performed(known, replayed=True)
        self._before_live()
        result = scrubbed_values(result_to_json(await call()))
        self.journal.append("Activity", place, {"digest": fingerprint, "request": request, "result": result})
        await self.journal.sync()
        return Performed(result_from_json(result), replayed=False)
