"""Answers of model servers that are too long, packed oddly, or lead elsewhere: none fills the memory, and no prompt or
key goes to another server."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from chatdev.connection import Endpoint
from chatdev.errors import ModelRejected, UnusableReply
from chatdev.evaluation.measure import EndpointEmbedder
from chatdev.llm.base import Request
from chatdev.llm.completions import StreamCollector
from chatdev.llm.failures import LARGEST_ANSWER
from chatdev.llm.openai_model import OpenAIModel
from chatdev.llm.registry import why_unreachable
from tests.llm.asking import ASK, KEY, Naps, complete, failure
from tests.support.chat_server import ChatServer, Scripted

STREAMED = replace(ASK, on_text=lambda _: None)
EVENTS = {"Content-Type": "text/event-stream"}
COMPLETION = json.dumps({"choices": [{"message": {"content": "plain"}, "finish_reason": "stop"}]}).encode()


@pytest.fixture
def other_server() -> Iterator[ChatServer]:
    """The server that a redirect leads to."""
    with ChatServer() as server:
        yield server


def delta(**fields: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": fields}]}).encode() + b"\n\n"


def packed(content: bytes, encoding: str) -> Scripted:
    return Scripted(body=content, headers={"Content-Encoding": encoding})


BOMB = gzip.compress(bytes(64 << 20), 1)
TOO_LARGE = {
    "gzip bomb": (ASK, packed(BOMB, "gzip")),
    "gzip bomb as an error": (ASK, replace(packed(BOMB, "gzip"), status=500)),
    "streamed gzip bomb": (STREAMED, Scripted(body=BOMB, headers={**EVENTS, "Content-Encoding": "gzip"})),
    "endless packing of nothing": (ASK, replace(packed(gzip.compress(b"")[:10], "gzip"),
                                                endless=b"\0\0\0\xff\xff" * 9999)),
    "endless body": (ASK, Scripted(body=b'{"a": "', endless=b"a" * 65536)),
    "endless body instead of a stream": (STREAMED, Scripted(body=b'{"a": "', endless=b"a" * 65536)),
    "a stream that nobody asked for": (ASK, Scripted(body=(b" " * 65536 + b"\n\n") * 160 + COMPLETION, headers=EVENTS)),
    "endless line": (STREAMED, Scripted(body=b"data: ", headers=EVENTS, endless=b"a" * 65536)),
    "endless event": (STREAMED, Scripted(body=b"", headers=EVENTS, endless=(b"data: " + b"a" * 500 + b"\n") * 99)),
    "endless text": (STREAMED, Scripted(body=b"", headers=EVENTS, endless=delta(content="a" * 65536))),
    "endless arguments": (STREAMED, Scripted(body=b"", headers=EVENTS, endless=delta(
        tool_calls=[{"index": 10**9, "function": {"name": "a", "arguments": "b" * 65536}}]))),
    "endless calls": (STREAMED, Scripted(body=b"", headers=EVENTS, endless=delta(
        tool_calls=[{"function": {"name": "a"}}] * 999))),
}


@pytest.mark.parametrize(("request_", "answer"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_an_answer_without_measure_is_given_up_at_once(chat_server: ChatServer, request_: Request,
                                                       answer: Scripted) -> None:
    chat_server.script(answer)
    tracemalloc.start()
    try:
        problem = failure(chat_server, request_)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(problem, UnusableReply)
    assert "is larger than 8 MB" in str(problem)
    assert len(chat_server.requests) == 1, "it is not asked for again"
    assert peak < 5 * LARGEST_ANSWER


def test_a_large_answer_that_fits_is_taken(chat_server: ChatServer) -> None:
    text = "word " * 200_000
    chat_server.script(Scripted(text), Scripted(text[:50_000]))
    assert complete(chat_server).text == text
    assert complete(chat_server, STREAMED).text == text[:50_000]


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "identity", ""])
def test_answers_may_be_packed_by_gzip(chat_server: ChatServer, encoding: str) -> None:
    chat_server.script(packed(gzip.compress(COMPLETION) if "gzip" in encoding else COMPLETION, encoding))
    assert complete(chat_server).text == "plain"
    assert chat_server.requests[0].headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "deflate", "gzip, gzip, gzip, gzip, gzip, gzip"])
def test_other_packings_are_refused(chat_server: ChatServer, encoding: str) -> None:
    chat_server.script(packed(gzip.compress(gzip.compress(COMPLETION)), encoding))
    assert "is packed" in str(failure(chat_server))


def test_half_a_gzip_is_asked_for_again(chat_server: ChatServer) -> None:
    chat_server.script(packed(b"\x1f\x8bxxxxxxxxxxxxx", "gzip"), "whole")
    assert complete(chat_server).text == "whole"


def test_what_follows_a_gzip_is_not_gathered(chat_server: ChatServer) -> None:
    chat_server.script(replace(packed(gzip.compress(COMPLETION), "gzip"), endless=b"a" * 65536), "whole")
    assert complete(chat_server).text == "whole"


@pytest.mark.parametrize("charset", ["zlib", "hex", "idna", "rot13", "undefined", "punycode", "utf-16"])
@pytest.mark.parametrize("asked", [ASK, STREAMED], ids=["whole", "streamed"])
def test_no_answer_chooses_what_decodes_it(chat_server: ChatServer, charset: str, asked: Request) -> None:
    kind = {"Content-Type": f"application/json; charset={charset}"}
    chat_server.script(Scripted(status=400, body={"error": {"message": "not so"}}, headers=kind))
    assert "not so" in str(failure(chat_server, asked))


def test_endless_headers_are_no_answer(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("x", headers={"X-Long": "a" * 400_000}), "whole")
    assert complete(chat_server).text == "whole"


def test_pieces_of_many_calls_are_put_together_in_time() -> None:
    heard: list[str] = []
    collector = StreamCollector(heard.append)
    for number in range(4000):
        collector.add({"choices": [{"delta": {"tool_calls": [
            {"index": number * 10**6, "id": "x", "function": {"name": "a", "arguments": "b"}}]}}]})
    for _ in range(60_000):
        collector.add({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "b"}}]}}]})
    collector.add({"choices": [{"finish_reason": "stop"}]})
    calls = collector.completion()["choices"][0]["message"]["tool_calls"]
    assert len(calls) == 4000
    assert len(calls[0]["function"]["arguments"]) == 60_001


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("asked", [ASK, STREAMED], ids=["whole", "streamed"])
def test_a_redirect_carries_nothing_to_another_server(chat_server: ChatServer, other_server: ChatServer, status: int,
                                                      asked: Request) -> None:
    chat_server.script(Scripted(status=status, body={}, headers={"Location": f"{other_server.url}/chat/completions"}))
    problem = failure(chat_server, asked)
    assert isinstance(problem, ModelRejected)
    for server in (chat_server, other_server):
        assert server.url.removesuffix("/v1") in str(problem)
    assert not other_server.requests
    assert len(chat_server.requests) == 1


def test_a_redirect_to_another_host_or_scheme_is_one_to_another_server(chat_server: ChatServer) -> None:
    here = chat_server.url
    for target in (here.replace("127.0.0.1", "localhost"), here.replace("http:", "https:"), "https://example.org/v1",
                   "//example.org/x", "http://[bad"):
        chat_server.script(Scripted(status=307, body={}, headers={"Location": target}))
        assert isinstance(failure(chat_server), ModelRejected), target


def test_a_redirect_on_the_same_server_is_followed(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(status=307, body={}, headers={"Location": "/elsewhere/chat/completions"}), "there")
    assert complete(chat_server).text == "there"
    assert chat_server.requests[1].path == "/elsewhere/chat/completions"
    assert chat_server.requests[1].body["messages"]


def test_the_probe_reads_no_body_and_follows_nothing(chat_server: ChatServer, other_server: ChatServer) -> None:
    chat_server.lists, endpoint = None, Endpoint(chat_server.url, KEY)
    chat_server.script(Scripted(body=b"{", endless=b" " * 65536),
                       Scripted(status=302, body={}, headers={"Location": other_server.url}))
    assert why_unreachable(endpoint) is None
    assert other_server.url.removesuffix("/v1") in (why_unreachable(endpoint) or "")
    assert not other_server.requests


def test_embeddings_are_held_to_the_same(chat_server: ChatServer, other_server: ChatServer) -> None:
    embedder = EndpointEmbedder(Endpoint(chat_server.url, KEY), "vectors", retries=2)
    chat_server.script(packed(BOMB, "gzip"),
                       Scripted(status=308, body={}, headers={"Location": f"{other_server.url}/embeddings"}))
    with pytest.raises(UnusableReply, match="larger than 8 MB"):
        embedder.embed(["text"])
    with pytest.raises(ModelRejected, match="no other server"):
        embedder.embed(["text"])
    assert not other_server.requests
    assert len(chat_server.requests) == 2


def test_the_model_can_be_asked_again_afterwards(chat_server: ChatServer) -> None:
    chat_server.script(packed(BOMB, "gzip"), "small")

    async def run() -> str:
        model = OpenAIModel(Endpoint(chat_server.url, KEY), Naps())
        try:
            with pytest.raises(UnusableReply):
                await model.complete(ASK)
            return (await model.complete(ASK)).text
        finally:
            await model.close()

    assert asyncio.run(run()) == "small"
