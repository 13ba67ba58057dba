"""Public library: load a company and run it, resume a run, replay one; and what a run leaves for others: its software,
packed, and its change of software that was handed in, put into the user's folder."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import zipfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

from chatdev.config.check_company import check_company
from chatdev.config.load import build_company, find_company, load_company
from chatdev.config.schema import CompanyConfig
from chatdev.config.yaml_nodes import dump
from chatdev.department import installed_companies
from chatdev.engine.budget import count_noun
from chatdev.errors import ConfigError
from chatdev.events import Event
from chatdev.paths import read_plain
from chatdev.runner.consent import CompanyWord
from chatdev.runner.execute import execute
from chatdev.runner.options import Options, ResumeChoices, RunOptions, run_options
from chatdev.runner.people import people_sets
from chatdev.runner.plan import RunPlan, learn_tools, plan_follow_up, plan_fork, plan_replay, plan_resume, plan_run
from chatdev.runner.recorded import Order, RecordedRun
from chatdev.runner.report import Run, company_html
from chatdev.runner.resources import Resources, open_resources
from chatdev.runner.toolbox import KnownTools, add_servers, make_tools
from chatdev.tools.base import Tool
from chatdev.workspace.change import Changeset, apply_change, branch_change
from chatdev.workspace.file_tree import (
    Software,
    explain_os_errors,
    read_tree,
    require_folder,
    require_plain_tree,
    write_tree,
)
from chatdev.workspace.run_folder import RunFolder

ToolFunction = Tool | Callable[..., Any]
"""A function with a docstring, `def short(ctx: ToolContext, *, lines: int = 3) -> Verdict`, or what `@tool` made of
one."""


@dataclass(frozen=True, repr=False)
class Company:
    """A company, checked and ready to work.

        run = Company.load("chatdev").run("a command-line to-do list")
        print(run.success, run.software_folder)
    """

    config: CompanyConfig
    warnings: Sequence[str] = field(default=())
    source: Mapping[str, Any] = field(default_factory=dict)
    """The arguments of `load`, by which a resumed run finds its company again."""
    tools: Sequence[Tool] = ()
    """Those that were given to `load`."""

    @classmethod
    def load(cls, name_or_path: str | Path | Mapping[str, Any] = "chatdev", *, sets: Sequence[str] = (),
             without: Sequence[str] = (), without_roles: bool = False, drafts: int | None = None,
             tools: Sequence[ToolFunction] = ()) -> Company:
        """Load and check a company by name or path, or one that is a mapping, as its YAML would be. `sets` are
        `path.to.field=value` changes, `without` names phases to leave out, `drafts` is their number in every phase that
        draws several. `tools` are functions that the company names beside the installed tools: `short` is `mine.short`.
        Raises ConfigError with all that is wrong."""
        sets = [*sets, "with_roles=false"] if without_roles else [*sets]
        own = make_tools(tools)
        known = KnownTools(own)
        if isinstance(name_or_path, Mapping):
            return cls._build(name_or_path, known, sets=sets, without=without, drafts=drafts)
        config = load_company(name_or_path, sets=sets, without=without, drafts=drafts, tools=known)
        file = find_company(name_or_path).resolve()
        installed = installed_companies().get(file.parent.name)
        everywhere = installed is not None and installed.resolve() == file.parent  # so that its name is enough
        source = {"name_or_path": file.parent.name if everywhere else str(file), "sets": sets, "without": [*without],
                  **({} if drafts is None else {"drafts": drafts})}
        return cls(config, _warnings(config, known), source, own)

    @classmethod
    def from_yaml(cls, text: str, *, tools: Sequence[ToolFunction] = ()) -> Company:
        """Check the company of a YAML text, which counts as the caller's own word, whoever wrote it. Raises ConfigError
        with all that is wrong."""
        return cls._build(text, KnownTools(make_tools(tools)))

    @classmethod
    def _build(cls, source: str | Mapping[str, Any], known: KnownTools, **changes: Any) -> Company:
        config = build_company(source, tools=known, **changes)
        return cls(config, _warnings(config, known), {}, list(known.given.values()))

    def __post_init__(self) -> None:
        if not isinstance(self.config, CompanyConfig):
            raise ConfigError(f"Company takes a CompanyConfig, not {type(self.config).__name__}; write "
                              "Company.load({…}) for a mapping, Company.from_yaml(text) for a text, Company.load(path) "
                              "for a file")

    def __repr__(self) -> str:
        return (f"<Company {self.config.company}: {count_noun(len(self.config.roles), 'role')}, "
                f"{count_noun(len(self.config.phases), 'phase')}>")

    def _repr_html_(self) -> str:
        return company_html(self.config, self.warnings)

    def with_servers(self, servers: Sequence[str], variables: Sequence[str] = ()) -> Company:
        """The company, loaded again with servers of tools (MCP) that the caller names, which need no consent:
        `NAME=COMMAND`, `NAME=http://ADDRESS`, or `NAME:tool,tool=…`; without names of tools the server is started and
        asked. `variables`, `NAME=VARIABLE`, are those of the caller's that a server gets. Raises ConfigError, and
        ToolError where a server cannot be asked."""
        if not (servers or variables):
            return self
        if not self.source:
            raise ConfigError("a company that was built in Python has its servers in its own `mcp` field")
        sets = [*self.source["sets"], *add_servers(self.config, servers, variables)]
        return Company.load(**{**self.source, "sets": sets}, tools=self.tools)

    def with_people(self, human: Sequence[str], approve: Sequence[str] = ()) -> Company:
        """The company, loaded again with people who play the roles `human` and approve of what `approve` names (see
        `RunOptions`). Raises ConfigError with the nearest name."""
        if not (human or approve):
            return self
        if not self.source:
            raise ConfigError("a company that was built in Python has its people in its fields: `model: human` of a "
                              "role, `approve: before` of a phase, a solution or a step with a tool")
        whole = load_company(**{**self.source, "without": ()}, tools=KnownTools(self.tools))
        sets = [*self.source["sets"], *people_sets(whole, human, approve)]
        return Company.load(**{**self.source, "sets": sets}, tools=self.tools)

    @property
    def word(self) -> CompanyWord:
        """The company and its origin; a company built in Python counts as the caller's own."""
        return CompanyWord(self.config, self.source, KnownTools(self.tools), sets_are_users=True, own=not self.source)

    @cached_property
    def resolved(self) -> str:
        """The company as one YAML text, as every run keeps it."""
        return dump(self.config)

    def run(self, task: str = "", **options: Unpack[Options]) -> Run:
        """Run the company on `task` (options: `RunOptions`).

        Raises ConfigError, MissingModel and the like before anything is made; afterwards every failure is in the
        returned run. Ctrl-C ends the run with status `interrupted`. Where an event loop is running already (in a
        notebook), the run has a thread and a loop of its own.
        """
        return self._session(task, options).run()

    async def arun(self, task: str = "", **options: Unpack[Options]) -> Run:
        """`run` on the caller's event loop; cancelling it ends the run cleanly and raises CancelledError."""
        return await self._session(task, options).arun()

    def events(self, task: str = "", **options: Unpack[Options]) -> AsyncIterator[Event]:
        """Run the company and yield its events as they happen; the last one is `RunFinished`."""
        return self._session(task, options).events()

    def _session(self, task: str, options: Options) -> RunSession:
        given = run_options(options)
        company = self.with_people(given.human, given.approve)
        return RunSession(given, lambda resources: plan_run(company, task, resources), self.tools)


