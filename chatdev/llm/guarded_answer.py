"""Limits of a model server's answer: a maximum of bytes, gzip or no compression, no redirect to another address.

The hooks are for the clients of httpx2, which call them before they read an answer or follow a redirect.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2

from chatdev.errors import ModelRejected, UnusableReply
from chatdev.llm.failures import LARGEST_ANSWER, too_large

_LARGEST_STREAM = 32 * LARGEST_ANSWER  # around each token of a stream stand some hundred bytes
_PIECE = 1 << 16
_Unpacked = Callable[[bytes], Iterator[bytes]]
_EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
STREAM = "text/event-stream"
PLAIN = {"Accept-Encoding": "identity"}
"""Headers of a request: answers are short, and what is not packed cannot unpack to a thousand times its size."""


def guard(response: httpx2.Response) -> None:
    """A hook for a client; so is `guard_async`. Raises ModelRejected for a redirect to another server, UnusableReply
    for an unknown packing; reading the answer raises UnusableReply when it is too large."""
    response.stream = _Stream(response.stream, _reader_of(response))


async def guard_async(response: httpx2.Response) -> None:
    """The hook for an asynchronous client."""
    response.stream = _AsyncStream(response.stream, _reader_of(response))


def leads_to(response: httpx2.Response) -> str | None:
    """The other server that a redirect leads to; None when the answer is none, or leads to the same server."""
    if not response.has_redirect_location:
        return None
    try:
        target = response.url.join(response.headers["location"])
    except httpx2.InvalidURL:
        return "no address"
    return None if _origin(target) == _origin(response.url) else _server_of(target)


def _reader_of(response: httpx2.Response) -> _Unpacked:
    """What unpacks and counts the pieces of this answer's body, when it is one to read."""
    address = _address_of(response)
    if elsewhere := leads_to(response):
        raise ModelRejected(f"{address} sends its callers on to {elsewhere} (status {response.status_code}); prompts "
                            "and keys go to no other server than the one they are meant for. When that one is right, "
                            "give its address (--base-url or OPENAI_BASE_URL)")
    packing = response.headers.pop("content-encoding", "identity").strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip"):
        raise UnusableReply(f"the answer of {address} is packed ({packing[:60]!r}), which was not asked for; let the "
                            "server send it as it is")
    count = _Count(address, streamed=_is_stream(response))
    unzip = _Unzip() if "gzip" in packing else None
    response.headers["content-type"] = media_type(response)  # without a `charset`: it may name any of Python's codecs

    def unpacked(data: bytes) -> Iterator[bytes]:
        count.receive(data)
        try:
            for piece in unzip.pieces(data) if unzip else (data,):
                count.add(piece)
                yield piece
        except zlib.error as error:
            raise httpx2.DecodingError(str(error)) from None

    return unpacked


def _is_stream(response: httpx2.Response) -> bool:
    """Whether a stream comes where one was asked for: the server alone does not decide how much it may send."""
    return media_type(response) == response.request.headers.get("accept") == STREAM


def media_type(response: httpx2.Response) -> str:
    """What the answer says it is, without parameters."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


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


class _Stream(httpx2.SyncByteStream):
    """The body of an answer, unpacked and counted as it is read."""

    def __init__(self, stream: Any, unpacked: _Unpacked) -> None:
        self._stream, self._unpacked = stream, unpacked

    def __iter__(self) -> Iterator[bytes]:
        for data in self._stream:
            yield from self._unpacked(data)

    def close(self) -> None:
        """Let go of the connection."""
        self._stream.close()


class _AsyncStream(httpx2.AsyncByteStream):
    """The same for an asynchronous client."""

    def __init__(self, stream: Any, unpacked: _Unpacked) -> None:
        self._stream, self._unpacked = stream, unpacked

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._stream:
            for piece in self._unpacked(data):
                yield piece

    async def aclose(self) -> None:
        """Let go of the connection."""
        await self._stream.aclose()


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _server_of(url: httpx2.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"


def _address_of(response: httpx2.Response) -> str:
    return f"{_server_of(response.url)}{response.url.path}"
