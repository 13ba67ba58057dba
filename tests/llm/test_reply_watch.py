"""A reply that is no use any more is cut while it streams: the connection is closed, and what came is counted."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from contextlib import suppress
from dataclasses import replace
from types import AsyncGeneratorType
from typing import Any

import pytest

from chatdev.connection import Endpoint
from chatdev.llm.base import Request
from chatdev.llm.completions import ReplyWatch
from chatdev.llm.openai_model import OpenAIModel
from tests.llm.asking import ASK, KEY, complete
from tests.support.chat_server import ChatServer, Scripted

CHUNK = {"choices": [{"delta": {"content": "and so on and on "}, "finish_reason": None}]}
EVENT = f"data: {json.dumps(CHUNK)}\n\n".encode()
ENDLESS = Scripted(body=EVENT, endless=EVENT, headers={"Content-Type": "text/event-stream"})
WATCHED = replace(ASK, stop_when=lambda text: text.count("and on") >= 50)


def test_an_endless_reply_is_cut_where_nothing_more_is_wanted(chat_server: ChatServer) -> None:
    chat_server.script(ENDLESS)
    reply = complete(chat_server, WATCHED)
    assert reply.finish == "length"
    assert 50 <= reply.text.count("and on") < 70
    assert reply.usage.estimated
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.completion_tokens >= 200, "counted here: the server did not get to say"


def test_the_connection_is_closed_so_that_the_server_stops(chat_server: ChatServer) -> None:
    chat_server.script(ENDLESS, "next")
    complete(chat_server, WATCHED)
    deadline = time.monotonic() + 10
    while chat_server._in_flight and time.monotonic() < deadline:
        time.sleep(0.01)
    assert chat_server._in_flight == 0
    assert complete(chat_server, ASK).text == "next"


def test_a_reply_that_is_wanted_comes_whole_and_is_counted_by_its_server(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("one word and another " * 60, usage=(7, 240)))
    reply = complete(chat_server, WATCHED)
    assert (reply.text, reply.finish) == ("one word and another " * 60, "stop")
    assert (reply.usage.completion_tokens, reply.usage.estimated) == (240, False)
    assert chat_server.requests[0].body["stream_options"] == {"include_usage": True}


def test_a_server_that_does_not_stream_is_read_whole(chat_server: ChatServer) -> None:
    message = {"choices": [{"message": {"content": "and on " * 90}, "finish_reason": "stop"}]}
    chat_server.script(Scripted(body=message))
    assert complete(chat_server, WATCHED).finish == "stop"


@pytest.mark.parametrize("complaint", ["stream is not supported", "Streaming is disabled for this model"])
def test_a_server_that_refuses_to_stream_is_asked_without(chat_server: ChatServer, complaint: str) -> None:
    def answer(body: dict[str, Any]) -> Any:
        return Scripted(status=400, body={"error": {"message": complaint}}) if "stream" in body else "whole"

    chat_server.script(answer, answer, answer)
    assert complete(chat_server, WATCHED).text == "whole"


def test_what_is_thought_aside_is_not_looked_at(chat_server: ChatServer) -> None:
    thought = {"choices": [{"delta": {"reasoning_content": "and on " * 90}}]}
    said = {"choices": [{"delta": {"content": "done"}, "finish_reason": "stop"}]}
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (thought, said))
    chat_server.script(Scripted(body=events.encode(), headers={"Content-Type": "text/event-stream"}))
    assert complete(chat_server, WATCHED).text == "done"


def test_it_is_looked_at_rarely_and_only_at_its_end() -> None:
    seen: list[int] = []

    def look(text: str) -> bool:
        seen.append(len(text))
        return False

    watch = ReplyWatch(look)
    for _ in range(100_000):
        watch.add("x")
    assert len(seen) == 100_000 // 256
    assert max(seen) <= 8192


def test_a_request_streams_for_who_listens_or_watches() -> None:
    assert [ASK.streams, WATCHED.streams, Request(ASK.messages, on_text=print).streams] == [False, True, True]


def fail(_: str) -> None:
    raise KeyError


@pytest.mark.parametrize("asked", [WATCHED, replace(ASK, on_text=fail)], ids=["cut", "the listener fails"])
def test_nothing_of_a_stream_left_early_is_for_the_garbage_collector(chat_server: ChatServer, asked: Request) -> None:
    """Its collection may run in another thread, in the middle of what this one is closing."""
    async def left() -> list[str]:
        model = OpenAIModel(Endpoint(chat_server.url, key=KEY))
        gc.collect()
        gc.disable()
        try:
            with suppress(KeyError):
                await model.complete(asked)
            await asyncio.sleep(0.05)
            return [one.__qualname__ for one in gc.get_objects()
                    if isinstance(one, AsyncGeneratorType) and one.ag_frame is not None]
        finally:
            gc.enable()
            await model.close()

    chat_server.script(ENDLESS)
    assert asyncio.run(left()) == ["close_with_loop"], "the model holds this one until it is closed"
