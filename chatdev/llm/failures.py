"""What can go wrong with one attempt, and what it means for the next."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chatdev.errors import ContextOverflow, ModelRejected
from chatdev.llm.base import Usage

SHOWN = 300  # characters of what a server says
_OVERFLOW = ("context_length_exceeded", "exceed_context_size", "context length", "context size", "context window",
             "too many tokens", "prompt is too long", "maximum context")
_NO_TOOLS = re.compile(r"\btools?\b.*\bsupport|support.*\btools?\b|tool[ _]choice|function calling", re.DOTALL)
_MAY_PASS = (408, 409, 425, 429)
_QUOTA = ("insufficient_quota", "billing_hard_limit_reached")


class Transient(Exception):
    """Worth another attempt; `retry_after` is what the server asked to wait, in seconds."""

    def __init__(self, text: str, retry_after: float | None = None) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class Unusable(Transient):
    """A reply came, but there is nothing to use in it. It is paid for all the same: `usage`, where it is known."""

    usage = Usage()


class Refused(Unusable):
    """The model refuses to answer."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """An error as a server reports it: by status, inside a reply, or in the middle of a stream.

    `body` is its JSON, `text` what it says (without secrets, whole).
    """

    status: int
    body: Any
    text: str
    retry_after: float | None = None

    @property
    def kinds(self) -> tuple[str, str]:
        """The machine-readable kind; servers put it into one field or the other."""
        error = _error(self.body)
        return str(error.get("code") or ""), str(error.get("type") or "")

    @property
    def shown(self) -> str:
        """What the server says, as long as a person reads it."""
        return self.text[:SHOWN]

    def failure(self, model: str, url: str, *, tools: bool) -> Exception:
        """What it means: Transient, or the error of a request that no retry mends, with what to do about it.

        `tools` says that the request offered native tools.
        """
        if self._too_long():
            return ContextOverflow(f"the request does not fit the model's context window: {self.shown}")
        if any(kind in _QUOTA for kind in self.kinds):
            return ModelRejected(f"the quota of this key is used up ({self.shown}); check the plan and billing of "
                                 f"{url}")
        if self.status in _MAY_PASS or self.status >= 500:
            return Transient(f"status {self.status}: {self.shown}", self.retry_after)
        if self.status in (401, 403):
            return ModelRejected(f"the server at {url} refuses the key ({self.status}: {self.shown}); check "
                                 "OPENAI_API_KEY")
        if tools and _NO_TOOLS.search(self.text.lower()):
            return ModelRejected(f"the model {model!r} takes no native tool calls ({self.shown}); set `native_tools: "
                                 "false` in its profile under `models` in the settings file")
        if self.status == 404:
            return ModelRejected(f"the server at {url} knows no model {model!r} ({self.shown}); check --model and "
                                 "--base-url")
        return ModelRejected(f"the server at {url} refuses the request ({self.status}: {self.shown})")

    def _too_long(self) -> bool:
        signs = " ".join((*self.kinds, self.text)).lower()
        # "too many tokens" with 429 means per minute
        return self.status == 413 or (self.status != 429 and any(sign in signs for sign in _OVERFLOW))


def said(body: Any, otherwise: str) -> str:
    """The message in an error's JSON, in one line."""
    return " ".join(str(_error(body).get("message") or otherwise).split())


def status_in(body: Any) -> int:
    """The status that an error inside a reply or stream carries; 500 when it carries none."""
    code = str(_error(body).get("code"))
    return int(code) if re.fullmatch(r"[45]\d\d", code) else 500


def _error(body: Any) -> Mapping[str, Any]:
    inner = body.get("error", body) if isinstance(body, Mapping) else {}
    return inner if isinstance(inner, Mapping) else {"message": inner}
