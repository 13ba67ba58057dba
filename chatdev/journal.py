"""The one record of a run: an append-only file of JSON lines (design §5).

Four kinds of lines share the file: `Order` (what the run is to do, its first line), `Message` (a text that requests
refer to by hash, so that a dialogue that grows is not written again with every call), `Activity` (a finished model or
tool call with its request and result), and events. Each line has `v` (the version of the form), `time` (when it was
written), `kind`, `place`, and what belongs to its kind. The time is for people: nothing is decided by it, and journals
of earlier versions have none.

Events are what happens in a run, as frozen records, and where in it: ids of activities and events are places.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import errno
import fcntl
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BufferedReader, FileIO
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, get_args

from chatdev.errors import JournalError, WorkspaceError
from chatdev.paths import open_plain
from chatdev.safe_text import holds_secret, scrub_values

Speaker = Literal["instructor", "assistant"]
UtteranceKind = Literal["opening", "instruction", "response", "question", "answer", "reflection", "report"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened at `place`."""

    place: str

    @property
    def kind(self) -> str:
        """The record's name in the journal, e.g. `PhaseStarted`."""
        return type(self).__name__

    def to_dict(self) -> dict[str, Any]:
        """The event as plain JSON values."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    company: str
    name: str
    folder: str
    inputs: dict[str, str] = field(default_factory=dict)
    phases: tuple[str, ...] = ()
    """The phases that the chain may run, in its order."""


@dataclass(frozen=True, slots=True)
class RunResumed(Event):
    """What was on record has been gone through again: from here on the run goes on."""

    calls: int
    """Calls of models and tools that were on record."""


@dataclass(frozen=True, slots=True)
class RunFinished(Event):
    """The end of a session; `place` is the activity of which it failed, if it was one."""

    status: str  # success · failure · unjudged · stopped · error · interrupted
    reason: str
    seconds: float
    error: str = ""
    """The kind of error that ended it, e.g. `ModelRejected`."""


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    step: str  # tool · repeat · foreach · parallel · process
    detail: str = ""


@dataclass(frozen=True, slots=True)
class StepFinished(Event):
    step: str
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class StepSkipped(Event):
    step: str
    reason: str


@dataclass(frozen=True, slots=True)
class PhaseStarted(Event):
    phase: str
    about: str
    instructor: str | None
    assistant: str
    rounds: int


@dataclass(frozen=True, slots=True)
class PhaseFinished(Event):
    phase: str
    ending: str
    """consensus · unchanged · feedback · rounds · stuck · budget · skipped · refused · delivered · reflection · kept ·
    value · failed"""
    rounds: int
    calls: int


@dataclass(frozen=True, slots=True)
class Uttered(Event):
    """One utterance of the dialogue; `speaker` is None for a tool's report."""

    utterance: UtteranceKind
    speaker: Speaker | None
    role: str
    text: str
    round: int


@dataclass(frozen=True, slots=True)
class TextStreamed(Event):
    """A piece of a reply as it arrives; never journaled. `again`: the reply is asked for once more, and what came of it
    until now is void."""

    text: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class ModelCalled(Event):
    """One finished model call; token counts are estimates when `estimated`."""

    role: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    retries: int = 0
    estimated: bool = False
    cost: float | None = None
    replayed: bool = False
    cached_tokens: int = 0
    """Of the prompt: what the server had kept from earlier calls."""
    reasoning_tokens: int = 0
    """Of the completion: thoughts."""


@dataclass(frozen=True, slots=True)
class ToolCalled(Event):
    """One finished tool call; `passed` is None where the tool gives no verdict, where this machine cannot tell, or
    where there was nothing to judge yet."""

    tool: str
    seconds: float
    passed: bool | None = None
    summary: str = ""
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class DraftJudged(Event):
    """One of `of` drafts of a delivery at most; score and `passed` are the tool's that chooses between them, and are
    None where there was nothing to judge, as `problem` says."""

    number: int
    of: int
    score: float | None = None
    passed: bool | None = None
    examples: tuple[int, int] | None = None
    """How many examples of the request hold, of how many."""
    chosen: bool = False
    """Whether it is the best so far: the last one of which this is true is kept."""
    problem: str = ""

    def describe(self) -> str:
        """What became of it, in one line."""
        name = f"draft {self.number} of {self.of}"
        if self.passed is None or self.score is None:
            return f"{name} cannot be used: {self.problem}"
        if self.examples:
            return f"{name}: {' of '.join(map(str, self.examples))} examples"
        return f"{name} {'passes' if self.passed else 'fails'} (score {self.score:g})"


