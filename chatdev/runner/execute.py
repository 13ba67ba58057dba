"""Doing what a plan says: engine, models, tools, sandbox and folders wired up, from the first event to the report."""

from __future__ import annotations

import asyncio
import hashlib
import re
import shlex
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime
from difflib import unified_diff
from itertools import zip_longest
from pathlib import Path
from typing import Any

from chatdev.config.schema import phases_in_order
from chatdev.config.templates import compile_expression
from chatdev.engine.budget import Budget, Clock, LimitReached
from chatdev.engine.chain import Chain, Scope
from chatdev.engine.context import Activities, Files, Record, RunContext, RunInputs, RunSettings, State
from chatdev.errors import (
    BudgetExhausted,
    ChatDevError,
    ConfigError,
    JournalError,
    MissingProgram,
    RecordEnds,
    RunChanged,
    WorkspaceError,
)
from chatdev.events import Noted, RunResumed, RunStarted
from chatdev.journal import Journal
from chatdev.runner.options import RunOptions
from chatdev.runner.people import PeopleDesk
from chatdev.runner.plan import RunPlan, plan_replay
from chatdev.runner.recorded import RecordedRun
from chatdev.runner.report import Run, RunLog
from chatdev.runner.resources import Resources, open_resources
from chatdev.runner.toolbox import KnownTools, RunToolbox, prepare_runtime
from chatdev.workspace.change import Changeset
from chatdev.workspace.file_tree import Software, write_file
from chatdev.workspace.run_folder import RunFolder, SoftwareFolder

_FROM_THE_START = "the software to start from"
_TAG = "before"
_PATCH = "change.patch"
_TOLD = 10  # files that are not written
_VERDICT = re.compile(r"(\w+)\.passed")


async def execute(plan: RunPlan, resources: Resources) -> Run:
    """Do what is planned, to its end. Errors of the run end up in the result; only cancellation passes through, and
    RunChanged and JournalError as long as nothing was done. `resources.run` is the run while it is under way."""
    if plan.follows:
        plan = replace(plan, order=replace(plan.order, values=await final_values(plan.follows, resources)))
    if not (plan.past and plan.past.complete):
        plan = _open_spans(plan, resources)
    if isinstance(plan.folder, RunFolder):
        folder = plan.folder
    else:
        folder = RunFolder.create(plan.folder.warehouse, plan.folder.name, datetime.now().astimezone())
    execution = RunExecution(plan, resources, folder, _begin_journal(plan, resources, folder))
    resources.run = execution.log.run
    try:
        return await execution.run_to_end()
    except RunChanged:
        if folder is not plan.folder:
            shutil.rmtree(folder.path)  # a fork that is refused leaves nothing
        raise


async def final_values(journal: Path, resources: Resources) -> Mapping[str, Any]:
    """The long-term memory at the end of a finished run. Raises JournalError when its journal does not lead there."""
    async with open_resources(RunOptions(), resources.tools.given.values()) as own:
        run = await execute(plan_replay(journal, None, own), own)
    before = RecordedRun.read(journal).status
    if run.status != before:
        raise JournalError(f"{journal}: replayed, the run ends differently ({run.status}: {run.reason}); it was "
                           "made by another version of chatdev, or its journal is damaged")
    return run.values


def _open_spans(plan: RunPlan, resources: Resources) -> RunPlan:
    """Have the run's spans sent where that is asked for; where only the environment asks and they cannot be, the plan
    notes it. Raises MissingProgram, ConfigError."""
    try:
        resources.open_spans()
    except (ConfigError, MissingProgram) as error:
        if resources.options.otel is not None:
            raise
        return replace(plan, notes=(*plan.notes, f"{error} (the variables OTEL_… ask for them)"))
    return plan


def _begin_journal(plan: RunPlan, resources: Resources, folder: RunFolder) -> Journal:
    """The journal with what must be in it before the run begins: the order, and the past unless it is there already."""
    journal = resources.journal(folder, held=plan.past is not None)
    before = plan.past.recorded if plan.past else None
    spans = resources.spans
    if spans:
        journal.listener = spans.add
    if plan.past and before:
        if folder is plan.folder:
            journal.know(before.messages)
            if spans:
                spans.follow(before.records)
        else:
            before.copy_to(journal, plan.past.finished)
    if before is None or plan.order.to_record() != before.order.to_record():
        journal.append("Order", "", plan.order.to_record())
    return journal


