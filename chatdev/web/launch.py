"""What a page starts: a run from a form, and the software of one at a terminal in the browser.

A run is a process of its own, `chatdev run`, which neither needs the server nor ends with it. Software is `chatdev
play` on a pseudo-terminal, over a websocket: what it writes is read here, by a terminal emulator, and the page gets the
lines of a screen with their colours, never a control sequence. What is not read yet waits there, and the program too.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyte
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from chatdev.config.load import company_folders, load_company
from chatdev.config.schema import Input
from chatdev.department import offers
from chatdev.errors import ChatDevError, ConfigError
from chatdev.safe_text import load_json, sanitize
from chatdev.workspace.file_tree import safe_path

LARGEST_FORM = 20 << 20
"""Bytes of a form with all its files."""
_FILES, _FIELDS = 200, 200
_TEXT = 1 << 20  # bytes of a field
_SECONDS = 60.0  # until a run has its folder
_SAID = 4000  # characters of what a run says that does not begin
_BUDGETS = {"max_cost": "US dollars", "max_minutes": "minutes", "max_calls": "calls", "max_tokens": "tokens"}
_APPROVALS = ("deliveries", "tools")
_AMOUNT = re.compile(r"\d{1,12}(\.\d{1,6})?")
_WORD = re.compile(r"[^\s-]\S{0,199}")


def company_names() -> list[str]:
    """The companies that can be started by name."""
    return [folder.name for folder in company_folders()]


def company_form(name: str) -> dict[str, Any]:
    """What a company asks for. Raises ConfigError."""
    company = load_company(_require_company(name))
    inputs = [{"name": key, "about": spec.about, "kind": spec.kind, "required": spec.required,
               "default": spec.default or ""} for key, spec in company.inputs.items()]
    return {"name": name, "about": company.about, "source": company.source, "inputs": inputs, "most": LARGEST_FORM,
            "roles": [{"name": key, "title": role.title} for key, role in company.roles.items()]}


def _require_company(name: str) -> str:
    if name not in company_names():
        raise ConfigError(f"there is no company {name[:100]!r}; known are {', '.join(company_names())}")
    return name


async def start_run(request: Request, warehouse: Path) -> str:
    """Start the run that a form describes; the name of its folder, once it has one. Raises ConfigError, with what
    `chatdev run` says where it does not begin."""
    async with _with_limit(request).form(max_files=_FILES, max_fields=_FIELDS, max_part_size=_TEXT) as form:
        folder = Path(tempfile.mkdtemp(prefix="chatdev-view-"))
        command = [sys.executable, "-m", "chatdev", "run", "--json", "--wait", f"--warehouse={warehouse}",
                   *await _arguments(form, folder)]
    with (folder / "events.jsonl").open("wb") as out, (folder / "errors.txt").open("wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True)
    return await _wait_for_folder(process, folder)


def _with_limit(request: Request) -> Request:
    """The request, which is refused as soon as it is too large, whatever it says of its size."""
    taken = 0

    async def receive() -> Message:
        nonlocal taken
        message = await request.receive()
        taken += len(message.get("body", b""))
        if taken > LARGEST_FORM:
            raise ConfigError(f"the form with its files is larger than {LARGEST_FORM >> 20} MiB; give smaller "
                              "files, or start the run with `chatdev run`")
        return message

    return Request(request.scope, receive)


async def _arguments(form: FormData, folder: Path) -> list[str]:
    """The options of `chatdev run`. Values go through files, so that none is an option or names a file itself."""
    company = load_company(_require_company(_text(form, "company")))
    arguments = [f"--company={company.company}"]
    for key, spec in company.inputs.items():
        place = await _keep_input(form, key, spec, folder / f"input-{len(arguments)}")
        if place.exists():
            arguments.append(f"--task=@{place}" if key == "task" else f"--input={key}=@{place}")
        elif spec.required:
            raise ConfigError(f"{key}: is needed: {spec.about or 'write something'}")
    return [*arguments, *_people(form, company.roles), *_names(form),
            *(_budget(form, key) for key in _BUDGETS if _text(form, key))]


def _people(form: FormData, roles: Iterable[str]) -> Iterator[str]:
    """The roles that the user plays, and what they approve of."""
    yield from (f"--human={role}" for role in roles if f"human.{role}" in form)
    yield from (f"--approve={what}" for what in _APPROVALS if f"approve.{what}" in form)


async def _keep_input(form: FormData, key: str, spec: Input, place: Path) -> Path:
    """Where the value of an input was put, if there is one."""
    if spec.kind != "text":
        return await _keep_files(form, f"input.{key}", place, many=spec.kind == "files")
    if text := _text(form, f"input.{key}"):
        place.write_text(text, encoding="utf-8")
    return place


def _names(form: FormData) -> Iterator[str]:
    if name := _text(form, "name"):
        yield f"--name={name[:200]}"
    if model := _text(form, "model"):
        if not _WORD.fullmatch(model):
            raise ConfigError(f"model: {model[:50]!r} is no name of a model, such as gpt-4o-mini or local")
        yield f"--model={model}"


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def _budget(form: FormData, key: str) -> str:
    value, is_whole = _text(form, key), key in ("max_calls", "max_tokens")
    if not _AMOUNT.fullmatch(value) or float(value) <= 0 or (is_whole and "." in value):
        raise ConfigError(f"{key}: {value[:30]!r} is no number of {_BUDGETS[key]} above 0")
    return f"--{key.replace('_', '-')}={value}"


async def _keep_files(form: FormData, name: str, place: Path, *, many: bool) -> Path:
    """Where the files of a field were put; a picture keeps its ending, by which its kind is known."""
    files = list(_uploads(form, name))
    if not many:
        files = files[:1]
        place = place.with_name(f"{place.name}{Path(files[0].filename or '').suffix[:10]}") if files else place
    for file in files:
        target = place / safe_path(file.filename or "file") if many else place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(await file.read())
    return place


def _uploads(form: FormData, name: str) -> Iterator[UploadFile]:
    """The files of a field; a browser sends one without a name where none was chosen."""
    return (one for one in form.getlist(name) if isinstance(one, UploadFile) and (one.filename or one.size))


async def _wait_for_folder(process: subprocess.Popen[bytes], folder: Path) -> str:
    begun = time.monotonic()
    while time.monotonic() - begun < _SECONDS:
        ended = process.poll() is not None
        for line in (folder / "events.jsonl").read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n") and b'"RunStarted"' in line:
                return Path(json.loads(line)["folder"]).name
        if ended:
            said = (folder / "errors.txt").read_text(encoding="utf-8", errors="replace").strip()
            raise ConfigError(sanitize(said.removeprefix("error: ")[-_SAID:]) or
                              f"`chatdev run` ended with status {process.returncode} and said nothing")
        await asyncio.sleep(0.1)
    raise ConfigError(f"the run has not begun after {_SECONDS:.0f} s; what it says is in {folder}")


async def answer_start(request: Request, warehouse: Path) -> dict[str, str]:
    """The same as an answer. Raises ConfigError, also for a form that cannot be read."""
    try:
        return {"run": await start_run(request, warehouse)}
    except HTTPException as error:
        raise ConfigError(f"the form cannot be read: {error.detail}") from error
    except ChatDevError:
        raise
    except OSError as error:
        raise ConfigError(f"the files of the form cannot be kept: {error.strerror}") from error


# The software of a run at a terminal in the browser: `chatdev play` on a pseudo-terminal, over a websocket.

COMMAND = "play"
"""The command that starts software; a department's."""
MOST_PLAYED = 4
"""Terminals at once."""
_PIECE = 1 << 14  # bytes of output that are drawn at a time
_FRAME = 0.03  # seconds between two frames
_LOOK = 1.0  # seconds after which it is seen that the page is gone
LONGEST_MESSAGE = 1 << 17
"""Bytes of a message of a page."""
_COLUMNS, _ROWS = (20, 300), (5, 100)
_PATIENCE = 5.0  # seconds for the program to end by itself
_FULL = 4429  # what a websocket is closed with when there are too many


