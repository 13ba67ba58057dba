"""Server-sent events of a streamed completion, as servers and gateways send them: comments, stray lines, missing blank
lines, bare JSON (docs/servers.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from chatdev.plain_values import check_depth

_END = "[DONE]"
_FIELDS = ("data", "error")  # llama.cpp had a field of its own for errors
_ERROR = re.compile(r"\[?error\b", re.IGNORECASE)
_LINE_END = re.compile(rb"\r\n|\r|\n")


class EventReader:
    """Reads the JSON values of a stream that comes in any pieces, in a time that grows with it only."""

    def __init__(self) -> None:
        self._open: list[bytes] = []
        self._after_return = False
        self._pending: list[str] = []
        self.is_done = False
        """Whether the server said that the stream is whole; what follows is ignored."""

    def feed(self, data: bytes) -> Iterator[Any]:
        """Values of the events that this piece completes. Raises ValueError and RecursionError for JSON that is none,
        or nested too deep."""
        start = int(self._after_return and data.startswith(b"\n"))  # of a line end that came in two pieces
        self._after_return = data.endswith(b"\r")
        for found in _LINE_END.finditer(data, start):
            line = b"".join((*self._open, data[start:found.start()]))
            self._open, start = [], found.end()
            yield from self._read_line(line)
        self._open.append(data[start:])

    def end(self) -> Iterator[Any]:
        """Values of what came last, without a line end."""
        yield from self.feed(b"\n\n")

    def _read_line(self, data: bytes) -> Iterator[Any]:
        line = data.decode("utf-8", "replace").removeprefix("\ufeff")
        if self.is_done:
            return
        if not line.strip():
            yield from self._read_pending()
            return
        field, _, value = ("data", "", line) if line.lstrip().startswith("{") else line.partition(":")
        if field in _FIELDS:
            yield from self._read_value(value.strip())

    def _read_value(self, text: str) -> Iterator[Any]:
        """The value of one line, which is a whole event of all known servers; JSON over several lines waits for its
        end."""
        if self._pending:
            self._pending.append(text)
        elif text.strip('"').startswith(_END):
            self.is_done = True
        elif text.startswith(("{", "[{")):
            try:
                yield _value_of(text)
            except ValueError:
                self._pending.append(text)
        elif _ERROR.match(text):
            yield {"error": {"message": text}}
        # else a comment that some gateway made data of, or a sign of life

    def _read_pending(self) -> Iterator[Any]:
        """The value of an event over several lines."""
        lines, self._pending = self._pending, []
        if lines:
            yield _value_of("\n".join(lines))


def _value_of(text: str) -> Any:
    value = json.loads(text)
    check_depth(value)
    return value
