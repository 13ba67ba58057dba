"""A package index that pip is set to, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatdev.packages.interpreter import interpreter
from chatdev.packages.modules import install
from chatdev.sandbox.kinds import find_sandbox
from tests.support.wheels import PackageIndex, set_pip

Install = Callable[..., str | None]


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """The only index."""
    with PackageIndex() as server:
        set_pip(server.url, monkeypatch)
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the packages are to come."""
    return tmp_path / "packages" / "1"


@pytest.fixture
def installed(folder: Path) -> Install:
    """Install the named packages into `folder`: why that failed, or None."""
    def run(*names: str, seconds: float = 60.0, sandbox: str = "bubblewrap") -> str | None:
        reason = install(names, folder, interpreter(), find_sandbox(sandbox), seconds)
        assert folder.exists() == (reason is None)
        assert not [path for path in folder.parent.iterdir() if path.name != "1"]
        return reason

    return run
