"""JSON that a model wrote, read so that whatever it holds can be written again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_DEEPEST = 100  # levels; far below what Python's own reader takes, which depends on who calls it


def load_json(text: str, *, strict: bool = True, constant: Callable[[str], Any] | None = None) -> Any:
    """The value of a JSON text. Raises ValueError, also for a value that is nested deeper than 100 levels; `strict` and
    `constant` are those of `json.loads`."""
    try:
        value = json.loads(text, strict=strict, parse_constant=constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    level = [value]
    for _ in range(_DEEPEST):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return value
    raise ValueError("nested too deeply")


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
