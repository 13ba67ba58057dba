"""A server at an address: the SDK's streamable HTTP, with limits on what comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from chatdev.mcp.stdio import LARGEST_MESSAGE, MOST_BYTES, Traffic

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_CONNECT = 30.0  # seconds
_STREAM = "text/event-stream"


@asynccontextmanager
async def serve_by_address(address: str, key: str | None, seconds: float,
                           traffic: Traffic) -> AsyncIterator[TransportStreams]:
    """The streams of a server at an address, which gets `key` as its bearer token; within `seconds` something has to
    come. What is larger than a message may be is cut off, and what is packed is not taken."""
    async def guard(response: httpx2.Response) -> None:
        packing = response.headers.get("content-encoding", "identity")
        if packing != "identity":
            raise httpx2.DecodingError(f"the answer is packed ({packing[:40]!r}), which was not asked for")
        if response.request.method == "POST":
            traffic.said[:] = b"" if response.is_success else f"HTTP status {response.status_code}".encode()
        streamed = response.headers.get("content-type", "").startswith(_STREAM)
        response.stream = _Counted(response.stream, MOST_BYTES if streamed else LARGEST_MESSAGE, traffic)

    headers = {"accept-encoding": "identity", **({"authorization": f"Bearer {key}"} if key else {})}
    async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(_CONNECT, read=seconds),
                                  event_hooks={"response": [guard]}) as client:
        transport: AbstractAsyncContextManager[TransportStreams] = streamable_http_client(
            address, http_client=client, max_sse_event_size=LARGEST_MESSAGE)
        async with transport as streams:
            yield streams


class _Counted(httpx2.AsyncByteStream):
    """The body of an answer, counted as it is read."""

    def __init__(self, stream: Any, most: int, traffic: Traffic) -> None:
        self._stream, self._left, self._most, self._traffic = stream, most, most, traffic

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._stream:
            self._left -= len(data)
            if self._left < 0:
                self._traffic.problem = f"sent an answer of more than {self._most >> 20} MiB"
                raise httpx2.ReadError(self._traffic.problem)
            yield data

    async def aclose(self) -> None:
        """Let go of the connection."""
        await self._stream.aclose()
