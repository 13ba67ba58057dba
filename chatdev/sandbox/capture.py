"""Keeping the head and the tail of a stream that may never end."""

from __future__ import annotations


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
        """What was kept, as UTF-8 with replacements; a line in the middle says how much is missing."""
        gap = f"\n[… {self._left_out} bytes left out …]\n".encode() if self._left_out else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", errors="replace")
