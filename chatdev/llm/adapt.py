"""Parameters a model does not take: learnt from its complaint once, remembered for all later calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_OPTIONAL = ("temperature", "top_p", "seed", "stream_options", "response_format", "grammar", "tools", "max_tokens",
             "max_completion_tokens")
_COMPLAINTS = ("unsupported", "not support", "unrecognized", "unknown", "unexpected", "invalid", "not allowed", "extra",
               "use 'max_completion_tokens'", "only the default", "not permitted", "deprecated")


class Adaptations:
    """What one endpoint's models refuse, by model name."""

    def __init__(self) -> None:
        self._refused: dict[str, dict[str, str | None]] = {}

    def apply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body without what its model refuses, renamed where there is another name."""
        adapted = dict(body)
        for name, other in self._refused.get(str(body.get("model")), {}).items():
            if name in adapted:
                value = adapted.pop(name)
                if other:
                    adapted[other] = value
        return adapted

    def learn(self, body: Mapping[str, Any], complaint: Any) -> bool:
        """Learn from a 400 or 422; True when the next attempt will differ."""
        text = complaint if isinstance(complaint, str) else json.dumps(complaint, default=str)
        name = _blamed(body, complaint, text.lower())
        refused = self._refused.setdefault(str(body.get("model")), {})
        if name is None or name in refused:
            return False
        other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}.get(name)
        refused[name] = other if other and other not in refused else None
        return True


def _blamed(body: Mapping[str, Any], complaint: Any, text: str) -> str | None:
    error = complaint.get("error", complaint) if isinstance(complaint, Mapping) else {}
    param = error.get("param") if isinstance(error, Mapping) else None
    if param in _OPTIONAL and param in body:
        return str(param)
    if not any(word in text for word in _COMPLAINTS):
        return None
    return next((name for name in _OPTIONAL if name in body and name in text), None)
