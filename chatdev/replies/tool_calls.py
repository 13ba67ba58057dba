"""Tool calls that a model writes as text: fenced JSON objects `{"tool": …, "arguments": {…}}` (design §7)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from chatdev.llm.base import ToolCall
from chatdev.replies.file_names import name_on
from chatdev.replies.values import load_json

_BLOCK_OPENS = re.compile(r"```(?:json|tool)?[ \t]*\n(?=\{)")
_BLOCK_CLOSES = re.compile(r"(?<=\})\s*```")


def read_tool_call(text: str) -> ToolCall | None:
    """The first tool call in a text: one action, then its observation. Some models write `name` for `tool`."""
    blocks = list(_json_blocks(text)) or ([text] if text.lstrip().startswith("{") else [])
    return next((call for block in blocks if (call := _read_call(block))), None)


def ends_with_tool_call(text: str, names: Collection[str]) -> bool:
    """Whether a text ends with a call of one of the tools `names`."""
    *_, last = [text, *_json_blocks(text)]
    call = _read_call(last) if text.rstrip("` \t\n").endswith(last.rstrip("` \t\n")) else None
    return call is not None and call.name in names


def _json_blocks(text: str) -> Iterator[str]:
    """Fenced JSON objects that are no files of a delivery, in a time that grows with the text only (one pattern for all
    of it would not do)."""
    start = _BLOCK_OPENS.search(text)
    while start and (end := _BLOCK_CLOSES.search(text, start.end())):
        above = text[text.rfind("\n", 0, max(0, start.start() - 1)) + 1:start.start()]
        if not name_on(above):
            yield text[start.end():end.start()]
        start = _BLOCK_OPENS.search(text, end.end())


def _read_call(block: str) -> ToolCall | None:
    try:
        value = load_json(block)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    name, arguments = value.get("tool"), value.get("arguments", {})
    if name is None and "arguments" in value:  # much else has a name
        name = value.get("name")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    return ToolCall("", name, json.dumps(arguments, ensure_ascii=False))
