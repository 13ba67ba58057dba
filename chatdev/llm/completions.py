"""Chat-completion JSON: the body of a request, a reply whole or as a stream of server-sent events, cut where it is no
use, and the tokens that servers report of it, each in the form and the names of its dialect (docs/servers.md)."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from chatdev.errors import ContextOverflow
from chatdev.llm.base import (
    Constraint,
    Image,
    Message,
    Reply,
    ReplyGauge,
    Request,
    ToolSpec,
    Usage,
    fills_window,
    likely_usage,
)
from chatdev.llm.failures import LARGEST_ANSWER, Broken, NoAnswer, Refused, Transient, Unusable, too_large
from chatdev.llm.wire_tools import LONGEST_NAME, CallCollector, WireNames, read_calls
from chatdev.safe_text import StreamScrubber, check_depth, encodable_text, short_name

# Why a reply ended, beside `stop` and `tool_calls`, in the words of all servers
_LENGTH = ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded")
_REFUSED = ("content_filter", "safety", "recitation", "prohibited_content", "blocklist", "sensitive", "refusal")
_BROKEN = ("error", "abort", "insufficient_system_resource", "network_error")
_ASIDE = ("reasoning_content", "reasoning")  # where servers put what a model thinks before it answers
_PIECE = 16  # bytes that we take to keep a piece of text


def body_of(request: Request, *, grammar: bool) -> dict[str, Any]:
    """The JSON body of a request. `grammar` says that the server is llama.cpp and takes GBNF."""
    sampling = request.sampling
    names = WireNames(request.tools)
    body: dict[str, Any] = {"model": sampling.model, "messages": [_message(m, names) for m in request.messages]}
    settings = {"temperature": sampling.temperature, "top_p": sampling.top_p, "max_tokens": request.longest_reply,
                "seed": sampling.seed}
    body.update({name: value for name, value in settings.items() if value is not None})
    if sampling.reasoning_effort is not None:
        body["reasoning_effort"] = sampling.reasoning_effort
    if request.tools:
        body["tools"] = [_tool(tool, names) for tool in request.tools]
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


def _message(message: Message, names: WireNames) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        plain["content"] = [{"type": "text", "text": message.content}, *(_image(image) for image in message.images)]
    if message.tool_calls:
        plain["tool_calls"] = [{"id": call.id, "type": "function",
                                "function": {"name": names.wire(call.name), "arguments": call.arguments}}
                               for call in message.tool_calls]
    if message.tool_call_id is not None:
        plain["tool_call_id"] = message.tool_call_id
    return plain


def _image(image: Image) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{data}"}}


def _tool(tool: ToolSpec, names: WireNames) -> dict[str, Any]:
    return {"type": "function", "function": {"name": names.wire(tool.name), "description": tool.description,
                                             "parameters": dict(tool.parameters)}}


def reply_of(data: Any, request: Request) -> Reply:
    """The reply in a completion. Unknown fields are ignored. Raises Unusable when there is none, Refused when the
    model refuses, Broken for a part of a reply, ContextOverflow where the prompt left no room for one."""
    message, finish = _first_choice(data)
    if message.get("refusal") or finish in _REFUSED:
        raise Refused(encodable_text(str(message.get("refusal") or "stopped by the content filter")))
    if finish in _BROKEN:
        raise Broken(f"the server ended the reply in the middle ({finish})")
    text, calls = text_of(message.get("content")), read_calls(message.get("tool_calls"), WireNames(request.tools))
    if not text.strip() and not calls:
        raise _why_empty(data, message, request, cut=finish in _LENGTH)
    ending = "length" if finish in _LENGTH else "tool_calls" if calls else "stop"
    usage = likely_usage(server_usage(data), request, _thoughts(message) + text, calls)
    return Reply(text, calls, usage, ending, short_name(str(data.get("model") or ""), LONGEST_NAME))


def _why_empty(data: Any, message: Mapping[str, Any], request: Request, *, cut: bool) -> Exception:
    """What a reply without text means: a full context window, thoughts up to the limit, or nothing that is known."""
    thoughts = _thoughts(message)
    if not thoughts and (tokens := _full_window(data, request, cut=cut)):
        return ContextOverflow(f"the server answered nothing to a prompt of {tokens:,} tokens, as one does whose "
                               "context window is full; load the model with a larger one (LM Studio: context length, "
                               "Ollama: num_ctx, llama.cpp: -c), or give it less")
    if text_of(message.get("content")) and not thoughts:
        return Unusable("the reply is nothing but blanks")
    if cut:
        return _without_answer(request.longest_reply or wasted_usage(data, request).completion_tokens, thoughts)
    return NoAnswer("it only thought, and gave no answer") if thoughts else Unusable("the reply is empty")


def _full_window(data: Any, request: Request, *, cut: bool) -> int:
    """Tokens of a prompt that left no room for a reply; 0 where that is not the reason."""
    usage = server_usage(data) or Usage(0, 2)
    is_full = usage.completion_tokens <= 1 and fills_window(usage.prompt_tokens, request, cut=cut)
    return usage.prompt_tokens if is_full else 0


def _without_answer(limit: int, thoughts: str) -> NoAnswer:
    all_of_it = f"all {limit:,} tokens" if limit else "all the tokens"
    return NoAnswer(f"it used {all_of_it} that it may write{' for thinking' if thoughts else ''}, and came to no "
                    "answer; raise max_tokens or let it think less", limit or None)


def _first_choice(data: Any) -> tuple[Mapping[str, Any], str]:
    """The message of the first choice, and why it ended, in small letters."""
    choices = data.get("choices") if isinstance(data, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        raise Unusable("the reply holds no choice")
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise Unusable("the reply holds no message")
    return message, str(choice.get("finish_reason") or "").lower()


def _thoughts(message: Mapping[str, Any]) -> str:
    """Thoughts of the model: paid for, not part of the reply. Some servers send them under both names."""
    return next((text for name in _ASIDE if (text := text_of(message.get(name)))), "")


def wasted_usage(data: Any, request: Request) -> Usage:
    """Usage of a completion without a usable reply; zero where the data are no completion."""
    try:
        message, _ = _first_choice(data)
    except Unusable:
        return server_usage(data) or Usage()
    return likely_usage(server_usage(data), request, _thoughts(message) + text_of(message.get("content")))


def text_of(content: Any) -> str:
    """Text of a message; some servers send a list of parts, thoughts among them, which are no text of it."""
    if isinstance(content, list):
        content = "".join(_text_in(part) for part in content)
    return encodable_text(content) if isinstance(content, str) else ""


def _text_in(part: Any) -> str:
    if isinstance(part, Mapping) and part.get("type", "text") in ("text", "output_text"):
        part = part.get("text")
    return part if isinstance(part, str) else ""


def server_usage(data: Any) -> Usage | None:
    """The server's count in a completion, whatever else is in it; None when it cannot be one."""
    found = data.get("usage") if isinstance(data, Mapping) else None
    return usage_of(found) if isinstance(found, Mapping) else None


