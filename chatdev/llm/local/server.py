"""The llama.cpp server as a child process: started, waited for, and never left behind."""

from __future__ import annotations

import http.client
import os
import secrets
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from chatdev.errors import ModelUnavailable
from chatdev.paths import cache_dir

START_SECONDS = 180.0
_LARGE_CONTEXT, _SMALL_CONTEXT = 16384, 8192
_ENOUGH_MEMORY = 4 << 30
_KEPT = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "OMP_WAIT_POLICY")
"""What the child gets of our environment."""


@dataclass(slots=True)
class LocalServer:
    """A server for one model file; `start` and `stop` may be called again."""

    model: Path
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    _child: subprocess.Popen[bytes] | None = None
    _port: int = 0

    @property
    def url(self) -> str:
        """Base URL for an OpenAI client."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def log(self) -> Path:
        """What the server itself says."""
        return cache_dir() / f"local-model-{self._port}.log"

    @property
    def running(self) -> bool:
        """Whether the child is alive."""
        return self._child is not None and self._child.poll() is None

    def start(self) -> None:
        """Start it and wait until it answers; blocking, seconds. Raises ModelUnavailable."""
        if self.running:
            return
        self._port = _free_port()
        command = [sys.executable, "-m", "chatdev.llm.local.serve", str(self.model), str(self._port), str(_context())]
        with self._open_log() as log:
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log,
                                           start_new_session=True, env=_environment())
        assert self._child.stdin is not None  # asked for above
        with suppress(BrokenPipeError):  # a child that is gone already is told by the wait
            self._child.stdin.write(f"{self.key}\n".encode())
            self._child.stdin.flush()
        self._wait()

    def _open_log(self) -> BinaryIO:
        try:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            return self.log.open("wb")
        except OSError as error:
            raise ModelUnavailable(f"cannot write {self.log}: {error.strerror}; set CHATDEV_CACHE to a folder that can "
                                   "be written") from error

    def stop(self) -> None:
        """Kill it, give its memory back, and forget what it said."""
        child, self._child = self._child, None
        if child:
            self.log.unlink(missing_ok=True)
            child.kill()
            child.wait()
            if child.stdin:
                child.stdin.close()

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if not self.running:
                raise ModelUnavailable(f"the local model's server ended while starting: {self._last_words()}")
            if self._healthy():
                return
            time.sleep(0.1)
        words = self._last_words()
        self.stop()
        raise ModelUnavailable(f"the local model was not ready after {START_SECONDS:.0f} s: {words}")

    def _healthy(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=2)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _last_words(self) -> str:
        try:
            lines = self.log.read_text(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return f"{' | '.join(lines[-3:])[-400:] or 'it said nothing'}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _context() -> int:
    """Tokens of context: large where memory allows."""
    return _LARGE_CONTEXT if _free_memory() >= _ENOUGH_MEMORY else _SMALL_CONTEXT


def _free_memory() -> int:
    """Bytes that programs can get; what the system keeps of files (the model among them) counts as free."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)


def _environment() -> dict[str, str]:
    """The child needs no keys; it must find this package, installed or not.

    Its threads sleep where they wait for each other: spinning, they take the cores from one another as soon as
    anything else runs (measured with a second server on 2 cores: 26 tokens in 5 s instead of 9 to 48 s). On a machine
    with nothing else to do spinning is quicker by a third: OMP_WAIT_POLICY=active.
    """
    package = str(Path(__file__).resolve().parents[3])
    kept = {name: value for name, value in os.environ.items() if name in _KEPT}
    return {"OMP_WAIT_POLICY": "passive", **kept, "PYTHONPATH": package}
