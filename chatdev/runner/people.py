"""The people of a run: what is asked of them, and their answers, which any program may leave in the run folder.

    for question in waiting(folder):
        answer(folder, question.id, PersonAnswer("accept"))

An answer is a file beside the journal, made whole and only where there is none yet: so whoever answers first counts, at
the console, in a browser or by `chatdev answer`, and an answer holds when no process runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chatdev.config.schema import CompanyConfig, ToolStep, walk
from chatdev.config.yaml_nodes import name_hint
from chatdev.connection import HUMAN
from chatdev.engine.budget import Clock
from chatdev.engine.context import refuse_halted
from chatdev.engine.people import LARGEST_ANSWER, PersonAnswer, read_answer
from chatdev.errors import ChatDevError, ConfigError, ModelCrashed
from chatdev.events import Event, Noted, PersonAnswered, PersonAsked, from_dict
from chatdev.paths import read_plain
from chatdev.runner.options import AnswerFunction, Given
from chatdev.runner.recorded import find_journal, run_records
from chatdev.workspace.file_tree import explain_os_errors

__all__ = ["PersonAnswer", "answer", "waiting"]

_TICK = 0.25  # seconds between looks into the folder
_SHORTHANDS = ("deliveries", "tools")
_ATTEMPTS = 3  # of a function that answers
_LARGEST_FILE = 8 * LARGEST_ANSWER  # bytes: JSON writes some characters as six

def waiting(folder: Path) -> list[PersonAsked]:
    """The questions of the run in `folder` that nobody has answered yet, in the order in which they were asked; also
    where no process runs it just now. Raises JournalError."""
    _, still_open = _questions(folder)
    return [question for question in still_open if not os.path.lexists(_path(folder, question.id))]


def answer(folder: Path, question_id: str, given: PersonAnswer | Mapping[str, Any]) -> bool:
    """Leave an answer (also as JSON values) to a question of the run in `folder`. False: somebody was first, and this
    one is not used. Raises ConfigError, with the reason, for what is no answer to it and for an unknown question;
    JournalError and WorkspaceError."""
    asked, still_open = _questions(folder)
    if question_id not in asked:
        raise ConfigError(f"the run in {folder} has not asked {question_id!r:.40}; `chatdev answer {folder}` shows "
                          "what it asks")
    value = given.to_json() if isinstance(given, PersonAnswer) else given
    checked = read_answer(value, asked[question_id])
    return any(one.id == question_id for one in still_open) and _leave(folder, asked[question_id], checked)


def _questions(folder: Path) -> tuple[dict[str, PersonAsked], list[PersonAsked]]:
    """All questions of the run by id, and those that the run still waits for, or will when it is resumed."""
    asked: dict[str, PersonAsked] = {}
    still_open: dict[str, PersonAsked] = {}  # by place: a company that has changed may ask otherwise
    for record in run_records(find_journal(folder)):
        if record["kind"] == "PersonAsked":
            question = from_dict("PersonAsked", record)
            assert isinstance(question, PersonAsked)
            asked[question.id] = still_open[question.place] = question
        elif record["kind"] == "PersonAnswered":
            still_open.pop(record["place"], None)
        elif record["kind"] == "RunFinished" and record["status"] in ("success", "failure", "unjudged"):
            still_open.clear()
    return asked, list(still_open.values())


def people_sets(company: CompanyConfig, human: Sequence[str], approve: Sequence[str]) -> list[str]:
    """The changes (`--set`) of a company in which people play the roles `human` and approve of what `approve` names.
    Raises ConfigError with the nearest name."""
    for role in human:
        if role not in company.roles:
            raise ConfigError(f"--human {role}: company {company.company!r} has no such role; "
                              f"{name_hint(role, company.roles)}")
    sets = [f"roles.{role}.model={HUMAN}" for role in human]
    for name in approve:
        found = [path for known, path in _approvals(company) if known == name]
        if not found:
            known = dict.fromkeys([*_SHORTHANDS, *company.phases])
            raise ConfigError(f"--approve {name}: company {company.company!r} has no such phase; "
                              f"{name_hint(name, known)}")
        sets += [f"{path}.approve=before" for path in found]
    return sets


def approval_points(company: CompanyConfig) -> list[str]:
    """What people approve of in the company, in words."""
    return [*(f"phase {name}" for name, phase in company.phases.items() if phase.approve),
            *(f"deliveries of {name}" for name, phase in company.phases.items() if phase.solution.approve),
            *(f"tool calls of {name}" for name, role in company.roles.items() if role.approve),
            *(f"tool {step.tool}" for _, step in walk(company.chain) if isinstance(step, ToolStep) and step.approve)]


def _approvals(company: CompanyConfig) -> Iterator[tuple[str, str]]:
    """What can be approved: its name for `--approve`, and the path of its field."""
    for name, phase in company.phases.items():
        yield name, f"phases.{name}"
        if phase.writes == "software":
            yield _SHORTHANDS[0], f"phases.{name}.solution"
    for name, role in company.roles.items():
        if role.tools:
            yield _SHORTHANDS[1], f"roles.{name}"
    for path, step in walk(company.chain):
        if isinstance(step, ToolStep):
            yield _SHORTHANDS[1], ".".join(map(str, path))


def _path(folder: Path, question_id: str) -> Path:
    return folder / "run" / f"answer-{question_id}.json"


def _leave(folder: Path, question: PersonAsked, given: PersonAnswer) -> bool:
    """Write the answer whole, if there is none yet."""
    path = _path(folder, question.id)
    temporary = f".{path.name}.{secrets.token_hex(4)}"
    with explain_os_errors("write", path), _open_folder(path.parent) as parent:
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666,
                       dir_fd=parent)
        try:
            with os.fdopen(file, "w", encoding="utf-8") as out:
                json.dump(given.to_json(), out)
                out.flush()
                os.fsync(out.fileno())
            os.link(temporary, path.name, src_dir_fd=parent, dst_dir_fd=parent)
        except FileExistsError:
            return False
        finally:
            os.unlink(temporary, dir_fd=parent)
    return True


@contextlib.contextmanager
def _open_folder(path: Path) -> Iterator[int]:
    parent = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield parent
    finally:
        os.close(parent)


@dataclass(slots=True)
class PeopleDesk:
    """Where a run asks people: the first answer counts, of `answers` or left in the folder of the run. `waits`: where
    `answers` gives none, the run waits for one in the folder; otherwise the question is skipped, with a note."""

    answers: AnswerFunction | None = None
    waits: bool = False
    folder: Path | None = None
    emit: Callable[[Event], None] = lambda _: None
    clock: Clock = field(default_factory=Clock)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def begin(self, folder: Path, emit: Callable[[Event], None], clock: Clock) -> None:
        """The run in `folder` is under way; `clock` stands still while people think."""
        self.folder, self.emit, self.clock = folder, emit, clock

    async def ask(self, question: PersonAsked) -> PersonAnswer:
        """The first answer. Raises Halted where a parallel branch has failed meanwhile."""
        self.emit(question)
        with self.clock.stopped():
            given = await self._first(question)
        if given.action == "skip":
            self._note(question, f"nobody answers, so this is skipped: {question.about}")
        self.emit(PersonAnswered(question.place, question.id, given.action, given.text))
        return given

    async def _first(self, question: PersonAsked) -> PersonAnswer:
        asking = asyncio.create_task(self._ask_here(question)) if self.answers else None
        try:
            while (left := self._left(question)) is None:
                refuse_halted()
                if asking and asking.done():
                    if (given := asking.result()).action != "skip":
                        return self._claim(question, given)
                    asking = None
                if asking is None and not self.waits:
                    return PersonAnswer("skip")
                await (asyncio.wait([asking], timeout=_TICK) if asking else asyncio.sleep(_TICK))
            return left
        finally:
            if asking:
                asking.cancel()
                await asyncio.wait([asking])

    async def _ask_here(self, question: PersonAsked) -> PersonAnswer:
        """What `answers` gives, of one question at a time; what cannot be used is given back with the reason."""
        async with self._turn:
            for _ in range(_ATTEMPTS):
                given = await _call(self.answers, question)
                if isinstance(given, str):
                    given = PersonAnswer("say" if question.asks == "turn" else "refuse", given)
                try:
                    return PersonAnswer("skip") if given is None else read_answer(given.to_json(), question)
                except (AttributeError, ConfigError) as error:
                    question = replace(question, problem=str(error))
        raise ModelCrashed(f"the function that answers for people gave {_ATTEMPTS} answers that cannot be used: "
                           f"{question.problem}")

    def _claim(self, question: PersonAsked, given: PersonAnswer) -> PersonAnswer:
        """The answer, kept in the folder like any other; the one that was there first, if so."""
        if self.folder is None or _leave(self.folder, question, given) or not (first := self._left(question)):
            return given
        self._note(question, "somebody else answered first, and that answer counts")
        return first

    def _left(self, question: PersonAsked) -> PersonAnswer | None:
        """The answer in the folder; one that cannot be used is moved aside."""
        if self.folder is None or not os.path.lexists(path := _path(self.folder, question.id)):
            return None
        try:
            return read_answer(json.loads(read_plain(path, _LARGEST_FILE)), question)
        except (OSError, ValueError, RecursionError, ConfigError) as error:
            aside = path.with_name(f"{path.name}.{secrets.token_hex(2)}.unreadable")
            with explain_os_errors("move", path):
                path.rename(aside)
            why = getattr(error, "strerror", None) or error
            self._note(question, f"the answer in {aside.name} cannot be used: {why}")
            return None

    def _note(self, question: PersonAsked, text: str) -> None:
        self.emit(Noted(question.place, text, "warning"))


async def _call(answers: AnswerFunction | None, question: PersonAsked) -> Given:
    """What the function gives; a plain one has a thread of its own, which nothing waits for when it is not needed any
    more. Raises ModelCrashed for what it raises."""
    assert answers is not None
    try:
        is_async = inspect.iscoroutinefunction(answers)
        given: Any = answers(question) if is_async else await _in_a_thread(answers, question)
        found: Given = await given if inspect.isawaitable(given) else given
        return found
    except ChatDevError:
        raise
    except Exception as error:
        raise ModelCrashed(f"the function that answers for people ended with an unexpected {type(error).__name__}: "
                           f"{error}") from error


async def _in_a_thread(answers: AnswerFunction, question: PersonAsked) -> Any:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: Exception | None) -> None:
        if done.done():  # nobody waits for it any more
            return
        if error:
            done.set_exception(error)
        else:
            done.set_result(result)

    def work() -> None:
        result, raised = None, None
        try:
            result = answers(question)
        except Exception as error:  # noqa: BLE001 - it is raised where it is awaited
            raised = error
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, result, raised)

    threading.Thread(target=work, name="chatdev-answer", daemon=True).start()
    return await done
