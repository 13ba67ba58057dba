"""Streamed replies: whole, broken, odd, and from servers that do not stream."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.errors import ContextOverflow, ModelUnavailable
from chatdev.llm.base import Request, ToolCall
from chatdev.llm.completions import StreamCollector
from chatdev.llm.failures import Transient
from tests.llm.asking import ASK, STREAMED, call, complete, complete_all, delta, failure, stream
from tests.support.chat_server import ChatServer, Scripted

JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
                        ["choices", "delta", "content", "tool_calls", "function", "name", "arguments", "index", "id",
                         "usage", "finish_reason", "refusal", "model"]), inner, max_size=4), max_leaves=12)


def test_streaming_passes_text_on_and_returns_the_same_reply(chat_server: ChatServer) -> None:
    wanted = {"id": "c2", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}
    chat_server.script("a somewhat longer text", Scripted("", tool_calls=[wanted]))
    pieces: list[str] = []
    asked = Request(ASK.messages, ASK.sampling, on_text=pieces.append)
    reply, calling = complete_all(chat_server, [asked, asked])
    assert "".join(pieces) == reply.text == "a somewhat longer text"
    assert len(pieces) > 1
    assert (reply.usage.completion_tokens, reply.usage.estimated) == (5, False)
    assert calling.tool_calls == (ToolCall("c2", "look", '{"a": 1}'),)


def test_a_stream_that_breaks_off_is_asked_for_again(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("a somewhat longer text", cut=400), "whole")
    heard: list[str] = []
    reply = complete(chat_server, replace(ASK, on_text=heard.append, on_begin=heard.clear))
    assert (reply.text, reply.retries) == ("whole", 1)
    assert "".join(heard) == "whole", "what came of the broken one was void"


def test_tool_calls_come_in_pieces_numbered_or_not(chat_server: ChatServer) -> None:
    end = delta("tool_calls")
    chat_server.script(
        stream(call("a", "", index=0, id="1"), call("b", "{}", index=1, id="2"), call(None, '{"x"', index=0),
               call(None, ": 1}", index=0), end),
        stream(call("a", '{"x"', id="1"), call(None, ": 1}"), call("b", "{}", id="2"), end))
    for reply in complete_all(chat_server, [STREAMED, STREAMED]):
        assert reply.tool_calls == (ToolCall("1", "a", '{"x": 1}'), ToolCall("2", "b", "{}"))


def test_a_server_that_does_not_stream_is_understood(chat_server: ChatServer) -> None:
    pieces: list[str] = []
    chat_server.script(Scripted(body={"choices": [{"message": {"content": "plain"}, "finish_reason": "stop"}]}))
    assert complete(chat_server, Request(ASK.messages, ASK.sampling, on_text=pieces.append)).text == "plain"
    assert "".join(pieces) == "plain", "the last letters may come apart, where they begin like a secret"


def test_an_error_in_the_middle_of_a_stream_is_retried(chat_server: ChatServer) -> None:
    chat_server.script(stream(delta(content="half"), {"error": {"message": "overloaded", "code": 503}}), "whole")
    reply = complete(chat_server, STREAMED)
    assert (reply.text, reply.retries) == ("whole", 1)


def test_an_overflow_in_a_stream_is_told_apart(chat_server: ChatServer) -> None:
    chat_server.script(stream({"error": {"message": "too long", "type": "exceed_context_size_error", "code": 400}}))
    assert isinstance(failure(chat_server, STREAMED), ContextOverflow)


@pytest.mark.parametrize("chunks", [["{nope"], [{"choices": ["x"]}], [{"choices": [{"delta": "x"}]}], [[]],
                                    ["[" * 100_000]])
def test_a_stream_that_never_makes_a_reply_is_given_up(chat_server: ChatServer, chunks: list[Any]) -> None:
    chat_server.route(lambda _: stream(*chunks))
    assert isinstance(failure(chat_server, STREAMED), ModelUnavailable)
    assert len(chat_server.requests) == 6


@pytest.mark.parametrize("chunks", [[delta(content="half")], [delta(content=["half"])],
                                    [delta(content="half"), "{nope"], [delta(reasoning="half")]])
def test_a_stream_that_breaks_off_is_paid_for_three_times_at_most(chat_server: ChatServer, chunks: list[Any]) -> None:
    chat_server.route(lambda _: stream(*chunks))
    assert isinstance(failure(chat_server, STREAMED), ModelUnavailable)
    assert len(chat_server.requests) == 3


@given(st.lists(JSON | st.fixed_dictionaries({"choices": st.lists(st.fixed_dictionaries({"delta": JSON}))})))
def test_no_chunk_however_odd_breaks_the_collector(chunks: list[Any]) -> None:
    collected = StreamCollector(lambda text: None)
    for chunk in chunks:
        collected.add(chunk)
    try:
        completion = collected.completion()
    except Transient:
        return
    assert completion["choices"][0]["message"].keys() == {"content", "refusal", "tool_calls"}
