"""Addresses and keys: what can be none is refused at once, no key shows, and whether a server answers is found out."""

from __future__ import annotations

import socket
import time

import pytest

from chatdev.connection import Endpoint
from chatdev.errors import ConfigError
from chatdev.llm.openai_model import OpenAIModel
from chatdev.llm.registry import why_unreachable
from chatdev.safe_text import scrub
from tests.support.chat_server import ChatServer, Scripted

KEY = "sk-very-secret-key"


@pytest.fixture
def chat_server(chat_server: ChatServer) -> ChatServer:
    """A server whose script answers for its list of models, too."""
    chat_server.lists = None
    return chat_server


PROBE_KEY = "sk-a-key-for-reaching-out"


def test_the_key_is_in_no_repr() -> None:
    assert KEY not in repr(Endpoint("http://x/v1", KEY))
    assert KEY not in str(vars(OpenAIModel(Endpoint("http://x/v1", KEY))))


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "ftp://x/v1", "http://", "http://[bad/v1", "http://a b/v1",
                                 "http://x:99999/v1", "http://x:port/v1", "http://x\n/v1",
                                 "http://evil.example[::1]/v1", "http://[::1].evil.example/v1", "http://ｌocalhost/v1",
                                 "http://[::1]evil.example/v1", "http://a\\b/v1"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="http://localhost:8000/v1"):
        Endpoint(url, KEY)


@pytest.mark.parametrize("key", [f"{KEY} x", f"“{KEY}”", f"{KEY}\n", f"{KEY}\udc80"])
def test_what_can_be_no_key_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigError, match="copy the key again") as caught:
        Endpoint(None, key)
    assert KEY not in str(caught.value)


def test_the_user_in_an_address_goes_into_a_header_and_shows_nowhere() -> None:
    endpoint = Endpoint("https://ann:p%40ss-word-7@host:8/v1?v=1", KEY)
    assert endpoint.address == "https://host:8/v1?v=1"
    assert endpoint.user == ("ann", "p@ss-word-7")
    assert Endpoint("https://host/v1", KEY).user is None
    assert scrub(f"{endpoint.url} p@ss-word-7 {KEY}") == "https://[secret]host:8/v1?v=1 [secret] [secret]"


def test_only_this_machine_is_local() -> None:
    assert Endpoint("http://127.0.0.1:1/v1", "").is_local
    assert Endpoint("http://[::1]:1/v1", "").is_local
    assert not Endpoint("https://localhost.example.org/v1", "").is_local
    assert not Endpoint(None, KEY).is_local


@pytest.mark.parametrize(("status", "reason"), [
    (200, None), (404, None), (405, None), (401, "refuses the key (401)"), (403, "refuses the key (403)"),
    (503, "is in trouble (503)"),
])
def test_what_it_answers_tells_whether_it_is_of_use(chat_server: ChatServer, status: int, reason: str | None) -> None:
    chat_server.script(Scripted(status=status, body={}))
    assert why_unreachable(Endpoint(chat_server.url, PROBE_KEY)) == reason
    (request,) = chat_server.requests
    assert (request.method, request.path) == ("GET", "/v1/models")
    assert request.headers["Authorization"] == f"Bearer {PROBE_KEY}"


def test_without_a_key_none_is_sent_and_a_refusal_says_so(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(status=401, body={}))
    assert why_unreachable(Endpoint(chat_server.url, "")) == "refuses to answer without a key (401)"
    assert "authorization" not in chat_server.requests[0].headers


def test_user_and_password_of_an_address_are_sent_and_not_shown(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(body={}))
    address = chat_server.url.replace("http://", "http://user:a-pass-word-1@")
    assert why_unreachable(Endpoint(address, PROBE_KEY)) is None
    assert chat_server.requests[0].headers["Authorization"].startswith("Basic ")


def test_azure_is_asked_as_azure_wants(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(body={}))
    assert why_unreachable(Endpoint(chat_server.url.removesuffix("/v1"), PROBE_KEY, api_version="2024-10-21")) is None
    (request,) = chat_server.requests
    assert request.path == "/openai/models?api-version=2024-10-21"
    assert request.headers["api-key"] == PROBE_KEY


def test_nobody_there_is_a_reason() -> None:
    assert "cannot be reached" in (why_unreachable(Endpoint("http://127.0.0.1:9/v1", PROBE_KEY)) or "")
    assert "cannot be reached" in (why_unreachable(Endpoint("http://no.such.host.invalid/v1", PROBE_KEY)) or "")


def test_one_that_takes_the_connection_and_is_silent_is_left_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        reason = why_unreachable(Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}/v1", PROBE_KEY), seconds=0.3)
    assert reason == "does not answer within 0.3 seconds"
    assert time.monotonic() - started < 2
