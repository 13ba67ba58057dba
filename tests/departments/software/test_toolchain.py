"""Which toolchain software gets, and what the pipeline does with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.drivers.step import Step
from chatdev.departments.software.toolchains.project import Project
from chatdev.departments.software.toolchains.python import PythonToolchain
from chatdev.departments.software.toolchains.toolchain import (
    NoToolchain,
    PageToolchain,
    TableToolchain,
    build_and_start,
    judge,
    toolchain_of,
)
from chatdev.departments.software.toolchains.verdict import Finding
from chatdev.errors import ToolError
from chatdev.sandbox.base import SandboxJob
from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import ToolContext
from chatdev.workspace.file_tree import EntryPoint
from chatdev.workspace.languages import languages


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return ToolContext({"kept.txt": b"as it was"}, {}, {}, Unconfined(), tmp_path / "run", tmp_path)


class Staged:
    """A toolchain whose findings are given; `starts` were asked for, `seen` what each found in the folder."""

    typed_command: str | None = "app"
    windows = False

    def __init__(self, check: Finding | None = None, build: Finding | None = None) -> None:
        self._check, self._build = check, build
        self.builds = 0
        self.starts: list[Start] = []
        self.seen: list[set[str]] = []

    def check(self) -> Finding | None:
        return self._check

    def build(self, folder: Path) -> Finding | None:
        self.builds += 1
        (folder / "built").touch()
        return self._build

    def start(self, folder: Path, start: Start, *, ends: bool = False) -> Finding:
        self.seen.append({path.name for path in folder.iterdir()})
        (folder / f"made-{len(self.starts)}").touch()
        self.starts.append(start)
        return Finding("started")

    def drive(self, folder: Path, steps: Sequence[Step]) -> None:
        """None."""

    def own_tests(self, folder: Path) -> None:
        """None."""

    def play(self, folder: Path, source: Path) -> SandboxJob:
        raise NotImplementedError


@pytest.mark.parametrize(("files", "kind"), [
    ({"main.py": b"", "index.html": b"", "main.go": b""}, PythonToolchain),
    ({"index.html": b"", "app.js": b""}, PageToolchain),
    ({"index.html": b"", "app.js": b"", "package.json": b"{}"}, TableToolchain),
    ({"main.c": b""}, TableToolchain),
    ({"test_main.c": b""}, NoToolchain),
    ({"main.rs": b""}, NoToolchain),
    ({}, NoToolchain),
])
def test_each_family_of_languages_has_its_toolchain(files: dict[str, bytes], kind: type, tmp_path: Path) -> None:
    assert type(toolchain_of(ToolContext(files, {}, {}, Unconfined(), tmp_path, tmp_path))) is kind


@pytest.mark.parametrize(("files", "rule"), [({"main.rs": b""}, "unsupported_language"), ({}, "nothing_to_run")])
def test_what_nothing_can_start_is_found_at_every_stage(files: dict[str, bytes], rule: str, tmp_path: Path) -> None:
    toolchain = NoToolchain(ToolContext(files, {}, {}, Unconfined(), tmp_path, tmp_path))
    stages = (toolchain.check(), toolchain.build(tmp_path), toolchain.start(tmp_path, Start()))
    assert {finding.rule for finding in stages} == {rule}
    with pytest.raises(ToolError, match="holds no Python program to start"):
        toolchain.play(tmp_path, tmp_path)


@pytest.mark.parametrize("typed", ["no end of line", "a\fb\n", "x" * 70_000])
def test_input_that_ends_is_given_whole(typed: str, tmp_path: Path) -> None:
    language = next(language for language in languages() if language.name == "C")
    project = Project(language, {"main.c": b"int main(void) {}"}, EntryPoint("main.c"), {})
    assert project.job_of(tmp_path, 1, Start((), typed), ends=True).stdin == typed


@pytest.mark.parametrize(("toolchain", "rule", "starts"), [
    (Staged(check=Finding("does_not_compile")), "does_not_compile", 0),
    (Staged(build=Finding("missing_module")), "missing_module", 0),
    (Staged(), "started", 1),
])
def test_the_first_stage_that_finds_something_decides(toolchain: Staged, rule: str, starts: int,
                                                      context: ToolContext) -> None:
    assert judge(toolchain, context).rule == rule
    assert len(toolchain.starts) == starts
    assert list(context.scratch.iterdir()) == []


def test_what_is_built_once_is_tried_in_fresh_copies(context: ToolContext) -> None:
    toolchain, typed = Staged(), [Start(("add", "milk")), Start(("list",)), Start(("add", "milk"))]
    with build_and_start(toolchain, context) as (finding, built):
        assert finding.rule == "started"
        assert built
        for starts in (typed[:2], typed[2:]):
            with built.copy({}) as folder:
                assert [toolchain.start(folder, start).rule for start in starts] == ["started"] * len(starts)
    assert toolchain.starts == [Start(), *typed]
    assert toolchain.builds == 1
    fresh = {"kept.txt", "built"}
    assert toolchain.seen == [fresh, fresh, {*fresh, "made-1"}, fresh]
    assert list(context.scratch.iterdir()) == []
