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


@contextmanager
def postgres() -> Iterator[str]:
    """Start a server; the address of its database `postgres`. It refuses to be root, so `nobody` runs it for root."""
    user = "nobody" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    if user:
        shutil.chown(folder, user)
    data, port = folder / "data", _free_port()
    _call("initdb", user, "-D", str(data), "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    server = subprocess.Popen(
        [_program("postgres"), "-D", str(data), "-p", str(port), "-c", "listen_addresses=127.0.0.1",
         "-c", f"unix_socket_directories={folder}", *_QUICK],
        cwd=folder, user=user, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"postgresql://tester@127.0.0.1:{port}/postgres"
        _wait(url, server)
        yield url
    finally:
        server.send_signal(signal.SIGINT)  # its word for: end at once, but orderly
        server.wait(_PATIENCE)
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


def _call(name: str, user: str | None, *arguments: str) -> None:
    done = subprocess.run([_program(name), *arguments], user=user, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + _PATIENCE
    while True:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            assert server.poll() is None, f"PostgreSQL ended at once, with status {server.returncode}"
            assert time.monotonic() < give_up, f"PostgreSQL does not answer within {_PATIENCE:g} seconds"
            time.sleep(0.05)
