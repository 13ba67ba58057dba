"""A docker service for tests: the machine's own when it answers, else one that root starts for this session."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HINT = "the tests of the docker sandbox need docker: apt-get install docker.io"


class CannotStart(Exception):
    """A docker service is installed, and this machine does not let it start (a container without rights, say)."""


@contextlib.contextmanager
def docker_service() -> Iterator[str | None]:
    """What DOCKER_HOST must be; None: it may stay as it is. Raises RuntimeError with the hint when docker is
    not installed, CannotStart when it may not start here."""
    if _answers(os.environ.get("DOCKER_HOST")):
        yield os.environ.get("DOCKER_HOST")
        return
    if not shutil.which("docker") or not shutil.which("dockerd"):
        raise RuntimeError(HINT)
    if os.geteuid() != 0:
        raise CannotStart("only root may start a docker service for the tests")
    with tempfile.TemporaryDirectory(prefix="docker-", ignore_cleanup_errors=True) as folder:
        host = f"unix://{folder}/docker.sock"
        log = Path(folder) / "log"
        command = ["dockerd", f"--host={host}", f"--data-root={folder}/data", f"--exec-root={folder}/exec",
                   f"--pidfile={folder}/pid", "--storage-driver=vfs", "--iptables=false", "--bridge=none"]
        with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as service:
            try:
                _wait_for(host, service, log)
                yield host
            finally:
                service.terminate()


def _wait_for(host: str, service: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(100):
        if _answers(host):
            return
        if service.poll() is not None:
            break
        time.sleep(0.2)
    raise CannotStart(f"dockerd does not start on this machine: {log.read_text(errors='replace')[-300:]}")


def _answers(host: str | None) -> bool:
    environment = {**os.environ, **({"DOCKER_HOST": host} if host else {})}
    try:
        return subprocess.run(["docker", "version"], capture_output=True, timeout=20, check=False,
                              env=environment).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
