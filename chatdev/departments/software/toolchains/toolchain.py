"""One pipeline for software in every language: check it, build it, start it, use it."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.drivers.drive import Driven
from chatdev.departments.software.drivers.step import Step
from chatdev.departments.software.toolchains.own_tests import OwnTests
from chatdev.departments.software.toolchains.page import PageToolchain
from chatdev.departments.software.toolchains.python import PythonToolchain
from chatdev.departments.software.toolchains.table import TableToolchain
from chatdev.departments.software.toolchains.verdict import Finding, is_given
from chatdev.errors import ToolError, WorkspaceError
from chatdev.sandbox.base import SandboxJob
from chatdev.sandbox.job_folder import remove_folder
from chatdev.tools.base import ToolContext, throwaway_copy
from chatdev.workspace.file_tree import explain_os_errors, write_file
from chatdev.workspace.languages import has_python, language_of, languages, unsupported_languages


class Toolchain(Protocol):
    """How one software is checked, built and started, after the language that it is in. A `Finding` is what a rule of
    `rules.yaml` has to say of it."""

    @property
    def typed_command(self) -> str | None:
        """What a person types to start it, as a pattern, up to the arguments; None where nobody types a command."""

    @property
    def windows(self) -> bool:
        """Whether it opens windows, so that nobody types anything."""

    def check(self) -> Finding | None:
        """What stands in the way, as far as that is known before anything of it runs."""

    def build(self, folder: Path) -> Finding | None:
        """Make it ready in `folder`, a copy of it that passed `check`; what stands in the way."""

    def start(self, folder: Path, start: Start, *, ends: bool = False) -> Finding:
        """How a start in `folder`, where it is built, went: nobody looks, and only its text is typed. With `ends` the
        input is over after that; otherwise whoever types may type more."""

    def drive(self, folder: Path, steps: Sequence[Step]) -> Driven | None:
        """How it went when somebody did these steps in `folder`, where it is built: in its window, on its page, or with
        requests to what it serves; without steps, how it looks. None where nobody can use it so."""

    def own_tests(self, folder: Path) -> OwnTests | None:
        """How the tests that it brings go in `folder`, where it is built; None where there are none."""

    def play(self, folder: Path, source: Path) -> SandboxJob:
        """The job that starts it for a person, built in `folder`, a copy of `source`. Raises ToolError, with the
        reason, when it cannot be started."""


def toolchain_of(context: ToolContext) -> Toolchain:
    """The toolchain for the software of `context`: that of Python where there is any, else that of its language."""
    if language := language_of(context.software):
        return (PageToolchain if language.page else TableToolchain)(context, language)
    return PythonToolchain(context) if has_python(context.software) else NoToolchain(context)


class NoToolchain:
    """Implements `Toolchain` for software that nothing here can start."""

    typed_command: str | None = None
    windows = False

    def __init__(self, context: ToolContext) -> None:
        self._files = context.software
        self._rule = "library" if is_given(context) else "nothing_to_run"

    def check(self) -> Finding:
        """Its language, where that is known, or that there is nothing."""
        if names := unsupported_languages(self._files):
            runnable = ["Python", *(language.name for language in languages())]
            return Finding("unsupported_language", {"names": names, "runnable": runnable})
        return Finding(self._rule, {"candidates": (), "files": len(self._files), "imported": ()})

    def build(self, folder: Path) -> Finding:
        """As `check`."""
        return self.check()

    def start(self, folder: Path, start: Start, *, ends: bool = False) -> Finding:
        """As `check`."""
        return self.check()

    def drive(self, folder: Path, steps: Sequence[Step]) -> None:
        """None."""

    def own_tests(self, folder: Path) -> None:
        """None."""

    def play(self, folder: Path, source: Path) -> SandboxJob:
        """Raises ToolError."""
        raise ToolError(f"{source} holds no Python program to start")


@dataclass(frozen=True, slots=True)
class BuiltSoftware:
    """Software that was built once, to be copied for every trial of it."""

    folder: Path
    scratch: Path

    @contextlib.contextmanager
    def copy(self, files: Mapping[str, str]) -> Iterator[Path]:
        """A fresh copy with these files beside the software's, which is gone afterwards."""
        with explain_os_errors("make a throwaway copy in", self.scratch):
            folder = Path(tempfile.mkdtemp(dir=self.scratch))
        try:
            with explain_os_errors("make a throwaway copy in", self.scratch):
                shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True)
            for name, text in files.items():
                with contextlib.suppress(WorkspaceError):  # the software has a folder where its user's file belongs
                    write_file(folder, name, text.encode("utf-8", "replace"))
            yield folder
        finally:
            remove_folder(folder)


@contextlib.contextmanager
def build_and_start(toolchain: Toolchain, context: ToolContext) -> Iterator[tuple[Finding, BuiltSoftware | None]]:
    """The first finding of check, build and start, and the software as it was built, None where it was not. What starts
    is a copy of that, so that it can be tried further as if nobody had used it."""
    if finding := toolchain.check():
        yield finding, None
        return
    with throwaway_copy(context.scratch, context.software) as folder:
        if finding := toolchain.build(folder):
            yield finding, None
            return
        built = BuiltSoftware(folder, context.scratch)
        with built.copy({}) as copy:
            finding = toolchain.start(copy, Start())
        yield finding, built


def judge(toolchain: Toolchain, context: ToolContext) -> Finding:
    """The first finding of check, build and start."""
    with build_and_start(toolchain, context) as (finding, _):
        return finding
