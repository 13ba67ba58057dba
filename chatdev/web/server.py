"""The server of the web view: pages, what they show as JSON, runs as they go on as server-sent events; and who may ask
it: pages of its own, in the browser that was given its address.

A name that leads to 127.0.0.1 from elsewhere (DNS rebinding), a page of somebody else's in the same browser and another
user of the machine get nothing. What is shown was written by models: no answer lets a page run or load what is not
ours.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from chatdev.errors import ChatDevError, ConfigError, WorkspaceError
from chatdev.paths import data_dir, open_plain
from chatdev.runner.people import answer, waiting
from chatdev.safe_text import load_json
from chatdev.version import __version__
from chatdev.web import launch
from chatdev.web.launch import LONGEST_MESSAGE, Terminals, can_play
from chatdev.web.record import RunRecord, compare_newest, file_text, version, versions
from chatdev.web.views import RunView, experience, run_views
from chatdev.web.warehouse import Studies, Warehouse

OF_STUDY = "study:"
"""What the names of runs begin with that belong to a study."""
PAGE = Path(__file__).with_name("page")
_LARGEST_ANSWER = 32 << 20  # bytes
_KEPT = 8  # runs of which the views are kept
_STILL = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

Answer = Callable[[Request], Awaitable[Response]]


class Quiet(uvicorn.Server):
    """Leaves signals to the command line."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield


def json_answer(value: Any, status: int = 200) -> Response:
    """A JSON value, in ASCII: half characters come through, and nothing in it ends a line."""
    return Response(json.dumps(value), status, media_type="application/json")


def data(answer: Callable[[Request], Any]) -> Answer:
    """Answer with the JSON value that a function in a thread of its own gives; an error is a sentence."""
    @wraps(answer)
    async def respond(request: Request) -> Response:
        try:
            found = answer(request)
            found = await found if asyncio.iscoroutine(found) else found
            return found if isinstance(found, Response) else json_answer(found)
        except ChatDevError as error:
            return json_answer({"error": str(error)}, 400)
        except Exception as error:  # noqa: BLE001 - the page shows a sentence, and the server goes on
            return json_answer({"error": f"{type(error).__name__}: {error}; this is an error in chatdev"}, 500)
    return respond