class StreamCollector:
    """Collects the chunks of a stream into one reply, and passes text on as it comes. It is over where the `gauge` is
    full or the `watch` has seen enough, too. `offered`: names of the tools on the wire."""

    def __init__(self, on_text: Callable[[str], None] | None = None, gauge: ReplyGauge | None = None,
                 watch: ReplyWatch | None = None, offered: Collection[str] = ()) -> None:
        self._listener = StreamScrubber(on_text or (lambda _: None))
        self._gauge = gauge or ReplyGauge()
        self._watch = watch or ReplyWatch()
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._refusal: list[str] = []
        self._calls = CallCollector(offered)
        self._size = 0
        self._finish: str | None = None
        self._usage: Any = None
        self._model = ""

    @property
    def is_full(self) -> bool:
        """Whether the reply is longer than it may be or shall be; what has come of it stands as a reply that was
        cut."""
        return self._gauge.is_full or self._watch.is_over

    @property
    def is_empty(self) -> bool:
        """Whether nothing of a reply has come."""
        return not self._size

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
        before = self._calls.size
        for said in self._calls.add(_mappings(part.get("tool_calls"))):
            self._gauge.add(said)
        self._grow(self._calls.size - before)

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

    def usage(self, request: Request) -> Usage:
        """Usage of the reply so far, thoughts and tool calls included; zero before its first piece."""
        reported = server_usage({"usage": self._usage})
        if self.is_empty and not reported:
            return Usage()
        said = "".join((*self._thoughts, *self._text, *self._refusal, *self._calls.arguments))
        return likely_usage(reported, request, said)

    def end(self, *, is_done: bool = False) -> None:
        """Mark the end of the stream. `is_done`: the server said that it is whole; some never say why it ended."""
        self._listener.end()
        if is_done:
            self._finish = self._finish or "stop"

    def completion(self) -> dict[str, Any]:
        """The reply as an unstreamed completion. Raises Broken, or Transient where nothing of
        it came, when the stream ended before the reply did."""
        self.end()
        finish = "length" if self.is_full else self._finish
        if finish is None:
            raise (Transient if self.is_empty else Broken)("the stream broke off before the reply was complete")
        message = {"content": "".join(self._text), "refusal": "".join(self._refusal),
                   "tool_calls": self._calls.completions(), _ASIDE[0]: "".join(self._thoughts)}
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


