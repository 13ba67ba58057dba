"""Failures of one attempt to get a reply: their meaning, the lessons for later calls, and the wait before the next
attempt (tenacity).

Parameters that a model does not take are learned from its first complaint and left out of all later calls
(`Adaptations`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_exponential_jitter

from chatdev.errors import ContextOverflow, ModelRejected, UnusableReply

SHOWN = 300  # characters of what a server says
_SEARCHED = 4000  # characters of it in which two words are looked for at any distance
LARGEST_ANSWER = 8 << 20
"""Bytes of an answer, or of one event of a stream: 128,000 tokens of 64 bytes each."""
_OVERFLOW = ("context_length_exceeded", "exceed_context_size", "context length", "context size", "context window",
             "too many tokens", "prompt is too long", "maximum context")
_PICTURES = re.compile(r"image|picture|vision|multi-?modal|content\W.{0,20}must be a string")
_NO_PICTURES = re.compile(r"image input is not supported|mmproj|image input.{0,40}missing|missing.{0,40}image input")
_NO_TOOLS = re.compile(r"\btools?\b.*\bsupport|support.*\btools?\b|tool[ _]choice|function calling", re.DOTALL)
_MAY_PASS = (408, 409, 425, 429)
_QUOTA = ("insufficient_quota", "billing_hard_limit_reached")
ATTEMPTS = 6
UNUSABLE_ATTEMPTS = 3
LONGEST_WAIT = 60.0  # seconds; a server that asks for more is asked again after this
Sleep = Callable[[float], Awaitable[None]]
_backoff = wait_exponential_jitter(multiplier=0.5, max=20, jitter=0.5)
# A reply is as good without these, so whatever is wrong with them they are left out.
_HINTS = {"stream_options": ("stream_options",), "stream": ("stream", "streaming"),
          "response_format": ("response_format", "json_schema", "json schema"),
          "grammar": ("grammar",), "seed": ("seed",)}
# These shape the reply: they are left out where the model has no such parameter, but a wrong value is reported.
_SETTINGS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort")
_HAS_NONE = re.compile(r"unsupported|not support|unrecognized|unknown|unexpected|extra (inputs|fields)|not allowed|"
                       r"not permitted|deprecated|only the default|(for|with) this model")
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


class Transient(Exception):
    """Worth another attempt; `retry_after` is what the server asked to wait, in seconds."""

    def __init__(self, text: str, retry_after: float | None = None) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class Unusable(Transient):
    """A reply came, but there is nothing to use in it. It is paid for all the same."""


class Refused(Unusable):
    """The model refuses to answer."""


def too_large(whose: str) -> UnusableReply:
    """The error of an answer over the limit; it is not asked for again."""
    return UnusableReply(f"{whose} is larger than {LARGEST_ANSWER >> 20} MB, which no reply of a model is; nothing of "
                         "it is used. Check what answers at this address")


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
    def shown_text(self) -> str:
        """Message of the server, cut to a readable length."""
        return self.text[:SHOWN]

    def failure(self, model: str, url: str, *, tools: bool, pictures_for: str | None = None,
                key: str = "OPENAI_API_KEY") -> Exception:
        """Meaning of a failure: Transient, or the error of a request that no retry helps, with the fix.

        `tools` says that the request offered native tools, `pictures_for` to which role it showed pictures, `key` which
        variable holds the key.
        """
        if self._too_long():
            return ContextOverflow(f"the request does not fit the model's context window: {self.shown_text}")
        if any(kind in _QUOTA for kind in self.kinds):
            return ModelRejected(f"the quota of this key is used up ({self.shown_text}); check the plan and billing of "
                                 f"{url}")
        if self._is_about_pictures(model, pictures_for):
            return ModelRejected(f"the model {model!r} takes no such picture ({self.shown_text}); give the role that "
                                 f"looks at it a model that does: --set roles.{pictures_for}.model.name=MODEL; or "
                                 "leave the picture out and describe it in words")
        if self.status in _MAY_PASS or self.status >= 500:
            return Transient(f"status {self.status}: {self.shown_text}", self.retry_after)
        if tools and self.status not in (401, 403) and _NO_TOOLS.search(self.text[:_SEARCHED].lower()):
            return ModelRejected(f"the model {model!r} takes no native tool calls ({self.shown_text}); set "
                                 "`native_tools: false` in its profile under `models` in the settings file")
        return ModelRejected(f"the server at {url} {self._what_is_refused(model, key)}")

    def _what_is_refused(self, model: str, key: str) -> str:
        if self.status in (401, 403):
            return f"refuses the key ({self.status}: {self.shown_text}); check {key}"
        if self.status == 404:
            return f"knows no model {model!r} ({self.shown_text}); check --model and --base-url"
        return f"refuses the request ({self.status}: {self.shown_text})"

    def _too_long(self) -> bool:
        signs = " ".join((*self.kinds, self.text)).lower()
        # "too many tokens" with 429 means per minute
        return self.status == 413 or (self.status != 429 and any(sign in signs for sign in _OVERFLOW))

    def _is_about_pictures(self, model: str, pictures_for: str | None) -> bool:
        """Whether the server rejects the pictures of a request (llama.cpp with 500, routers with 404)."""
        if pictures_for is None or self.status in (*_MAY_PASS, 401, 403):
            return False
        signs = _NO_PICTURES if self.status >= 500 else _PICTURES
        named = rf"(?<!\w){re.escape(model)}(?!\w)"  # a name may say vision of a model that is only not there
        return bool(signs.search(re.sub(named, "", self.text[:_SEARCHED], flags=re.IGNORECASE).lower()))


def error_message(body: Any, otherwise: str) -> str:
    """The message in an error's JSON, in one line."""
    return " ".join(str(_error(body).get("message") or otherwise).split())


