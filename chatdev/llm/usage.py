"""Tokens of a call by our own count: used where the server's count is missing or impossible, and while a reply streams,
so that one beyond the budget is cut."""

from __future__ import annotations

import json
from collections.abc import Iterable

from chatdev.llm.base import Message, Request, ToolCall, Usage
from chatdev.llm.tokens import count_tokens

MESSAGE_TOKENS = 4  # what a message takes beside its text
IMAGE_TOKENS = 1000  # of one picture, a round figure for a screenshot
_BLOCK = 512  # characters that are counted once and for all; what comes behind them is counted again with every piece
_MOST_LETTERS = 40  # characters that a reported token may stand for before we count ourselves
_TIMES = 10  # a server that reports fewer than a tenth of the tokens that we count did not count
_SLACK = 100  # tokens; short texts prove nothing


def prompt_tokens(request: Request) -> int:
    """The tokens of a request's messages and tools, by our own count."""
    model = request.sampling.model
    tools = sum(count_tokens(tool.description + json.dumps(tool.parameters), model) for tool in request.tools)
    return tools + sum(_message_tokens(message, model) for message in request.messages)


def _message_tokens(message: Message, model: str) -> int:
    calls = sum(count_tokens(call.arguments, model) for call in message.tool_calls)
    return count_tokens(message.content, model) + calls + MESSAGE_TOKENS + IMAGE_TOKENS * len(message.images)


def likely_usage(reported: Usage | None, request: Request, said: str, calls: Iterable[ToolCall] = ()) -> Usage:
    """What the server reported, or what we count of the request and of the text that it `said`, where it reported
    nothing, no tokens for a text, or so few that it cannot have counted them."""
    if reported is None:
        reported = Usage()
    said += "".join(call.arguments for call in calls)
    prompt = reported.prompt_tokens or prompt_tokens(request)
    completion = _likely_tokens(reported.completion_tokens, said, request.sampling.model)
    if (prompt, completion) == (reported.prompt_tokens, reported.completion_tokens):
        return reported
    return Usage(prompt, completion, estimated=True)


def _likely_tokens(reported: int, said: str, model: str) -> int:
    if reported * _MOST_LETTERS >= len(said):
        return reported
    counted = count_tokens(said, model)
    return counted if reported == 0 or reported * _TIMES + _SLACK < counted else reported


class ReplyGauge:
    """How many tokens of a reply have come, its thoughts and tool calls included, of the `most` that it may have (None:
    as many as it likes)."""

    def __init__(self, most: int | None = None, model: str = "") -> None:
        self._most, self._model = most, model
        self._counted, self._tail = 0, ""
        self.is_full = False
        """Whether more has come than may."""

    def add(self, piece: str) -> None:
        """Count the next piece."""
        if self._most is None or self.is_full:
            return
        self._tail += piece
        tokens = count_tokens(self._tail, self._model)
        self.is_full = self._counted + tokens > self._most
        if len(self._tail) > _BLOCK:
            self._counted, self._tail = self._counted + tokens, ""