@dataclass
class View:
    """What the pages ask of one warehouse. `start` is the page that the command opens."""

    warehouse: Warehouse
    studies: Studies
    terminals: Terminals = field(default_factory=Terminals)
    _views_seen: dict[tuple[str, int], list[RunView]] = field(default_factory=dict)
    _known: list[RunView] = field(default_factory=list)
    _closing: asyncio.Event = field(default_factory=asyncio.Event)

    def routes(self) -> list[BaseRoute]:
        """Paths and what answers them."""
        told: dict[str, Callable[[Request], Any]] = {
            "about": self._about, "runs": self._runs, "run": self._run, "events": self._events, "text": self._text,
            "shown": self._shown, "versions": self._versions, "version": self._version, "file": self._file,
            "waiting": self._waiting, "views": self._views, "view": self._view, "compare": self._compare,
            "companies": self._companies, "company": self._company, "studies": self._studies, "study": self._study,
            "boards": self._boards, "board": self._board,
        }
        return [*(Route(f"/api/{name}", data(answer)) for name, answer in told.items()),
                Route("/api/start", data(self._start), methods=["POST"]),
                Route("/api/answer", data(self._answer), methods=["POST"]), Route("/api/live", self._live),
                WebSocketRoute("/api/play", self._play),
                Mount("/page", StaticFiles(directory=PAGE)),
                Route("/api/{rest:path}", data(_nothing)), Route("/{rest:path}", _index)]

    def close(self) -> None:
        """End the streams of events."""
        self._closing.set()

    def _record(self, request: Request, parameter: str = "run") -> RunRecord:
        runs, name = self._runs_of(request.query_params.get(parameter, ""))
        return runs.record(name)

    def _runs_of(self, name: str) -> tuple[Warehouse, str]:
        """Where a run is, and its name there."""
        return (self.studies.runs, name.removeprefix(OF_STUDY)) if name.startswith(OF_STUDY) else (self.warehouse, name)

    async def _about(self, _: Request) -> dict[str, Any]:
        plays = await run_in_threadpool(can_play)
        return {"version": __version__, "warehouse": str(self.warehouse.root), "plays": plays}

    async def _runs(self, request: Request) -> Any:
        asked = request.query_params
        number = _number(asked.get("page", "1"), least=1)
        return await run_in_threadpool(self.warehouse.page, text=asked.get("text", ""), number=number,
                                       status=asked.get("status", ""), company=asked.get("company", ""))

    async def _run(self, request: Request) -> Any:
        name = request.query_params.get("run", "")
        record = self._record(request)
        await run_in_threadpool(record.refresh)
        runs, own_name = self._runs_of(name)
        summary = await run_in_threadpool(runs.summary, own_name)
        return {**asdict(summary), "id": name, "plan": await run_in_threadpool(lambda: record.plan)}

    async def _events(self, request: Request) -> Response:
        record = self._record(request)
        await run_in_threadpool(record.refresh)
        since = _number(request.query_params.get("since", "0"))
        events = record.events[since:]
        end = json.dumps({"next": since + len(events), "problem": record.problem})
        return Response(f'{{"events":[{",".join(events)}],{end[1:]}', media_type="application/json")

    async def _live(self, request: Request) -> Response:
        try:
            record = self._record(request)
            since = _number(request.headers.get("last-event-id") or request.query_params.get("since", "0"))
        except ConfigError as error:
            return json_answer({"error": str(error)}, 404)
        name = request.query_params.get("run", "")
        return StreamingResponse(self._stream(record, name, since), media_type="text/event-stream")

    async def _stream(self, record: RunRecord, name: str, since: int) -> AsyncIterator[str]:
        """Events from a number on, and whether somebody works on the run."""
        status = ""
        runs, own_name = self._runs_of(name)
        yield "retry: 500\n\n"
        async for kind, number, batch in record.follow(since):
            if self._closing.is_set():
                return
            yield ": still here\n\n" if kind == "beat" else (
                f"event: {kind}\nid: {number}\ndata: [{','.join(batch)}]\n\n")
            if (found := await run_in_threadpool(runs.status, own_name)) != status:
                status = found
                yield f"event: status\ndata: {json.dumps(status)}\n\n"

    async def _play(self, socket: WebSocket) -> None:
        try:
            runs, name = self._runs_of(socket.query_params.get("run", ""))
            folder = runs.folder(name)
        except ChatDevError:
            await socket.close()
            return
        await self.terminals.serve(socket, folder)

    async def _text(self, request: Request) -> Any:
        asked = request.query_params
        number = _number(asked.get("line", ""))
        return {"text": await run_in_threadpool(self._record(request).text_of, number, asked.get("path", ""))}

    async def _shown(self, request: Request) -> Any:
        number = _number(request.query_params.get("line", ""))
        return await run_in_threadpool(self._record(request).shown, number)

    async def _versions(self, request: Request) -> Any:
        return await run_in_threadpool(versions, self._record(request).folder)

    async def _version(self, request: Request) -> Any:
        return await run_in_threadpool(version, self._record(request).folder,
                                       request.query_params.get("id", ""))

    async def _file(self, request: Request) -> Any:
        asked = request.query_params
        return await run_in_threadpool(file_text, self._record(request).folder, asked.get("id", ""),
                                       asked.get("path", ""))

    async def _compare(self, request: Request) -> Any:
        one, other = self._record(request), self._record(request, "other")
        return await run_in_threadpool(compare_newest, one.folder, other.folder)

    async def _studies(self, _: Request) -> Any:
        return {"folder": str(self.studies.runs.root), "studies": await run_in_threadpool(self.studies.names)}

    async def _study(self, request: Request) -> Any:
        return await run_in_threadpool(self.studies.study, request.query_params.get("name", ""))

    async def _boards(self, request: Request) -> Any:
        return [one.to_dict() for one in await self._experience(anew=True)]

    async def _board(self, request: Request) -> Response:
        return _picture_of(await self._experience(), request)

    async def _experience(self, *, anew: bool = False) -> list[RunView]:
        """What departments know; looked at anew for the page, and kept for its pictures."""
        if anew or not self._known:
            self._known = await run_in_threadpool(experience, self.studies.runs.root)
        return self._known

    async def _companies(self, _: Request) -> Any:
        return {"companies": await run_in_threadpool(launch.company_names)}

    async def _company(self, request: Request) -> Any:
        return await run_in_threadpool(launch.company_form, request.query_params.get("name", ""))

    async def _start(self, request: Request) -> Any:
        return await launch.answer_start(request, self.warehouse.root)

    async def _waiting(self, request: Request) -> Any:
        """The questions to people that are open, whole."""
        questions = await run_in_threadpool(waiting, self._record(request).folder)
        return [asdict(one) for one in questions]

    async def _answer(self, request: Request) -> Any:
        """Leave an answer for the run; `taken` is false where somebody was first."""
        if content_length(request.headers) > _LARGEST_ANSWER:
            raise ConfigError(f"an answer has at most {_LARGEST_ANSWER >> 20} MiB")
        try:
            given = load_json((await request.body()).decode("utf-8"))
        except ValueError as error:
            raise ConfigError(f"the answer is no JSON: {error}") from error
        if not isinstance(given, dict) or not isinstance(given.get("id"), str):
            raise ConfigError("an answer is an object with `run`, `id`, `action`, `text` and `files`")
        runs, name = self._runs_of(str(given.get("run")))
        folder, value = runs.folder(name), {key: given.get(key) for key in ("action", "text", "files")}
        value = {key: part for key, part in value.items() if part is not None}
        return {"taken": await run_in_threadpool(answer, folder, given["id"], value)}

    async def _views(self, request: Request) -> Any:
        return [one.to_dict() for one in await self._seen(request)]

    async def _view(self, request: Request) -> Response:
        return _picture_of(await self._seen(request), request)

    async def _seen(self, request: Request) -> list[RunView]:
        """What there is to look at of a run; kept until the journal has grown."""
        record = self._record(request)
        await run_in_threadpool(record.refresh)
        key = (str(record.folder), len(record.events))
        if key not in self._views_seen:
            if len(self._views_seen) > _KEPT:
                self._views_seen.clear()
            self._views_seen[key] = await run_in_threadpool(run_views, record.folder)
        return self._views_seen[key]


