"""Programs to run in a sandbox, written as Python source."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chatdev.sandbox.base import Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.sandbox.kinds import find_sandbox, why_not
from tests.support.docker_service import CannotStart, docker_service

PYTHON = "/usr/bin/python3"
NOBODY = 65533
_PR_SET_DUMPABLE = 4
RunPython = Callable[..., Execution]


@pytest.fixture(scope="session")
def docker() -> Iterator[Sandbox]:
    """The docker sandbox with a service behind it; fails with the way to get one."""
    try:
        with pytest.MonkeyPatch.context() as patch, docker_service() as host:
            if host:
                patch.setenv("DOCKER_HOST", host)
            why_not.cache_clear()
            yield find_sandbox("docker")
    except CannotStart as reason:
        pytest.skip(str(reason))
    finally:
        why_not.cache_clear()


@pytest.fixture
def bubblewrap() -> Sandbox:
    """Fails with the way to install it where it does not work."""
    return find_sandbox("bubblewrap")


@pytest.fixture
def run_python(bubblewrap: Sandbox, tmp_path: Path) -> RunPython:
    """Run Python source in bubblewrap; keywords are those of SandboxJob and ProcessLimits."""
    return runner(bubblewrap, tmp_path)


def runner(sandbox: Sandbox, folder: Path) -> RunPython:
    """The same for any sandbox."""
    (folder / "software").mkdir(exist_ok=True)

    def run(source: str, **options: Any) -> Execution:
        limits = {name: options.pop(name) for name in list(options) if name in ProcessLimits.__slots__}
        return sandbox.run(SandboxJob([PYTHON, "-c", source], folder / "software", ProcessLimits(**limits), **options))

    return run


def processes_with(mark: str) -> list[str]:
    """Command lines of all processes of this machine that hold `mark`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in text:
            found.append(text)
    return found


def as_user(action: Callable[[], object]) -> None:
    """Do it in a process of an ordinary user; fails when it does."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
                ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1)  # or /proc/self stays root's
            action()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