# Server-sent events of a streamed completion, as servers and gateways send them: comments, stray lines, missing
# blank lines, bare JSON (docs/servers.md).

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


# Tokens of a call as servers report them, in the names and the sums of each of their dialects.

_MOST_TOKENS = 10**9  # that one call can have taken; whoever counts more does not count tokens
_MOST_THOUGHTS = 10**6  # that a reply can have had beside its text
_CACHED = (("prompt_tokens_details", "cached_tokens"), ("input_tokens_details", "cached_tokens"),
           ("prompt_cache_hit_tokens",), ("cache_read_input_tokens",), ("cached_tokens",))
_THOUGHTS = (("completion_tokens_details", "reasoning_tokens"), ("output_tokens_details", "reasoning_tokens"),
             ("output_tokens_details", "thinking_tokens"), ("reasoning_tokens",))


def usage_of(reported: Mapping[str, Any]) -> Usage | None:
    """The count in the `usage` of a completion; None when it cannot be one. Thoughts, and a prompt's tokens from the
    cache, are counted where the server leaves them out of its counts, too: its total, or its names, tell."""
    prompt, completion = _count(reported, ("prompt_tokens",)), _count(reported, ("completion_tokens",))
    if prompt is None and completion is None:
        prompt, completion = _by_other_names(reported)
    if prompt is None or completion is None:
        return None
    cached, thoughts = _first(reported, _CACHED), _first(reported, _THOUGHTS)
    beside = (_count(reported, ("total_tokens",)) or 0) - prompt - completion
    if 0 < beside == cached != thoughts:
        prompt += beside
    elif 0 < beside <= _MOST_THOUGHTS and (thoughts in (0, beside) or thoughts > completion):
        completion, thoughts = completion + beside, thoughts or beside
    elif thoughts > completion:
        completion += thoughts
    return Usage(prompt, completion, cached_tokens=min(cached, prompt), reasoning_tokens=min(thoughts, completion))


def _by_other_names(reported: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Prompt and completion by the names of OpenAI's responses, or by Anthropic's, whose prompts leave out what the
    cache took or gave."""
    prompt, completion = _count(reported, ("input_tokens",)), _count(reported, ("output_tokens",))
    if prompt is not None and "input_tokens_details" not in reported:
        prompt += sum(_count(reported, (f"cache_{kind}_input_tokens",)) or 0 for kind in ("read", "creation"))
    return prompt, completion


def _first(reported: Mapping[str, Any], paths: Sequence[tuple[str, ...]]) -> int:
    return next((count for path in paths if (count := _count(reported, path))), 0)


def _count(reported: Mapping[str, Any], path: tuple[str, ...]) -> int | None:
    value: Any = reported
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if is_count else None
