"""A Ray cluster of two machines on this one: two addresses of the loopback network, a CPU each, started as users do."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OTHER = "127.0.0.2"
"""The address of the machine that is not the head."""
_PATIENCE = 60.0  # seconds until a machine is up


class Machines:
    """The head, where drivers are started, and a second machine that may die and come back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment = {**os.environ, **environment(folder)}
        with socket.socket() as free:
            free.bind(("", 0))
            self._port = int(free.getsockname()[1])
        self._head = self._start("head", "--head", f"--port={self._port}", "--include-dashboard=false",
                                 f"--temp-dir={folder}")
        self._other: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Of the head."""
        return f"127.0.0.1:{self._port}"

    def add_other(self) -> None:
        """Start the second machine, if it is not there."""
        self._other = self._other or self._start("other", f"--address={self.address}", f"--node-ip-address={OTHER}")

    def kill_other(self) -> None:
        """The second machine loses its power."""
        assert self._other
        os.killpg(self._other.pid, signal.SIGKILL)
        self._other.wait()
        self._other = None

    def stop(self) -> None:
        """End both."""
        for machine in filter(None, (self._other, self._head)):
            os.killpg(machine.pid, signal.SIGKILL)
            machine.wait()

    def _start(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        log = self.folder / f"{name}.log"
        with log.open("wb") as output:
            machine = subprocess.Popen(
                [Path(sys.executable).parent / "ray", "start", "--block", "--num-cpus=1", "--disable-usage-stats",
                 "--object-store-memory=80000000", *options],
                env=self._environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True)
        give_up = time.monotonic() + _PATIENCE
        while b"will now block forever" not in log.read_bytes():
            assert machine.poll() is None, log.read_text()
            assert time.monotonic() < give_up, log.read_text()
            time.sleep(0.1)
        return machine


def environment(folder: Path) -> dict[str, str]:
    """What all who belong to a cluster need in their environment: its token, and a place for Ray's files with a path
    that is short enough for sockets."""
    token = folder / "token"
    if not token.exists():
        token.write_text(secrets.token_hex(32))
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token.read_text(), "RAY_TMPDIR": str(folder)}


@contextmanager
def ray_folder() -> Iterator[Path]:
    """A folder for Ray's files."""
    folder = Path(tempfile.mkdtemp(prefix="ray-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def machines() -> Iterator[Machines]:
    """A head that is running."""
    with ray_folder() as folder:
        running = Machines(folder)
        try:
            yield running
        finally:
            running.stop()
