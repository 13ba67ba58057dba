"""Chat-completion JSON: building the body of a request, reading a reply, putting a streamed one together and cutting it
where it is no use."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chatdev.llm.base import Constraint, Image, Message, Reply, Request, ToolCall, ToolSpec, Usage
from chatdev.llm.failures import LARGEST_ANSWER, Refused, Transient, Unusable, too_large
from chatdev.llm.reported_usage import usage_of
from chatdev.llm.tokens import ReplyGauge, likely_usage
from chatdev.plain_values import encodable_text, short_name
from chatdev.secrets import StreamScrubber

_LENGTH = ("length", "max_tokens")
_ASIDE = ("reasoning_content", "reasoning")  # where servers put what a model thinks before it answers
_PIECE, _CALL = 16, 1000  # bytes that we take to keep a piece of text, and a tool call
_LONGEST = 400  # characters of a model's name, and of the id and name of a call; some ids are more than a number


def body_of(request: Request, *, grammar: bool) -> dict[str, Any]:
    """The JSON body of a request. `grammar` says that the server is llama.cpp and takes GBNF."""
    sampling = request.sampling
    body: dict[str, Any] = {"model": sampling.model, "messages": [_message(m) for m in request.messages]}
    settings = {"temperature": sampling.temperature, "top_p": sampling.top_p, "max_tokens": request.longest_reply,
                "seed": sampling.seed}
    body.update({name: value for name, value in settings.items() if value is not None})
    if sampling.reasoning_effort is not None:
        body["reasoning_effort"] = sampling.reasoning_effort
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.constraint:
        body |= _constraint(request.constraint, grammar=grammar)
    if request.streams:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return {**sampling.extra_body, **body} if sampling.extra_body else body


def _constraint(constraint: Constraint, *, grammar: bool) -> dict[str, Any]:
    if constraint.schema is not None:
        schema = {"name": "solution", "schema": constraint.schema}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {"grammar": constraint.grammar} if constraint.grammar and grammar else {}


def _message(message: Message) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        plain["content"] = [{"type": "text", "text": message.content}, *(_image(image) for image in message.images)]
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
    message, finish = _first_choice(data)
    if message.get("refusal") or finish == "content_filter":
        raise Refused(encodable_text(str(message.get("refusal") or "stopped by the content filter")))
    text, calls = text_of(message.get("content")), _calls(message.get("tool_calls"))
    if not text.strip() and not calls:
        raise Unusable("the reply is empty")
    ending = "length" if finish in _LENGTH else "tool_calls" if calls else "stop"
    usage = likely_usage(server_usage(data), request, _thoughts(message) + text, calls)
    return Reply(text, calls, usage, ending, short_name(str(data.get("model") or ""), _LONGEST))


def _first_choice(data: Any) -> tuple[Mapping[str, Any], Any]:
    """The message of the first choice, and why it ended."""
    choices = data.get("choices") if isinstance(data, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        raise Unusable("the reply holds no choice")
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise Unusable("the reply holds no message")
    return message, choice.get("finish_reason")


def _thoughts(message: Mapping[str, Any]) -> str:
    """Thoughts of the model: paid for, not part of the reply."""
    return "".join(text_of(message.get(name)) for name in _ASIDE)


def wasted_usage(data: Any, request: Request) -> Usage:
    """Usage of a completion without a usable reply; zero where the data are no completion."""
    try:
        message, _ = _first_choice(data)
    except Unusable:
        return server_usage(data) or Usage()
    return likely_usage(server_usage(data), request, _thoughts(message) + text_of(message.get("content")))


def text_of(content: Any) -> str:
    """Text of a message; some servers send a list of parts."""
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return encodable_text(content) if isinstance(content, str) else ""


def _calls(calls: Any) -> tuple[ToolCall, ...]:
    found = []
    for n, call in enumerate(calls if isinstance(calls, list) else []):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not function.get("name"):
            raise Unusable("the reply holds a tool call without a name")
        arguments = function.get("arguments") or "{}"
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        name = short_name(str(function["name"]), _LONGEST).replace("__", ".")
        found.append(ToolCall(_id_of(call, n), name, encodable_text(text)))
    return tuple(found)


def _id_of(call: Mapping[str, Any], number: int) -> str:
    """The server's own id of a tool call, if a request can name it; only the next request uses it."""
    given = encodable_text(str(call.get("id") or ""))
    return given if 0 < len(given) <= _LONGEST else f"call-{number}"


def server_usage(data: Any) -> Usage | None:
    """The server's count in a completion, whatever else is in it; None when it cannot be one."""
    found = data.get("usage") if isinstance(data, Mapping) else None
    return usage_of(found) if isinstance(found, Mapping) else None


@dataclass(slots=True)
class _Call:
    """A tool call of a stream, in the pieces in which it came."""

    id: str = ""
    name: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def completion(self) -> dict[str, Any]:
        """The call as an unstreamed completion has it."""
        return {"id": self.id, "function": {"name": "".join(self.name), "arguments": "".join(self.arguments)}}


