"""Any OpenAI-compatible endpoint, Azure included, over kept-alive connections; and what each model's server was found
to refuse: parameters to leave out, roles that its chat template does not take."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from chatdev.connection import Endpoint
from chatdev.errors import ContextOverflow, ModelError, ModelRejected, ModelUnavailable, UnusableReply
from chatdev.llm.base import RateLimit, Reply, ReplyGauge, Request, Usage
from chatdev.llm.completions import EventReader, ReplyWatch, StreamCollector, body_of, reply_of, wasted_usage
from chatdev.llm.failures import (
    SHOWN,
    Broken,
    Complaint,
    NoAnswer,
    Sleep,
    Transient,
    Unusable,
    describe_page,
    error_in,
    error_message,
    retry_after_seconds,
    retry_attempts,
    status_of,
)
from chatdev.llm.wire_tools import WireNames
from chatdev.safe_text import check_depth, scrub

if TYPE_CHECKING:
    from chatdev.llm.transport import Answer, ErrorAnswer, Transport


_ROOM = 8192  # tokens that a model gets for its thoughts at least, where it came to no answer without
_REST = 1.0  # seconds for what follows the end of a stream


@dataclass(slots=True)
class _Tally:
    """The attempts at one call, and what the tokens of the failed ones were."""

    attempts: int = 0
    wasted: Usage = field(default_factory=Usage)
    no_answer: NoAnswer | None = None
    """The attempt that ended at its limit before it came to an answer."""


@dataclass(slots=True)
class _Line:
    """Parts bound to one event loop: the limit of requests at a time, and the connections."""

    free: asyncio.Semaphore
    transport: Transport | None = None
    end: AsyncGenerator[None, None] | None = None
    """Closes them."""


class OpenAIModel:
    """Completes requests over HTTP; retries what is worth it and counts the retries.

    `name` is only for one that is handed to a run as an object: the model that the server is asked for. Such a one may
    serve several runs, one after the other, each with an event loop of its own.
    """

    def __init__(self, endpoint: Endpoint, sleep: Sleep = asyncio.sleep, rate: RateLimit | None = None,
                 name: str = "") -> None:
        self.endpoint = endpoint
        self.name = name
        self._sleep = sleep
        self._rate = rate
        self._adaptations = Adaptations()
        self._room: dict[str, int] = {}
        """Tokens that a model needs for its thoughts beside a reply, by name."""
        self._lines: dict[asyncio.AbstractEventLoop, _Line] = {}

    async def complete(self, request: Request) -> Reply:
        """The reply to `request`. Raises ModelRejected, ModelUnavailable, UnusableReply or ContextOverflow, with what
        the attempts took."""
        tally = _Tally()
        try:
            async with self._line().free:
                return await self._try(request, tally)
        except ModelError as failure:
            spent = tally.wasted
            failure.prompt_tokens, failure.completion_tokens = spent.prompt_tokens, spent.completion_tokens
            failure.estimated = spent.estimated
            raise

    async def close(self) -> None:
        """Close the connections of this event loop; the next call opens new ones."""
        line = self._lines.pop(asyncio.get_running_loop(), None)
        if line and line.end:
            await line.end.aclose()

    async def _try(self, request: Request, tally: _Tally) -> Reply:
        """The reply of the first attempt that brings one."""
        try:
            async for attempt in retry_attempts(self._sleep):
                with attempt:
                    reply = await self._attempt_in_turn(self._within(request, tally), tally)
                    if tally.attempts == 1:
                        return reply
                    return replace(reply, usage=tally.wasted + reply.usage, retries=tally.attempts - 1)
        except Transient as problem:
            raise self._final_error(problem, request, tally) from None
        except (ModelRejected, ContextOverflow) as refusal:
            if tally.no_answer and tally.no_answer.limit:
                named = Unusable(f"{tally.no_answer} (asked for more, it said: {refusal})")
                raise self._final_error(named, request, tally) from None
            if self._room.pop(request.sampling.model, None) is None:
                raise
            return await self._try(request, tally)  # what it took once is too much behind this prompt
        raise AssertionError("tenacity either returns or raises")

    def _within(self, request: Request, tally: _Tally) -> Request:
        """The request of the next attempt, in what the budget leaves after those that failed, and with room for what
        the model thinks. Raises UnusableReply where there is none."""
        longest = self._longest(request, tally)
        most = self._most(request, tally, longest)
        if longest is not None:
            request = replace(request, sampling=replace(request.sampling, max_tokens=longest))
        request = replace(request, most=most)
        if tally.no_answer and (request.longest_reply or 0) <= (tally.no_answer.limit or -1):
            raise self._final_error(tally.no_answer, request, tally)
        return request

    def _most(self, request: Request, tally: _Tally, longest: int | None) -> int | None:
        """Maximum reply tokens by the budget. Raises UnusableReply where none are left."""
        if request.room is None or (longest is None and tally.wasted == Usage()):
            return request.most
        most = request.room(tally.wasted) if longest is None else request.room(tally.wasted, longest)
        if most == 0:
            raise UnusableReply(f"{tally.attempts} attempts gave no usable reply, and the budget leaves no room for "
                                "another one")
        return most

    def _longest(self, request: Request, tally: _Tally) -> int | None:
        """Maximum reply tokens of an attempt, where it is more than the request says: a model that came to no answer,
        in this call or an earlier one, gets room for its thoughts."""
        model = request.sampling.model
        if tally.no_answer is None or tally.no_answer.limit is None:
            known, limit = self._room.get(model), request.sampling.max_tokens
            return None if known is None or limit is None else limit + known
        return tally.no_answer.limit + max(tally.no_answer.limit, _ROOM)

    async def _attempt_in_turn(self, request: Request, tally: _Tally) -> Reply:
        """One attempt, when the rate limit, if there is one, admits it."""
        tally.attempts += 1
        body = body_of(request, grammar=self.endpoint.grammar)
        if self._rate is None:
            return await self._attempt(request, body, tally)
        async with self._rate.admission(request) as admission:
            reply = await self._attempt(request, body, tally)
            admission.correct(reply.usage)
        return reply

    async def _attempt(self, request: Request, body: dict[str, Any], tally: _Tally) -> Reply:
        """One attempt; what the model refuses is left out or said otherwise, and it is asked again at once."""
        from chatdev.llm.transport import ErrorAnswer

        while True:
            adapted = self._adaptations.apply(body)
            try:
                return self._read(await self._post(request, adapted, tally), request, tally)
            except TimeoutError:
                raise Broken(f"no whole reply in {self.endpoint.longest:g} seconds") from None
            except ErrorAnswer as error:
                self._adapt_or_raise(_complaint_of(error), request, adapted)
            except _Reported as error:
                self._adapt_or_raise(error.complaint, request, adapted, half=error.half)

    def _adapt_or_raise(self, complaint: Complaint, request: Request, body: dict[str, Any], *,
                        half: bool = False) -> None:
        """Learn from a refused request how to ask; raise what it means where there is nothing to learn. `half`: a part
        of a reply came with it."""
        if complaint.is_about_template and self._adaptations.learn_roles(body):
            return
        pictures_for = request.headers.get("X-ChatDev-Role", "ROLE") if request.shows_pictures else None
        problem = complaint.failure(request.sampling.model, self.endpoint.shown_address, tools=bool(request.tools),
                                    pictures_for=pictures_for, key=self.endpoint.key_variable)
        can_adapt = complaint.status in (400, 422) and isinstance(problem, ModelRejected)
        if can_adapt and self._adaptations.learn(body, complaint.body or complaint.text):
            return
        raise Broken(str(problem), problem.retry_after) if half and isinstance(problem, Transient) else problem

    def _final_error(self, problem: Transient, request: Request, tally: _Tally) -> ModelError:
        """Error of the call after its last failed attempt."""
        text, attempts = scrub(str(problem))[:SHOWN], f"{tally.attempts} attempt{'s' * (tally.attempts != 1)}"
        if isinstance(problem, Unusable):
            return UnusableReply(f"the model {request.sampling.model!r} gave no usable reply in {attempts}: {text}")
        return ModelUnavailable(f"{self.endpoint.shown_address} could not be used in {attempts}: {text}; try again "
                                "later")

    def _read(self, data: Any, request: Request, tally: _Tally) -> Reply:
        """The reply in a completion; some gateways report an error in it with status 200."""
        model, asked = request.sampling.model, request.longest_reply
        try:
            if error := error_in(data):
                raise _Reported(error, half=wasted_usage(data, request) != Usage())
            reply = reply_of(data, request)
        except Exception as problem:
            tally.wasted += wasted_usage(data, request)
            if isinstance(problem, NoAnswer):
                tally.no_answer = problem
            raise
        if tally.no_answer and tally.no_answer.limit and asked:
            self._room[model] = max(self._room.get(model, 0), asked - tally.no_answer.limit)
        return reply

    async def _post(self, request: Request, body: dict[str, Any], tally: _Tally) -> Any:
        """The completion as plain JSON. What came of a stream that breaks off, or takes too long, is counted."""
        streamed = StreamCollector(request.on_text, ReplyGauge(request.most, request.sampling.model),
                                   ReplyWatch(request.stop_when), WireNames(request.tools).offered)
        try:
            async with asyncio.timeout(self.endpoint.longest):
                if request.streams and request.on_begin:
                    request.on_begin()
                async with (await self._open()).post(body, request.headers, streams=request.streams) as answer:
                    if not request.streams:
                        return _json(await answer.read())
                    return await _stream(answer, streamed)
        except Exception:
            tally.wasted += streamed.usage(request)
            raise

    def _line(self) -> _Line:
        loop = asyncio.get_running_loop()
        if loop not in self._lines:
            self._lines = {one: line for one, line in self._lines.items() if not one.is_closed()}
            self._lines[loop] = _Line(asyncio.Semaphore(self.endpoint.concurrency))
        return self._lines[loop]

    async def _open(self) -> Transport:
        from chatdev.llm.transport import Transport, close_with_loop

        line = self._line()
        if line.transport is None:
            line.transport = Transport(self.endpoint)
            line.end = close_with_loop(line.transport)
            await anext(line.end)
        return line.transport


async def _stream(answer: Answer, streamed: StreamCollector) -> Any:
    """The completion that a stream makes. Raises _Reported for an error in it."""
    if "json" in answer.kind:  # this server does not stream
        data = _json(await answer.read())
        streamed.add(data)
        streamed.end()
        return data
    try:
        await _collect(answer, streamed)
    except (Transient, ValueError, RecursionError) as error:
        failure = Transient if streamed.is_empty else Broken
        raise failure(str(error) if isinstance(error, Transient) else
                      f"the stream broke off ({type(error).__name__})") from None
    return streamed.completion()


async def _collect(answer: Answer, streamed: StreamCollector) -> None:
    """Read a stream as far as it is wanted. Raises _Reported for an error in it, ValueError for broken JSON."""
    reader = EventReader()

    def take(values: Iterable[Any]) -> None:
        for value in values:
            streamed.add(value)
            if error := error_in(value):
                raise _Reported(error, half=not streamed.is_empty)
            if streamed.is_full:
                return

    while (piece := await answer.receive()) is not None:
        take(reader.feed(piece))
        if streamed.is_full:
            return
        if reader.is_done:
            break
    take(reader.end())
    streamed.end(is_done=reader.is_done)
    with suppress(Exception):  # a connection is used again only when its answer was read to the end
        async with asyncio.timeout(_REST):
            while await answer.receive() is not None:
                pass


class _Reported(Exception):
    """An error that a server reports with status 200. `half`: with a part of a reply."""

    def __init__(self, body: Any, *, half: bool) -> None:
        message = scrub(error_message(body, "an error without a message"))
        super().__init__(message)
        self.complaint = Complaint(status_of(body), body, message)
        self.half = half


def _complaint_of(error: ErrorAnswer) -> Complaint:
    message = scrub(error_message(error.body, error.text))
    return Complaint(error.status, error.body, message, retry_after_seconds(error.retry_after))


def _json(content: bytes) -> Any:
    try:
        data = json.loads(content)
        check_depth(data)
    except (ValueError, RecursionError):
        page = describe_page(content[:4000].decode("utf-8", "replace"))
        raise Unusable(f"the reply is not JSON but {page}; check the address (--base-url; most end in /v1)" if page else
                       "the reply is not JSON") from None
    return data


# Lessons from what a server refuses, by model: parameters to leave out, roles that its chat template does not take.

# A reply is as good without these, so whatever is wrong with them they are left out.
_HINTS = {"stream_options": ("stream_options",), "stream": ("stream", "streaming"),
          "response_format": ("response_format", "json_schema", "json schema"),
          "grammar": ("grammar",), "seed": ("seed",)}
# These shape the reply: they are left out where the model has no such parameter, but a wrong value is reported.
_SETTINGS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort")
_HAS_NONE = re.compile(r"unsupported|not support|unrecognized|unknown|unexpected|extra (inputs|fields)|not allowed|"
                       r"not permitted|deprecated|only the default|(for|with) this model")
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


class Adaptations:
    """What one endpoint's models refuse, by model name."""

    def __init__(self) -> None:
        self._refused: dict[str, dict[str, str | None]] = {}
        self._plain: set[str] = set()

    def apply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body without what its model refuses, renamed where there is another name."""
        adapted, model = dict(body), str(body.get("model"))
        for name, other in self._refused.get(model, {}).items():
            if name in adapted:
                value = adapted.pop(name)
                if other:
                    adapted[other] = value
        if model in self._plain:
            adapted["messages"] = plain_roles(adapted["messages"])
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

    def learn_roles(self, body: Mapping[str, Any]) -> bool:
        """Learn that the chat template of the model takes only a user and an assistant in turns; True when the next
        attempt will differ."""
        self._plain.add(str(body.get("model")))
        return bool(plain_roles(body["messages"]) != body["messages"])


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


# Roles that every chat template takes.


def plain_roles(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a request without a system message, which is put before the first user's, and with neighbours of
    one role as one message."""
    first = next((n for n, message in enumerate(messages) if message["role"] != "system"), len(messages))
    rules = [{**message, "role": "user"} for message in messages[:first]]
    plain: list[dict[str, Any]] = []
    for message in (*rules, *messages[first:]):
        turned = {**message, "role": "user"} if message["role"] == "system" else dict(message)
        before = plain[-1] if plain else {}
        if turned["role"] == before.get("role") != "tool" and "tool_calls" not in before:
            plain[-1] = {**before, **turned, "content": _join(before["content"], turned["content"])}
        else:
            plain.append(turned)
    return plain


def _join(before: Any, after: Any) -> Any:
    """Two contents as one: texts with a blank line between them, else the parts of both."""
    if isinstance(before, str) and isinstance(after, str):
        return "\n\n".join(text for text in (before, after) if text)
    return [*_parts(before), *_parts(after)]


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
