"""Child processes: run to their end or their limit with their output captured; whatever is left of them is killed."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

from chatdev.errors import SandboxError
from chatdev.safe_text import scrub_bytes, scrub_ends
from chatdev.sandbox.base import Exceeded, Execution, SandboxJob
from chatdev.sandbox.watch import Watch

_DRAIN = 2.0  # seconds given to a killed tree to let go of its pipes
_POLL = 0.02  # seconds between looks at a child that still holds its pipes
_LONGEST_WORD = 128 << 10  # bytes of one word of a command line (MAX_ARG_STRLEN)
_LONGEST_COMMAND = 1 << 20  # bytes of all words: half of what Linux takes with the usual stack limit
_MOST_WORDS = 8500  # of a command line: bubblewrap takes 9000, its own options among them
_NAP = 0.005  # seconds between looks at a child that closed them
_ALL: weakref.WeakSet[Children] = weakref.WeakSet()
_SERVERS: weakref.WeakSet[subprocess.Popen[bytes]] = weakref.WeakSet()


def kill_all_children() -> None:
    """Kill the children of every sandbox of this process, which is about to end, and the servers that it started."""
    for children in tuple(_ALL):
        children.stop_all()
    for server in tuple(_SERVERS):
        if server.returncode is None:  # else it was reaped, and its number may be somebody else's
            kill_group(server)


def start_server(command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A program outside of any sandbox that answers through pipes, at the head of a session of its own. The caller ends
    it: `kill_group`, then `wait`. Raises OSError and ValueError."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(env), start_new_session=True)
    _SERVERS.add(server)
    return server


class Children:
    """The child processes of one sandbox. Every child leads its own session, so that its group can be killed."""

    def __init__(self) -> None:
        _ALL.add(self)
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped: set[subprocess.Popen[bytes]] = set()
        self._over = False

    def run(self, command: Sequence[str], job: SandboxJob, *, env: Mapping[str, str], cwd: Path | None = None,
            pass_fds: Sequence[int] = (), out_of_memory: Callable[[], bool] | None = None) -> Execution:
        """Run `command` (which carries out `job`) and report how it ended; raises SandboxError when it cannot start
        or when `stop_all` ended it. `out_of_memory`: as of a `Watch`."""
        started = time.monotonic()
        if not _is_command(command):
            return Execution(None, None, "", "", 0.0, exceeded="command")
        with _stdin(job.stdin) as stdin, self._child(command, stdin, env, cwd, pass_fds) as child:
            streams = Streams(child, job.limits.output)
            watch = Watch(child.pid, job.folder, job.limits, out_of_memory)
            reason = streams.read(child, started + job.limits.seconds, watch)
            stopped = self._end(child)
            streams.drain(_DRAIN)
        if stopped:
            raise SandboxError(f"{job.argv[0]} was stopped before it ended")
        exceeded = watch.limit_exceeded_at_the_end() if reason is None or reason == "time" else reason
        killed, status = reason is not None or exceeded is not None, child.returncode
        return Execution(
            exit_status=None if killed or status < 0 else status,
            signal=int(signal.SIGKILL) if killed else -status if status < 0 else None,
            stdout=streams.stdout.text(), stderr=streams.stderr.text(),
            seconds=time.monotonic() - started, timed_out=reason == "time",
            truncated=streams.stdout.is_truncated or streams.stderr.is_truncated, exceeded=exceeded,
        )

    def stop_all(self) -> None:
        """Kill every child and start no other; the calls of `run`, under way or to come, raise SandboxError."""
        with self._lock:
            self._over = True
            self._stopped |= self._running
            for child in self._running:
                kill_group(child)

    def _end(self, child: subprocess.Popen[bytes]) -> bool:
        """Kill what is left of the child's group, reap it, and say whether `stop_all` had ended it.

        Killed before it is reaped: until then its number cannot belong to somebody else.
        """
        with self._lock:
            if child in self._running:
                kill_group(child)
            self._running.discard(child)
            stopped = child in self._stopped
            self._stopped.discard(child)
        child.wait()
        return stopped

    @contextlib.contextmanager
    def _child(self, command: Sequence[str], stdin: IO[bytes] | int, env: Mapping[str, str], cwd: Path | None,
               pass_fds: Sequence[int]) -> Iterator[subprocess.Popen[bytes]]:
        with self._lock:  # a child is known to `stop_all` as soon as it exists
            if self._over:
                raise SandboxError(f"{command[0]} was stopped before it began")
            try:
                child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                                         env=dict(env), start_new_session=True, pass_fds=pass_fds)
            except (OSError, ValueError) as error:
                raise SandboxError(f"cannot start {command[0]}: {error}") from error
            self._running.add(child)
        try:
            yield child
        finally:
            self._end(child)
            for pipe in (child.stdout, child.stderr):
                if pipe:
                    pipe.close()


@contextlib.contextmanager
def _stdin(text: str | None) -> Iterator[IO[bytes] | int]:
    """Input for a child: `text` from a nameless file, so that no pipe has to be fed while it reads."""
    if text is None:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", errors="replace"))
        file.seek(0)
        yield file


def _is_command(command: Sequence[str]) -> bool:
    """Whether every sandbox takes this as a command line: words that can be encoded, without NUL, neither too long nor
    too many."""
    if len(command) > _MOST_WORDS:
        return False
    try:
        words = [os.fsencode(word) for word in command]
    except UnicodeEncodeError:
        return False
    sizes = [len(word) + 1 for word in words]
    return not any(b"\0" in word for word in words) and max(sizes) <= _LONGEST_WORD and sum(sizes) <= _LONGEST_COMMAND


def kill_group(child: subprocess.Popen[bytes], by: signal.Signals = signal.SIGKILL) -> None:
    """Kill the child's whole process group, also when its leader has already ended. It must not be reaped yet."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, by)


