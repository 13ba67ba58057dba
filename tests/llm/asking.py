"""Asking a scripted server through the real client."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from chatdev.connection import Endpoint
from chatdev.errors import ModelError
from chatdev.llm.base import Message, Reply, Request, Sampling
from chatdev.llm.openai_model import OpenAIModel
from tests.support.chat_server import ChatServer, Scripted

KEY = "sk-very-secret-key"
ASK = Request((Message("system", "be brief"), Message("user", "hi")), Sampling("some-model", temperature=0.2))
STREAMED = replace(ASK, on_text=lambda _: None)


class Naps:
    """Remembers how long the client wanted to sleep, and does not sleep."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


def complete(server: ChatServer, request: Request = ASK, naps: Naps | None = None, **endpoint: Any) -> Reply:
    return complete_all(server, [request], naps, **endpoint)[0]


def complete_all(server: ChatServer, requests: list[Request], naps: Naps | None = None, **endpoint: Any) -> list[Reply]:
    async def run() -> list[Reply]:
        model = OpenAIModel(Endpoint(**{"url": server.url, "key": KEY, **endpoint}), naps or Naps())
        try:
            return [await model.complete(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(run())


def failure(server: ChatServer, request: Request = ASK, naps: Naps | None = None, **endpoint: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        complete(server, request, naps, **endpoint)
    assert KEY not in str(caught.value)
    return caught.value


def error(status: int, message: str = "no", **fields: Any) -> Scripted:
    return Scripted(status=status, body={"error": {"message": message, **fields}})


def stream(*chunks: Any) -> Scripted:
    """A stream of just these chunks."""
    lines = "".join(f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n" for chunk in chunks)
    return Scripted(body=lines.encode(), headers={"Content-Type": "text/event-stream"})


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"delta": fields, "finish_reason": finish}]}


def call(name: str | None = None, arguments: str = "", **fields: Any) -> dict[str, Any]:
    return delta(tool_calls=[{"function": {"name": name, "arguments": arguments}, **fields}])
