"""What a call took in tokens where its server does not say so, or says what cannot be."""

from __future__ import annotations

import json
from collections.abc import Iterable

from chatdev.llm.base import Message, Request, ToolCall, Usage
from chatdev.llm.tokens import count_tokens

MESSAGE_TOKENS = 4  # what a message takes beside its text
IMAGE_TOKENS = 1000  # of one picture, a round figure for a screenshot
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
