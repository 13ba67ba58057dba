"""Lessons from what a server refuses, by model: parameters to leave out, roles that its chat template does not take.

Each is learned from the first complaint and holds for all later calls of the run (docs/servers.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

# A reply is as good without these, so whatever is wrong with them they are left out.
_HINTS = {"stream_options": ("stream_options",), "stream": ("stream", "streaming"),
          "response_format": ("response_format", "json_schema", "json schema"),
          "grammar": ("grammar",), "seed": ("seed",)}
# These shape the reply: they are left out where the model has no such parameter, but a wrong value is reported.
_SETTINGS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort")
_HAS_NONE = re.compile(r"unsupported|not support|unrecognized|unknown|unexpected|extra (inputs|fields)|not allowed|"
                       r"not permitted|deprecated|only the default|(for|with) this model")
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


class Adaptations:
    """What one endpoint's models refuse, by model name."""

    def __init__(self) -> None:
        self._refused: dict[str, dict[str, str | None]] = {}
        self._plain: set[str] = set()

    def apply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body without what its model refuses, renamed where there is another name."""
        adapted, model = dict(body), str(body.get("model"))
        for name, other in self._refused.get(model, {}).items():
            if name in adapted:
                value = adapted.pop(name)
                if other:
                    adapted[other] = value
        if model in self._plain:
            adapted["messages"] = plain_roles(adapted["messages"])
        return adapted

    def learn(self, body: Mapping[str, Any], complaint: Any) -> bool:
        """Learn from the error that `body` met; True when the next attempt will differ."""
        name = _parameter_in(body, complaint)
        if name is None:
            return False
        refused = self._refused.setdefault(str(body.get("model")), {})
        if name not in refused:  # else a request under way beside this one met the same, and was answered first
            other = _OTHER_NAME.get(name)
            refused[name] = other if other not in refused else None
        return True

    def learn_roles(self, body: Mapping[str, Any]) -> bool:
        """Learn that the chat template of the model takes only a user and an assistant in turns; True when the next
        attempt will differ."""
        self._plain.add(str(body.get("model")))
        return bool(plain_roles(body["messages"]) != body["messages"])


def _parameter_in(body: Mapping[str, Any], complaint: Any) -> str | None:
    """The parameter of `body` that a complaint is about."""
    param = _param(complaint)
    text = (complaint if isinstance(complaint, str) else json.dumps(complaint, default=str)).lower()
    for name, signs in _HINTS.items():
        if name in body and (param == name or _mentions(text, signs)):
            return name
    if not _HAS_NONE.search(text):
        return None
    return _setting_in([name for name in _SETTINGS if name in body], param, text)


def _setting_in(settings: Sequence[str], param: str, text: str) -> str | None:
    return param if param in settings else next((name for name in settings if _mentions(text, (name,))), None)


def _param(complaint: Any) -> str:
    """What an error names as its `param`, without the path in it."""
    error = complaint.get("error", complaint) if isinstance(complaint, Mapping) else {}
    param = error.get("param") if isinstance(error, Mapping) else ""
    return re.split(r"[.\[]", str(param or ""))[0]


def _mentions(text: str, names: tuple[str, ...]) -> bool:
    return any(re.search(rf"\b{name}\b", text) for name in names)


# Roles that every chat template takes.


def plain_roles(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a request without a system message, which is put before the first user's, and with neighbours of
    one role as one message."""
    first = next((n for n, message in enumerate(messages) if message["role"] != "system"), len(messages))
    rules = [{**message, "role": "user"} for message in messages[:first]]
    plain: list[dict[str, Any]] = []
    for message in (*rules, *messages[first:]):
        turned = {**message, "role": "user"} if message["role"] == "system" else dict(message)
        before = plain[-1] if plain else {}
        if turned["role"] == before.get("role") != "tool" and "tool_calls" not in before:
            plain[-1] = {**before, **turned, "content": _join(before["content"], turned["content"])}
        else:
            plain.append(turned)
    return plain


def _join(before: Any, after: Any) -> Any:
    """Two contents as one: texts with a blank line between them, else the parts of both."""
    if isinstance(before, str) and isinstance(after, str):
        return "\n\n".join(text for text in (before, after) if text)
    return [*_parts(before), *_parts(after)]


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
