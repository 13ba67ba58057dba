"""The software of a run at a terminal in the browser: `chatdev play` on a pseudo-terminal, over a websocket.

What the program writes is read here, by a terminal emulator of this process: the page gets the lines of a screen with
their colours, and never a control sequence. What is not read yet waits in the pseudo-terminal, and the program with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyte
from starlette.websockets import WebSocket, WebSocketDisconnect

from chatdev.department import offers
from chatdev.plain_values import load_json
from chatdev.safe_text import sanitize

COMMAND = "play"
"""The command that starts software; a department's."""
MOST = 4
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
        if self._open >= MOST:
            await socket.close(_FULL, f"{MOST} programs are played already; end one first")
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
