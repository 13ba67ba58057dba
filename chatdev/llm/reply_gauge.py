"""Counting a reply while it streams, so that one that a budget has no room for is cut, whatever its server does."""

from __future__ import annotations

from chatdev.llm.tokens import count_tokens

_BLOCK = 512  # characters that are counted once and for all; what comes behind them is counted again with every piece


class ReplyGauge:
    """How many tokens of a reply have come, its thoughts and tool calls included, of the `most` that it may have (None:
    as many as it likes)."""

    def __init__(self, most: int | None = None, model: str = "") -> None:
        self._most, self._model = most, model
        self._counted, self._tail = 0, ""
        self.is_full = False
        """Whether more has come than may."""

    def add(self, piece: str) -> None:
        """Count the next piece."""
        if self._most is None or self.is_full:
            return
        self._tail += piece
        tokens = count_tokens(self._tail, self._model)
        self.is_full = self._counted + tokens > self._most
        if len(self._tail) > _BLOCK:
            self._counted, self._tail = self._counted + tokens, ""
