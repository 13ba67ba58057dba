"""Keeping the head and the tail of a stream that may never end."""

from __future__ import annotations

from chatdev.secrets import scrubbed_bytes, scrubbed_ends


class Capture:
    """Bytes of one stream: at most `limit` kept, half from the head and half from the tail."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit - limit // 2
        self._tail_limit = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        excess = len(self._tail) - self._tail_limit
        if excess > 0:
            del self._tail[:excess]
            self._left_out += excess

    @property
    def total(self) -> int:
        """How many bytes came, kept or not."""
        return len(self._head) + len(self._tail) + self._left_out

    @property
    def truncated(self) -> bool:
        """Whether bytes were left out."""
        return self._left_out > 0

    def text(self) -> str:
        """What was kept, as UTF-8 with replacements and without secrets; a line in the middle says how much is
        missing."""
        if not self._left_out:
            kept = scrubbed_bytes(bytes(self._head + self._tail))
        else:
            head, tail = scrubbed_ends(bytes(self._head), bytes(self._tail))
            kept = head + f"\n[… {self._left_out} bytes left out …]\n".encode() + tail
        return kept.decode("utf-8", errors="replace")