@dataclass(frozen=True, slots=True)
class DeliveryApplied(Event):
    """Files a delivery wrote or deleted, or the name of the solution it replaced."""

    written: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: bool = False
    lines: tuple[int, ...] = ()
    """Of each file in `written`."""
    gist: str = ""
    """The solution in a few words, where it is no file."""


@dataclass(frozen=True, slots=True)
class DeliveryRefused(Event):
    reason: str


@dataclass(frozen=True, slots=True)
class PersonAsked(Event):
    """A person is asked, and the step at `place` waits for the answer: a turn of a role that a person plays, or an
    approval of what is about to happen."""

    id: str
    """The same whenever the same is asked at this place, so that an answer holds after a restart."""
    asks: Literal["turn", "approval"] = "turn"
    role: str = ""
    """The role that the person plays, or whose work is to be approved; empty for a step without one."""
    about: str = ""
    """What it is, in one line."""
    text: str = ""
    """What the person reads: all that is new since they were asked last."""
    edits: dict[str, str] = field(default_factory=dict)
    """What may be edited before it is applied: texts by path, or by the name of the value. Empty: nothing."""
    problem: str = ""
    """Why the answer before could not be used; `edits` then has its texts."""


@dataclass(frozen=True, slots=True)
class PersonAnswered(Event):
    """The answer to a `PersonAsked`, by its `id`."""

    id: str
    action: str = "say"
    """say · accept · refuse · edit · skip (nobody could be asked)"""
    text: str = ""
    """What was said, or why it is refused."""


@dataclass(frozen=True, slots=True)
class Noted(Event):
    """Something a reader of the run should know; `level` is info or warning."""

    text: str
    level: Literal["info", "warning"] = "info"


KINDS: dict[str, type[Event]] = {cls.__name__: cls for cls in Event.__subclasses__()}


def from_dict(kind: str, values: dict[str, Any]) -> Event:
    """The event that `to_dict` wrote; raises KeyError for an unknown kind."""
    cls = KINDS[kind]
    known = {f.name for f in dataclasses.fields(cls)}
    fields: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in values.items() if n in known}
    return cls(**fields)


# Where in a run something happens: ids of activities and events are places (design §5), written and read only here.

Part = Literal[
    "pass", "item", "branch",  # of the chain
    "round", "reflection", "feedback", "guard", "mend",  # of a phase
    "instructor", "assistant", "ask", "answer", "retry", "draft",  # utterances
    "approve",  # by a person
    "act", "trim", "more", "again", "call",  # of a turn: after a tool, to fit, to go on, afresh; a tool
]
_OF_A_TURN: frozenset[Part] = frozenset({"act", "trim", "more", "again", "call"})
_OF_A_DRAFT: frozenset[Part] = frozenset({"draft", "feedback", "guard", "mend", *_OF_A_TURN})


