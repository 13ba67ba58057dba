"""What can go wrong with one attempt, and what it means for the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chatdev.errors import ContextOverflow, ModelError, ModelRejected

_SHOWN = 300
_OVERFLOW = ("context_length_exceeded", "exceed_context_size", "context length", "context size", "context window",
             "too many tokens", "prompt is too long", "maximum context")


class Transient(Exception):
    """Worth another attempt; `retry_after` is what the server asked to wait, in seconds."""

    def __init__(self, text: str, retry_after: float | None = None) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class Unusable(Transient):
    """A reply came, but there is nothing to use in it."""


class Refused(Unusable):
    """The model refuses to answer."""


def rejection(status: int, body: Any, text: str, model: str, url: str) -> ModelError:
    """The error of a status that no retry mends, with what to do about it."""
    said = _message(body, text)
    if status == 413 or any(sign in f"{_code(body)} {said}".lower() for sign in _OVERFLOW):
        return ContextOverflow(f"the request does not fit the model's context window: {said}")
    if status in (401, 403):
        return ModelRejected(f"the server at {url} refuses the key ({status}: {said}); check OPENAI_API_KEY")
    if status == 404:
        return ModelRejected(f"the server at {url} knows no model {model!r} ({said}); check --model and --base-url")
    if status == 429:
        return ModelRejected(f"the quota of this key is used up ({said}); check the plan and billing of {url}")
    return ModelRejected(f"the server at {url} refuses the request ({status}: {said})")


def is_quota(body: Any) -> bool:
    """Whether a 429 means that no waiting will help."""
    return _code(body) in ("insufficient_quota", "billing_hard_limit_reached")


def _error(body: Any) -> Mapping[str, Any]:
    inner = body.get("error", body) if isinstance(body, Mapping) else {}
    return inner if isinstance(inner, Mapping) else {"message": inner}


def _code(body: Any) -> str:
    error = _error(body)
    return str(error.get("code") or error.get("type") or "")


def _message(body: Any, text: str) -> str:
    return " ".join(str(_error(body).get("message") or text).split())[:_SHOWN]
