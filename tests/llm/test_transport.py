"""HTTP to a model server: addresses, headers, proxies, redirects and server-sent events."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.errors import ConfigError, ModelUnavailable
from chatdev.llm.connection import Endpoint
from chatdev.llm.transport import Transport, _Events, completions_address
from tests.llm.asking import ASK, KEY, STREAMED, Naps, complete, complete_all, failure
from tests.support.chat_server import ChatServer, Scripted


@pytest.mark.parametrize(("url", "wanted"), [
    (None, "https://api.openai.com/v1/chat/completions"),
    ("http://host:8000/v1/", "http://host:8000/v1/chat/completions"),
    ("http://host", "http://host/chat/completions"),
    ("https://host/v1?team=a%20b", "https://host/v1/chat/completions?team=a+b"),
    ("https://ann:pw-0123456@host/v1", "https://host/v1/chat/completions"),
    ("http://[::1]:8/v1", "http://[::1]:8/v1/chat/completions"),
])
def test_the_path_of_chat_completions_follows_the_address(url: str | None, wanted: str) -> None:
    assert str(completions_address(Endpoint(url, KEY), "m")) == wanted


def test_a_deployment_of_azure_cannot_leave_its_path() -> None:
    endpoint = Endpoint("https://x.openai.azure.com", KEY, api_version="2024-10-21")
    wanted = "https://x.openai.azure.com/openai/deployments/a%2F..%2Fb%3F/chat/completions?api-version=2024-10-21"
    assert str(completions_address(endpoint, "a/../b?")) == wanted


def test_no_header_tells_of_the_machine_or_the_library(chat_server: ChatServer) -> None:
    chat_server.script("fine")
    complete(chat_server)
    sent = set(chat_server.requests[0].headers)
    assert sent == {"host", "accept", "accept-encoding", "content-type", "content-length", "user-agent",
                    "authorization"}
    assert chat_server.requests[0].headers["User-Agent"].startswith("chatdev/")


def test_without_a_key_none_is_sent(chat_server: ChatServer) -> None:
    chat_server.script("fine")
    complete(chat_server, key="")
    assert "authorization" not in chat_server.requests[0].headers


def test_a_connection_that_the_server_closed_is_opened_anew(chat_server: ChatServer) -> None:
    chat_server.script(Scripted("one", headers={"Connection": "close"}), "two")
    naps = Naps()
    assert [reply.text for reply in complete_all(chat_server, [ASK, ASK], naps)] == ["one", "two"]
    assert not naps.taken


def test_a_circle_of_redirects_ends(chat_server: ChatServer) -> None:
    chat_server.route(lambda _: Scripted(status=307, body={}, headers={"Location": "/v1/chat/completions"}))
    problem = failure(chat_server)
    assert isinstance(problem, ModelUnavailable)
    assert "redirects" in str(problem)


def test_requests_go_through_the_proxy_that_the_environment_names(chat_server: ChatServer,
                                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", chat_server.url.removesuffix("/v1"))
    chat_server.script("through it")
    assert complete(chat_server, url="http://models.example/v1").text == "through it"
    assert chat_server.requests[0].headers["Host"] == "models.example"
    monkeypatch.setenv("no_proxy", "models.invalid")
    assert isinstance(failure(chat_server, url="http://models.invalid/v1"), ModelUnavailable)
    assert len(chat_server.requests) == 1


def test_a_server_of_this_machine_is_asked_without_a_proxy(chat_server: ChatServer,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    chat_server.script("fine")
    assert complete(chat_server).text == "fine"


def test_a_proxy_of_another_kind_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:9")

    async def open_one() -> None:
        Transport(Endpoint("http://models.example/v1", KEY))

    with pytest.raises(ConfigError, match="socks5.*HTTPS_PROXY"):
        asyncio.run(open_one())


EVENTS = [b"data: one\n\n", b"data:two\r\n\r\n", b": a comment\n\n", b"event: x\rid: 1\rdata: three\r\r", b"\n",
          b"data: a\ndata: b\n\n", b"retry: 10\n\n"]


@given(st.lists(st.sampled_from(EVENTS), max_size=6), st.lists(st.integers(0, 80), max_size=12))
def test_events_are_the_same_however_they_are_cut(events: list[bytes], cuts: list[int]) -> None:
    """Data is told by how it begins, and lines end as the standard says."""
    text, wanted = b"".join(events), [text for event in events for text in _data(event)]
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    reader = _Events()
    found = [event for start, end in pairwise(places) for event in reader.feed(text[start:end])]
    assert [*found, *reader.feed(b"\n\n")] == wanted


def _data(event: bytes) -> list[bytes]:
    lines = [line[5:].strip() for line in event.replace(b"\r", b"\n").split(b"\n") if line.startswith(b"data:")]
    return [b"\n".join(lines)] if lines else []


def test_an_event_without_its_last_empty_line_counts(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(body=b'data: {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}\n',
                                headers={"Content-Type": "text/event-stream"}))
    assert complete(chat_server, STREAMED).text == "x"
