"""HTTP to a model server: addresses, headers, proxies, redirects."""

from __future__ import annotations

import asyncio
import gc

import pytest

from chatdev.connection import Endpoint
from chatdev.errors import ConfigError, ModelUnavailable
from chatdev.llm.openai_model import OpenAIModel
from chatdev.llm.transport import Transport, completions_address
from tests.llm.asking import ASK, KEY, Naps, complete, complete_all, failure
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


def test_connections_that_nobody_closes_end_with_their_loop(chat_server: ChatServer,
                                                            caplog: pytest.LogCaptureFixture) -> None:
    chat_server.script("one", "two")
    model = OpenAIModel(Endpoint(chat_server.url, KEY))
    assert [asyncio.run(model.complete(ASK)).text for _ in range(2)] == ["one", "two"]
    del model
    gc.collect()
    assert "Unclosed" not in caplog.text
    assert chat_server.connections_made == 2
