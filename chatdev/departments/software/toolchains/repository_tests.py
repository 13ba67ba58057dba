"""The tests of a repository, found by its build files and run as its authors run them, in every language of it."""

from __future__ import annotations

import functools
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict

from chatdev.departments.software.toolchains.own_tests import TEST_SECONDS, OwnTests, judge_tests
from chatdev.departments.software.toolchains.python import PythonToolchain
from chatdev.errors import SandboxError
from chatdev.paths import bundled_table
from chatdev.sandbox.base import ProcessLimits, SandboxJob
from chatdev.tools.base import ToolContext, throwaway_copy
from chatdev.workspace.languages import captures, has_python
from chatdev.workspace.snapshot import is_test

_TABLE = Path(__file__).parents[1] / "data" / "test_runs.yaml"
_MOST_MODULES = 1500  # Python files that are all read for the packages that they import
_PYTHON = "Python"
_ADDRESS_SPACE = 8 << 30  # bytes; some runtimes reserve much
_PROCESSES, _OPEN_FILES, _DISK = 512, 1024, 2 << 30
_TELLS = re.compile(r"^requirements/[\w.-]+\.(?:txt|in)$|(?:^|/)(?:__init__\.py|setup\.(?:py|cfg)|pyproject\.toml|"
                    r"requirements[\w.-]*\.(?:txt|in)|manage\.py)$")


class TestWay(BaseModel):
    """One row of `test_runs.yaml`, where the fields are explained."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    __test__ = False

    files: str
    holds: str
    needs: tuple[str, ...]
    run: tuple[str, ...]
    failed: str = ""
    inside: bool = True
    env: Mapping[str, str] = {}
    instead: tuple[str, ...] = ()
    builds: bool = False

    def command(self, files: Mapping[str, bytes]) -> tuple[str, list[str]] | None:
        """The folder and the words of its command; None where it is not for these files."""
        paths = (path for path in files if re.search(self.files, path))
        for path in sorted(paths, key=lambda path: (path.count("/"), path)):
            if found := re.search(self.holds, files[path].decode("utf-8", "replace"), re.MULTILINE):
                words = [word.replace("{1}", found[1] if found.re.groups else "") for word in self.run]
                return str(PurePosixPath(path).parent) if self.inside else ".", words
        return None


def run_repository_tests(context: ToolContext, files: Mapping[str, bytes]) -> dict[str, OwnTests]:
    """How the tests of a repository with these files go, by the way of running them, each in a fresh copy; none where
    there are none. One that changes files changes its copy only."""
    found: dict[str, OwnTests] = {}
    if has_python(files) and (tests := _run_python(context, files)):
        found[_PYTHON] = tests
    left_out: set[str] = set()
    for name, way in _ways().items():
        if name not in left_out and (command := way.command(files)):
            left_out |= {*way.instead}
            found[name] = _run(context, files, way, *command)
    return found


@functools.cache
def _ways() -> Mapping[str, TestWay]:
    table = bundled_table(_TABLE)
    return {name: TestWay.model_validate(row) for name, row in table["runs"].items()}


def _run_python(context: ToolContext, files: Mapping[str, bytes]) -> OwnTests | None:
    """The tests in Python. Of very many files only those are read that say which packages are needed."""
    modules = [path for path in files if path.endswith(".py")]
    read = files if len(modules) <= _MOST_MODULES else {
        path: data for path, data in files.items() if is_test(path) or _TELLS.search(path)}
    toolchain = PythonToolchain(replace(context, software=read))
    with throwaway_copy(context.scratch, files) as folder:
        _restore_programs(folder, files)
        return toolchain.own_tests(folder)


def _run(context: ToolContext, files: Mapping[str, bytes], way: TestWay, below: str, words: list[str]) -> OwnTests:
    shown = shlex.join(words) if words[:2] != ["sh", "-c"] else words[2]
    programs = {name: shutil.which(name, path="/usr/local/bin:/usr/bin:/bin") for name in way.needs}
    if missing := [name for name, path in programs.items() if not path]:
        return OwnTests(shown, None, said=f"{' and '.join(missing)} is not here", builds=way.builds)
    limits = ProcessLimits(seconds=TEST_SECONDS, address_space=_ADDRESS_SPACE, processes=_PROCESSES,
                           open_files=_OPEN_FILES, disk=_DISK)
    with throwaway_copy(context.scratch, files) as folder:
        _restore_programs(folder, files)
        argv = ["/bin/sh", "-c", f"cd {shlex.quote(below)} && {shlex.join(words)}"]
        try:
            execution = context.sandbox.run(SandboxJob(argv, folder, limits, env=way.env))
        except SandboxError as error:
            return OwnTests(shown, None, said=str(error), builds=way.builds)
    said = f"{execution.stdout}\n{execution.stderr}"
    return judge_tests(shown, execution, [*captures(way.failed, said)] if way.failed else (), builds=way.builds)


def _restore_programs(folder: Path, files: Mapping[str, bytes]) -> None:
    """Let scripts be started by their names, as they are in the repository."""
    for path, data in files.items():
        if data.startswith(b"#!"):
            (folder / path).chmod(0o755)