class RunExecution:
    """One session of a run, from its first event to its report."""

    def __init__(self, plan: RunPlan, resources: Resources, folder: RunFolder, journal: Journal) -> None:
        self.plan = plan
        self.folder = folder
        self.spans = resources.spans
        self.log = RunLog(Run(folder.path, limits=plan.equipment.limits), journal, plan.equipment.options.on_event,
                          self.spans)
        self.playback = Playback(plan.past.record() if plan.past else None, journal, self._begin_live)
        self.history = FolderHistory(SoftwareFolder(folder.software), self.playback)
        software = Software(plan.order.software)
        self.state = State(dict(plan.order.values), software, self.history,
                           software if plan.order.semantics > 4 else Software({}))
        self.clock = Clock()
        resources.desk.begin(folder.path, self.log.emit, self.clock)
        self.context = self._context(resources.tools, resources.desk)

    async def run_to_end(self) -> Run:
        """Run the chain to its end, and say how it ended. Raises as `execute` does."""
        log = self.log
        try:
            async with self._time_limit():
                await self._work()
        except RunChanged as change:
            change = explain_change(change, log.journal.messages())
            if not self.playback.live:
                log.journal.close()
                raise change from None
            log.end("error", str(change), change)
        except BudgetExhausted as stop:
            self._stop(stop)
        except RecordEnds as end:
            log.end("interrupted", str(end))
        except ChatDevError as error:
            log.end("error", str(error), error)
        except (asyncio.CancelledError, KeyboardInterrupt):
            log.end("interrupted", "stopped before its end; what was made so far is kept")
            self._finish()
            raise
        except BaseException as error:
            log.end("error", f"stopped by an unexpected {type(error).__name__}: {error}")
            self._finish()
            raise
        if self.spans:
            await self.spans.flush()  # so that the record says what could not be sent
        self._finish()
        return log.run

    async def _work(self) -> None:
        """The company's chain, and what comes before and after it."""
        emit, order, equipment = self.log.emit, self.plan.order, self.plan.equipment
        if self.playback.live:
            self._keep_company()
        emit(RunStarted("", self.plan.company.company, self.folder.path.name, str(self.folder.path),
                        {name: str(value) for name, value in self.context.inputs.values.items() if value is not None},
                        tuple(phases_in_order(self.plan.company.chain, self.plan.company.phases))))
        if self.folder.note:
            emit(Noted("", self.folder.note))
        for note in self.plan.notes:
            emit(Noted("", note, "warning"))
        self.history.start()
        if order.software:
            await self.history.begin_with(self.state.software, _FROM_THE_START, _TAG)
        if self.playback.live:
            await prepare_runtime(equipment.supply.runtime, equipment.sandbox, lambda text: emit(Noted("", text)))
        await Chain(self.context).run(self.plan.company.chain, self.state, Scope())
        self.playback.end()
        if not self._was_over():
            self.context.refuse_overspent()
        await self.history.settle(self.state.software, "the software as the run has it")
        self._judge()

    @asynccontextmanager
    async def _time_limit(self) -> AsyncIterator[None]:
        """Ends whatever is under way when the minutes of the run are up: calls, waits and tools, whose programs end
        with the sandbox."""
        try:
            async with self.context.budget.time_limit():
                yield
        except LimitReached as reached:
            raise reached.of_run() from None

    def _context(self, tools: KnownTools, desk: PeopleDesk) -> RunContext:
        plan, equipment, inputs = self.plan, self.plan.equipment, self.plan.inputs
        toolbox = RunToolbox(equipment.sandbox, self.folder.run, inputs.everything, tools,
                             options=equipment.supply.options, given=plan.order.software, servers=equipment.servers)
        activities = Activities(self.log.journal, self.playback.record, self.playback.go_live)
        settings = RunSettings(self.folder.path.name, equipment.options.language or "English", equipment.options.stream,
                               plan.order.semantics)
        return RunContext(plan.company, settings, RunInputs(inputs.visible, inputs.images), activities=activities,
                          toolbox=toolbox, role_model=equipment.role_models,
                          budget=Budget(equipment.limits, plan.spent, clock=self.clock), emit=self.log.emit,
                          people=desk, shared_budget=equipment.options.shared_budget)

    def _begin_live(self) -> None:
        """Everything on record has been used: from here on the run does new things."""
        self._keep_company()
        self.log.emit(RunResumed("", self.playback.calls_found))

    def _keep_company(self) -> None:
        write_file(self.folder.run, "company.yaml", self.plan.order.company.encode("utf-8", "replace"))

    def _was_over(self) -> bool:
        """Whether the run had come to its end before this session, which has found nothing left to do."""
        return bool(self.plan.past and self.plan.past.recorded.is_over and not self.playback.live)

    def _judge(self) -> None:
        """Whether the company's success expression holds, and whether this machine could tell."""
        names = self.context.names(self.state)
        success = compile_expression(self.plan.company.success)
        if not success.evaluate(names):
            self.log.end("failure", _describe_success(success.text, passed=False))
        elif report := "".join(_unjudged_report(names.get(name)) for name in sorted(success.names)):
            self.log.end("unjudged", report)
        else:
            self.log.end("success", _describe_success(success.text, passed=True))

    def _stop(self, stop: BudgetExhausted) -> None:
        command = f"chatdev resume {shlex.quote(str(self.folder.path))} --max-{stop.limit} N"
        text = f"{stop}; to continue with a greater one: {command}"
        self.log.end("stopped", text, BudgetExhausted(text, stop.limit))

    def _finish(self) -> None:
        if commit := self.history.foreign_commit:
            text = ("the files of the software were not as the run had left them (they were changed from outside, or a "
                    f"crash interrupted a write); they are kept in its git history, commit {commit}")
            self.log.emit(Noted("", text, "warning"))
        for path, why in sorted(self.history.withheld.items())[:_TOLD]:
            self.log.emit(Noted("", f"{path} is not in the folder of the software: {why}", "warning"))
        self._keep_change()
        self.log.finish(self.state.values, self.state.software, self.context.budget.spent,
                        self.clock.waited)


    def _keep_change(self) -> None:
        """Write what became of software that was handed in as a patch, beside the report."""
        change = Changeset(self.plan.order.software, self.state.software)
        if not change.before or not change.paths:
            return
        self.log.run.change = change.statistic
        with suppress(WorkspaceError):  # whoever writes the report next says why nothing can be written
            write_file(self.folder.run, _PATCH, change.patch)


