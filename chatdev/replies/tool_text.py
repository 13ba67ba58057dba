"""Calls of tools that stand in a text: as a JSON object, and in the tags that chat templates teach models, where the
server does not take them out (docs/servers.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

from chatdev.llm.base import ToolCall, ToolSpec
from chatdev.llm.wire_tools import WireNames
from chatdev.plain_values import load_json, short_name
from chatdev.replies.blocks import name_on
from chatdev.replies.fences import NEWEST, scan

_BLOCK_OPENS = re.compile(r"```(?:json|tool)?[ \t]*\n(?=\{)")
_BLOCK_CLOSES = re.compile(r"(?<=\})\s*```")


def read_tool_call(text: str, tools: Collection[ToolSpec] = (), *, semantics: int = NEWEST) -> ToolCall | None:
    """The first call of one of the `tools` in a text: one action, then its observation. Before semantics 7 only JSON
    objects are calls, and names are as they stand there."""
    newest, names = semantics > 6, WireNames(tools)
    blocks = list(_json_blocks(text)) or ([text] if text.lstrip().startswith("{") else [])
    found = next((call for block in blocks if (call := _read_object(block, names if newest else None))), None)
    return found or (next(_tagged_calls(text, tools, names), (None, 0))[0] if newest else None)


def ends_with_tool_call(text: str, tools: Collection[ToolSpec], *, semantics: int = NEWEST) -> bool:
    """Whether a text ends with a call of one of the `tools`."""
    offered, newest, names = {tool.name for tool in tools}, semantics > 6, WireNames(tools)
    *_, last = [text, *_json_blocks(text)]
    is_last = text.rstrip("` \t\n").endswith(last.rstrip("` \t\n"))
    call = _read_object(last, names if newest else None) if is_last else None
    if call is None and newest:
        *_, (call, end) = [(None, 0), *_tagged_calls(text, tools, names)]
        call = call if _ENDS.fullmatch(text, end) else None
    return call is not None and call.name in offered


def _json_blocks(text: str) -> Iterator[str]:
    """Fenced JSON objects that are no files of a delivery, in a time that grows with the text only (one pattern for all
    of it would not do)."""
    start = _BLOCK_OPENS.search(text)
    while start and (end := _BLOCK_CLOSES.search(text, start.end())):
        above = text[text.rfind("\n", 0, max(0, start.start() - 1)) + 1:start.start()]
        if not name_on(above):
            yield text[start.end():end.start()]
        start = _BLOCK_OPENS.search(text, end.end())


def _read_object(block: str, names: WireNames | None) -> ToolCall | None:
    """The call that a JSON object is. Some models write `name` for `tool`. With `names`, their other words count,
    too."""
    try:
        value = load_json(block)
    except ValueError:
        return None
    if names is not None:
        return _call_of(value, names)
    if not isinstance(value, dict):
        return None
    name, arguments = value.get("tool"), value.get("arguments", {})
    if name is None and "arguments" in value:  # much else has a name
        name = value.get("name")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    return ToolCall("", short_name(name), json.dumps(arguments, ensure_ascii=False))


def _call_of(value: Any, names: WireNames) -> ToolCall | None:
    """The call that a JSON value is: of a tool by its own name or that on the wire."""
    if not isinstance(value, dict):
        return None
    said = value.get("tool") or value.get("name")
    name = names.own(said) if isinstance(said, str) else ""
    arguments = _arguments_in(value, known=names.is_offered(name))
    return _new_call(name, arguments) if name and isinstance(arguments, dict) else None


def _arguments_in(value: Mapping[str, Any], *, known: bool) -> Any:
    """Arguments of a call; None where it is none. Of a tool that is offered they may be `parameters` (Llama), or a
    text: much else has a name and parameters."""
    key = "parameters" if known and "arguments" not in value else "arguments"
    given = value.get(key, {} if value.get("tool") else None)
    return _value_of(given) if known and isinstance(given, str) else given


def _new_call(name: str, arguments: Mapping[str, Any]) -> ToolCall:
    return ToolCall("", short_name(name), json.dumps(arguments, ensure_ascii=False))


# Calls in tags.

_TAGS = {"<tool_call>": "</tool_call>",  # Hermes, Qwen, GLM
         "<|tool_call|>": "<|/tool_call|>",  # Phi
         "<function_calls>": "</function_calls>", "<minimax:tool_call>": "</minimax:tool_call>",
         "<function=": "</function>",  # Llama, Qwen Coder without its outer tag
         "<|python_tag|>": "<|eom_id|>",  # Llama
         "[TOOL_CALLS]": "</s>",  # Mistral
         "<｜tool▁call▁begin｜>": "<｜tool▁call▁end｜>",  # DeepSeek
         "<|tool_call_begin|>": "<|tool_call_end|>",  # Kimi
         "<|channel|>commentary to=": "<|call|>", "<|channel|>analysis to=": "<|call|>"}  # gpt-oss
_OPENS = re.compile("|".join(map(re.escape, _TAGS)))
_MOST = 20  # tags that are looked at: whoever writes more of them writes about them
_ENDS = re.compile(r"(?:[\s`\]]|<[^<>]{0,60}>)*+")
_BLANKS = re.compile(r"\s*")
_NAME = r"[\w.:-]{1,200}"
_FUNCTION = re.compile(rf"\s*(?:<function=|<invoke name=\"|<function name=\")({_NAME})\"?>")
_PARAMETER = re.compile(r"<parameter(?:=| name=\")([^<>\"]{1,200})\"?[^<>]{0,100}>")
_KEY = re.compile(r"<arg_key>\s*([^<>]{1,200}?)\s*</arg_key>\s*<arg_value>")
_BEFORE_KEY = re.compile(rf"\s*({_NAME})\s*(?=<arg_key>|\Z)")
_BEFORE_JSON = re.compile(
    rf"\s*(?:function<｜tool▁sep｜>)?(?P<name>{_NAME})\s*(?:<｜tool▁sep｜>|<\|tool_call_argument_begin\|>|\[ARGS\]|"
    r"(?:<\|constrain\|>json)?<\|message\|>|>|(?=\s*```json))\s*(?:```json\s*)?(?=\{)")
_JSON = json.JSONDecoder()


def _tagged_calls(text: str, tools: Collection[ToolSpec], names: WireNames) -> Iterator[tuple[ToolCall, int]]:
    """The calls in tags outside code, each with its end in the text, before the tag that closes it."""
    openings = list(islice(_OPENS.finditer(text), _MOST))
    blocks = [range(block.start, block.end) for block in scan(text)] if openings else []
    end = 0
    for opening in openings:
        tag, start = opening[0], opening.end()
        if start < end or any(opening.start() in block for block in blocks):
            continue
        if found := _read_json(text, start, names):
            end = found[1]
            yield found
            continue
        closing = text.find(_TAGS[tag], start) % (len(text) + 1)  # the end of the text, where there is none
        if call := _read_values(text[opening.start() if tag == "<function=" else start:closing], tools, names):
            end = closing
            yield call, end


def _read_json(text: str, start: int, names: WireNames) -> tuple[ToolCall, int] | None:
    """The call behind a tag as JSON, and its end: of name and arguments, several of which may be in a list, or a name
    before its arguments."""
    found = _BEFORE_JSON.match(text, start) or _BLANKS.match(text, start)
    if found is None or text[found.end():found.end() + 1] not in ("{", "["):
        return None
    try:
        _, end = _JSON.raw_decode(text, found.end())
        value = load_json(text[found.end():end])
    except (ValueError, RecursionError):
        return None
    value = value[0] if isinstance(value, list) and value else value
    if found.re is _BLANKS:
        call = _call_of(value, names)
    else:
        call = _new_call(names.own(found["name"]), value) if isinstance(value, dict) else None
    return (call, end) if call else None


def _read_values(body: str, tools: Collection[ToolSpec], names: WireNames) -> ToolCall | None:
    """The call between two tags whose arguments have tags of their own."""
    if found := _FUNCTION.match(body):
        return _call_by_schema(names.own(found[1]), _values(body, _PARAMETER, "</parameter>"), tools)
    found = _BEFORE_KEY.match(body)
    name = names.own(found[1]) if found else ""
    return _call_by_schema(name, _values(body, _KEY, "</arg_value>"), tools) if names.is_offered(name) else None


def _values(body: str, opens: re.Pattern[str], closes: str) -> Iterator[tuple[str, str]]:
    """Names and texts of the values between tags."""
    found = opens.search(body)
    while found:
        end = body.find(closes, found.end())
        value = body[found.end():end if end >= 0 else len(body)]
        yield found[1].strip(), value.removeprefix("\n").removesuffix("\n")
        found = opens.search(body, end) if end >= 0 else None


def _call_by_schema(name: str, values: Iterator[tuple[str, str]], tools: Collection[ToolSpec]) -> ToolCall:
    """The call with values of the types that its tool takes: between tags all are texts."""
    schema = next((tool.parameters for tool in tools if tool.name == name), {})
    properties = schema.get("properties") or {}
    texts = {key for key, kind in properties.items() if isinstance(kind, Mapping) and kind.get("type") == "string"}
    return _new_call(name, {key: value if key in texts else _value_of(value) for key, value in values})


def _value_of(text: str) -> Any:
    try:
        return load_json(text)
    except ValueError:
        return text
