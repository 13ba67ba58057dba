"""Servers that answer with odd values: counts that are none, ids and names too odd to be sent back, endless nesting."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatdev.errors import UnusableReply
from chatdev.llm.base import Message, Request, Sampling, ToolCall, ToolSpec
from tests.llm.asking import ASK, complete, failure
from tests.support.chat_server import ChatServer, Scripted

COUNTS: list[Any] = [-1, 10**10, 10**400, 1.5, True, "7", None, [7], {"n": 7}]


def answer(**fields: Any) -> Scripted:
    return Scripted(body={"choices": [{"message": {"content": "hello world"}}], **fields})


@pytest.mark.parametrize("count", COUNTS, ids=lambda count: str(count)[:8])
@pytest.mark.parametrize("kind", ["prompt_tokens", "completion_tokens"])
def test_a_count_that_can_be_none_is_estimated(chat_server: ChatServer, kind: str, count: Any) -> None:
    chat_server.script(answer(usage={"prompt_tokens": 7, "completion_tokens": 5, kind: count}))
    usage = complete(chat_server).usage
    assert usage.estimated
    assert 0 < usage.prompt_tokens < 100
    assert 0 < usage.completion_tokens < 100


@pytest.mark.parametrize("usage", ["NaN", "[]", "7", '{"prompt_tokens": NaN, "completion_tokens": 1e999}'])
def test_usage_that_is_none_is_estimated(chat_server: ChatServer, usage: str) -> None:
    chat_server.script(Scripted(body=f'{{"choices": [{{"message": {{"content": "hi"}}}}], "usage": {usage}}}'.encode()))
    assert complete(chat_server).usage.estimated


ODD = "\ud800" * 3


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("text", [ODD, "x" * 200_000, "a\n\x1b[2Jb\0"], ids=["half", "long", "steering"])
def test_an_odd_call_of_a_tool_can_be_answered(chat_server: ChatServer, text: str, *, streamed: bool) -> None:
    call = {"id": text, "type": "function", "index": 0,
            "function": {"name": f"look{text}", "arguments": json.dumps({"at": text})}}
    chat_server.script(Scripted(None, tool_calls=[call]), "done")
    heard: list[str] = []
    tools = (ToolSpec("look", "Look.", {}),)
    on_text = heard.append if streamed else None
    reply = complete(chat_server, Request(ASK.messages, ASK.sampling, tools, on_text=on_text))
    (made,) = reply.tool_calls
    assert (len(made.id), len(made.name)) < (401, 401)
    again = (*ASK.messages, Message("assistant", "", tool_calls=(made,)),
             Message("tool", "seen", tool_call_id=made.id))
    assert complete(chat_server, Request(again, ASK.sampling)).text == "done"
    _, said, seen = chat_server.requests[-1].body["messages"][-3:]
    assert said["tool_calls"][0]["id"] == seen["tool_call_id"]


@pytest.mark.parametrize("sampling", [Sampling("m" + ODD), Sampling("m")])
def test_every_request_can_be_sent(chat_server: ChatServer, sampling: Sampling) -> None:
    odd = (Message("system", ODD), Message("assistant", ODD, tool_calls=(ToolCall(ODD, ODD, ODD),)),
           Message("tool", ODD, tool_call_id=ODD))
    chat_server.script("done")
    request = Request(odd, sampling, (ToolSpec(ODD, ODD, {"properties": {ODD: {"description": ODD}}}),))
    assert complete(chat_server, request).text == "done"


DEEP = "[" * 900 + "]" * 900


@pytest.mark.parametrize("field", ["id", "arguments"])
def test_endless_nesting_in_a_reply_is_no_reply(chat_server: ChatServer, field: str) -> None:
    call = f'{{"{field}": {DEEP}, "function": {{"name": "look", "{field}": {DEEP}}}}}'
    body = f'{{"choices": [{{"message": {{"tool_calls": [{call}]}}}}]}}'.encode()
    chat_server.script(*[Scripted(body=body)] * 3)
    assert isinstance(failure(chat_server), UnusableReply)


@pytest.mark.parametrize("status", [200, 400, 500])
def test_endless_nesting_in_an_error_is_an_error(chat_server: ChatServer, status: int) -> None:
    body = f'{{"error": {{"message": {DEEP}, "code": {DEEP}}}}}'.encode()
    chat_server.script(*[Scripted(status=status, body=body, headers={"content-type": "application/json"})] * 6)
    assert failure(chat_server)


def test_the_models_name_is_one_line_that_can_be_written(chat_server: ChatServer) -> None:
    chat_server.script(answer(model=f"m\n{ODD}" + "x" * 10_000))
    name = complete(chat_server).model
    assert name.startswith("m?")
    assert len(name) <= 400
    name.encode()
