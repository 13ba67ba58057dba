"""Failures of one attempt to get a reply: their meaning, and the wait before the next attempt (tenacity); and limits of
a server's answer: a maximum of bytes, gzip or no compression, no redirect to another address."""

from __future__ import annotations

import re
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
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
_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|context (length|size|window|limit)|context shift is disabled|"
    r"too many tokens|(prompt|input|request)( length)?( is)? too (long|large)|input token length too long|"
    r"maximum (context|prompt length)|prompt exceeds|range of input length|reduce the length of|"
    r"(input|prompt) token count.{0,40}exceeds|exceeded model token limit|inputs. tokens \+ .max_new_tokens")
_TEMPLATE = re.compile(
    r"roles? must alternate|alternate between user|roles are supported|unexpected role|expected last role|"
    r"system role (is )?not supported|does(n't| not) support .{0,3}system|developer instruction is not enabled|"
    r"system messages? (must be|should be|is not|are not|not )|no user query found|assistant messages at the end|"
    r"(jinja|chat) template")
_PICTURES = re.compile(r"image|picture|vision|multi-?modal|content\W.{0,20}must be a string")
_NO_PICTURES = re.compile(r"image input is not supported|mmproj|image input.{0,40}missing|missing.{0,40}image input")
_NO_TOOLS = re.compile(r"\btools?\b.*\bsupport|support.*\btools?\b|tool[ _]choice|function calling", re.DOTALL)
_MAY_PASS = (408, 409, 425, 429)
_QUOTA = ("insufficient_quota", "billing_hard_limit_reached")
ATTEMPTS = 6
LONGEST_WAIT = 60.0  # seconds; a server that asks for more is asked again after this
Sleep = Callable[[float], Awaitable[None]]
_backoff = wait_exponential_jitter(multiplier=0.5, max=20, jitter=0.5)


class Transient(Exception):
    """Worth another attempt; `retry_after` is what the server asked to wait, in seconds."""

    def __init__(self, text: str, retry_after: float | None = None) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class Paid(Transient):
    """The attempt is paid for. `tries`: the paid attempts of a call after which there is none when it fails so."""

    tries = 3


class Broken(Paid):
    """A part of a reply came, and not its end."""


class Unusable(Paid):
    """A reply came, but there is nothing to use in it."""


class Refused(Unusable):
    """The model refuses to answer, as it will once more."""

    tries = 2


class NoAnswer(Unusable):
    """The model came to no answer: it thought to the end. `limit`: the tokens after which it was cut; None where it was
    not."""

    tries = 2

    def __init__(self, text: str, limit: int | None = None) -> None:
        super().__init__(text)
        self.limit = limit


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
        if self._may_pass:
            return Transient(f"status {self.status}: {self.shown_text}", self.retry_after)
        if tools and self._is_about_tools:
            return ModelRejected(f"the model {model!r} takes no native tool calls ({self.shown_text}); set "
                                 "`native_tools: false` in its profile under `models` in the settings file")
        return ModelRejected(f"the server at {url} {self._what_is_refused(model, key)}")

    @property
    def _may_pass(self) -> bool:
        return self.status in _MAY_PASS or (self.status >= 500 and not self.is_about_template)

    @property
    def _is_about_tools(self) -> bool:
        is_other = self.is_about_template or self.status in (401, 403)
        return not is_other and bool(_NO_TOOLS.search(self.text[:_SEARCHED].lower()))

    @property
    def is_about_template(self) -> bool:
        """Whether the chat template of the model refuses the messages; some servers report it with 500."""
        return self.status not in (*_MAY_PASS, 401, 403) and bool(_TEMPLATE.search(self.text[:_SEARCHED].lower()))

    def _what_is_refused(self, model: str, key: str) -> str:
        if self.status in (401, 403):
            return f"refuses the key ({self.status}: {self.shown_text}); check {key}"
        if self.status == 404:
            return f"knows no model {model!r} ({self.shown_text}); check --model and --base-url"
        if self.is_about_template:
            return (f"has a chat template of the model {model!r} that does not take these messages, not even without a "
                    f"system message ({self.status}: {self.shown_text}); give it another template (llama.cpp, vLLM: "
                    "--chat-template) or take another model")
        return f"refuses the request ({self.status}: {self.shown_text})"

    def _too_long(self) -> bool:
        signs = " ".join((*self.kinds, self.text))[:_SEARCHED].lower()
        # "too many tokens" with 429 means per minute
        return self.status == 413 or (self.status != 429 and bool(_OVERFLOW.search(signs)))

    def _is_about_pictures(self, model: str, pictures_for: str | None) -> bool:
        """Whether the server rejects the pictures of a request (llama.cpp with 500, routers with 404)."""
        if pictures_for is None or self.status in (*_MAY_PASS, 401, 403):
            return False
        signs = _NO_PICTURES if self.status >= 500 else _PICTURES
        named = rf"(?<!\w){re.escape(model)}(?!\w)"  # a name may say vision of a model that is only not there
        return bool(signs.search(re.sub(named, "", self.text[:_SEARCHED], flags=re.IGNORECASE).lower()))