def _warnings(config: CompanyConfig, known: KnownTools) -> list[str]:
    return [finding.text for finding in check_company(config, known) if finding.warning]


def run(task: str, company: str | Path | Mapping[str, Any] = "chatdev", **options: Unpack[Options]) -> Run:
    """Run a company, as `Company.load` takes it, on a task (options: `RunOptions`). Raises what `Company.load` and
    `Company.run` raise."""
    return Company.load(company).run(task, **options)


async def arun(task: str, company: str | Path | Mapping[str, Any] = "chatdev", **options: Unpack[Options]) -> Run:
    """`run` on the caller's event loop."""
    return await Company.load(company).arun(task, **options)


class ChoiceOptions(Options, total=False):
    """The keyword arguments about a run that is there already: the fields of `ResumeChoices`, and those of a run."""

    from_here: bool
    as_it_was: bool
    company: str | Path | None
    keep_budget: bool


class ResumeOptions(ChoiceOptions, total=False):
    """The keyword arguments of `resume`: those of a run, and what is to become of an earlier one."""

    task: str | None
    since: str | None
    tools: Sequence[ToolFunction]


def resume(folder: str | Path, **options: Unpack[ResumeOptions]) -> Run:
    """Go on with the run in `folder` (options: `RunOptions`; unset ones as they were).

    Without more, it goes on where it stopped. `since` is an activity: a copy of the run goes on live from there. `task`
    is a further request to a finished run: a new run goes on with its software and its long-term memory. `from_here`
    and `as_it_was` say what to do when the company has changed; without them it is refused. A company that does not
    come with chatdev is taken as it was, or as it is now at `company`: a path on record is not followed. Of `inputs`
    only places may be given anew. A model and tools that were given to the run as objects must be given again. Budgets
    that are not given anew hold as before, with what was spent; `keep_budget=False` lifts them.

    Raises ConfigError, JournalError, RunChanged and the like with nothing changed.
    """
    return resume_session(folder, **options).run()


