"""Child processes, run to their end or their limit: with their output captured, or at the user's own terminal; whatever
is left of them is killed."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import selectors
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tty
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


# A program at the user's own terminal or on the user's own streams, until it ends or we are asked to end.

_PIECE = 1 << 14  # bytes
_MOMENT = 2.0  # seconds
_C0 = rb"[\x00-\x17\x19\x1c-\x1f\x7f]*"  # control characters, which act in the middle of a sequence
_STRING_BEGINS = re.compile(rb"\x1b" + _C0 + rb"[\]P_^X]|\xc2[\x90\x98\x9d\x9e\x9f]")
_STRING_ENDS = re.compile(rb"[\x07\x18\x1a]|\x1b\\|\xc2\x9c|(?=\x1b[^\\])", re.DOTALL)
_PARAMETERS = rb"[\x00-\x17\x19\x1c-\x3f\x7f]{0,256}"
_BEGINNING = re.compile(rb"(?:\x1b" + _C0 + rb"(?:\[" + _PARAMETERS + rb")?|\xc2(?:\x9b" + _PARAMETERS + rb")?)\Z")
_WINDOW = re.compile(rb"(?:\x1b" + _C0 + rb"\[|\xc2\x9b)" + _PARAMETERS + rb"t")


def run_interactively(command: Sequence[str], *, env: Mapping[str, str], cwd: Path | None = None,
                      pass_fds: Sequence[int] = ()) -> Execution:
    """Run `command` with the user's standard streams until it ends; nothing is captured and no time limit holds.
    Whatever ends the call ends the program.

    At a terminal the program gets a pseudo-terminal of its own: it can neither push characters into the user's
    shell (TIOCSTI) nor change its settings, and Ctrl-C reaches the program, not us.
    """
    started = time.monotonic()
    try:
        run = _run_at_terminal if sys.stdin is not None and sys.stdin.isatty() else _run_on_streams
        status = run(command, env, cwd, pass_fds)
    except OSError as error:
        raise SandboxError(f"cannot start {command[0]}: {error}") from error
    return Execution(exit_status=status if status >= 0 else None, signal=-status if status < 0 else None,
                     stdout="", stderr="", seconds=time.monotonic() - started)


def _run_at_terminal(command: Sequence[str], env: Mapping[str, str], cwd: Path | None, pass_fds: Sequence[int]) -> int:
    for descriptor in pass_fds:
        os.set_inheritable(descriptor, True)
    directory = [f"--chdir={cwd}"] if cwd else []
    variables = [f"{name}={value}" for name, value in env.items()]
    child, terminal = pty.fork()
    if child == 0:
        os.execv("/usr/bin/env", ["/usr/bin/env", "-i", *directory, *variables, *command])
    try:
        with _raw_terminal():
            _copy(terminal)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        raise
    finally:
        os.close(terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status


@contextlib.contextmanager
def _raw_terminal() -> Iterator[None]:
    """Meanwhile every key goes to the program."""
    try:
        before = termios.tcgetattr(0)
        tty.setraw(0)
    except termios.error:  # a terminal that hung up just now
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(0, termios.TCSAFLUSH, before)


def _copy(terminal: int) -> None:
    """Hand through what the program writes and what the user types, until the program has closed its terminal."""
    open_ones, screen = [terminal, 0], ScreenFilter()
    while True:
        ready, _, _ = select.select(open_ones, [], [])
        if terminal in ready:
            if not (data := _read(terminal)):
                return
            _write(1, screen.keep(data))
        if 0 in ready:
            if data := _read(0):
                _write(terminal, data)
            else:
                open_ones.remove(0)


def _read(descriptor: int) -> bytes:
    """Next piece of output; empty at the end, which Linux reports of a terminal as an error."""
    try:
        return os.read(descriptor, _PIECE)
    except OSError:
        return b""


def _write(descriptor: int, data: bytes) -> None:
    """Write all of it; what a terminal that hung up does not take is lost."""
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(descriptor, data):]


class ScreenFilter:
    """Lets through what a program draws on the screen, and nothing that acts beyond it.

    Left out are the strings that set the title and the clipboard, make links, and send files or keys through (OSC, DCS,
    APC, PM, SOS; ECMA-48 §8.3), and the window's own sequences (CSI … t), which have the terminal type its title.
    """

    def __init__(self) -> None:
        self._held = b""
        """The end of what came, which may begin a sequence."""
        self._inside = False
        """Whether a string has begun, and not ended."""

    def keep(self, data: bytes) -> bytes:
        """What the terminal may have of the next piece, and of what was held."""
        data, kept = self._held + data, b""
        self._held = b""
        while data:
            if self._inside:
                end = _STRING_ENDS.search(data)
                self._inside = end is None
                data = data[end.end():] if end else data[-1:] if data[-1:] in (b"\x1b", b"\xc2") else b""
                if end is None:
                    self._held = data
                    break
            elif begin := _STRING_BEGINS.search(data):
                self._inside = True
                kept, data = kept + data[:begin.start()], data[begin.end():]
            else:
                held = _BEGINNING.search(data)
                self._held = data[held.start():] if held else b""
                kept, data = kept + data[:len(data) - len(self._held)], b""
        return _WINDOW.sub(b"", kept)


def _run_on_streams(command: Sequence[str], env: Mapping[str, str], cwd: Path | None, pass_fds: Sequence[int]) -> int:
    with _own_terminal(1) as out, _own_terminal(2) as err:
        child = subprocess.Popen(command, env=dict(env), cwd=cwd, start_new_session=True, pass_fds=pass_fds, stdout=out,
                                 stderr=err)
        return _wait(child)


@contextlib.contextmanager
def _own_terminal(stream: int) -> Iterator[int | None]:
    """Where a program writes that is meant for one of our streams: the stream itself, or, where that is the user's
    terminal, a terminal of its own whose output goes there."""
    if not os.isatty(stream):
        yield None
        return
    ours, theirs = pty.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST  # the user's terminal does that
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    copying = threading.Thread(target=_copy_output, args=(ours, stream), daemon=True)
    copying.start()
    try:
        yield theirs
    finally:
        os.close(theirs)
        copying.join(_MOMENT)  # what is left is read by then, unless a child of the program lives on
        with contextlib.suppress(OSError):
            os.close(ours)


def _copy_output(terminal: int, stream: int) -> None:
    screen = ScreenFilter()
    while data := _read(terminal):
        _write(stream, screen.keep(data))


def _wait(child: subprocess.Popen[bytes]) -> int:
    try:
        return child.wait()
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
