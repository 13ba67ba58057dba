"""A server's list of models, in every form and with every fault."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from chatdev.connection import Endpoint
from chatdev.llm.registry import served_models
from tests.support.chat_server import ChatServer, Scripted

KEY = "sk-very-secret-key-0123"


@pytest.fixture
def lister(chat_server: ChatServer) -> ChatServer:
    """A server whose list is scripted."""
    chat_server.lists = None
    return chat_server


@pytest.mark.parametrize(("body", "names"), [
    ({"object": "list", "data": [{"id": "a"}, {"id": "b", "object": "model"}, {"id": "a"}]}, ["a", "b"]),
    ([{"id": "a"}, "b"], ["a", "b"]), ({"models": [{"name": "a:7b"}]}, ["a:7b"]), ({"data": []}, []),
    ({"data": None}, []), ({"data": [{"id": 7}, {"id": "x" * 300}, {"id": "a\nb"}, {"id": "\x1b[2J"}, None]}, []),
    ({"data": [{"id": KEY}, {"id": "a"}]}, ["a"]), ("text", []), (b"<html>a proxy's page</html>", []), (b"", []),
    (b"[" * 100_000, []), ({"error": "no"}, []),
])
def test_the_names_are_read_where_there_are_some(lister: ChatServer, body: Any, names: list[str]) -> None:
    lister.script(Scripted(body=body))
    assert served_models(Endpoint(lister.url, KEY)) == names


@pytest.mark.parametrize("reply", [Scripted(status=404, body={"data": [{"id": "a"}]}), Scripted(reset=True),
                                   Scripted(status=500, body={}), Scripted(body={"data": [{"id": "a"}]}, cut=9),
                                   Scripted(body=b'{"data": [', endless=b'{"id": "a"},' * 5000)])
def test_a_server_that_does_not_say_has_none(lister: ChatServer, reply: Scripted) -> None:
    lister.script(reply)
    assert served_models(Endpoint(lister.url, KEY)) == []


def test_nobody_is_followed_elsewhere(lister: ChatServer) -> None:
    with ChatServer() as other:
        other.lists = ("theirs",)
        lister.script(Scripted(status=302, body={}, headers={"Location": f"{other.url}/models"}))
        assert served_models(Endpoint(lister.url, KEY)) == []


def test_a_silent_server_is_left_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        assert served_models(Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}/v1", KEY), seconds=0.3) == []
    assert time.monotonic() - started < 2


def test_a_provider_gets_the_headers_that_it_wants(lister: ChatServer) -> None:
    lister.script(Scripted(body={"data": [{"id": "a"}]}))
    served_models(Endpoint(lister.url, KEY, list_headers={"x-api-key": "{key}", "anthropic-version": "2023-06-01"}))
    headers = lister.requests[0].headers
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