async def aresume(folder: str | Path, **options: Unpack[ResumeOptions]) -> Run:
    """`resume` on the caller's event loop."""
    return await resume_session(folder, **options).arun()


def _refuse_misplaced(options: ChoiceOptions, *, is_new: bool) -> None:
    """Raise ConfigError for options that belong to a new run, or to the beginning of one."""
    if not is_new and (options.get("name") or options.get("warehouse")):
        raise ConfigError("a run is resumed in its own folder; --name and --warehouse are only for a new run, with "
                          "--task or --from")
    if options.get("human") or options.get("approve"):
        raise ConfigError("who plays a role and what is approved is said when a run begins; start a new one")


def resume_session(folder: str | Path, *, task: str | None = None, since: str | None = None,
                   tools: Sequence[ToolFunction] = (), **options: Unpack[ChoiceOptions]) -> RunSession:
    """The session that `resume` runs; `events` of it yields what happens. Raises ConfigError."""
    if task is not None and since is not None:
        raise ConfigError("--task starts from the end of the run, --from from an activity; give only one of them")
    _refuse_misplaced(options, is_new=task is not None or since is not None)
    path, choices, rest = Path(folder), *_split_choices(options)

    def plan(resources: Resources) -> RunPlan:
        if task is not None:
            return plan_follow_up(path, task, choices, resources)
        if since is not None:
            return plan_fork(path, since, choices, resources)
        return plan_resume(path, choices, resources)

    return RunSession(run_options(rest), plan, make_tools(tools))


def _split_choices(options: ChoiceOptions) -> tuple[ResumeChoices, dict[str, Any]]:
    """The choices about an earlier run, and the options of this one."""
    names = {one.name for one in fields(ResumeChoices)} & options.keys()
    choices = ResumeChoices(**{name: value for name, value in options.items() if name in names})  # type: ignore[arg-type]
    return choices, {name: value for name, value in options.items() if name not in names}


def replay(path: str | Path, *, speed: float | None = None, tools: Sequence[ToolFunction] = (),
           **options: Unpack[Options]) -> Run:
    """Play the run of a folder or of a journal again: no model is asked and no program runs. `speed` times as fast as
    it was, or at once. What it makes is kept only when a `warehouse` is given. Raises JournalError."""
    return _replay_session(path, speed, tools, options).run()