class Place(str):
    """A place as the journal holds it; a text, so that it is its own key and needs no codec."""

    __slots__ = ()

    def step(self, name: str, occurrence: int) -> Place:
        """The `occurrence`-th time that the step `name` runs here."""
        return self._below(f"{name}#{occurrence}")

    def at(self, part: Part, which: int | str | None = None) -> Place:
        """A part of this place: `at("round", 2)`, `at("assistant")`."""
        return self._below(part if which is None else f"{part}-{which}")

    def _below(self, part: str) -> Place:
        return Place(f"{self}/{part}" if self else part)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts from the outermost to the innermost."""
        return tuple(self.split("/")) if self else ()

    @property
    def nearest_step(self) -> Place:
        """The innermost step that this is a part of, with the loops and branches around it: `…/system_test#1`."""
        last = max((n for n, part in enumerate(self.parts) if "#" in part), default=-1)
        return Place("/".join(self.parts[:last + 1]))

    @property
    def step_name(self) -> str:
        """The name of that step: `system_test`; empty outside of any."""
        *_, last = ("", *self.nearest_step.parts)
        return last.partition("#")[0]

    @property
    def speaker(self) -> Literal["instructor", "assistant"]:
        """Whose turn it is at this place."""
        return "instructor" if "instructor" in self.parts else "assistant"

    @property
    def turn(self) -> Place:
        """The turn that a request belongs to: without its continuations, tool rounds and second attempts."""
        parts = list(self.parts)
        while parts and (_kind(parts[-1]) in _OF_A_TURN or parts[-1] == "answer"):  # the instructor's has a number
            parts.pop()
        return Place("/".join(parts))

    @property
    def draft(self) -> int:
        """Which draft of a response is made here; 1 where there are no others."""
        numbers = (part.partition("-")[2] for part in self.parts if _kind(part) == "draft")
        return next((int(number) for number in numbers if number.isdecimal() and len(number) < 10), 1)

    @property
    def first_draft(self) -> Place:
        """The place of the first draft, where this is the place of another one."""
        parts = self.parts
        return Place("/".join(parts[:-1])) if parts and _kind(parts[-1]) == "draft" else self

    @property
    def is_second_attempt(self) -> bool:
        """Whether the request is made because the reply to the one before it is not used."""
        kinds = [_kind(part) for part in self.parts]
        while kinds and kinds[-1] == "more":
            kinds.pop()
        return bool(kinds) and (kinds[-1] == "again" or self.parts[len(kinds) - 1] == "answer")

    def holds(self, other: str) -> bool:
        """Whether `other` is this place, one below it, or an occurrence of the step that it names."""
        return other == self or other.startswith((f"{self}/", f"{self}#"))

    def in_other_branch(self, other: str) -> bool:
        """Whether two places are in different branches of a parallel step or belong to different drafts, so that either
        may come first."""
        for own, another in zip_longest(self.parts, Place(other).parts, fillvalue=""):
            if own != another:
                kinds = {_kind(own), _kind(another)}
                return kinds == {"branch"} or ("draft" in kinds and kinds <= {None, *_OF_A_DRAFT})
        return False


def _kind(part: str) -> str | None:
    """Which part of a place this is: `round` of `round-2`; None for a step."""
    kind = part.partition("-")[0]
    return kind if "#" not in part and kind in get_args(Part) else None


SCHEMA = 1
_PIECE = 1 << 16  # bytes
_SHORT = 1 << 20  # bytes of a line that are read in any case
_LONGEST = 192 << 20  # bytes of a line: the first one holds the software to start from, up to 100 MiB, in base64
LARGEST_JOURNAL = 1 << 30
"""Bytes; a larger one is not read."""
_PLENTY = 32 << 20  # bytes of a journal that may hold what it likes, and of anything but text in a larger one
_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
_TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')


def utc_now() -> datetime:
    """The present time."""
    return datetime.now(UTC)


class Journal:
    """Appends records to `path`; `sync` returns when everything written so far is on the disk.

    A journal that is there is continued: a line torn by a crash is cut off. `held`: nothing is written before
    `release`. `clock` gives the time that each line carries. Raises WorkspaceError, also when somebody else is writing
    it.
    """

    listener: Callable[[Mapping[str, Any]], None] | None = None
    """Called with every record that was written."""

    def __init__(self, path: Path, *, held: bool = False, clock: Callable[[], datetime] = utc_now) -> None:
        self.path = path
        self._clock = clock
        self._messages: set[str] = set()
        self._file = _open_journal(path)
        self._size = self._file.seek(0, os.SEEK_END)
        self._held: list[bytes] | None = [] if held else None
        self._written = self._synced = 0  # records, and those of them that are on the disk
        self._syncing = asyncio.Lock()

    def append(self, kind: str, place: str, values: Mapping[str, Any]) -> None:
        """Write one record; it is safe from a crash of this process at once, of the machine after `sync`."""
        time = self._clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = {"v": SCHEMA, "time": time, "kind": kind, "place": place, **values}
        line = _encode(record)
        if holds_secret(line):
            record = scrub_values(json.loads(line))
            line = _encode(record)
        data = line.encode("utf-8", "surrogatepass") + b"\n"
        if self._held is not None:
            self._held.append(data)
            return
        self._write(data)
        if self.listener:
            self.listener(record)

    def release(self) -> None:
        """Write what was held back; from now on records are written as they come."""
        held, self._held = self._held, None
        if held:
            self._write(b"".join(held))
            if listener := self.listener:
                for line in held:
                    listener(_parse(line))

    def messages(self) -> dict[str, Mapping[str, Any]]:
        """All messages by their hashes, those that wait for `release` too."""
        held = map(_parse, self._held or ())
        return {record["hash"]: record["message"] for record in (*read_journal(self.path), *held)
                if record["kind"] == "Message"}

    def know(self, messages: Iterable[str]) -> None:
        """The hashes of messages that are in the journal already."""
        self._messages.update(messages)

    def message(self, digest: str, message: Mapping[str, Any]) -> None:
        """Write a message once; requests name it by `digest`."""
        if digest not in self._messages:
            self._messages.add(digest)
            self.append("Message", "", {"hash": digest, "message": message})

    def _write(self, data: bytes) -> None:
        rest = data
        try:
            while rest:
                rest = rest[self._file.write(rest) or 0:]
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(self._size)  # half a line would spoil what may still be written after it
            raise _write_error(self.path, error) from error
        self._size += len(data)
        self._written += 1

    async def sync(self) -> None:
        """Wait until the disk has what was written so far; calls that come while one is under way share the next."""
        wanted = self._written
        async with self._syncing:
            if self._synced >= wanted:
                return
            written = self._written
            try:
                await asyncio.get_running_loop().run_in_executor(None, os.fsync, self._file.fileno())
            except OSError as error:
                raise _write_error(self.path, error) from error
            self._synced = written

    def close(self) -> None:
        """Close; may be called twice. What could not be written was reported by `append`."""
        if not self._file.closed:
            with contextlib.suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)  # until its exec, a child just forked has the file open, too
            with contextlib.suppress(OSError):
                self._file.close()


def _open_journal(path: Path) -> FileIO:
    """The file, locked and ending with a whole line."""
    try:
        file = FileIO(open_plain(path, os.O_RDWR | os.O_CREAT | os.O_APPEND), "a+")
        with contextlib.ExitStack() as failing:
            failing.callback(file.close)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the file's end lets go of it, however we end
            file.truncate(_end_of_lines(file.fileno()))
            _sync_folder(path.parent)
            failing.pop_all()
    except BlockingIOError as error:
        raise WorkspaceError(f"the journal {path} is being written: the run is under way in another process; wait for "
                             "it or stop it") from error
    except OSError as error:
        raise WorkspaceError(f"cannot write the journal {path}: {error.strerror}") from error
    return file


def _end_of_lines(file: int) -> int:
    """Where the last whole line ends, looked for from the end."""
    end = os.fstat(file).st_size
    while end > 0:
        begin = max(0, end - _PIECE)
        if (found := os.pread(file, end - begin, begin).rfind(b"\n")) >= 0:
            return begin + found + 1
        end = begin
    return 0


def _sync_folder(path: Path) -> None:
    """A new file must outlive a crash of the machine as its content does."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _write_error(path: Path, error: OSError) -> WorkspaceError:
    fix = "free some space" if error.errno == errno.ENOSPC else "check the folder's permissions"
    return WorkspaceError(f"cannot write the journal {path}: {error.strerror}; {fix} and go on with `chatdev resume`")


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The records in order; a last line without its end (a crash while writing) is left out. Raises JournalError for
    other damage, and for what is too large to be a journal."""
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            record = _parse(line)
        except (ValueError, RecursionError) as error:
            raise JournalError(f"{path}, line {number}: not a JSON record; the journal is damaged") from error
        yield _check_record(record, f"{path}, line {number}")


def _parse(line: bytes) -> Any:
    return json.loads(line.decode("utf-8", "surrogatepass"))


def _whole_lines(path: Path) -> Iterator[bytes]:
    """The lines that have an end, one at a time: a journal may be a stranger's, and of any size.

    Texts take the memory that they are long, but `[],` takes twenty times as much; so what is no text is counted in a
    large journal."""
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            size, structure = os.fstat(file.fileno()).st_size, 0
            if size > LARGEST_JOURNAL:
                raise JournalError(f"{path} has {size >> 20} MiB, and no journal is larger than "
                                   f"{LARGEST_JOURNAL >> 20} MiB")
            while (line := _read_line(file)).endswith(b"\n"):
                structure += len(_TEXTS.sub(b"", line)) if size > _PLENTY else 0
                if structure > _PLENTY:
                    raise JournalError(f"{path} holds more values than any run has; it is no journal of chatdev")
                yield line[:-1]
            if len(line) >= _SHORT and not (line.startswith(b"{") and len(line) < _LONGEST):
                raise JournalError(f"{path} has a line that is too long for a record; it is no journal of chatdev")
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error


def _read_line(file: BufferedReader) -> bytes:
    """The next line; of one that is too long for a record, or does not begin like one, only its beginning."""
    line = file.readline(_SHORT)
    if len(line) < _SHORT or line.endswith(b"\n") or not line.startswith(b"{"):
        return line
    return line + file.readline(_LONGEST - _SHORT)


def _check_record(record: Any, place: str) -> dict[str, Any]:
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise JournalError(f"{place}: a record needs a `kind`; this is no journal of chatdev")
    if record.get("v") != SCHEMA:
        raise JournalError(f"{place}: written with version {record.get('v')} of the journal's form, and this chatdev "
                           f"reads version {SCHEMA}; use the chatdev that wrote it")
    return record