def _picture_of(views: list[RunView], request: Request) -> Response:
    """A picture, in which nothing runs and which loads nothing, even where it is opened by itself."""
    number = _number(request.query_params.get("number", ""))
    if number >= len(views) or not views[number].picture:
        raise ConfigError(f"there is no picture {number}")
    return Response(views[number].picture, media_type=views[number].media_type,
                    headers={"content-security-policy": _STILL})


async def _index(_: Request) -> Response:
    return FileResponse(PAGE / "index.html", media_type="text/html")


async def _nothing(request: Request) -> Any:
    raise ConfigError(f"there is nothing at {request.url.path[:200]}")


def _number(given: str, least: int = 0) -> int:
    if not (given.isdecimal() and len(given) < 10 and int(given) >= least):
        raise ConfigError(f"{given[:50]!r} is no number from {least} on")
    return int(given)


def open_port(port: int) -> socket.socket:
    """A socket that listens on this machine alone; 0 takes any port. Raises ConfigError."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise ConfigError(f"--port {port}: nothing can listen there ({error.strerror}); give another port, or none for "
                          "a free one") from None


def address(listening: socket.socket, token: str, run: str = "") -> str:
    """What the user opens: the list, or the page of a run."""
    path = f"/run/{quote(run)}" if run else "/"
    return f"http://{HOST}:{listening.getsockname()[1]}{path}?token={token}"


async def serve(view: View, listening: socket.socket, *, token: str, key: bytes) -> None:
    """Serve until it is cancelled."""
    threading.Thread(target=view.warehouse.read_all, daemon=True).start()
    app = Guard(Starlette(routes=view.routes()), port=listening.getsockname()[1], token=token, key=key)
    server = Quiet(uvicorn.Config(app, log_config=None, lifespan="off", server_header=False,
                                           ws="websockets-sansio", ws_max_size=LONGEST_MESSAGE,
                                  timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        view.close()
        server.should_exit = True
        await serving
        raise


# Who may ask this server: pages of its own, in the browser that was given its address.

HOST = "127.0.0.1"
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
_HEADERS = {"content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
            "x-frame-options": "DENY", "permissions-policy": "camera=(), microphone=(), geolocation=()"}
_SAFE = ("GET", "HEAD")
_REFUSED = 4403  # what a websocket is closed with
_KEY = 32  # bytes


class Guard:
    """Lets through what bears the cookie; `token`, in the address that is printed, is exchanged for it. The cookie
    outlives the server, so that an open page finds the next one."""

    def __init__(self, app: ASGIApp, *, port: int, token: str, key: bytes) -> None:
        self._app = app
        self._hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        self._token = token
        self._name = f"chatdev_view_{port}"
        self._cookie = hmac.new(key, f"cookie {port}".encode(), sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] not in ("http", "websocket"):
            return
        request = HTTPConnection(scope)
        refusal = self._refusal(request, scope.get("method", "CONNECT"))
        if refusal and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _REFUSED})
            return
        await (refusal or self._app)(scope, receive, _with_headers(send))

    def _refusal(self, request: HTTPConnection, method: str) -> Response | None:
        """The answer to a request that is not let through."""
        headers = request.headers
        host = headers.get("host", "")
        if host not in self._hosts:
            return _refuse(f"This server answers at {' and '.join(sorted(self._hosts))} only.", 421)
        if method not in _SAFE and headers.get("origin") != f"http://{host}":
            return _refuse("A page of another origin may change nothing here.")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and _is_data(request):
            return _refuse("A page of another origin may read nothing here.")
        if method in _SAFE and "token" in request.query_params:
            return self._exchange(request)
        if not _is_equal(request.cookies.get(self._name, ""), self._cookie):
            return _refuse("Open the address that `chatdev view` printed: it has the token that lets you in.")
        return None

    def _exchange(self, request: HTTPConnection) -> Response:
        if not _is_equal(request.query_params["token"], self._token):
            return _refuse("This token is not valid any more: open the address that `chatdev view` printed last.")
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
        answer = RedirectResponse(request.url.path + (f"?{urlencode(rest)}" if rest else ""), 303)
        answer.set_cookie(self._name, self._cookie, httponly=True, samesite="strict", path="/")
        return answer


def _is_data(request: HTTPConnection) -> bool:
    return request.url.path.startswith(("/api/", "/page/"))


def _is_equal(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())


def _refuse(text: str, status: int = 403) -> Response:
    return PlainTextResponse(f"{text}\n", status)


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)
    return send_with_headers


def content_length(headers: Headers) -> int:
    """Bytes of a request's body as it says; 0 where it does not."""
    given = headers.get("content-length", "0")
    return int(given) if given.isdecimal() and len(given) < 16 else 0


def own_key() -> bytes:
    """The user's key that cookies are made with, in a file that nobody else can read; made when it is missing. Raises
    WorkspaceError."""
    file = data_dir() / "view.key"
    try:
        if key := _read_key(file):
            return key
        file.parent.mkdir(parents=True, exist_ok=True)
        key, temporary = secrets.token_bytes(_KEY), file.with_name(f"view.key.{os.getpid()}")
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as new:
            new.write(key)
        temporary.replace(file)
        return key
    except OSError as error:
        raise WorkspaceError(f"cannot keep the key of the web view in {file}: {error.strerror}") from error


def _read_key(file: Path) -> bytes:
    """The key; empty where there is none, or one that others can read."""
    try:
        descriptor = open_plain(file)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as opened:
        found = os.fstat(descriptor)
        is_own = found.st_uid == os.geteuid() and not found.st_mode & 0o077
        key = opened.read(_KEY + 1)
    return key if is_own and len(key) == _KEY else b""