def _describe_success(expression: str, *, passed: bool) -> str:
    """Whether the success expression is true, in words: `test.passed` as "the final test passed"."""
    if verdict := _VERDICT.fullmatch(expression.strip()):
        return f"the final {verdict[1]} {'passed' if passed else 'did not pass'}"
    return f"`{expression}` {'holds' if passed else 'does not hold'}"


def _unjudged_report(value: object) -> str:
    """The report of a verdict that passes only because this machine could not judge (`tools.base.Verdict`)."""
    return str(value["report"]) if isinstance(value, Mapping) and value.get("judged") is False else ""


# From the record to live: a resumed run first repeats what is on record.

_TRAILER = "ChatDev-Version"
_VERSION = re.compile(rf"\n\n{_TRAILER}: ([0-9]+ [0-9a-f]+)$")
_FOUND = "what was in the folder when the run was resumed"


class Playback:
    """Switch from playback to live.

    A session without a record is live from the beginning, one with a record from its first live activity on. Until then
    the journal is `held` and writes nothing, so that a run which deviates from its record is refused unchanged.
    `on_live` is called at the switch.
    """

    def __init__(self, record: Record | None, journal: Journal, on_live: Callable[[], None]) -> None:
        self.record = record
        self.live = record is None
        self._journal = journal
        self._on_live = on_live

    @property
    def calls_found(self) -> int:
        """Activities that came from the record."""
        return self.record.found if self.record else 0

    def go_live(self) -> None:
        """To be called before every live activity; the first one ends the way through the record."""
        if not self.live:
            self.live = True
            self._journal.release()
            self._on_live()

    def end(self) -> None:
        """The chain is done. Raises RunChanged when it left out an activity on record, where that is refused."""
        if self.record and not self.live:
            self.record.end()