class StreamCollector:
    """Collects the chunks of a stream into one reply, and passes text on as it comes. It is over where the `gauge` is
    full or the `watch` has seen enough, too."""

    def __init__(self, on_text: Callable[[str], None] | None = None, gauge: ReplyGauge | None = None,
                 watch: ReplyWatch | None = None) -> None:
        self._listener = StreamScrubber(on_text or (lambda _: None))
        self._gauge = gauge or ReplyGauge()
        self._watch = watch or ReplyWatch()
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[_Call] = []
        self._numbered: dict[str, _Call] = {}
        self._size = 0
        self._finish: str | None = None
        self._usage: Any = None
        self._model = ""

    @property
    def is_full(self) -> bool:
        """Whether the reply is longer than it may be or shall be; what has come of it stands as a reply that was
        cut."""
        return self._gauge.is_full or self._watch.is_over

    def add(self, chunk: Any) -> None:
        """Take one chunk, or a whole reply of a server that does not stream; unknown fields are ignored."""
        if not isinstance(chunk, Mapping):
            return
        self._usage = chunk.get("usage") or self._usage
        self._model = chunk.get("model") or self._model
        for choice in _mappings(chunk.get("choices")):
            self._finish = choice.get("finish_reason") or self._finish
            for part in _mappings([choice.get("delta"), choice.get("message")]):
                self._add_part(part)

    def _add_part(self, part: Mapping[str, Any]) -> None:
        if text := text_of(part.get("content")):
            self._keep(self._text, text)
            self._listener.add(text)
            self._watch.add(text)
        if thoughts := _thoughts(part):
            self._keep(self._thoughts, thoughts)
        if refusal := text_of(part.get("refusal")):
            self._keep(self._refusal, refusal)
        for piece in _mappings(part.get("tool_calls")):
            self._add_to_call(piece)

    def _keep(self, where: list[str], text: str) -> None:
        """Put a piece to the others."""
        self._grow(len(text) + _PIECE)
        where.append(text)
        self._gauge.add(text)

    def _grow(self, size: int) -> None:
        """Raises UnusableReply when all that is kept gets too large."""
        self._size += size
        if self._size > LARGEST_ANSWER:
            raise too_large("the streamed reply")

    def _add_to_call(self, piece: Mapping[str, Any]) -> None:
        """Take a part of a tool call."""
        function = piece.get("function")
        if not isinstance(function, Mapping):
            function = {}
        call = self._call(piece.get("index"), begins=bool(function.get("name")))
        if given := piece.get("id"):
            call.id = str(given)
            self._grow(len(call.id))
        for name, kept in (("name", call.name), ("arguments", call.arguments)):
            if isinstance(value := function.get(name), str):
                self._keep(kept, value)

    def _call(self, index: Any, *, begins: bool) -> _Call:
        """The call that a part belongs to. Servers that number no calls begin a new one by naming a function."""
        number = None if index is None else json.dumps(index)
        call = self._numbered.get(number) if number is not None else None
        if call is None and (number is not None or begins or not self._calls):
            call = _Call()
            self._grow(_CALL + len(number or ""))
            self._calls.append(call)
            if number is not None:
                self._numbered[number] = call
        return call or self._calls[-1]

    def usage(self, request: Request) -> Usage:
        """Usage of the reply so far, thoughts and tool calls included; zero before its first piece."""
        reported = server_usage({"usage": self._usage})
        if not (self._size or reported):
            return Usage()
        arguments = (piece for call in self._calls for piece in call.arguments)
        return likely_usage(reported, request, "".join((*self._thoughts, *self._text, *self._refusal, *arguments)))

    def end(self) -> None:
        """Mark the end of the stream."""
        self._listener.end()

    def completion(self) -> dict[str, Any]:
        """The reply as an unstreamed completion. Raises Transient when the stream ended before the reply did."""
        self.end()
        finish = "length" if self.is_full else self._finish
        if finish is None:
            raise Transient("the stream broke off before the reply was complete")
        message = {"content": "".join(self._text), "refusal": "".join(self._refusal),
                   "tool_calls": [call.completion() for call in self._calls], _ASIDE[0]: "".join(self._thoughts)}
        return {"model": self._model, "usage": self._usage,
                "choices": [{"message": message, "finish_reason": finish}]}


def _mappings(values: Any) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in what should be a list of them."""
    return (value for value in (values if isinstance(values, list) else []) if isinstance(value, Mapping))


# A reply looked at while it streams: one that is no use any more is not paid for to its end.

StopWhen = Callable[[str], bool]
"""Whether a reply that ends so far with this text is cut."""
_EVERY = 256  # characters, about 64 tokens, between two looks
_TAIL = 8192  # characters that are looked at


class ReplyWatch:
    """Asks `stop_when` about the end of a reply as it grows. Its time is linear in the reply: each check reads a fixed
    number of characters, however small the pieces."""

    def __init__(self, stop_when: StopWhen | None = None) -> None:
        self._stop_when = stop_when
        self._tail = ""
        self._new: list[str] = []
        self._size = 0
        self.is_over = False
        """Whether no more of it is wanted."""

    def add(self, piece: str) -> None:
        """Take the next piece."""
        if self._stop_when is None or self.is_over:
            return
        self._new.append(piece)
        self._size += len(piece)
        if self._size >= _EVERY:
            self._tail = (self._tail + "".join(self._new))[-_TAIL:]
            self._new, self._size = [], 0
            self.is_over = self._stop_when(self._tail)
