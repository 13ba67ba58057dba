"""The local model: a llama.cpp server as a child process, started when it is needed and never left behind, and the
`Model` that asks it."""

from __future__ import annotations

import asyncio
import http.client
import importlib.util
import os
import secrets
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from chatdev.connection import Endpoint
from chatdev.errors import MissingModel, MissingProgram, ModelUnavailable
from chatdev.llm.base import Reply, Request
from chatdev.llm.local.weights import adopt, installed_file
from chatdev.llm.openai_model import OpenAIModel
from chatdev.paths import cache_dir

_READ_SECONDS = 1800.0  # two slow cores may think long about a long prompt
START_SECONDS = 180.0
_LARGE_CONTEXT, _SMALL_CONTEXT = 16384, 8192
_ENOUGH_MEMORY = 4 << 30
_KEPT = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "OMP_WAIT_POLICY")
"""Environment variables passed to the child."""


class LocalModel:
    """Starts its server with the first request, and again should it have died; one request at a time."""

    name = "local"

    def __init__(self, path: Path | None = None) -> None:
        """Raises MissingProgram or MissingModel when llama.cpp or the model file is not there."""
        found = adopt(path) if path else installed_file()
        if found is None:
            raise MissingModel("the local model is not downloaded yet; get it with `chatdev model pull`")
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingProgram("the local model needs llama.cpp: pip install \"chatdev-chain[local]\"")
        self._file = found.name
        self._server = LocalServer(found)
        self._starting = asyncio.Lock()
        self._client: OpenAIModel | None = None

    async def complete(self, request: Request) -> Reply:
        """The reply to `request`, by the name of the model's file. Raises what `OpenAIModel` raises."""
        return replace(await self._complete(request), model=self._file)  # its server says where the file lies

    async def _complete(self, request: Request) -> Reply:
        client = await self._ready()
        try:
            return await client.complete(request)
        except ModelUnavailable:
            if client is self._client and self._server.is_running:
                raise
            return await (await self._ready()).complete(request)  # its server died on the way, of memory perhaps

    async def _ready(self) -> OpenAIModel:
        async with self._starting:
            if self._client is None or not self._server.is_running:
                await self.close()
                await asyncio.to_thread(self._server.start)
                endpoint = Endpoint(self._server.url, self._server.key, grammar=True, concurrency=1,
                                    timeout=_READ_SECONDS)
                self._client = OpenAIModel(endpoint, self._wait)
            return self._client

    async def _wait(self, seconds: float) -> None:
        """Wait before another attempt. Raises ModelUnavailable if the server has ended."""
        if not self._server.is_running:
            raise ModelUnavailable("the local model's server ended")
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Stop the server; the next request starts it again."""
        client, self._client = self._client, None
        if client:
            await client.close()
        await asyncio.to_thread(self._server.stop)


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
    def is_running(self) -> bool:
        """Whether the child is alive."""
        return self._child is not None and self._child.poll() is None

    def start(self) -> None:
        """Start it and wait until it answers; blocking, seconds. Raises ModelUnavailable."""
        if self.is_running:
            return
        self._port = _free_port()
        command = [sys.executable, "-m", "chatdev.llm.local.serve", str(self.model), str(self._port), str(_context())]
        with self._open_log() as log:
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log,
                                           start_new_session=True, env=_environment())
        assert self._child.stdin is not None  # asked for above
        with suppress(BrokenPipeError):  # the wait finds that the child has ended already
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
            if not self.is_running:
                raise ModelUnavailable(f"the local model's server ended while starting: {self._last_words()}")
            if self._answers():
                return
            time.sleep(0.1)
        words = self._last_words()
        self.stop()
        raise ModelUnavailable(f"the local model was not ready after {START_SECONDS:.0f} s: {words}")

    def _answers(self) -> bool:
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