async def areplay(path: str | Path, *, speed: float | None = None, tools: Sequence[ToolFunction] = (),
                  **options: Unpack[Options]) -> Run:
    """`replay` on the caller's event loop."""
    return await _replay_session(path, speed, tools, options).arun()


def _replay_session(path: str | Path, speed: float | None, tools: Sequence[ToolFunction],
                    options: Options) -> RunSession:
    own = make_tools(tools)
    return RunSession(run_options(options), lambda resources: plan_replay(Path(path), speed, resources), own)


@dataclass(slots=True)
class RunSession:
    """A run that is to be: `plan` makes its plan of the session's resources, `tools` are those beside the installed
    ones."""

    options: RunOptions
    plan: Callable[[Resources], RunPlan]
    tools: Sequence[Tool] = ()
    _resources: Resources | None = None

    def run(self) -> Run:
        """Run to the end, also where an event loop is running already. Ctrl-C ends the run with status `interrupted`.
        Raises what `plan` raises."""
        try:
            return _run_to_end(self.arun())
        except (KeyboardInterrupt, asyncio.CancelledError):
            if self._resources is None or self._resources.run is None:
                raise
            return self._resources.run

    async def arun(self) -> Run:
        """`run` for callers with an event loop; cancelling it ends the run cleanly and raises CancelledError."""
        async with open_resources(self.options, self.tools) as resources:
            self._resources = resources
            return await execute(await learn_tools(self.plan(resources)), resources)

    async def events(self) -> AsyncIterator[Event]:
        """Run, and yield the events as they happen; the last one is `RunFinished`."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        listener = self.options.on_event

        def forward(event: Event) -> None:
            queue.put_nowait(event)
            if listener:
                listener(event)

        self.options = replace(self.options, on_event=forward)
        running = asyncio.create_task(self.arun())
        running.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await running
        finally:
            running.cancel()


def _run_to_end(work: Coroutine[Any, Any, Run]) -> Run:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _run_in_a_thread(work)


def _run_in_a_thread(work: Coroutine[Any, Any, Run]) -> Run:
    """Run it with an event loop of its own, because this thread's is running; Ctrl-C here cancels it there."""
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Run] | None]] = Future()

    async def announced() -> Run:
        begun.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(1, "chatdev-run") as pool:
        ended = pool.submit(copy_context().run, asyncio.run, announced())
        try:
            return ended.result()
        except KeyboardInterrupt:
            loop, task = begun.result()
            if task is not None and not ended.done():
                loop.call_soon_threadsafe(task.cancel)
            raise  # when the thread has ended


# What a run leaves for others: its software, packed, and its change of software that was handed in, put into the
# user's folder.

_LARGEST_FILE = 10 << 20  # bytes


@dataclass(frozen=True, slots=True)
class Applied:
    """Where a change went, which files it wrote or removed, and the commit, if it is on a branch."""

    place: Path
    paths: tuple[str, ...]
    commit: str = ""


def change_of(folder: Path) -> Changeset:
    """Changes by the run in `folder` to the software handed in. Raises ConfigError for a run without such software."""
    return _read(folder)[1]


def apply_run(folder: Path, to: Path | None = None, branch: str | None = None) -> Applied:
    """Put the change of the run in `folder` into `to`, by default the folder that was handed in; on a new `branch`
    without changing any file there. Raises ConfigError and WorkspaceError with nothing changed."""
    order, change = _read(folder)
    target = to or _origin(order, folder)
    if not target.is_dir():
        raise ConfigError(f"there is no folder {target}; say where the change goes: --to FOLDER")
    if not change.paths:
        raise ConfigError(f"the run in {folder} changed nothing")
    if branch is None:
        return Applied(target, tuple(apply_change(change, target)))
    asked = order.origin.get("request") or order.inputs.get("task") or "Change"
    subject = str(asked).strip().splitlines()[0][:72]
    message = f"{subject}\n\nBy chatdev, in {folder.name}"
    place, commit = branch_change(change, target, branch, message)
    return Applied(place, tuple(change.paths), commit)


