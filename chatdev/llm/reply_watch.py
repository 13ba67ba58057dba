"""Looks at a reply while it streams, so that one that is no use any more is not paid for to its end."""

from __future__ import annotations

from collections.abc import Callable

StopWhen = Callable[[str], bool]
"""Whether a reply that ends so far with this text is cut."""
_EVERY = 256  # characters, about 64 tokens, between two looks
_TAIL = 8192  # characters that are looked at


class ReplyWatch:
    """Asks `stop_when` about the end of a reply as it grows. Its time is linear in the reply: each check reads a fixed
    number of characters, however small the pieces."""

    def __init__(self, stop_when: StopWhen | None = None) -> None:
        self._stop_when = stop_when
        self._tail = ""
        self._new: list[str] = []
        self._size = 0
        self.is_over = False
        """Whether no more of it is wanted."""

    def add(self, piece: str) -> None:
        """Take the next piece."""
        if self._stop_when is None or self.is_over:
            return
        self._new.append(piece)
        self._size += len(piece)
        if self._size >= _EVERY:
            self._tail = (self._tail + "".join(self._new))[-_TAIL:]
            self._new, self._size = [], 0
            self.is_over = self._stop_when(self._tail)