def status_of(body: Any) -> int:
    """The status that an error inside a reply or stream carries; 500 when it carries none."""
    code = str(_error(body).get("code"))
    return int(code) if re.fullmatch(r"[45]\d\d", code) else 500


def _error(body: Any) -> Mapping[str, Any]:
    inner = body.get("error", body) if isinstance(body, Mapping) else {}
    return inner if isinstance(inner, Mapping) else {"message": inner}


def retry_attempts(sleep: Sleep) -> AsyncRetrying:
    """Attempts of one call: six at most, of which three may bring an unusable reply."""
    return AsyncRetrying(retry=retry_if_exception_type(Transient), stop=_Stop(), wait=_wait, sleep=sleep, reraise=True)


class _Stop:
    """Counts the unusable replies of a call by themselves: they are paid for, an outage is not."""

    def __init__(self) -> None:
        self._unusable = 0

    def __call__(self, state: RetryCallState) -> bool:
        self._unusable += isinstance(_failure_of(state), Unusable)
        return self._unusable >= UNUSABLE_ATTEMPTS or state.attempt_number >= ATTEMPTS


def _failure_of(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _wait(state: RetryCallState) -> float:
    failure = _failure_of(state)
    asked = failure.retry_after if isinstance(failure, Transient) else None
    return _backoff(state) if asked is None else min(asked, LONGEST_WAIT)


def retry_after_seconds(retry_after: str | None) -> float | None:
    """The wait in a `Retry-After` header: seconds or an HTTP date; None when it is absent or unreadable."""
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


class Adaptations:
    """Parameters that one endpoint's models refuse, by model name."""

    def __init__(self) -> None:
        self._refused: dict[str, dict[str, str | None]] = {}

    def apply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body without what its model refuses, renamed where there is another name."""
        adapted = dict(body)
        for name, other in self._refused.get(str(body.get("model")), {}).items():
            if name in adapted:
                value = adapted.pop(name)
                if other:
                    adapted[other] = value
        return adapted

    def learn(self, body: Mapping[str, Any], complaint: Any) -> bool:
        """Learn from the error that `body` met; True when the next attempt will differ."""
        name = _parameter_in(body, complaint)
        if name is None:
            return False
        refused = self._refused.setdefault(str(body.get("model")), {})
        if name not in refused:  # else a request under way beside this one met the same, and was answered first
            other = _OTHER_NAME.get(name)
            refused[name] = other if other not in refused else None
        return True


def _parameter_in(body: Mapping[str, Any], complaint: Any) -> str | None:
    """The parameter of `body` that a complaint is about."""
    param = _param(complaint)
    text = (complaint if isinstance(complaint, str) else json.dumps(complaint, default=str)).lower()
    for name, signs in _HINTS.items():
        if name in body and (param == name or _mentions(text, signs)):
            return name
    if not _HAS_NONE.search(text):
        return None
    return _setting_in([name for name in _SETTINGS if name in body], param, text)


def _setting_in(settings: Sequence[str], param: str, text: str) -> str | None:
    return param if param in settings else next((name for name in settings if _mentions(text, (name,))), None)


def _param(complaint: Any) -> str:
    """What an error names as its `param`, without the path in it."""
    error = complaint.get("error", complaint) if isinstance(complaint, Mapping) else {}
    param = error.get("param") if isinstance(error, Mapping) else ""
    return re.split(r"[.\[]", str(param or ""))[0]


def _mentions(text: str, names: tuple[str, ...]) -> bool:
    return any(re.search(rf"\b{name}\b", text) for name in names)
