"""An OpenAI-compatible server on 127.0.0.1 whose replies a test writes down: the real wire, no real model."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came in; header names may be asked for in any case."""

    method: str
    path: str
    headers: Headers
    body: dict[str, Any]


class Headers(dict[str, str]):
    """Headers by lower-case name."""

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name.lower(), default)


@dataclass(frozen=True, slots=True)
class Scripted:
    """One answer. `text` makes a completion; `body` replaces it (JSON value, or bytes as they are).

    `usage=None` leaves the counts out; `cut` sends only so many bytes of the answer and closes the connection;
    `reset` closes it without an answer; `drip` pauses so many seconds between stream chunks, or every 16 bytes;
    `endless` follows `body` again and again, until the client goes away.
    """

    text: str | None = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    finish_reason: str = "stop"
    tool_calls: Sequence[Mapping[str, Any]] = ()
    usage: tuple[int, int] | None = (7, 5)
    message: Mapping[str, Any] = field(default_factory=dict)  # further fields, e.g. refusal
    delay: float = 0.0
    cut: int | None = None
    reset: bool = False
    drip: float = 0.0
    endless: bytes = b""


Reply = str | Scripted | Callable[[dict[str, Any]], Any] | None
Route = Callable[[Received], Reply]


class ChatServer:
    """Serves scripted replies in order, or by `route`; remembers every request, unless there will be too many."""

    def __init__(self, replies: Sequence[Reply] = (), *, remembers: bool = True, port: int = 0) -> None:
        self.requests: list[Received] = []
        self._port = port
        self._remembers = remembers
        self._replies = list(replies)
        self._route: Route | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()
        self.lists: Sequence[str] | None = ()
        """The models that it says it has (none: it has no list); None: the script answers for the list, too."""
        self.connections_made = 0
        self.most_in_flight = 0
        self._in_flight = 0

    @property
    def url(self) -> str:
        """Base URL for an OpenAI client."""
        assert self._server is not None, "the server is used as a context manager"
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    def script(self, *replies: Reply) -> None:
        """Add replies to the end of the script."""
        self._replies.extend(replies)

    def route(self, route: Route) -> None:
        """Answer by what is asked instead of in order; None says that nothing was scripted."""
        self._route = route

    def assert_done(self) -> None:
        """Complain about replies that nobody asked for."""
        assert not self._replies, f"{len(self._replies)} scripted replies were never asked for: {self._replies[:3]}"

    def __enter__(self) -> Self:
        self._thread.start()
        made = asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._server = asyncio.run_coroutine_threadsafe(made, self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _stop(self) -> None:
        assert self._server is not None
        self._server.close()
        tasks = [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in self._connections:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        self.connections_made += 1
        try:
            while (request := await _read(reader)) is not None:
                self.requests += [request] * (self._remembers and not self._is_for_list(request))
                self._in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self._in_flight)
                try:
                    going_on = await self._answer(request, writer)
                finally:
                    self._in_flight -= 1
                if not going_on:
                    return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            self._connections.discard(writer)
            writer.transport.abort() if writer.is_closing() else writer.close()

    async def _answer(self, request: Received, writer: asyncio.StreamWriter) -> bool:
        """Write the answer; False when the connection is over."""
        reply = self._next(request)
        await asyncio.sleep(reply.delay)
        if reply.reset:
            writer.transport.abort()
            return False
        if request.body.get("stream") and reply.status == 200 and reply.body is None:
            return await _stream(reply, request, writer)
        content = _content(reply, request)
        length = {"Connection": "close"} if reply.endless else {"Content-Length": str(len(content))}
        head = {"Content-Type": JSON, **length, **reply.headers}
        lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{k}: {v}" for k, v in head.items()), "", ""]
        writer.write("\r\n".join(lines).encode())
        await _write(content[:reply.cut], reply.drip, writer)
        while reply.endless:
            await _write(reply.endless, reply.drip, writer)
        return reply.cut is None

    def _is_for_list(self, request: Received) -> bool:
        return self.lists is not None and request.method == "GET" and request.path.endswith("/models")

    def _next(self, request: Received) -> Scripted:
        if self._is_for_list(request):
            models = [{"id": name, "object": "model"} for name in self.lists or ()]
            return Scripted(status=200 if models else 404, body={"object": "list", "data": models})
        reply: Any = self._route(request) if self._route else (self._replies.pop(0) if self._replies else None)
        if callable(reply):
            reply = reply(request.body)
        if reply is None:
            place = request.headers.get("X-ChatDev-Activity", "?")
            return Scripted(status=418, body={"error": {"message": f"nothing was scripted for {place}"}})
        return reply if isinstance(reply, Scripted) else Scripted(reply)


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, path, _ = head[0].split(" ", 2)
    headers = Headers({k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)})
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, path, headers, json.loads(raw) if raw else {})


async def _write(content: bytes, drip: float, writer: asyncio.StreamWriter) -> None:
    step = 16 if drip else len(content) or 1
    for start in range(0, len(content), step):
        writer.write(content[start:start + step])
        await writer.drain()
        await asyncio.sleep(drip)


def _content(reply: Scripted, request: Received) -> bytes:
    if isinstance(reply.body, bytes):
        return reply.body
    return json.dumps(_completion(reply, request) if reply.body is None else reply.body).encode()


def _completion(reply: Scripted, request: Received) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, **reply.message}
    if reply.tool_calls:
        message["tool_calls"] = list(reply.tool_calls)
    finish = "tool_calls" if reply.tool_calls else reply.finish_reason
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": request.body.get("model", ""),
            "choices": [{"index": 0, "message": message, "finish_reason": finish}], **_usage(reply)}


def _usage(reply: Scripted) -> dict[str, Any]:
    if reply.usage is None:
        return {}
    prompt, completion = reply.usage
    return {"usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}}


async def _stream(reply: Scripted, request: Received, writer: asyncio.StreamWriter) -> bool:
    writer.write(b"HTTP/1.1 200 Scripted\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    sent = 0
    for chunk in _chunks(reply, request):
        data = f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n".encode()
        if reply.cut is not None and sent + len(data) > reply.cut:
            writer.transport.abort()
            return False
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(reply.drip)
        sent += len(data)
    writer.close()
    return False


def _chunks(reply: Scripted, request: Received) -> list[Any]:
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": request.body.get("model", "")}
    text = reply.text or ""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[n:n + 8]} for n in range(0, len(text), 8)]
    deltas += [{"tool_calls": [{"index": n, **call}]} for n, call in enumerate(reply.tool_calls)]
    finish = "tool_calls" if reply.tool_calls else reply.finish_reason
    chunks: list[Any] = [{**base, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    wants_usage = (request.body.get("stream_options") or {}).get("include_usage")
    usage = [{**base, "choices": [], **_usage(reply)}] if wants_usage and reply.usage else []
    return [*chunks, *usage, "[DONE]"]
