"""`--json`: one event a line, for machines."""

from __future__ import annotations

import json
from typing import Any, Self, TextIO

from chatdev.events import Event


class JsonLines:
    """Writes every event as a JSON object with its `kind`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __call__(self, event: Event) -> None:
        """Write one event."""
        line = json.dumps({"kind": event.kind, **event.to_dict()}, ensure_ascii=False)
        self._stream.write(line + "\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self._stream.flush()