def _read(folder: Path) -> tuple[Order, Changeset]:
    run = RunFolder.open(folder)
    order = RecordedRun.read(run.path).order
    if not order.software:
        raise ConfigError(f"the run in {folder} was given no software, so it changed nothing that was there; what it "
                          f"made is in {run.software}")
    return order, Changeset(order.software, Software.load(run.software))


def _origin(order: Order, folder: Path) -> Path:
    """The folder that was handed in. A record is no proof: something there must be as it was handed in."""
    if not order.origin.get("folder"):
        raise ConfigError(f"the record of {folder} does not say where its software came from; say where the change "
                          "goes: --to FOLDER")
    target, before = Path(order.origin["folder"]), order.origin.get("follows", "")
    if not any(_is_there(target / path, data) for path, data in order.software.items()):
        first = f" (apply {shlex.quote(before)} first, which it follows)" if before else ""
        raise ConfigError(f"nothing in {target} is as it was handed in to the run{first}; if the change belongs there, "
                          f"say so: --to {shlex.quote(str(target))}")
    return target


def _is_there(file: Path, data: bytes) -> bool:
    try:
        return bool(data) and read_plain(file, _LARGEST_FILE) == data
    except OSError:
        return False


# The software alone.

_STAMP = re.compile(r"-\d{14}(-\d+)?$")
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the first date of a zip file; equal software makes equal files


def export_software(folder: Path, *, archive: Path | None = None, target: Path | None = None, git: bool = False) -> int:
    """Write the software of the run in `folder` into a zip file, or into a new or empty folder, with its history where
    `git` is wanted; the number of files. Nothing is overwritten. Raises ConfigError and WorkspaceError."""
    source = _software_of(folder)
    files = read_tree(source)
    if not files:
        raise ConfigError(f"the run in {folder} made no files, so there is nothing to export")
    if git:
        files = {**files, **_history(source)}
    place = archive or target
    if place is None or (archive and target):
        raise ConfigError("say where the software goes: --zip FILE or --dir FOLDER")
    if place.absolute().is_relative_to(folder.absolute()):
        raise ConfigError(f"{place} lies in the run's own folder; give a place outside of it")
    if not place.absolute().parent.is_dir():
        raise ConfigError(f"there is no folder {place.absolute().parent}; make it first, or give another place")
    if archive:
        _write_zip(archive, files, _STAMP.sub("", folder.resolve().name))
    else:
        _write_folder(place, files)
    return len(files)


def _software_of(folder: Path) -> Path:
    software = folder / "software"
    if not software.is_dir():
        raise ConfigError(f"there is no run in {folder}: it has no folder `software`; give a folder of the warehouse")
    require_folder(software)
    return software


def _history(source: Path) -> dict[str, bytes]:
    """The files of the repository."""
    repository = source / ".git"
    if not repository.is_dir():
        raise ConfigError(f"{source} has no git history; leave out --git")
    require_plain_tree(repository)
    with explain_os_errors("read", repository):
        return {path.relative_to(source).as_posix(): path.read_bytes() for path in sorted(repository.rglob("*"))
                if path.is_file()}


def _write_zip(archive: Path, files: Mapping[str, bytes], name: str) -> None:
    """Write the files below a folder `name`, whole or not at all."""
    with explain_os_errors("write", archive):
        try:
            file = archive.open("xb")
        except FileExistsError:
            raise ConfigError(f"{archive} is there already; give another name, or remove it") from None
        try:
            with file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
                for path, data in files.items():
                    entry = zipfile.ZipInfo(f"{name}/{path}", _OLDEST)
                    entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
                    made.writestr(entry, data)
        except BaseException:
            archive.unlink(missing_ok=True)
            raise


def _write_folder(target: Path, files: Mapping[str, bytes]) -> None:
    with explain_os_errors("write", target):
        if os.path.lexists(target) and (not target.is_dir() or any(target.iterdir())):
            raise ConfigError(f"{target} is there already, and is no empty folder; give another name, or remove it")
        target.mkdir(exist_ok=True)
    write_tree(target, files)
