"""The server of the web view: pages, what they show as JSON, and runs as they go on as server-sent events."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from chatdev.errors import ChatDevError, ConfigError
from chatdev.plain_values import load_json
from chatdev.runner.people import answer, waiting
from chatdev.version import __version__
from chatdev.web import history, launch
from chatdev.web.guard import HOST, Guard, content_length
from chatdev.web.record import RunRecord
from chatdev.web.studies import Studies
from chatdev.web.terminal import LONGEST_MESSAGE, Terminals, can_play
from chatdev.web.views import RunView, experience, run_views
from chatdev.web.warehouse import Warehouse

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
        return await run_in_threadpool(history.versions, self._record(request).folder)

    async def _version(self, request: Request) -> Any:
        return await run_in_threadpool(history.version, self._record(request).folder,
                                       request.query_params.get("id", ""))

    async def _file(self, request: Request) -> Any:
        asked = request.query_params
        return await run_in_threadpool(history.file_text, self._record(request).folder, asked.get("id", ""),
                                       asked.get("path", ""))

    async def _compare(self, request: Request) -> Any:
        one, other = self._record(request), self._record(request, "other")
        return await run_in_threadpool(history.compare_newest, one.folder, other.folder)

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