class Streams:
    """Both output streams of a child, read as they come so that it never blocks on a full pipe."""

    def __init__(self, child: subprocess.Popen[bytes], limit: int) -> None:
        self.stdout, self.stderr = Capture(limit), Capture(limit)
        self._selector = selectors.DefaultSelector()
        for pipe, capture in ((child.stdout, self.stdout), (child.stderr, self.stderr)):
            if pipe:
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, selectors.EVENT_READ, capture)

    def read(self, child: subprocess.Popen[bytes], deadline: float, watch: Watch) -> Exceeded | Literal["time"] | None:
        """Read until the child has ended: None. Otherwise why it must be ended: `deadline` (monotonic), or a limit."""
        while not has_ended(child):
            left = deadline - time.monotonic()
            if left <= 0:
                return "time"
            if exceeded := watch.exceeded_limit(self.stdout.total + self.stderr.total):
                return exceeded
            if self._selector.get_map():
                self._read_once(min(_POLL, left))
            else:
                time.sleep(min(_NAP, left))
        return None

    def drain(self, seconds: float) -> None:
        """Take what the ended child left in the pipes; descendants that still hold them are waited for `seconds`."""
        deadline = time.monotonic() + seconds
        while self._selector.get_map() and (left := deadline - time.monotonic()) > 0:
            self._read_once(left)
        self._selector.close()

    def _read_once(self, timeout: float) -> None:
        for key, _ in self._selector.select(timeout):
            try:
                data = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            if data:
                key.data.feed(data)
            else:
                self._selector.unregister(key.fileobj)


def has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether the child ended; it is not reaped yet."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


class Capture:
    """Bytes of one stream: at most `limit` kept, half from the head and half from the tail."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit - limit // 2
        self._tail_limit = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        excess = len(self._tail) - self._tail_limit
        if excess > 0:
            del self._tail[:excess]
            self._left_out += excess

    @property
    def total(self) -> int:
        """How many bytes came, kept or not."""
        return len(self._head) + len(self._tail) + self._left_out

    @property
    def is_truncated(self) -> bool:
        """Whether bytes were left out."""
        return self._left_out > 0

    def text(self) -> str:
        """What was kept, as UTF-8 with replacements and without secrets; a line in the middle says how much is
        missing."""
        if not self._left_out:
            kept = scrub_bytes(bytes(self._head + self._tail))
        else:
            head, tail = scrub_ends(bytes(self._head), bytes(self._tail))
            kept = head + f"\n[… {self._left_out} bytes left out …]\n".encode() + tail
        return kept.decode("utf-8", errors="replace")
