"""A streamed reply, put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from chatdev.llm.failures import Transient
from chatdev.llm.wire import text_of
from chatdev.secrets import Pieces


class Collected:
    """Collects the chunks of a stream and passes text on as it comes."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._shown = Pieces(on_text)
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._finish: str | None = None
        self._usage: Any = None
        self._model = ""

    def add(self, chunk: Any) -> None:
        """Take one chunk, or a whole reply of a server that does not stream; unknown fields are ignored."""
        if not isinstance(chunk, Mapping):
            return
        self._usage = chunk.get("usage") or self._usage
        self._model = chunk.get("model") or self._model
        for choice in _mappings(chunk.get("choices")):
            self._finish = choice.get("finish_reason") or self._finish
            for part in _mappings([choice.get("delta"), choice.get("message")]):
                self._part(part)

    def _part(self, part: Mapping[str, Any]) -> None:
        if text := text_of(part.get("content")):
            self._text.append(text)
            self._shown.add(text)
        if refusal := text_of(part.get("refusal")):
            self._refusal.append(refusal)
        for piece in _mappings(part.get("tool_calls")):
            self._piece(piece)

    def _piece(self, piece: Mapping[str, Any]) -> None:
        """A part of a tool call. Servers that number no calls begin a new one by naming a function."""
        index, function = piece.get("index"), piece.get("function")
        named = isinstance(function, Mapping) and bool(function.get("name"))
        call = next((known for known in self._calls if index is not None and known["index"] == index), None)
        if call is None and (index is not None or named or not self._calls):
            call = {"index": index, "id": "", "function": {"name": "", "arguments": ""}}
            self._calls.append(call)
        call = call or self._calls[-1]
        call["id"] = piece.get("id") or call["id"]
        for key in ("name", "arguments"):
            value = function.get(key) if isinstance(function, Mapping) else None
            call["function"][key] += value if isinstance(value, str) else ""

    def end(self) -> None:
        """Nothing more comes."""
        self._shown.end()

    def completion(self) -> dict[str, Any]:
        """The reply as an unstreamed completion. Raises Transient when the stream ended before the reply did."""
        self.end()
        if self._finish is None:
            raise Transient("the stream broke off before the reply was complete")
        message = {"content": "".join(self._text), "refusal": "".join(self._refusal), "tool_calls": self._calls}
        return {"model": self._model, "usage": self._usage,
                "choices": [{"message": message, "finish_reason": self._finish}]}


def _mappings(values: Any) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in what should be a list of them."""
    return (value for value in (values if isinstance(values, list) else []) if isinstance(value, Mapping))