def error_message(body: Any, otherwise: str) -> str:
    """The message in an error's JSON, in one line. A gateway's own words are followed by those of the server behind
    it."""
    error = _error(body)
    said = next((error[name] for name in _MESSAGES if error.get(name)), otherwise)
    if isinstance(said, list):
        said = "; ".join(str(part.get("msg", part)) if isinstance(part, Mapping) else str(part) for part in said)
    about = error.get("metadata")
    behind = about.get("raw") if isinstance(about, Mapping) else None
    return " ".join(f"{said}: {behind}".split()) if behind else " ".join(str(said).split())


def status_of(body: Any) -> int:
    """The status that an error inside a reply or stream carries; 500 when it carries none."""
    error = _error(body)
    codes = (str(error.get(name)) for name in ("code", "status", "status_code"))
    return next((int(code) for code in codes if re.fullmatch(r"[45]\d\d", code)), 500)


def error_in(data: Any) -> Any:
    """The error in what came with status 200; None where there is none. A reply may have one beside half a text."""
    if isinstance(data, list):
        data = next((part for part in data if isinstance(part, Mapping)), None)
    if not isinstance(data, Mapping):
        return None
    if data.get("error"):
        return data["error"]
    if data.get("object") == "error":
        return data
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first.get("error") if isinstance(first, Mapping) else None


_MESSAGES = ("message", "detail", "error", "msg")
_HTML = re.compile(r"\s*<(!doctype|html)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,300})", re.IGNORECASE)


def _error(body: Any) -> Mapping[str, Any]:
    """What is said of an error: by an object, by its field `error`, in a list (Gemini), or by a text alone (LM Studio,
    proxies)."""
    if isinstance(body, list):
        body = next((part for part in body if isinstance(part, Mapping)), None)
    if isinstance(body, str):
        return {"message": describe_page(body) or body}
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error") or body
    return inner if isinstance(inner, Mapping) else {**body, "message": inner}


def describe_page(text: str) -> str:
    """What an HTML page is called; empty where the text is none."""
    if not _HTML.match(text):
        return ""
    title = _TITLE.search(text[:_SEARCHED])
    return f"an HTML page{f', {title[1].strip()!r}' if title else ''}, and no answer of a model"


def retry_attempts(sleep: Sleep) -> AsyncRetrying:
    """Attempts of one call: six at most, fewer where they are paid for."""
    return AsyncRetrying(retry=retry_if_exception_type(Transient), stop=_Stop(), wait=_wait, sleep=sleep, reraise=True)