class FolderHistory:
    """Writes every version of the software that the engine delivers into a folder, each as a git commit.

    The commit says in its last line which version of the run it is (`ChatDev-Version: 3 9f2c…`: a number, and a
    fingerprint of the files). As long as the run is not live, versions whose commits are there are not written again.
    """

    def __init__(self, folder: SoftwareFolder, playback: Playback) -> None:
        self._folder = folder
        self._playback = playback
        self._number = 0
        self._made: frozenset[str] = frozenset()
        self._unnumbered = Counter[str]()
        """Commits by their messages in folders whose commits do not say yet which version they are."""
        self._on_disk: Files | None = None  # unknown
        self.foreign_commit: str | None = None
        """The commit of what somebody changed in the folder while the run did not work on it."""

    @property
    def withheld(self) -> Mapping[str, str]:
        """Files of the software that are not in the folder, and why."""
        return self._folder.withheld

    def start(self) -> None:
        """Make the folder a git repository, or see what is in it."""
        self._folder.start_history()
        messages = self._folder.versions()
        numbered = {message: found[1] for message in messages if (found := _VERSION.search(message))}
        self._made = frozenset(numbered.values())
        self._unnumbered = Counter(message for message in messages if message not in numbered)

    async def commit(self, software: Files, message: str) -> None:
        """Write what differs and commit; a version without differences is an empty commit that marks a phase's end."""
        self._number += 1
        version = f"{self._number} {_fingerprint(software)}"
        if self._playback.live or not self._is_there(version, message):
            await asyncio.to_thread(self._commit, software, f"{message}\n\n{_TRAILER}: {version}", version)

    async def begin_with(self, software: Files, message: str, tag: str) -> None:
        """Keep what the run was given as its first version, and give that a name."""
        await self.commit(software, message)
        if self._playback.live:
            await asyncio.to_thread(self._folder.tag_newest, tag)

    async def settle(self, software: Files, message: str) -> None:
        """See to it that the folder holds `software`, whatever happened to it between two sessions of the run."""
        if self._on_disk is None:
            await asyncio.to_thread(self._commit, software, message, allow_empty=False)

    def _is_there(self, version: str, message: str) -> bool:
        if version in self._made:
            return True
        there = self._unnumbered[message] > 0
        self._unnumbered[message] -= there
        return there

    def _commit(self, software: Files, message: str, version: str = "", *, allow_empty: bool = True) -> None:
        if self._on_disk is None:
            if not self._folder.is_half_written(software):  # by the session that was killed
                self.foreign_commit = self._folder.commit(_FOUND)
            self._on_disk = self._folder.read()
        if version in self._made and self._on_disk == software:
            return  # the session before kept it when it was stopped
        self._folder.write(self._on_disk, software)
        self._on_disk = software
        self._folder.commit(message, allow_empty=allow_empty)


def _fingerprint(software: Files) -> str:
    """Equal for equal files."""
    digest = hashlib.sha256()
    for path in sorted(software):
        name, data = path.encode("utf-8", "surrogateescape"), software[path]
        digest.update(b"%d %d " % (len(name), len(data)) + name + data)
    return digest.hexdigest()[:16]


# Differences between a request and its record, field by field, in words for the user.

_LINES = 12  # of one field's difference
_WIDTH = 160  # characters of one line

_CHOICES = """Do one of these:
  - undo the change;
  - `--as-it-was`: go on with the company as it was when the run began;
  - `--from-here`: accept the change, and go on live from there (what comes after it is paid for again);
  - `--from ACTIVITY` with an activity up to there: go on live from it, in a copy of the run."""


def explain_change(change: RunChanged, messages: Mapping[str, Mapping[str, Any]]) -> RunChanged:
    """The same error with a text that names the fields. `messages` are the texts that requests name by hash."""
    if change.before and change.now:
        lines = "\n".join(_compare(_with_texts(change.before, messages), _with_texts(change.now, messages), ""))
        text = f"{change.place} would not be asked what it was asked before:\n{lines}"
    else:
        text = str(change)
    return RunChanged(change.place, change.before, change.now, f"{text}\n{_CHOICES}")


def _with_texts(request: Mapping[str, Any], messages: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The request with its messages in place of their hashes."""
    if "messages" not in request:
        return dict(request)
    return {**request, "messages": [messages.get(digest, {"content": digest}) for digest in request["messages"]]}


def _compare(before: Any, now: Any, name: str) -> Iterator[str]:
    """One or more lines for every field that differs."""
    match (before, now):
        case _ if before == now:
            return
        case (Mapping(), Mapping()):
            for key in dict.fromkeys([*before, *now]):
                yield from _compare(before.get(key), now.get(key), f"{name}.{key}" if name else str(key))
        case (list(), list()) if any(isinstance(value, Mapping) for value in (*before, *now)):
            for number, (one, other) in enumerate(zip_longest(before, now)):
                yield from _compare(one, other, f"{name}[{number}]")
        case (str(), str()) if lines := _differing_lines(before, now):
            yield f"  {name}:"
            yield from (f"    {line}" for line in lines)
        case _:
            yield f"  {name}: {_in_short(before)} → {_in_short(now)}"


def _differing_lines(before: str, now: str) -> list[str]:
    """Differing lines of two texts, at most `_LINES`; empty for texts of one line."""
    if "\n" not in before + now:
        return []
    found = [_cut(line) for line in unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=0)
             if not line.startswith(("---", "+++", "@@"))]
    return found if len(found) <= _LINES else [*found[:_LINES], f"… and {len(found) - _LINES} more lines"]


def _in_short(value: Any) -> str:
    return "nothing" if value is None else _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"
