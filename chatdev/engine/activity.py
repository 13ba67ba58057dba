"""Activities: the one way to the outside. Every model call and every tool call is one (design §5).

`Activities.perform` gives the result that is on record, or performs the call and journals it. A result is one tagged
value with one codec for the JSON in which the journal holds it. `Record` is what a journal has of the activities of a
run, and what to do where the run goes another way now.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

from chatdev.errors import JournalError, MissingProgram, RecordEnds, RunChanged, ToolCrashed, ToolError
from chatdev.events import Place
from chatdev.journal import Journal
from chatdev.llm.base import Reply, ToolCall, Usage
from chatdev.plain_values import fields_of, is_amount
from chatdev.safe_text import scrub_values

T = TypeVar("T")

HALTS: ContextVar[tuple[Halt, ...]] = ContextVar("halts", default=())
"""Flags of the parallel steps around the running code; a raised one stops it before its next activity."""


class Halted(Exception):
    """A sibling branch failed; this branch stops before its next activity."""


@dataclass(slots=True)
class Halt:
    """Shared flag of `branches` parallel branches: the first that fails sets `raised`, and its siblings stop."""

    raised: bool = False
    branches: int = 1


def refuse_halted() -> None:
    """Raise Halted where a sibling of the running branch has failed."""
    if any(halt.raised for halt in HALTS.get()):
        raise Halted


def branches_at_work() -> int:
    """How many parallel branches are at work where the running code is one; 1 outside of parallel steps."""
    return math.prod(halt.branches for halt in HALTS.get())


def digest(value: Any) -> str:
    """A short fingerprint of plain JSON values."""
    return hashlib.sha256(_canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:24]


_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str).encode


class Performed(NamedTuple):
    """Outcome of an activity, and whether it came from the journal."""

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
        refuse_halted()
        fingerprint = digest(request)
        known = await self._record.find(place, fingerprint, request)
        if known is not None:
            return Performed(known, replayed=True)
        self._before_live()
        result = scrub_values(result_to_json(self._record.mark_repeated(place, fingerprint, await call())))
        self.journal.append("Activity", place, {"digest": fingerprint, "request": request, "result": result})
        await self.journal.sync()
        return Performed(result_from_json(result), replayed=False)


Differing = Literal["refuse", "perform", "ignore"]
"""How to treat a request that differs from the recorded one: as an error, as a new call, or as equal."""

_VARYING = re.compile(r"chatdev-\w+|0x[0-9a-fA-F]+|\d+")
"""Parts of a text that vary between runs: temporary folders, addresses, numbers."""
_OF_THE_MODEL = ("sampling", "constraint")
"""Fields of a request that depend on the model."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished activity: the digest of its request, the request, and the result."""

    digest: str
    request: Mapping[str, Any]
    result: ActivityResult


