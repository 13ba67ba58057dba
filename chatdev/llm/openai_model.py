"""Any OpenAI-compatible endpoint, Azure included, over one kept-alive client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from chatdev.errors import ModelUnavailable, UnusableReply
from chatdev.llm.adapt import Adaptations
from chatdev.llm.base import Reply, Request
from chatdev.llm.failures import Transient, Unusable, is_quota, rejection
from chatdev.llm.retry import Sleep, retrying, seconds_of
from chatdev.llm.streaming import Collected
from chatdev.llm.wire import body_of, reply_of

if TYPE_CHECKING:
    import ssl

    from openai import AsyncOpenAI


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how to ask. `key` stays out of every repr; `api_version` makes it an Azure endpoint. `grammar`: the
    server is llama.cpp. `concurrency`: requests under way at a time. `timeout`: seconds without a byte."""

    url: str | None
    key: str
    api_version: str | None = None
    grammar: bool = False
    concurrency: int = 64
    timeout: float = 600.0

    def __repr__(self) -> str:
        return f"Endpoint({self.url or 'api.openai.com'})"


class OpenAIModel:
    """Completes requests over HTTP; retries what is worth it and counts the retries."""

    def __init__(self, endpoint: Endpoint, sleep: Sleep = asyncio.sleep) -> None:
        self.endpoint = endpoint
        self._sleep = sleep
        self._adaptations = Adaptations()
        self._client: AsyncOpenAI | None = None
        self._free = asyncio.Semaphore(endpoint.concurrency)

    async def complete(self, request: Request) -> Reply:
        """The reply to `request`. Raises ModelRejected, ModelUnavailable, UnusableReply or ContextOverflow."""
        body = body_of(request, grammar=self.endpoint.grammar)
        failed = 0
        async with self._free:
            try:
                async for attempt in retrying(self._sleep):
                    with attempt:
                        failed = attempt.retry_state.attempt_number - 1
                        return replace(await self._attempt(request, body), retries=failed)
            except Unusable as problem:
                raise UnusableReply(f"the model {request.sampling.model!r} gave no usable reply in {failed + 1} "
                                    f"attempts: {self._scrubbed(problem)}") from None
            except Transient as problem:
                raise ModelUnavailable(f"{self._url} could not be used in {failed + 1} attempts: "
                                       f"{self._scrubbed(problem)}; try again later") from None
        raise AssertionError("tenacity either returns or raises")

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @property
    def _url(self) -> str:
        return self.endpoint.url or "https://api.openai.com/v1"

    async def _attempt(self, request: Request, body: dict[str, Any]) -> Reply:
        """One attempt; parameters that the model refuses are left out and it is asked again at once."""
        import openai

        while True:
            adapted = self._adaptations.apply(body)
            try:
                data = await self._post(request, adapted)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                problem = self._rejection(error, request)
                if not self._adaptations.learn(adapted, error.body or error.message):
                    raise problem from None
                continue
            except openai.APIStatusError as error:
                raise self._status(error, request) from None
            except openai.APIConnectionError as error:
                raise Transient(f"no connection ({type(error.__cause__ or error).__name__})") from None
            return reply_of(data, request)

    async def _post(self, request: Request, body: dict[str, Any]) -> Any:
        """The completion as plain JSON. `post` spares the client's request typing, most of its cost per call."""
        import httpx2

        client = self._open()
        options: Any = {"headers": dict(request.headers)}
        if request.on_text:
            return await self._stream(client, request, body, options)
        response = await client.post("/chat/completions", cast_to=httpx2.Response, body=body, options=options)
        try:
            return json.loads(response.content)
        except ValueError:
            raise Unusable("the reply is not JSON") from None

    async def _stream(self, client: AsyncOpenAI, request: Request, body: dict[str, Any], options: Any) -> Any:
        import httpx2
        import openai

        collected = Collected(request.on_text)
        chunks: AsyncIterator[Any] = await client.post(
            "/chat/completions", cast_to=object, body=body, options=options, stream=True,
            stream_cls=openai.AsyncStream[object])
        try:
            async for chunk in chunks:
                collected.add(chunk)
        except (httpx2.TransportError, ValueError) as error:
            raise Transient(f"the stream broke off ({type(error).__name__})") from None
        return collected.completion()

    def _status(self, error: Any, request: Request) -> Exception:
        status: int = error.status_code
        if (status == 429 and not is_quota(error.body)) or status in (408, 409, 425) or status >= 500:
            said = self._scrubbed(error.message)[:300]
            return Transient(f"status {status}: {said}", seconds_of(error.response.headers.get("retry-after")))
        return self._rejection(error, request)

    def _rejection(self, error: Any, request: Request) -> Exception:
        problem = rejection(error.status_code, error.body, error.message, request.sampling.model, self._url)
        return type(problem)(self._scrubbed(problem))

    def _scrubbed(self, problem: object) -> str:
        """The text without the key, should a server repeat it."""
        text = str(problem)
        return text.replace(self.endpoint.key, "***") if self.endpoint.key else text

    def _open(self) -> AsyncOpenAI:
        if self._client is None:
            self._client = _client(self.endpoint)
        return self._client


def _client(endpoint: Endpoint) -> AsyncOpenAI:
    """One client: no retries of its own (ours are counted), connections for all that may be under way."""
    import httpx2
    import openai

    timeout = httpx2.Timeout(endpoint.timeout, connect=5.0)
    limits = httpx2.Limits(max_connections=endpoint.concurrency, max_keepalive_connections=endpoint.concurrency)
    # a local server is asked directly, whatever proxy the environment names
    transport = openai.DefaultAsyncHttpx2Client(timeout=timeout, limits=limits, verify=_certificates(),
                                                trust_env=not _is_local(endpoint.url))
    if endpoint.api_version:
        return openai.AsyncAzureOpenAI(api_key=endpoint.key, azure_endpoint=endpoint.url or "", max_retries=0,
                                       api_version=endpoint.api_version, timeout=timeout, http_client=transport)
    return openai.AsyncOpenAI(api_key=endpoint.key or "none", base_url=endpoint.url, max_retries=0, timeout=timeout,
                              http_client=transport)


@cache
def _certificates() -> ssl.SSLContext:
    """Loading the certificates takes longer than a call; every client of the process shares them."""
    import httpx2

    return httpx2.create_ssl_context()


def _is_local(url: str | None) -> bool:
    return url is not None and any(f"//{host}" in url for host in ("127.0.0.1", "localhost", "[::1]"))
