"""Any OpenAI-compatible endpoint, Azure included, over kept-alive connections."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from chatdev.errors import ModelError, ModelRejected, ModelUnavailable, UnusableReply
from chatdev.llm.base import Reply, Request, Usage
from chatdev.llm.completions import ReplyWatch, StreamCollector, body_of, reply_of, wasted_usage
from chatdev.llm.connection import Endpoint
from chatdev.llm.failures import (
    SHOWN,
    Adaptations,
    Complaint,
    Sleep,
    Transient,
    Unusable,
    error_message,
    retry_after_seconds,
    retry_attempts,
    status_of,
)
from chatdev.llm.rate import RateLimit
from chatdev.llm.tokens import ReplyGauge
from chatdev.plain_values import check_depth
from chatdev.secrets import scrub

if TYPE_CHECKING:
    from chatdev.llm.transport import Answer, ErrorAnswer, Transport


@dataclass(slots=True)
class _Tally:
    """The attempts at one call, and what the tokens of the failed ones were."""

    attempts: int = 0
    wasted: Usage = field(default_factory=Usage)


@dataclass(slots=True)
class _Line:
    """Parts bound to one event loop: the limit of requests at a time, and the connections."""

    free: asyncio.Semaphore
    transport: Transport | None = None


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
        if line and line.transport:
            await line.transport.close()

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
        raise AssertionError("tenacity either returns or raises")

    def _within(self, request: Request, tally: _Tally) -> Request:
        """The request of the next attempt, in what the budget leaves after those that failed. Raises UnusableReply
        where that is nothing."""
        if request.room is None or tally.wasted == Usage():
            return request
        most = request.room(tally.wasted)
        if most == 0:
            raise UnusableReply(f"{tally.attempts} attempts gave no usable reply, and the budget leaves no room for "
                                "another one")
        return replace(request, most=most)

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
        """One attempt; parameters that the model refuses are left out and it is asked again at once."""
        from chatdev.llm.transport import ErrorAnswer

        while True:
            adapted = self._adaptations.apply(body)
            try:
                data = await self._post(request, adapted, tally)
                return _read(self._unless_error(data, request), request, tally)
            except TimeoutError:
                raise Transient(f"no whole reply in {self.endpoint.longest:g} seconds") from None
            except ErrorAnswer as error:
                self._adapt_or_raise(error, request, adapted)

    def _adapt_or_raise(self, error: ErrorAnswer, request: Request, body: dict[str, Any]) -> None:
        """Learn from a refused request what to leave out; raise what it means where there is nothing to learn."""
        problem = self._failure(error.status, error.body, error.text, request, error.retry_after)
        can_adapt = error.status in (400, 422) and isinstance(problem, ModelRejected)
        if not can_adapt or not self._adaptations.learn(body, error.body or error.text):
            raise problem from None

    def _final_error(self, problem: Transient, request: Request, tally: _Tally) -> ModelError:
        """Error of the call after its last failed attempt."""
        text = scrub(str(problem))[:SHOWN]
        if isinstance(problem, Unusable):
            return UnusableReply(f"the model {request.sampling.model!r} gave no usable reply in {tally.attempts} "
                                 f"attempts: {text}")
        return ModelUnavailable(f"{self.endpoint.shown_address} could not be used in {tally.attempts} attempts: "
                                f"{text}; try again later")

    async def _post(self, request: Request, body: dict[str, Any], tally: _Tally) -> Any:
        """The completion as plain JSON. What came of a stream that breaks off, or takes too long, is counted."""
        streamed = StreamCollector(request.on_text, ReplyGauge(request.most, request.sampling.model),
                                   ReplyWatch(request.stop_when))
        try:
            async with asyncio.timeout(self.endpoint.longest):
                if request.streams and request.on_begin:
                    request.on_begin()
                async with self._open().post(body, request.headers, streams=request.streams) as answer:
                    if not request.streams:
                        return _json(await answer.read())
                    return await self._stream(answer, streamed, request)
        except Exception:
            tally.wasted += streamed.usage(request)
            raise

    async def _stream(self, answer: Answer, streamed: StreamCollector, request: Request) -> Any:
        from chatdev.llm.guarded_answer import STREAM

        if answer.kind != STREAM and "json" in answer.kind:  # this server does not stream
            data = _json(await answer.read())
            streamed.add(data)
            streamed.end()
            return data
        async with aclosing(answer.events()) as events:
            async for event in events:
                if event.strip() == b"[DONE]":
                    break
                try:
                    chunk = json.loads(event)
                    check_depth(chunk)
                except (ValueError, RecursionError) as error:
                    raise Transient(f"the stream broke off ({type(error).__name__})") from None
                if isinstance(chunk, dict) and (reported := chunk.get("error")):
                    raise self._failure(status_of(reported), reported, "an error without a message", request)
                streamed.add(chunk)
                if streamed.is_full:
                    break
        return streamed.completion()

    def _unless_error(self, data: Any, request: Request) -> Any:
        """The completion; some gateways report an error in it with status 200."""
        if isinstance(data, dict) and data.get("error") and not data.get("choices"):
            raise self._failure(status_of(data), data, "an error without a message", request)
        return data

    def _failure(self, status: int, body: Any, text: str, request: Request,
                 retry_after: str | None = None) -> Exception:
        message = scrub(error_message(body, text))
        complaint = Complaint(status, body, message, retry_after_seconds(retry_after))
        pictures_for = request.headers.get("X-ChatDev-Role", "ROLE") if request.shows_pictures else None
        return complaint.failure(request.sampling.model, self.endpoint.shown_address, tools=bool(request.tools),
                                 pictures_for=pictures_for, key=self.endpoint.key_variable)

    def _line(self) -> _Line:
        loop = asyncio.get_running_loop()
        if loop not in self._lines:
            self._lines = {one: line for one, line in self._lines.items() if not one.is_closed()}
            self._lines[loop] = _Line(asyncio.Semaphore(self.endpoint.concurrency))
        return self._lines[loop]

    def _open(self) -> Transport:
        from chatdev.llm.transport import Transport

        line = self._line()
        line.transport = line.transport or Transport(self.endpoint)
        return line.transport


def _read(data: Any, request: Request, tally: _Tally) -> Reply:
    try:
        return reply_of(data, request)
    except Unusable:
        tally.wasted += wasted_usage(data, request)
        raise


def _json(content: bytes) -> Any:
    try:
        data = json.loads(content)
        check_depth(data)
    except (ValueError, RecursionError):
        raise Unusable("the reply is not JSON") from None
    return data