class Record:
    """Finished activities by place.

    `complete`: nothing may be performed that is not on record (replays). `changed`: the company is another one now, so
    that a new activity before the record's end is a difference too. `any_model`: the user chose another model, so that
    what depends on it may differ. `speed`: give results after the time that they took, divided by this; None: at once.
    `failed`: activities that ended an earlier session and are tried again.
    """

    def __init__(self, finished: Mapping[str, Finished], differing: Differing = "refuse", *, complete: bool = False,
                 changed: bool = False, any_model: bool = False, speed: float | None = None,
                 failed: Mapping[str, Finished] = MappingProxyType({})) -> None:
        self._finished = finished
        self._failed = failed
        self._left = dict.fromkeys(finished)
        self._differing = differing
        self._complete = complete
        self._changed = changed
        self._any_model = any_model
        self._speed = speed
        self.found = 0
        """Activities whose results were given."""
        self.differences = 0
        """Those among them that were not as recorded."""

    async def find(self, place: str, digest: str, request: Mapping[str, Any]) -> ActivityResult | None:
        """The result on record, or None when the activity must be performed. Raises RunChanged when it differs and
        that is refused, RecordEnds when there is none in a replay."""
        known = self._finished.get(place)
        self._left.pop(place, None)
        if known is None:
            self._refuse_unknown(place, request)
            return None
        if known.digest != digest and not self._differs_by_model_only(known.request, request):
            if self._differing == "refuse":
                raise RunChanged(place, known.request, request)
            if self._differing == "perform":
                return None
            self.differences += 1
        self.found += 1
        if self._speed:
            await asyncio.sleep(getattr(known.result, "seconds", 0.0) / self._speed)
        return known.result

    def mark_repeated(self, place: str, digest: str, result: ActivityResult) -> ActivityResult:
        """The result of a new call; a tool that fails as it did when it ended an earlier session has its result."""
        before = self._failed.get(place)
        if isinstance(result, ToolFailed) and before and before.digest == digest \
                and isinstance(before.result, ToolFailed) and result.is_like(before.result):
            return replace(result, repeated=True)
        return result

    def end(self) -> None:
        """The chain is done. Raises RunChanged when the company is another one now and does not come to an activity
        that is on record, where that is refused."""
        if self._changed and self._left and self._differing == "refuse":
            place = next(iter(self._left))
            raise RunChanged(place, self._finished[place].request, {},
                             f"{place} was in the run, and the company does not come to it any more")

    def _differs_by_model_only(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
        return self._any_model and _without_model(before) == _without_model(now)

    def _refuse_unknown(self, place: str, request: Mapping[str, Any]) -> None:
        later = next((left for left in self._left if not Place(place).in_other_branch(left)), None)
        if self._changed and later and self._differing == "refuse":
            raise RunChanged(place, {}, request, f"{place} was not in the run before, and {later} was: the company has "
                                                 "changed")
        if self._complete:
            raise RecordEnds(f"the record ends here: nothing is written of {place}")


def _without_model(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name not in _OF_THE_MODEL}


@dataclass(frozen=True, slots=True)
class Replied:
    """A model's reply and the seconds it took."""

    reply: Reply
    seconds: float


@dataclass(frozen=True, slots=True)
class ContextOverflowed:
    """The request was longer than the model's context; the same one is never sent again."""

    problem: str


@dataclass(frozen=True, slots=True)
class PhaseBudgetReached:
    """The call did not fit the budget of the phase and was not made."""

    problem: str


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool's result as plain JSON values and the seconds it took."""

    value: Any
    seconds: float


@dataclass(frozen=True, slots=True)
class ToolFailed:
    """A tool could not do its work; `lacking`: because a program is not installed; `crashed`: because of a mistake in
    the tool itself; `repeated`: as before, when that had ended a session, so that it is its result now."""

    problem: str
    lacking: bool
    seconds: float
    crashed: bool = False
    repeated: bool = False

    def is_like(self, other: ToolFailed) -> bool:
        """Whether both problems read the same apart from numbers and temporary folders; a missing program never counts,
        since the user can install it."""
        return not self.lacking and _VARYING.sub("", self.problem) == _VARYING.sub("", other.problem)

    @property
    def error(self) -> ToolError:
        """The error that the tool raised."""
        kind = MissingProgram if self.lacking else ToolCrashed if self.crashed else ToolError
        error = kind(self.problem)
        error.repeated = self.repeated
        return error


ActivityResult = Replied | ContextOverflowed | PhaseBudgetReached | ToolReturned | ToolFailed


def result_to_json(result: ActivityResult) -> dict[str, Any]:
    """The result as the journal holds it; the tag is the key that only its kind has."""
    match result:
        case Replied(reply, seconds):
            return {**fields_of(reply), "tool_calls": [fields_of(call) for call in reply.tool_calls],
                    "usage": reply.usage.to_json(), "seconds": seconds}
        case ContextOverflowed(problem):
            return {"overflow": problem}
        case PhaseBudgetReached(problem):
            return {"spent": problem}
        case ToolReturned(value, seconds):
            return {"value": value, "seconds": seconds}
        case ToolFailed(problem, lacking, seconds, crashed, repeated):
            return {"error": problem, "lacking": lacking, "seconds": seconds, **({"crashed": True} if crashed else {}),
                    **({"repeated": True} if repeated else {})}


def result_from_json(data: Mapping[str, Any]) -> ActivityResult:
    """The result that `result_to_json` wrote. Raises JournalError for anything else."""
    try:
        return _decode(data)
    except (AttributeError, KeyError, TypeError) as error:
        raise JournalError(f"the result of an activity lacks what belongs to it ({error!r}); the journal is "
                           "damaged") from error


def _decode(data: Mapping[str, Any]) -> ActivityResult:
    if "overflow" in data:
        return ContextOverflowed(_of(str, data["overflow"]))
    if "spent" in data:
        return PhaseBudgetReached(_of(str, data["spent"]))
    if "error" in data:
        lacking, crashed = _of(bool, data["lacking"]), _of(bool, data.get("crashed", False))
        repeated = _of(bool, data.get("repeated", False))
        return ToolFailed(_of(str, data["error"]), lacking, _amount(data["seconds"]), crashed, repeated)
    if "value" in data:
        return ToolReturned(data["value"], _amount(data["seconds"]))
    calls = tuple(ToolCall(**{name: _of(str, text) for name, text in call.items()}) for call in data["tool_calls"])
    counts = {name: _of(bool, count) if name == "estimated" else _amount(count)
              for name, count in data["usage"].items()}
    reply = Reply(_of(str, data["text"]), calls, Usage(**counts), _of(str, data["finish"]), _of(str, data["model"]),
                  _amount(data["retries"]))
    return Replied(reply, _amount(data["seconds"]))


def _of(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.80} is no {kind.__name__}")
    return value


def _amount(value: Any) -> Any:
    if not (is_amount(value) and value >= 0):
        raise TypeError(f"{value!r:.80} is no amount")
    return value
