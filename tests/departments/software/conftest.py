"""Judging software given as source texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from chatdev.departments.software.drivers.step import read_steps
from chatdev.departments.software.toolchains.toolchain import toolchain_of
from chatdev.departments.software.trial.agreed import UsedCheck
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry, throwaway_copy

Judge = Callable[..., Verdict]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run's folder for all tests of a module, so that its environment is made once."""
    return tmp_path_factory.mktemp("run")


@pytest.fixture(params=["bubblewrap"])
def judge(request: pytest.FixtureRequest, run_folder: Path, tmp_path: Path) -> Judge:
    """`software.run` on the given files (or on one main.py)."""
    def run(files: str | dict[str, str], **options: str) -> Verdict:
        texts = {"main.py": files} if isinstance(files, str) else files
        software = {path: text.encode() for path, text in texts.items()}
        context = ToolContext(software, {}, {}, find_sandbox(request.param), run_folder, tmp_path, options)
        verdict = registry()["software.run"].call(context, {})
        assert isinstance(verdict, Verdict)
        assert list(tmp_path.iterdir()) == []
        return verdict

    return run


class Drive(Protocol):
    def __call__(self, software: str | dict[str, str], steps: Any, task: str = "") -> UsedCheck: ...


@pytest.fixture
def drive(tmp_path: Path) -> Drive:
    """How steps go, without a verdict on anything else."""
    def call(software: str | dict[str, str], steps: Any, task: str = "") -> UsedCheck:
        texts = {"main.py": software} if isinstance(software, str) else software
        files = {path: text.encode() for path, text in texts.items()}
        (scratch := tmp_path / "scratch").mkdir(exist_ok=True)
        toolchain = toolchain_of(ToolContext(files, {}, {"task": task}, find_sandbox(), tmp_path, scratch))
        assert toolchain.check() is None
        with throwaway_copy(scratch, files) as folder:
            assert toolchain.build(folder) is None
            read = read_steps(steps) or ()
            driven = toolchain.drive(folder, read)
        assert driven is not None
        return UsedCheck(read, driven)

    return call


class Use(Protocol):
    def __call__(self, software: str | dict[str, str], task: str, commands: Any = (), examples: Any = (),
                 checks: Any = ()) -> Verdict: ...


@pytest.fixture
def use(tmp_path: Path) -> Use:
    def call(software: str | dict[str, str], task: str, commands: Any = (), examples: Any = (),
             checks: Any = ()) -> Verdict:
        texts = {"main.py": software} if isinstance(software, str) else software
        files = {path: text.encode() for path, text in texts.items()}
        (scratch := tmp_path / "scratch").mkdir(exist_ok=True)
        values = {"commands": list(commands), "examples": examples, "checks": checks}
        context = ToolContext(files, values, {"task": task}, find_sandbox(), tmp_path, scratch)
        verdict = registry()["software.use"].call(context, {})
        assert isinstance(verdict, Verdict)
        assert list(scratch.iterdir()) == []
        return verdict

    return call
