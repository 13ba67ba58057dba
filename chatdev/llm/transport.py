"""HTTP to the server of a model: kept-alive connections of one event loop, and answers within limits.

The environment's settings are those of the openai package: proxies (`HTTPS_PROXY`, `NO_PROXY` …), `OPENAI_ORG_ID`,
`OPENAI_PROJECT_ID`, `OPENAI_CUSTOM_HEADERS`, `AZURE_OPENAI_AD_TOKEN`.
"""

from __future__ import annotations

import json
import os
import zlib
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from chatdev.connection import OPENAI, Endpoint, key_header
from chatdev.errors import ConfigError
from chatdev.llm.failures import PLAIN, STREAM, LimitedBody, Transient, media_type, refuse_redirect
from chatdev.version import __version__

if TYPE_CHECKING:
    import ssl

_CONNECT_SECONDS = 5.0
_MOST_REDIRECTS = 5
_LONGEST_LINE = 1 << 16  # bytes of a header; gateways send long ones
_HEADER_VARIABLES = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
_REDIRECTS = (301, 302, 303, 307, 308)
_LARGE = 1 << 20  # bytes of a request that go out piece by piece


class ErrorAnswer(Exception):
    """An answer with status 400 or above; `body` is its JSON, or its text."""

    def __init__(self, status: int, content: bytes, retry_after: str | None) -> None:
        self.status, self.retry_after = status, retry_after
        self.text = content.decode("utf-8", "replace").strip() or f"status {status}"
        self.body = _json_or(self.text, content)
        super().__init__(self.text)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer under way. `kind` is its media type."""

    kind: str
    _response: aiohttp.ClientResponse
    _body: LimitedBody

    async def read(self) -> bytes:
        """The whole body. Raises UnusableReply when it is too large, Transient when it breaks off."""
        pieces = []
        while (piece := await self.receive()) is not None:
            pieces.append(piece)
        return b"".join(pieces)

    async def receive(self) -> bytes | None:
        """The next bytes, unpacked; None at the end. Raises as `read` does."""
        try:
            data = await self._response.content.readany()
            return b"".join(self._body.unpacked(data)) if data else None
        except (aiohttp.ClientError, OSError, zlib.error) as error:
            raise _failure(error) from None


class Transport:
    """Posts requests to an endpoint; made and used in one event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        is_safe = urlsplit(endpoint.address or OPENAI).scheme == "https"
        self._proxy = None if endpoint.is_local else _proxy_for(endpoint.address or OPENAI)
        self._session = aiohttp.ClientSession(
            headers={"Accept": "application/json", "Content-Type": "application/json", **PLAIN, **_headers(endpoint)},
            connector=aiohttp.TCPConnector(limit=endpoint.concurrency, ssl=_certificates() if is_safe else True),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=endpoint.timeout),
            cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False,
            max_line_size=_LONGEST_LINE, max_field_size=_LONGEST_LINE)

    @asynccontextmanager
    async def post(self, body: Mapping[str, Any], headers: Mapping[str, str], *,
                   streams: bool = False) -> AsyncIterator[Answer]:
        """The answer to a chat completion's `body`. Raises ErrorAnswer, Transient where none comes, ModelRejected for a
        redirect to another server, UnusableReply for an unknown packing."""
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        url = completions_address(self._endpoint, str(body.get("model")))
        async with self._response(url, data, {**headers, **({"Accept": STREAM} if streams else {})}) as response:
            kind = media_type(response.headers)
            answer = Answer(kind, response, LimitedBody(str(response.url.with_query(None)), response.headers,
                                                        streamed=streams and kind == STREAM))
            if response.status >= 400:
                raise ErrorAnswer(response.status, await answer.read(), response.headers.get("retry-after"))
            yield answer

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    @asynccontextmanager
    async def _response(self, url: URL, data: bytes,
                        headers: Mapping[str, str]) -> AsyncIterator[aiohttp.ClientResponse]:
        for _ in range(_MOST_REDIRECTS):
            try:
                response = await self._session.post(url, data=BytesIO(data) if len(data) > _LARGE else data,
                                                    headers=headers, allow_redirects=False, proxy=self._proxy)
            except (aiohttp.ClientError, OSError) as error:
                raise _failure(error) from None
            async with response:
                if response.status not in _REDIRECTS or "location" not in response.headers:
                    yield response
                    return
                location = response.headers["location"]
                refuse_redirect(str(response.url), location, response.status)
                url = response.url.join(URL(location))
        raise Transient(f"more than {_MOST_REDIRECTS} redirects")


async def close_with_loop(transport: Transport) -> AsyncGenerator[None, None]:
    """Closes the transport when it is closed itself, and with the event loop at the latest: `asyncio.run` ends the
    asynchronous generators that are left."""
    try:
        yield
    finally:
        await transport.close()


def completions_address(endpoint: Endpoint, model: str) -> URL:
    """Where the chat completions of a model are asked for."""
    base = URL(endpoint.address or OPENAI, encoded=False)
    if endpoint.api_version:
        path = f"openai/deployments/{quote(model, safe='')}/chat/completions"
        return base.joinpath(*path.split("/"), encoded=True).with_query({"api-version": endpoint.api_version})
    return base.joinpath("chat", "completions").with_query(base.query)


def _headers(endpoint: Endpoint) -> dict[str, str]:
    """The headers of every request: who asks, the key, and what the environment adds for a user's address."""
    headers = CIMultiDict({"User-Agent": f"chatdev/{__version__}", **key_header(endpoint)})
    if endpoint.user:
        headers["Authorization"] = f"Basic {b64encode(':'.join(endpoint.user).encode()).decode()}"
    if not endpoint.foreign:
        headers.update(_environment_headers(is_azure=endpoint.api_version is not None))
    return dict(headers)


def _environment_headers(*, is_azure: bool) -> dict[str, str]:
    found = {name: os.environ.get(variable, "") for name, variable in _HEADER_VARIABLES.items()}
    if is_azure and (token := os.environ.get("AZURE_OPENAI_AD_TOKEN")):
        found["Authorization"] = f"Bearer {token}"
    pairs = (line.partition(":") for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines())
    own = {name.strip(): value.strip() for name, colon, value in pairs if colon}
    return {name: value for name, value in found.items() if value} | own


def _proxy_for(address: str) -> URL | None:
    """The proxy that the environment names for an address."""
    parts, proxies = urlsplit(address), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    url = URL(proxy if "://" in proxy else f"http://{proxy}")
    if url.scheme not in ("http", "https"):
        raise ConfigError(f"the proxy of the environment is one of {url.scheme}, and requests to models go through "
                          "http and https proxies only; set HTTPS_PROXY to such a one, or NO_PROXY=*")
    return url


@cache
def _certificates() -> ssl.SSLContext:
    """Loading the certificates takes longer than a call; all connections of the process share them."""
    import httpx2

    return httpx2.create_ssl_context()


def _failure(error: Exception) -> Transient:
    """What an error of the connection means; it is worth another attempt."""
    what = "no answer" if isinstance(error, aiohttp.ServerTimeoutError) else "no connection"
    broken = isinstance(error, aiohttp.ClientPayloadError | zlib.error)
    return Transient(f"{'the answer broke off' if broken else what} ({type(error).__name__})")


def _json_or(text: str, content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return text
