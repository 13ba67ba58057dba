"""Parameters a model does not take: learnt from its complaint once, remembered for all later calls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# A reply is as good without these, so whatever is wrong with them they are left out.
_HINTS = {"stream_options": ("stream_options",), "response_format": ("response_format", "json_schema", "json schema"),
          "grammar": ("grammar",), "seed": ("seed",)}
# These shape the reply: they are left out where the model has no such parameter, but a wrong value is reported.
_SETTINGS = ("temperature", "top_p", "max_tokens", "max_completion_tokens")
_HAS_NONE = re.compile(r"unsupported|not support|unrecognized|unknown|unexpected|extra (inputs|fields)|not allowed|"
                       r"not permitted|deprecated|only the default|(for|with) this model")
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


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
        """Learn from the error that `body` met; True when the next attempt will differ."""
        name = _blamed(body, complaint)
        refused = self._refused.setdefault(str(body.get("model")), {})
        if name is None or name in refused:
            return False
        other = _OTHER_NAME.get(name)
        refused[name] = other if other not in refused else None
        return True


def _blamed(body: Mapping[str, Any], complaint: Any) -> str | None:
    error = complaint.get("error", complaint) if isinstance(complaint, Mapping) else {}
    param = re.split(r"[.\[]", str(error.get("param") or "") if isinstance(error, Mapping) else "")[0]
    text = (complaint if isinstance(complaint, str) else json.dumps(complaint, default=str)).lower()
    for name, signs in _HINTS.items():
        if name in body and (param == name or _names(text, signs)):
            return name
    if not _HAS_NONE.search(text):
        return None
    settings = [name for name in _SETTINGS if name in body]
    return param if param in settings else next((name for name in settings if _names(text, (name,))), None)


def _names(text: str, names: tuple[str, ...]) -> bool:
    return any(re.search(rf"\b{name}\b", text) for name in names)
