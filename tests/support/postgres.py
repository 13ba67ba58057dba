"""A real PostgreSQL server on 127.0.0.1, for as long as it is needed, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

_PATIENCE = 60.0  # seconds until it answers
_QUICK = ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=16MB"]
_numbers = count(1)


class Postgres:
    """A server whose data lie in `folder`. It refuses to be root, so `nobody` runs it for root."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, _free_port()
        self._user = "nobody" if os.geteuid() == 0 else None
        self._server: subprocess.Popen[bytes] | None = None
        if self._user:
            shutil.chown(folder, self._user)
        done = subprocess.run([_program("initdb"), "-D", str(folder / "data"), "-U", "tester", "-A", "trust", "-E",
                               "UTF8", "--locale=C", "--no-sync"],
                              user=self._user, cwd="/", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    @property
    def url(self) -> str:
        """The address of its database `postgres`."""
        return f"postgresql://tester@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._server = subprocess.Popen(
            [_program("postgres"), "-D", str(self._folder / "data"), "-p", str(self._port),
             "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self._folder}", *_QUICK],
            cwd=self._folder, user=self._user, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        give_up = time.monotonic() + _PATIENCE
        while not self._answers():
            assert self._server.poll() is None, f"PostgreSQL ended at once, with status {self._server.returncode}"
            assert time.monotonic() < give_up, f"PostgreSQL does not answer within {_PATIENCE:g} seconds"
            time.sleep(0.05)

    def stop(self) -> None:
        """End it at once, whoever is connected, but orderly."""
        assert self._server is not None, "it is started before it is stopped"
        self._server.send_signal(signal.SIGINT)
        self._server.wait(_PATIENCE)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A server that is running."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    try:
        server = Postgres(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


def new_database(url: str) -> str:
    """The address of an empty database beside the one at `url`."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{url.rpartition('/')[0]}/{name}"


def _program(name: str) -> str:
    """A program of the server; Debian keeps them apart from the others."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    found = next((folder / name for folder in reversed(folders) if (folder / name).exists()), shutil.which(name))
    assert found, f"{name} is missing; install the database: apt-get install postgresql"
    return str(found)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])

