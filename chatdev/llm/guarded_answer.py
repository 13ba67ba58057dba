"""Limits of a model server's answer: a maximum of bytes, gzip or no compression, no redirect to another address."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

from yarl import URL

from chatdev.errors import ModelRejected, UnusableReply
from chatdev.llm.failures import LARGEST_ANSWER, too_large

_LARGEST_STREAM = 32 * LARGEST_ANSWER  # around each token of a stream stand some hundred bytes
_PIECE = 1 << 16
_EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
STREAM = "text/event-stream"
PLAIN = {"Accept-Encoding": "identity"}
"""Headers of a request: answers are short, and what is not packed cannot unpack to a thousand times its size."""


def leads_to(address: str, location: str) -> str | None:
    """The other server that a redirect from `address` leads to; None for the same one."""
    try:
        here, there = URL(address), URL(address).join(URL(location))
        return None if there.origin() == here.origin() else str(there.origin())
    except ValueError:
        return "no address"


def refuse_redirect(address: str, location: str, status: int) -> None:
    """Raise ModelRejected for a redirect to another server."""
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
