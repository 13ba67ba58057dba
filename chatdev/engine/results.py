"""What an activity gave: one tagged value, with one codec for the JSON in which the journal holds it (design §5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from chatdev.errors import JournalError
from chatdev.llm.base import Reply, ToolCall, Usage


@dataclass(frozen=True, slots=True)
class Replied:
    """A model has replied, after so many seconds."""

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
    """A tool has returned plain JSON values, after so many seconds."""

    value: Any
    seconds: float


@dataclass(frozen=True, slots=True)
class ToolFailed:
    """A tool could not do its work; `lacking`: because a program is not installed."""

    problem: str
    lacking: bool
    seconds: float


ActivityResult = Replied | ContextOverflowed | PhaseBudgetReached | ToolReturned | ToolFailed


def result_to_json(result: ActivityResult) -> dict[str, Any]:
    """The result as the journal holds it; the tag is the key that only its kind has."""
    match result:
        case Replied(reply, seconds):
            return {**asdict(reply), "seconds": seconds}
        case ContextOverflowed(problem):
            return {"overflow": problem}
        case PhaseBudgetReached(problem):
            return {"spent": problem}
        case ToolReturned(value, seconds):
            return {"value": value, "seconds": seconds}
        case ToolFailed(problem, lacking, seconds):
            return {"error": problem, "lacking": lacking, "seconds": seconds}


def result_from_json(data: Mapping[str, Any]) -> ActivityResult:
    """The result that `result_to_json` wrote. Raises JournalError for anything else."""
    try:
        return _decode(data)
    except (KeyError, TypeError) as error:
        raise JournalError(f"the result of an activity lacks what belongs to it ({error!r}); the journal is "
                           "damaged") from error


def _decode(data: Mapping[str, Any]) -> ActivityResult:
    if "overflow" in data:
        return ContextOverflowed(data["overflow"])
    if "spent" in data:
        return PhaseBudgetReached(data["spent"])
    if "error" in data:
        return ToolFailed(data["error"], data["lacking"], data["seconds"])
    if "value" in data:
        return ToolReturned(data["value"], data["seconds"])
    calls = tuple(ToolCall(**call) for call in data["tool_calls"])
    reply = Reply(data["text"], calls, Usage(**data["usage"]), data["finish"], data["model"], data["retries"])
    return Replied(reply, data["seconds"])