def can_play() -> bool:
    """Whether a department starts software."""
    offer = offers("commands").get(COMMAND)
    return offer is not None and not offer.problem


@dataclass
class Screen:
    """What a terminal shows, line by line."""

    columns: int = 80
    rows: int = 24
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by whoever draws in another thread."""
    _screen: pyte.Screen = field(init=False)
    _stream: pyte.ByteStream = field(init=False)
    _sent: dict[int, list[list[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._screen = pyte.Screen(self.columns, self.rows)
        self._stream = pyte.ByteStream(self._screen)

    def feed(self, data: bytes) -> None:
        """Draw what the program wrote; a sequence that the emulator cannot take is left out."""
        with contextlib.suppress(Exception):  # it knows more sequences than it can carry out
            self._stream.feed(data)
        if (self._screen.columns, self._screen.lines) != (self.columns, self.rows):  # the program may not decide it
            self._screen.resize(self.rows, self.columns)

    def resize(self, columns: int, rows: int) -> None:
        """Take another size."""
        self.columns, self.rows = columns, rows
        self._screen.resize(rows, columns)
        self._sent.clear()

    def frame(self) -> dict[str, Any]:
        """Lines that are not as they were: each as pairs of a text and its look; and the cursor."""
        lines = {}
        for number in sorted(self._screen.dirty):
            if number < self.rows and (line := self._line(number)) != self._sent.get(number):
                lines[number] = self._sent[number] = line
        self._screen.dirty.clear()
        cursor = self._screen.cursor
        return {"lines": lines, "cursor": None if cursor.hidden else [cursor.x, cursor.y]}

    def _line(self, number: int) -> list[list[str]]:
        pairs: list[list[str]] = []
        row = self._screen.buffer[number]
        for column in range(self.columns):
            cell = row[column]
            look = _look(cell)
            if pairs and pairs[-1][1] == look:
                pairs[-1][0] += cell.data
            else:
                pairs.append([cell.data, look])
        if pairs and not pairs[-1][1]:
            pairs[-1][0] = pairs[-1][0].rstrip()
        return [[sanitize(text), look] for text, look in pairs if text]


def _look(cell: pyte.screens.Char) -> str:
    """Words for a page: names or six digits of colours, and what else a sign is."""
    front, back = (cell.bg, cell.fg) if cell.reverse else (cell.fg, cell.bg)
    words = [f"fg-{front}" if front != "default" else "fg-paper" * cell.reverse,
             f"bg-{back}" if back != "default" else "bg-ink" * cell.reverse,
             *(name for name in ("bold", "italics", "underscore", "strikethrough") if getattr(cell, name))]
    return " ".join(filter(None, words))


@dataclass
class Play:
    """A program at a pseudo-terminal."""

    process: subprocess.Popen[bytes]
    terminal: int

    @staticmethod
    def start(command: Sequence[str], columns: int, rows: int) -> Play:
        """Start it. Raises OSError."""
        terminal, theirs = pty.openpty()
        try:
            _set_size(terminal, columns, rows)
            process = subprocess.Popen(command, preexec_fn=partial(os.login_tty, theirs),
                                       env={**os.environ, "TERM": "xterm-256color"})
        except OSError:
            os.close(terminal)
            raise
        finally:
            os.close(theirs)
        os.set_blocking(terminal, False)
        return Play(process, terminal)

    def resize(self, columns: int, rows: int) -> None:
        """Tell the program the size of its window."""
        _set_size(self.terminal, columns, rows)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGWINCH)

    def write(self, keys: bytes) -> None:
        """Type; what the program does not read in time is lost, as at any terminal."""
        with contextlib.suppress(OSError):
            os.write(self.terminal, keys)

    def read(self) -> bytes | None:
        """What it wrote; None when it has closed its terminal."""
        try:
            return os.read(self.terminal, _PIECE) or None
        except BlockingIOError:
            return b""
        except OSError:
            return None

    def end(self, patience: float) -> int:
        """Its exit status. After `patience`, in seconds, it is asked to end, then killed, with what it started."""
        for number, seconds in ((None, patience), (signal.SIGTERM, _PATIENCE), (signal.SIGKILL, _PATIENCE)):
            if number is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
                break
        os.close(self.terminal)
        return self.process.returncode or 0


def _set_size(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@dataclass
class Terminals:
    """The terminals of a server."""

    _open: int = 0

    async def serve(self, socket: WebSocket, folder: Path) -> None:
        """Play the software of a run until the program or the page ends."""
        await socket.accept()
        if self._open >= MOST_PLAYED:
            await socket.close(_FULL, f"{MOST_PLAYED} programs are played already; end one first")
            return
        self._open += 1
        try:
            await _play(socket, [sys.executable, "-m", "chatdev", COMMAND, str(folder)])
        except (WebSocketDisconnect, RuntimeError):  # the page is gone
            pass
        finally:
            self._open -= 1


async def _play(socket: WebSocket, command: Sequence[str]) -> None:
    screen = Screen()
    play = await asyncio.to_thread(Play.start, command, screen.columns, screen.rows)
    listening = asyncio.create_task(_listen(socket, play, screen))
    patience = 0.0
    try:
        async for frame in _frames(play, screen, listening):
            await socket.send_text(json.dumps(frame))
        patience = 0.0 if listening.done() else 1.0  # it has closed its terminal, and ends
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        status = await asyncio.shield(asyncio.to_thread(play.end, patience))
    await socket.send_text(json.dumps({"ended": status}))
    await socket.close()


async def _frames(play: Play, screen: Screen, listening: asyncio.Task[None]) -> AsyncIterator[dict[str, Any]]:
    """What is drawn, until the program has closed its terminal or the page is gone."""
    async with _readable(play.terminal) as ready:
        while not listening.done():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await ready.wait()
            ready.clear()
            if (data := play.read()) is None:
                return
            if data:
                async with screen.busy:
                    await asyncio.to_thread(screen.feed, data)
                    frame = screen.frame()
                yield frame
                await asyncio.sleep(_FRAME)


@asynccontextmanager
async def _readable(terminal: int) -> AsyncIterator[asyncio.Event]:
    """An event that is set while there is something to read."""
    ready, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(terminal, ready.set)
    try:
        yield ready
    finally:
        loop.remove_reader(terminal)


async def _listen(socket: WebSocket, play: Play, screen: Screen) -> None:
    """Take keys and sizes from the page, until it is gone."""
    while True:
        given = load_json(await socket.receive_text())
        if not isinstance(given, dict):
            return
        if isinstance(keys := given.get("keys"), str):
            play.write(keys.encode("utf-8", "replace"))
        if size := _size(given.get("size")):
            async with screen.busy:
                screen.resize(*size)
            play.resize(*size)


def _size(given: Any) -> tuple[int, int] | None:
    if not (isinstance(given, list) and [type(one) for one in given] == [int, int]):
        return None
    (columns, rows), ((least, most), (lowest, highest)) = given, (_COLUMNS, _ROWS)
    return min(max(columns, least), most), min(max(rows, lowest), highest)
