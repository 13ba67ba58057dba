"""What attempts take that bring no reply: it is counted, whatever comes after them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chatdev.errors import ModelRejected, ModelUnavailable
from chatdev.llm.base import Usage, count_tokens, prompt_tokens
from tests.llm.asking import ASK, STREAMED, call, complete, delta, error, failure, stream
from tests.support.chat_server import ChatServer, Scripted

WHOLE = Usage(7, 5)
"""What the server says of the attempt that brings the reply."""
PROMPT = prompt_tokens(ASK)
HALF = "half of what it meant to say"
BROKEN = Usage(PROMPT, count_tokens(HALF, "some-model"), estimated=True)


@pytest.mark.parametrize("fields", [{"content": HALF}, {"reasoning_content": HALF}, {"refusal": HALF}])
def test_a_stream_that_broke_off_is_counted_as_far_as_it_came(chat_server: ChatServer, fields: dict[str, Any]) -> None:
    chat_server.script(stream(delta(**fields)), "whole")
    reply = complete(chat_server, STREAMED)
    assert (reply.text, reply.retries, reply.usage) == ("whole", 1, BROKEN + WHOLE)


def test_the_tool_calls_of_a_broken_stream_count(chat_server: ChatServer) -> None:
    chat_server.script(stream(call("look", HALF)), "whole")
    assert complete(chat_server, STREAMED).usage.completion_tokens >= (BROKEN + WHOLE).completion_tokens


def test_an_error_in_the_middle_of_a_stream_leaves_what_came_before_it(chat_server: ChatServer) -> None:
    chat_server.script(stream(delta(content=HALF), {"error": {"message": "overloaded", "code": 503}}), "whole")
    assert complete(chat_server, STREAMED).usage == BROKEN + WHOLE


def test_what_the_server_counted_before_it_broke_off_stands(chat_server: ChatServer) -> None:
    counted = {**delta(content=HALF), "usage": {"prompt_tokens": 30, "completion_tokens": 20}}
    chat_server.script(stream(counted), "whole")
    assert complete(chat_server, STREAMED).usage == Usage(30, 20) + WHOLE


def test_a_stream_of_which_nothing_came_took_nothing_that_is_known(chat_server: ChatServer) -> None:
    chat_server.script(stream(), error(500), Scripted(reset=True), "whole")
    assert complete(chat_server, STREAMED).usage == WHOLE


def test_a_stream_that_takes_too_long_is_counted_as_far_as_it_came(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("word by word " * 200, drip=0.05), "whole")
    reply = complete(chat_server, STREAMED, longest=0.6)
    assert (reply.text, reply.retries, reply.usage.estimated) == ("whole", 1, True)
    assert reply.usage.prompt_tokens == PROMPT + WHOLE.prompt_tokens
    assert WHOLE.completion_tokens < reply.usage.completion_tokens < 400


def test_a_call_that_always_takes_too_long_says_what_it_took(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: Scripted("word by word " * 200, drip=0.05))
    given_up = failure(chat_server, STREAMED, longest=0.3)
    assert isinstance(given_up, ModelUnavailable)
    assert "no whole reply in 0.3 seconds" in str(given_up)
    assert (given_up.prompt_tokens, given_up.estimated) == (3 * PROMPT, True), "what is paid for is tried three times"
    assert given_up.completion_tokens >= 3


def test_the_budget_leaves_the_next_attempt_what_a_slow_one_left(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("word by word " * 200, drip=0.05), "whole")
    heard: list[Usage] = []

    def room(wasted: Usage, longest: int | None = None) -> int:
        heard.append(wasted)
        return 40

    complete(chat_server, replace(STREAMED, room=room), longest=0.6)
    assert [wasted.completion_tokens > 0 for wasted in heard] == [True]
    assert chat_server.requests[-1].body["max_tokens"] == 40


def test_a_refusal_says_what_the_attempts_before_it_took(chat_server: ChatServer) -> None:
    chat_server.script("", error(401))
    refused = failure(chat_server)
    assert isinstance(refused, ModelRejected)
    assert (refused.prompt_tokens, refused.completion_tokens, refused.estimated) == (7, 5, False)