class _Stop:
    """Counts the paid attempts of a call by themselves: an outage costs nothing."""

    def __init__(self) -> None:
        self._paid = 0

    def __call__(self, state: RetryCallState) -> bool:
        failure = _failure_of(state)
        self._paid += isinstance(failure, Paid)
        return state.attempt_number >= ATTEMPTS or (isinstance(failure, Paid) and self._paid >= failure.tries)


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


# Limits of a model server's answer: a maximum of bytes, gzip or no compression, no redirect to another address.

_LARGEST_STREAM = 32 * LARGEST_ANSWER  # around each token of a stream stand some hundred bytes
_PIECE = 1 << 16
_EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
STREAM = "text/event-stream"
PLAIN = {"Accept-Encoding": "identity"}
"""Headers of a request: answers are short, and what is not packed cannot unpack to a thousand times its size."""


def leads_to(address: str, location: str) -> str | None:
    """The other server that a redirect from `address` leads to; None for the same one."""
    from yarl import URL

    try:
        here, there = URL(address), URL(address).join(URL(location))
        return None if there.origin() == here.origin() else str(there.origin())
    except ValueError:
        return "no address"


def refuse_redirect(address: str, location: str, status: int) -> None:
    """Raise ModelRejected for a redirect to another server."""
    from yarl import URL

    if elsewhere := leads_to(address, location):
        shown = URL(address).with_user(None).with_query(None)
        raise ModelRejected(f"{shown} sends its callers on to {elsewhere} (status {status}); prompts and keys go to no "
                            "other server than the one they are meant for. When that one is right, give its address "
                            "(--base-url or OPENAI_BASE_URL)")


class LimitedBody:
    """The body of an answer from `address`, unpacked and counted as it comes. Raises UnusableReply for an unknown
    packing."""

    def __init__(self, address: str, headers: Mapping[str, str], *, streamed: bool = False) -> None:
        packing = headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("", "identity", "gzip", "x-gzip"):
            raise UnusableReply(f"the answer of {address} is packed ({packing[:60]!r}), which was not asked for; let "
                                "the server send it as it is")
        self._count = _Count(address, streamed=streamed)
        self._unzip = _Unzip() if "gzip" in packing else None

    def unpacked(self, data: bytes) -> Iterator[bytes]:
        """The pieces that the next bytes unpack to. Raises UnusableReply when it is too much, zlib.error for what is
        no gzip."""
        self._count.receive(data)
        for piece in self._unzip.pieces(data) if self._unzip else (data,):
            self._count.add(piece)
            yield piece


def media_type(headers: Mapping[str, str]) -> str:
    """What an answer says it is, without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


class _Unzip:
    """Unpacks gzip in small pieces, however far it unpacks. Raises zlib.error for what follows its end, too, which
    zlib would gather."""

    def __init__(self) -> None:
        self._packed = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What the next bytes unpack to."""
        if self._packed.eof:
            raise zlib.error("more follows the packed answer")
        while piece := self._packed.decompress(data, _PIECE):
            yield piece
            data = self._packed.unconsumed_tail


class _Count:
    """Counts the bytes of an answer, and in a stream also those of each event, which is read as a whole."""

    def __init__(self, address: str, *, streamed: bool) -> None:
        self._address = address
        self._most = _LARGEST_STREAM if streamed else LARGEST_ANSWER
        self._received = self._all = self._event = 0
        self._last = b""

    def receive(self, data: bytes) -> None:
        """Count what comes, which may unpack to nothing. Raises UnusableReply when it is too much."""
        self._received += len(data)
        if self._received > self._most:
            raise too_large(self._address)

    def add(self, piece: bytes) -> None:
        """Raises UnusableReply when there are too many."""
        self._all += len(piece)
        self._event += len(piece)
        near = self._last + piece
        if (end := max(near.rfind(mark) for mark in _EVENT_ENDS)) >= 0:
            self._event = len(near) - end
        self._last = near[-3:]
        if self._all > self._most or self._event > LARGEST_ANSWER:
            raise too_large(self._address)
