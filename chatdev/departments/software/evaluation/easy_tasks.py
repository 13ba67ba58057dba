"""The easy tasks (`srdd/easy/`): a task, its hidden checks as data, and how its example stands in the description."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field

from chatdev.config.yaml_nodes import StrictModel, read, validate_node
from chatdev.errors import ConfigError
from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.trial import Check, Program
from chatdev.tools.base import throwaway_copy
from chatdev.workspace.file_tree import explain_os_errors, read_tree
from chatdev.workspace.run_folder import slug

SETS = ("tuning", "sealed-1", "sealed-2")
"""The sets of easy tasks: one that may be read and tuned with, and two that are only measured with."""

WAYS = ("arguments", "stdin", "file", "state")
"""How a program is used: by arguments alone, by what is typed or piped into it, on a file of the user's, or several
times, with something kept in between."""

NO_EXAMPLE = "none"
_SHAPES = tuple((name, re.compile(pattern, re.MULTILINE)) for name, pattern in (
    ("session", r"^[ \t]*[$>%] ?python"), ("block of code", r"^```"), ("arrows", r"^.*\S +(?:=>|->|→) +\S"),
    ("table", r"^(?:\|.*\||\S.*\S {3,}\S.*)$"), ("list", r"^(?:[-*]|\d+[.)]) .*(?:python|:|`)"),
    ("indented", r"^ {4,}\S"), ("labels", r"^[A-Z][\w ,.()]*:(?:$| .)"), ("code marks", r"`[^`]*python [^`]*`")))
"""How an example stands in a description: the first of these that is there; else it is part of the text."""


class _Start(StrictModel):
    arguments: list[str | int] = Field(default=[])
    stdin: str | None = None
    prints: str | int | None = None
    writes: dict[str, str] = Field(default={})
    status: int | None = 0


class _Check(StrictModel):
    name: str = Field(min_length=1)
    files: dict[str, str] = Field(default={})
    starts: list[_Start] = Field(min_length=1)


class _File(StrictModel):
    """A file of `srdd/easy/SET/`."""

    name: str = Field(min_length=1)
    area: str
    category: str
    layout: str = Field(min_length=1)
    description: str = Field(min_length=1)
    checks: list[_Check] = Field(min_length=1)
    reference: str


@dataclass(frozen=True, slots=True)
class HiddenCheck:
    """Starts of the program in one fresh folder, one after another; the files that the user has lie there before."""

    name: str
    cases: Sequence[Case]

@dataclass(frozen=True, slots=True)
class EasyTask:
    """One easy task; `layout` is how its author calls the form of the example, and `reference` a right program."""

    name: str
    area: str
    category: str
    layout: str
    description: str
    checks: Sequence[HiddenCheck]
    reference: str

    @property
    def slug(self) -> str:
        """The name of its file."""
        return slug(self.name).lower()

    @property
    def task(self) -> Task:
        """What a study runs; its hidden test is named after the task."""
        return Task(self.name, self.area, self.category, self.description, self.slug)

    @property
    def way(self) -> str:
        """One of `WAYS`."""
        cases = [case for check in self.checks for case in check.cases]
        if any(len(check.cases) > 1 for check in self.checks):
            return "state"
        if any(case.files for case in cases):
            return "file"
        return "stdin" if any(case.stdin for case in cases) else "arguments"

    @property
    def shape(self) -> str:
        """How the example stands in the description, by its marks; `none` where there is none."""
        if self.layout == NO_EXAMPLE:
            return NO_EXAMPLE
        return next((name for name, pattern in _SHAPES if pattern.search(self.description)), "text")

    def accept(self, program: Program) -> Iterator[Check]:
        """The hidden test: each check on a fresh copy of the program."""
        files = read_tree(program.folder)
        for check in self.checks:
            with throwaway_copy(program.folder.parent, files) as folder:
                yield tried(replace(program, folder=folder), check.name, *check.cases)


def load_easy_tasks(folder: Path) -> list[EasyTask]:
    """The tasks in a folder, by the names of their files. Raises ConfigError."""
    found = [_read_task(file) for file in sorted(folder.glob("*.yaml"))]
    if not found:
        raise ConfigError(f"there are no easy tasks in {folder}; it holds one YAML file a task (srdd/easy/README.md)")
    return found


def _read_task(file: Path) -> EasyTask:
    found = validate_node(_File, read(file))
    task = EasyTask(found.name, found.area, found.category, found.layout, found.description.strip("\n"),
                    [_check_of(check) for check in found.checks], found.reference)
    if task.slug != file.stem:
        raise ConfigError(f"{file}: the task {task.name!r} belongs into {task.slug}.yaml; rename one of them")
    return task


def _check_of(check: _Check) -> HiddenCheck:
    """The files lie there before the first start."""
    files = [check.files, *({} for _ in check.starts[1:])]
    return HiddenCheck(check.name, [_case(start, there) for start, there in zip(check.starts, files, strict=True)])


def _case(start: _Start, files: dict[str, str]) -> Case:
    prints = None if start.prints is None else str(start.prints)
    return Case(list(map(str, start.arguments)), prints, start.status, files, start.stdin, start.writes)


def folder_digest(folder: Path) -> str:
    """The SHA-256 of the tasks in a folder: for each file, by name, its name and its content, a NUL after each."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.yaml")):
        with explain_os_errors("read", file):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()
