"""The parent's side: one child for each process, started when it is first needed and again whenever it ended; and
reading beside the event loop, in a thread that stops when its caller is cancelled or its time is up."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from chatdev.errors import SandboxError
from chatdev.isolation.isolate import HEAD

MEMORY = 1 << 30
"""Bytes that a text may take to be read."""
SECONDS = 10
"""Of a processor, for one text."""
LONGEST = 64 << 20
"""Bytes of a call; longer ones are refused."""
_LONGEST_ANSWER = 16 << 20
_PATIENCE = 120.0  # seconds by the clock, for a child that gets no processor; its own limit comes long before
_WATCHED = sys.platform != "linux"
_REMEMBERED = 256  # texts that took a child down
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # what the interpreter itself may need to start
_START = ("import sys; memory, seconds, *sys.path[:] = sys.argv[1:]; from chatdev.isolation.isolate import serve; "
          "serve(int(memory), int(seconds))")
_KILLED = -signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP
_TOO_LARGE = "the source takes more memory than it may, {memory} MiB, or is nested too deeply"
_TOO_SLOW = "the source takes more time than it may, {seconds} s of a processor"
_TOO_LONG = (f"the source has more than {LONGEST >> 20} MiB, or what is read from it more than "
             f"{_LONGEST_ANSWER >> 20} MiB")
_CRASHED = "the source makes the parser crash; it may be nested too deeply, or hold too much in one place"
_KILLED_TWICE = "the process that reads the source was killed, twice; it may take more memory than this machine has"


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits for one text: bytes of memory, and seconds of a processor."""

    memory: int = MEMORY
    seconds: int = SECONDS


class _Gone(Exception):
    """The child ended, or had to be ended. `why` says what of the text did that; empty when it was something else."""

    def __init__(self, why: str = "") -> None:
        super().__init__(why)
        self.why = why


class _Child:
    """A process that reads. To be ended. Raises SandboxError when it does not start."""

    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self._socket, theirs = socket.socketpair()
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | {"MALLOC_ARENA_MAX": "1"}
        try:
            with theirs:  # a session of its own: Ctrl-C at a terminal is for us, and we end it
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", _START, str(limits.memory),
                     str(limits.seconds), *_import_path()], stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, start_new_session=True)
        except OSError as error:
            self._socket.close()
            raise SandboxError(f"no process can be started that reads what models write ({error}); end other programs, "
                               "or allow more processes (ulimit -u)") from None
        try:
            self._receive(time.monotonic() + _PATIENCE)
        except _Gone:
            status = self.end()
            raise SandboxError(f"the process that reads what models write does not start (exit status {status}); try "
                               f"{sys.executable} -I -c 'import chatdev'") from None

    def ask(self, request: bytes) -> tuple[bytes, bool]:
        """The answer to a call, and whether the child can be asked again. Raises _Gone."""
        deadline = time.monotonic() + _PATIENCE
        self._send(b"+" + len(request).to_bytes(HEAD - 1, "big") + request, deadline)
        return self._receive(deadline)

    def end(self) -> int:
        """Kill it if it still runs; its exit status, negative for the signal that ended it."""
        self._socket.close()
        self._process.kill()
        status: int = self._process.wait()
        return status

    def forget(self) -> None:
        """Let go of it in a process that was forked from its parent."""
        self._socket.close()
        self._process.returncode = 0

    def _receive(self, deadline: float) -> tuple[bytes, bool]:
        head = self._read(HEAD, deadline)
        length = int.from_bytes(head[1:], "big")
        if length > _LONGEST_ANSWER:
            raise _Gone(_TOO_LONG)
        return self._read(length, deadline), head[:1] == b"+"

    def _send(self, message: bytes, deadline: float) -> None:
        view = memoryview(message)
        self._socket.settimeout(LOOK)
        while view:
            try:
                view = view[self._socket.send(view):]
            except TimeoutError:
                self._check(deadline)
            except OSError:
                raise _Gone from None

    def _read(self, count: int, deadline: float) -> bytes:
        pieces = []
        self._socket.settimeout(LOOK)
        while count:
            try:
                piece = self._socket.recv(min(count, 1 << 20))
            except TimeoutError:
                self._check(deadline)
                continue
            except OSError:
                piece = b""
            if not piece:
                raise _Gone
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def _check(self, deadline: float) -> None:
        look_up()
        if time.monotonic() >= deadline:
            raise _Gone(_TOO_SLOW)
        if _WATCHED and _memory_of(self._process.pid) > self._limits.memory:
            raise _Gone(_TOO_LARGE)


