"""Whether an endpoint is there: asked over a real connection, within a stated time."""

from __future__ import annotations

import socket
import time

import pytest

from chatdev.llm.endpoint import Endpoint, why_unreachable
from tests.support.chat_server import ChatServer, Scripted

KEY = "sk-a-key-for-reaching-out"


@pytest.mark.parametrize(("status", "reason"), [
    (200, None), (404, None), (405, None), (401, "refuses the key (401)"), (403, "refuses the key (403)"),
    (503, "is in trouble (503)"),
])
def test_what_it_answers_tells_whether_it_is_of_use(chat_server: ChatServer, status: int, reason: str | None) -> None:
    chat_server.script(Scripted(status=status, body={}))
    assert why_unreachable(Endpoint(chat_server.url, KEY)) == reason
    (request,) = chat_server.requests
    assert (request.method, request.path) == ("GET", "/v1/models")
    assert request.headers["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent_and_a_refusal_says_so(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(status=401, body={}))
    assert why_unreachable(Endpoint(chat_server.url, "")) == "refuses to answer without a key (401)"
    assert "authorization" not in chat_server.requests[0].headers


def test_user_and_password_of_an_address_are_sent_and_not_shown(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(body={}))
    address = chat_server.url.replace("http://", "http://user:a-pass-word-1@")
    assert why_unreachable(Endpoint(address, KEY)) is None
    assert chat_server.requests[0].headers["Authorization"].startswith("Basic ")


def test_azure_is_asked_as_azure_wants(chat_server: ChatServer) -> None:
    chat_server.script(Scripted(body={}))
    assert why_unreachable(Endpoint(chat_server.url.removesuffix("/v1"), KEY, api_version="2024-10-21")) is None
    (request,) = chat_server.requests
    assert request.path == "/openai/models?api-version=2024-10-21"
    assert request.headers["api-key"] == KEY


def test_nobody_there_is_a_reason() -> None:
    assert "cannot be reached" in (why_unreachable(Endpoint("http://127.0.0.1:9/v1", KEY)) or "")
    assert "cannot be reached" in (why_unreachable(Endpoint("http://no.such.host.invalid/v1", KEY)) or "")


def test_one_that_takes_the_connection_and_is_silent_is_left_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        reason = why_unreachable(Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}/v1", KEY), seconds=0.3)
    assert reason == "does not answer within 0.3 seconds"
    assert time.monotonic() - started < 2
