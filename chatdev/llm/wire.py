"""Chat-completion JSON: building a request's body, reading a reply."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, TypeGuard

from chatdev.llm.base import Image, Message, Reply, Request, ToolCall, ToolSpec, Usage
from chatdev.llm.failures import Refused, Unusable
from chatdev.llm.tokens import count

_LENGTH = ("length", "max_tokens")


def body_of(request: Request, *, grammar: bool) -> dict[str, Any]:
    """The JSON body of a request. `grammar` says that the server is llama.cpp and takes GBNF."""
    sampling = request.sampling
    body: dict[str, Any] = {"model": sampling.model, "messages": [_message(m) for m in request.messages]}
    settings = {"temperature": sampling.temperature, "top_p": sampling.top_p, "max_tokens": sampling.max_tokens,
                "seed": sampling.seed}
    body.update({name: value for name, value in settings.items() if value is not None})
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    constraint = request.constraint
    if constraint and constraint.schema is not None:
        named = {"name": "solution", "schema": constraint.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif constraint and constraint.grammar and grammar:
        body["grammar"] = constraint.grammar
    if request.on_text:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def _message(message: Message) -> dict[str, Any]:
    text = encodable(message.content)
    plain: dict[str, Any] = {"role": message.role, "content": text}
    if message.images:
        plain["content"] = [{"type": "text", "text": text}, *(_image(image) for image in message.images)]
    if message.tool_calls:
        plain["tool_calls"] = [{"id": call.id, "type": "function",
                                "function": {"name": wire_name(call.name), "arguments": call.arguments}}
                               for call in message.tool_calls]
    if message.tool_call_id is not None:
        plain["tool_call_id"] = message.tool_call_id
    return plain


def _image(image: Image) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{data}"}}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {"type": "function", "function": {"name": wire_name(tool.name), "description": tool.description,
                                             "parameters": dict(tool.parameters)}}


def wire_name(name: str) -> str:
    """A tool's name for the wire, where dots are not allowed."""
    return name.replace(".", "__")


def reply_of(data: Any, request: Request) -> Reply:
    """The reply in a completion. Unknown fields are ignored. Raises Unusable when there is none, Refused when the
    model refuses."""
    choices = data.get("choices") if isinstance(data, Mapping) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise Unusable("the reply holds no choice")
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise Unusable("the reply holds no message")
    finish = choice.get("finish_reason")
    if message.get("refusal") or finish == "content_filter":
        raise Refused(encodable(str(message.get("refusal") or "stopped by the content filter")))
    text, calls = text_of(message.get("content")), _calls(message.get("tool_calls"))
    if not text.strip() and not calls:
        raise Unusable("the reply is empty")
    ending = "length" if finish in _LENGTH else "tool_calls" if calls else "stop"
    return Reply(text, calls, counted(data) or _estimated(request, text), ending, str(data.get("model") or ""))


def text_of(content: Any) -> str:
    """Text of a message; some servers send a list of parts."""
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return encodable(content) if isinstance(content, str) else ""


def encodable(text: str) -> str:
    """The text with `?` for half characters, which JSON can carry but no file and no later request."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _calls(calls: Any) -> tuple[ToolCall, ...]:
    found = []
    for n, call in enumerate(calls if isinstance(calls, list) else []):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not function.get("name"):
            raise Unusable("the reply holds a tool call without a name")
        arguments = function.get("arguments") or "{}"
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        found.append(ToolCall(str(call.get("id") or f"call-{n}"), str(function["name"]).replace("__", "."),
                              encodable(text)))
    return tuple(found)


def counted(data: Any) -> Usage | None:
    """The server's count in a completion, whatever else is in it."""
    usage = data.get("usage") if isinstance(data, Mapping) else None
    prompt, completion = (usage.get(f"{kind}_tokens") if isinstance(usage, Mapping) else None
                          for kind in ("prompt", "completion"))
    return Usage(prompt, completion) if _is_count(prompt) and _is_count(completion) else None


def _estimated(request: Request, text: str) -> Usage:
    asked = sum(count(message.content, request.sampling.model) + 4 for message in request.messages)
    return Usage(asked, count(text, request.sampling.model), estimated=True)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
