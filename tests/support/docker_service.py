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

HINT = "the docker sandbox needs a docker service: apt-get install docker.io, and run the tests as root or start it"


@contextlib.contextmanager
def docker_service() -> Iterator[str | None]:
    """What DOCKER_HOST must be; None: it may stay as it is. Raises RuntimeError with the hint when there is none."""
    if _answers(os.environ.get("DOCKER_HOST")):
        yield os.environ.get("DOCKER_HOST")
        return
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        raise RuntimeError(HINT)
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
    raise RuntimeError(f"{HINT}; dockerd said: {log.read_text(errors='replace')[-500:]}")


def _answers(host: str | None) -> bool:
    environment = {**os.environ, **({"DOCKER_HOST": host} if host else {})}
    try:
        return subprocess.run(["docker", "version"], capture_output=True, timeout=20, check=False,
                              env=environment).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
