"""Servers made with the SDK, over pipes and HTTP; and what answers at an address and is no server."""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from chatdev.config.schema import McpServer
from chatdev.errors import ToolError
from chatdev.mcp.servers import ServerPlace, ToolServers
from tests.support.processes import running_program

SDK = str(Path(__file__).parent / "sdk_server.py")
KEY = "lake-key-0123456789"


def calls(declared: dict[str, Any], *asked: tuple[str, dict[str, Any]]) -> list[str]:
    """What comes of calls, failures in their words."""
    server = McpServer.model_validate({"seconds": 30, **declared})

    async def work() -> list[str]:
        tools, found = ToolServers({"sums": ServerPlace("sums", server, {"KEY": KEY})}), []
        try:
            await tools.list_tools()
            for name, arguments in asked:
                try:
                    found.append(await tools.call(f"sums.{name}", arguments))
                except ToolError as error:
                    found.append(f"{type(error).__name__}: {error}")
        finally:
            await tools.close()
        return found

    return asyncio.run(work())


@contextmanager
def sdk_over_http() -> Iterator[str]:
    with running_program([sys.executable, SDK, "http"], stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().strip()  # type: ignore[union-attr]  # it was asked for
        server.terminate()


@pytest.mark.parametrize("over_http", [False, True], ids=["stdio", "http"])
def test_tools_of_a_real_server_are_called(over_http: bool) -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        ("add", {"first": 2, "second": 3}), ("add", {"first": 2}), ("add", {"first": "two"}),
        ("divide", {"first": 1, "second": 0})]
    if over_http:
        with sdk_over_http() as address:
            found = calls({"url": address, "tools": ["add", "divide"]}, *asked)
    else:
        found = calls({"command": [sys.executable, SDK], "tools": ["add", "divide"]}, *asked)
    assert [text.rpartition("\n")[2] for text in found[:2]] == ["5", "3"]
    assert "sums.add do not fit: first: 'two' is not of type 'integer'" in found[2]
    assert "the server sums says that the call failed" in found[3]


class Strange(BaseHTTPRequestHandler):
    """Answers every request as `kind` says, and keeps the keys that came."""

    kind = ""
    keys: list[str | None]

    def do_POST(self) -> None:
        self.keys.append(self.headers["authorization"])
        self.rfile.read(int(self.headers["content-length"] or 0))
        if self.kind == "elsewhere":
            self.answer(307, b"", location="http://127.0.0.2:9/mcp")
        elif self.kind == "page":
            self.answer(200, b"<html>Sign in</html>", "text/html")
        elif self.kind == "packed":
            self.answer(200, gzip.compress(b" " * 1_000_000), content_encoding="gzip")
        elif self.kind == "large":
            self.answer(200, b" " * (9 << 20))
        elif self.kind == "half":
            self.answer(200, b'{"jsonrpc": "2.0", "id"')
        else:
            self.answer(401, b"who are you?", "text/plain")

    def answer(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with suppress(OSError):  # who asked wanted no more
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def strange(kind: str) -> Iterator[tuple[str, list[str | None]]]:
    handler = type("Kind", (Strange,), {"kind": kind, "keys": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp", handler.keys  # type: ignore[attr-defined]
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(("kind", "words"), [
    ("elsewhere", "cannot be used"), ("page", "cannot be used: Unexpected content type: text/html"),
    ("packed", "cannot be used"), ("large", "sent an answer of more than 8 MiB"), ("half", "cannot be used"),
    ("refuses", "cannot be used"),
])
def test_what_answers_and_is_no_server_is_named(kind: str, words: str) -> None:
    with strange(kind) as (address, _), pytest.raises(ToolError) as caught:
        calls({"url": address, "tools": ["add"]})
    assert words in str(caught.value)
    assert str(caught.value).startswith("the server sums")


def test_a_key_goes_to_its_address_and_nowhere_else() -> None:
    with strange("elsewhere") as (address, keys), pytest.raises(ToolError) as caught:
        calls({"url": address, "tools": ["add"], "key_env": "KEY"})
    assert set(keys) == {f"Bearer {KEY}"}
    assert KEY not in str(caught.value)


def test_an_address_where_nobody_is_is_named() -> None:
    with pytest.raises(ToolError, match=r"the server sums \(http://127\.0\.0\.1:9/mcp\) cannot be used"):
        calls({"url": "http://127.0.0.1:9/mcp", "tools": ["add"]})
