"""A streamed reply, put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chatdev.llm.failures import Transient


class Collected:
    """Collects the chunks of a stream and passes text on as it comes."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._finish: str | None = None
        self._usage: Any = None
        self._model = ""

    def add(self, chunk: Any) -> None:
        """Take one chunk; unknown fields are ignored."""
        if not isinstance(chunk, Mapping):
            return
        self._usage = chunk.get("usage") or self._usage
        self._model = chunk.get("model") or self._model
        for choice in chunk.get("choices") or []:
            self._finish = choice.get("finish_reason") or self._finish
            self._delta(choice.get("delta") or {})

    def _delta(self, delta: Mapping[str, Any]) -> None:
        if text := delta.get("content"):
            self._text.append(text)
            if self._on_text:
                self._on_text(text)
        if refusal := delta.get("refusal"):
            self._refusal.append(refusal)
        for piece in delta.get("tool_calls") or []:
            call = self._calls.setdefault(piece.get("index", 0), {"id": "", "function": {"name": "", "arguments": ""}})
            call["id"] = piece.get("id") or call["id"]
            for key, value in (piece.get("function") or {}).items():
                call["function"][key] = call["function"].get(key, "") + (value or "")

    def completion(self) -> dict[str, Any]:
        """The reply as an unstreamed completion. Raises Transient when the stream ended before the reply did."""
        if self._finish is None:
            raise Transient("the stream broke off before the reply was complete")
        message = {"content": "".join(self._text), "refusal": "".join(self._refusal),
                   "tool_calls": [self._calls[index] for index in sorted(self._calls)]}
        return {"model": self._model, "usage": self._usage,
                "choices": [{"message": message, "finish_reason": self._finish}]}