class Reader:
    """Asks a child of this process, one call at a time. To be ended."""

    def __init__(self, limits: ReadingLimits = ReadingLimits()) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._refused = OrderedDict[bytes, str]()

    def ask(self, request: bytes) -> tuple[bytes, str]:
        """The answer, or nothing and why the text cannot be read. Raises SandboxError."""
        digest = blake2b(request, digest_size=16).digest()
        with hold_lock(self._lock):
            look_up()
            if digest in self._refused:
                return b"", self._refused[digest]
            answer, why = self._ask(request) if len(request) <= LONGEST else (b"", _TOO_LONG)
            if not answer:
                why = why.format(memory=self._limits.memory >> 20, seconds=self._limits.seconds)
                self._refused[digest] = why
                if len(self._refused) > _REMEMBERED:
                    self._refused.popitem(last=False)
            return answer, why

    def _ask(self, request: bytes) -> tuple[bytes, str]:
        for _ in range(2):  # one that was killed from outside may have had nothing to do with the text
            try:
                child = self._child = self._child or _Child(self._limits)
                answer, goes_on = child.ask(request)
                if not goes_on:
                    self.end()
                return answer, _TOO_LARGE
            except _Gone as gone:
                status = self.end()
                why = gone.why or _reason(status)
                if why:
                    return b"", why
            except BaseException:  # Ctrl-C or cancellation: a late answer would be taken for that to the next call
                self.end()
                raise
        return b"", _KILLED_TWICE

    def end(self) -> int:
        """End the child, if there is one; the next call starts another."""
        child, self._child = self._child, None
        return child.end() if child else 0

    def begin_anew(self) -> None:
        """In a process that was forked: what the parent has is not ours, and no thread is here that holds the lock."""
        child, self._child = self._child, None
        self._lock = threading.Lock()
        if child:
            child.forget()


def _reason(status: int) -> str:
    """Reason in the text for the child's end; empty if something else ended it."""
    if status in _KILLED:
        return ""
    return _TOO_SLOW if status == -signal.SIGXCPU else _CRASHED


def _import_path() -> list[str]:
    """From where the child imports: this very chatdev, then what is installed. Folders relative to the working folder
    are none of it."""
    own = str(Path(__file__).parents[2])
    return list(dict.fromkeys([own, *(path for path in sys.path if path.startswith(os.sep))]))


def _memory_of(pid: int) -> int:
    """What a process has in memory, in bytes, where /proc does not tell."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return int(told.stdout.strip() or 0) << 10


_reader = Reader()
ask = _reader.ask
atexit.register(_reader.end)
os.register_at_fork(after_in_child=_reader.begin_anew)


# Reading beside the event loop: in a thread that stops when its caller is cancelled or its time is up.

T = TypeVar("T")
LOOK = 0.1
"""Seconds between two looks while a reader waits."""


class ReadingStopped(BaseException):
    """The caller was cancelled; a BaseException, so that no reader takes it for a fault of the text."""


class ReadingTooSlow(BaseException):
    """It took longer than it may."""


class _Reading:
    """One thing that is read: whether it is still wanted, and how long it may take."""

    def __init__(self, seconds: float | None) -> None:
        self.stopped = False
        self._until = None if seconds is None else time.monotonic() + seconds

    def look_up(self) -> None:
        """Raise ReadingStopped or ReadingTooSlow."""
        if self.stopped:
            raise ReadingStopped
        if self._until is not None and time.monotonic() > self._until:
            raise ReadingTooSlow

    def wait(self, seconds: float) -> None:
        """Extend the deadline by `seconds`, in which others had the child."""
        if self._until is not None:
            self._until += seconds


_current: ContextVar[_Reading | None] = ContextVar("reading", default=None)


def look_up() -> None:
    """Raise ReadingStopped where what is read here is no longer wanted, ReadingTooSlow where it took too long."""
    if reading := _current.get():
        reading.look_up()


@contextmanager
def hold_lock(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock; the wait for it ends with the reading, and does not count."""
    reading, began = _current.get(), time.monotonic()
    while not lock.acquire(timeout=LOOK):
        if reading and reading.stopped:
            raise ReadingStopped
    if reading:
        reading.wait(time.monotonic() - began)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def stop_at_end() -> Iterator[None]:
    """Stop readers in threads started inside at the end of the block."""
    reading = _Reading(None)
    token = _current.set(reading)
    try:
        yield
    finally:
        reading.stopped = True
        _current.reset(token)


async def read_beside(seconds: float | None, function: Callable[..., T], *args: Any, **options: Any) -> T:
    """Result of the function in a thread. Cancellation tells the thread to stop and does not wait for it, nor does the
    end of the process. Raises TimeoutError after `seconds` (None: no limit), not counting the time that others had the
    child."""
    loop, reading, context = asyncio.get_running_loop(), _Reading(seconds), copy_context()
    future: asyncio.Future[T] = loop.create_future()
    context.run(_current.set, reading)

    def work() -> None:
        try:
            result, error = context.run(function, *args, **options), None
        except BaseException as caught:  # noqa: BLE001 - it is raised where it is waited for
            result, error = None, TimeoutError() if isinstance(caught, ReadingTooSlow) else caught
        with suppress(RuntimeError):  # the loop may be at its end by now
            loop.call_soon_threadsafe(_settle, future, result, error)

    threading.Thread(target=work, name="chatdev-reader", daemon=True).start()
    try:
        return await future
    finally:
        reading.stopped = True


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:  # of all errors it takes but this one
        future.set_exception(RuntimeError(error) if isinstance(error, StopIteration) else error)
