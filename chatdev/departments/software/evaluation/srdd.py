"""The data sets of `chatdev eval srdd`: software requirements (ours, or files in their form or that of the published
ones), and the easy tasks, which even a small model solves in part, with their checks and the drafts of a run."""

from __future__ import annotations

import functools
import hashlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from chatdev.config.yaml_nodes import StrictModel, read, validate_node
from chatdev.departments.software.evaluation.quality import code_text, measure
from chatdev.errors import ConfigError
from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.measure import Bench, FinishedRun, Row
from chatdev.evaluation.tasks import Task, load_tasks
from chatdev.evaluation.trial import (
    Accept,
    Check,
    Program,
    count_refusals,
    find_hidden_test,
    load_hidden_test,
    run_hidden_test,
)
from chatdev.events import Place
from chatdev.paths import bundled_folder
from chatdev.replies import Unreadable, parse_files, read_marker
from chatdev.runner.recorded import RecordedRun
from chatdev.tools.base import throwaway_copy
from chatdev.workspace.file_tree import explain_os_errors, read_tree, write_tree
from chatdev.workspace.run_folder import slug


@dataclass(frozen=True, slots=True)
class EasyTier:
    """The easy tasks in `path`."""

    path: Path
    name: str

    @classmethod
    def bundled(cls, name: str) -> EasyTier:
        """One of our own sets (`SETS`)."""
        return cls(bundled_folder("srdd") / "easy" / name, f"srdd-easy-{name}")

    def tasks(self) -> Sequence[Task]:
        """All tasks. Raises ConfigError."""
        return [task.task for task in self._easy_tasks().values()]

    def inputs(self, task: Task) -> Mapping[str, bytes]:
        """None: the description is all."""
        return {}

    def verdict(self, task: Task, folder: Path, bench: Bench) -> Row:
        """What `measure` says, how many checks the first draft passes (`first_draft_passed`), and by what the results
        are divided: `way` and `layout`."""
        easy = self.task(task.name)
        return {**measure(folder, task, bench, easy.accept), "way": easy.way, "layout": easy.shape,
                "first_draft_passed": count_passed_checks(FinishedRun.read(folder), easy.accept, bench)}

    def task(self, name: str) -> EasyTask:
        """The task of that name, with its checks. Raises ConfigError."""
        if name not in (found := self._easy_tasks()):
            raise ConfigError(f"{self.path} has no task {name!r}")
        return found[name]

    def check(self, tasks: Sequence[Task]) -> None:
        """Raise what would keep runs from being measured, before anything is paid: ConfigError for a task that cannot
        be read, MissingProgram without the extra `eval`."""
        code_text({"main.py": b""})
        for task in tasks:
            self.task(task.name)

    def _easy_tasks(self) -> Mapping[str, EasyTask]:
        return _load(self.path)


@functools.cache
def _load(path: Path) -> Mapping[str, EasyTask]:
    return {task.name: task for task in load_easy_tasks(path)}


# A task (`srdd/easy/`): its hidden checks as data, and how its example stands in the description.

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


# The drafts of a run, from its journal: what it would have delivered had it ended with one of them.


def first_draft(records: Iterable[Mapping[str, Any]]) -> dict[str, bytes] | None:
    """The software of the assistant's first reply in the phase that delivered first; empty where that reply could not
    be read, None where nothing was delivered."""
    records = list(records)
    if (phase := _delivering_phase(records)) is None:
        return None
    replies = (entry["result"]["text"] for entry in _replies(records)
               if Place(entry["place"]).nearest_step == phase and str(entry["place"]).endswith("/assistant"))
    return _read(next(replies, ""))


def drafts(records: Iterable[Mapping[str, Any]]) -> list[dict[str, bytes]]:
    """The software of all drafts that can be read: of the first delivery, and of all phases that draw several."""
    records = list(records)
    phases = {_delivering_phase(records), *(Place(entry["place"]).nearest_step for entry in records
                                            if entry["kind"] == "DraftJudged")}
    found = [_read(entry["result"]["text"]) for entry in _replies(records)
             if Place(entry["place"]).nearest_step in phases and Place(entry["place"]).speaker == "assistant"]
    return [software for number, software in enumerate(found) if software and software not in found[:number]]


def _delivering_phase(records: Sequence[Mapping[str, Any]]) -> Place | None:
    """The phase of the first delivery."""
    return next((Place(entry["place"]).nearest_step for entry in records if _writes_files(entry)), None)


def _replies(records: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return (entry for entry in records if entry["kind"] == "Activity" and "text" in entry["result"])


def _read(reply: str) -> dict[str, bytes]:
    """The files of a reply; none where it cannot be read."""
    try:
        return parse_files(read_marker(reply).body, {}).software
    except Unreadable:
        return {}


def _writes_files(entry: Mapping[str, Any]) -> bool:
    """Whether a record tells of a delivery of files, and not of a name of long-term memory: examples, commands."""
    return entry["kind"] == "DeliveryApplied" and not all(map(str.isidentifier, entry["written"]))


def count_passed_checks(run: FinishedRun, accept: Accept, bench: Bench) -> int | None:
    """How many hidden checks the first draft of a run passes; None where nothing was delivered."""
    software = first_draft(RecordedRun.read(run.folder).records)
    return None if software is None else sum(check.passed for check in try_draft(software, accept, bench, run.folder))


def try_draft(software: Mapping[str, bytes], accept: Accept, bench: Bench, run_folder: Path) -> list[Check]:
    """The hidden checks of a draft, as they count; it finds the modules of its run."""
    with tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as folder:
        write_tree(Path(folder), software)
        checks = run_hidden_test(accept, Path(folder), bench.sandbox, bench.supply, run_folder / "run")
    return count_refusals(checks)


# The data set of software requirements: ours, or files in its form or that of the published one.

_EASY = re.compile(r"easy:([a-z0-9-]+)")


@dataclass(frozen=True, slots=True)
class Srdd:
    """Tasks in `path` (None: our own), with their hidden tests in the folder `acceptance` in it or beside it."""

    path: Path | None = None
    name: str = "srdd"

    def tasks(self) -> Sequence[Task]:
        """All tasks. Raises ConfigError."""
        return load_tasks(self.path)

    def inputs(self, task: Task) -> Mapping[str, bytes]:
        """None: the description is all."""
        return {}

    def verdict(self, task: Task, folder: Path, bench: Bench) -> Row:
        """Quality, acceptance and statistics (`measure`)."""
        script = self.hidden_test(task)
        return measure(folder, task, bench, load_hidden_test(script) if script else None)

    def hidden_test(self, task: Task) -> Path | None:
        """The hidden test of a task, if it has one. Raises ConfigError when that is not there."""
        return find_hidden_test(task, self.path or bundled_folder("srdd"))

    def check(self, tasks: Sequence[Task]) -> None:
        """Look for what would keep runs of these tasks from being measured, before anything is paid. Raises ConfigError
        for a hidden test that is not there or cannot be loaded, MissingProgram without the extra `eval`."""
        code_text({"main.py": b""})
        for script in filter(None, map(self.hidden_test, tasks)):
            load_hidden_test(script)


def open_tasks(name: str) -> Srdd | EasyTier | None:
    """The data set that `srdd`, `easy:SET` or the path of tasks of one's own names; None where it names nothing."""
    if easy := _EASY.fullmatch(name):
        return EasyTier.bundled(easy[1])
    if name == "srdd":
        return Srdd()
    path = Path(name)
    return Srdd(path.absolute(), path.stem) if name and path.exists() else None
