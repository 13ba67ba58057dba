"""Running one child process to its end or its limit, and killing whatever is left of it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from chatdev.errors import SandboxError
from chatdev.sandbox.base import Execution, Job
from chatdev.sandbox.streams import Streams
from chatdev.sandbox.watch import Watch

_DRAIN = 2.0  # seconds given to a killed tree to let go of its pipes


class Children:
    """The child processes of one sandbox. Every child leads its own session, so that its group can be killed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped: set[subprocess.Popen[bytes]] = set()
        self._over = False

    def run(self, command: Sequence[str], job: Job, *, env: Mapping[str, str], cwd: Path | None = None,
            pass_fds: Sequence[int] = ()) -> Execution:
        """Run `command` (which carries out `job`) and report how it ended; raises SandboxError when it cannot start
        or when `stop_all` ended it."""
        started = time.monotonic()
        with _stdin(job.stdin) as stdin, self._child(command, stdin, env, cwd, pass_fds) as child:
            streams, watch = Streams(child, job.limits.output), Watch(child.pid, job.folder, job.limits)
            reason = streams.read(child, started + job.limits.seconds, watch)
            stopped = self._end(child)
            streams.drain(_DRAIN)
        if stopped:
            raise SandboxError(f"{job.argv[0]} was stopped before it ended")
        exceeded = watch.left_behind() if reason is None or reason == "time" else reason
        killed, status = reason is not None or exceeded is not None, child.returncode
        return Execution(
            exit_status=None if killed or status < 0 else status,
            signal=int(signal.SIGKILL) if killed else -status if status < 0 else None,
            stdout=streams.stdout.text(), stderr=streams.stderr.text(),
            seconds=time.monotonic() - started, timed_out=reason == "time",
            truncated=streams.stdout.truncated or streams.stderr.truncated, exceeded=exceeded,
        )

    def stop_all(self) -> None:
        """Kill every child and start no other; the calls of `run`, under way or to come, raise SandboxError."""
        with self._lock:
            self._over = True
            self._stopped |= self._running
            for child in self._running:
                _kill_group(child)

    def _end(self, child: subprocess.Popen[bytes]) -> bool:
        """Kill what is left of the child's group, reap it, and say whether `stop_all` had ended it.

        Killed before it is reaped: until then its number cannot belong to somebody else.
        """
        with self._lock:
            if child in self._running:
                _kill_group(child)
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
    """Input for a child: `text` from a nameless file, so that nobody has to write while others read."""
    if text is None:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", errors="surrogateescape"))
        file.seek(0)
        yield file


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill the child's whole process group, also when its leader has already ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
