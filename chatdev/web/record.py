"""A run as its page sees it: the lines of its journal as numbered events, followed while the file grows; and the
versions of its software, out of the git history in its folder.

A page asks for all events and then for those that come; it names the last one that it has, so that neither a lost
connection nor another server loses one. What is long is cut, and given whole when it is asked for.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import re
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO

from dulwich.objects import Commit

from chatdev.config.schema import CompanyConfig, Step
from chatdev.errors import ChatDevError, ConfigError, JournalError
from chatdev.journal import LARGEST_JOURNAL, SCHEMA
from chatdev.paths import open_plain
from chatdev.runner.recorded import Order, find_journal, recorded_company
from chatdev.runner.toolbox import KnownTools
from chatdev.workspace.change import is_binary
from chatdev.workspace.repository import FileVersion, Repository

TEXT = 8_000
"""Characters of a text that are sent at once; the rest on demand."""
_LIST = 200  # entries of a list or mapping that are sent at once
_DEEP = 12  # levels of values
_LONGEST = 192 << 20  # bytes of a line, as `journal.py` has it
_LOOK = 0.2  # seconds between two looks at a file, whoever asks
_BEAT = 2.0  # seconds after which a silent connection is tried, and is told how the run stands
_UNSENT = ("software", "images", "company", "profiles", "mcp", "values", "v", "origin", "source")


@dataclass(slots=True)
class _Line:
    """Where a line of the journal lies."""

    begin: int
    size: int


@dataclass
class RunRecord:
    """The journal of a run folder. `events` are JSON texts in order, ready to be sent; `problem` says in a sentence why
    there are no more of them. It is read on demand and remembers where it stopped."""

    folder: Path
    events: list[str] = field(default_factory=list)
    problem: str = ""
    _lines: list[_Line] = field(default_factory=list)
    _messages: dict[str, int] = field(default_factory=dict)  # numbers of lines by hash
    _end: int = 0
    _inode: int = 0
    _looked: float = float("-inf")
    _state: tuple[int, int] = (0, 0)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def journal(self) -> Path:
        """The file. Raises JournalError where it is a link."""
        return find_journal(self.folder)

    def refresh(self) -> bool:
        """Read what was written since; at most five times a second. True when the file is another one now, and all
        events before it are void."""
        with self._lock:  # those who ask are threads
            return time.monotonic() - self._looked >= _LOOK and self._read_on()

    def _read_on(self) -> bool:
        self._looked = time.monotonic()
        try:
            with os.fdopen(open_plain(self.journal), "rb") as file:
                return self._read_file(file, os.fstat(file.fileno()))
        except (OSError, JournalError) as error:
            self.problem = f"the journal cannot be read: {getattr(error, 'strerror', None) or error}"
        return False

    def _read_file(self, file: BinaryIO, state: os.stat_result) -> bool:
        seen = (state.st_mtime_ns, state.st_size)
        if self._state == seen:
            return False
        replaced = state.st_size < self._end or self._inode not in (0, state.st_ino)
        if replaced:
            self._forget()
        self._inode, self._state, self.problem = state.st_ino, seen, ""  # what could not be read may be mended
        if state.st_size > LARGEST_JOURNAL:
            self.problem = f"the journal has {state.st_size >> 20} MiB, and none of a run has; it is not read"
        else:
            file.seek(self._end)
            self._take(iter(lambda: file.readline(_LONGEST), None))
        return replaced

    def _forget(self) -> None:
        self.events.clear()
        self._lines.clear()
        self._messages.clear()
        self.problem, self._end = "", 0
        self.__dict__.pop("plan", None)

    def _take(self, lines: Iterator[bytes]) -> None:
        for line in lines:
            if not line.endswith(b"\n"):  # nothing, or the line that is being written, or was torn by a crash
                if len(line) >= _LONGEST:
                    self.problem = f"line {len(self._lines) + 1} of the journal is too long for a record"
                return
            number = len(self._lines) + 1
            try:
                record = _parse(line, number)
                event = light(record, number)
                text = json.dumps(event) if event else ""
            except (ValueError, RecursionError) as error:
                self.problem = str(error) if isinstance(error, _Unreadable) else (
                    f"line {number} of the journal is no record; the journal is damaged, and what stands before that "
                    "line is shown")
                return
            self._lines.append(_Line(self._end, len(line)))
            self._end += len(line)
            if record["kind"] == "Message":
                self._messages[str(record.get("hash"))] = number
            elif text:
                self.events.append(text)

    def line(self, number: int) -> dict[str, Any]:
        """The record of a line. Raises ConfigError where there is none."""
        if not 0 < number <= len(self._lines):
            raise ConfigError(f"the journal has no line {number}; it has {len(self._lines)}")
        place = self._lines[number - 1]
        with os.fdopen(open_plain(self.journal), "rb") as file:
            file.seek(place.begin)
            return _parse(file.read(place.size), number)

    def text_of(self, number: int, path: str) -> str:
        """The whole text of a field, `result.text` or `messages.2.content`, that was cut. Raises ConfigError."""
        value: Any = self.line(number)
        for key in path.split("."):
            if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
                value = value[int(key)]
            elif isinstance(value, dict) and key in value:
                value = value[key]
            else:
                raise ConfigError(f"line {number} of the journal has no field {path!r:.100}")
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)

    def shown(self, number: int) -> dict[str, Any]:
        """What the model call of a line was shown: messages, tools, sampling; and what came of it."""
        record = self.line(number)
        request = record.get("request")
        request = request if isinstance(request, dict) else {}
        names = request.get("messages")
        lines = [self._messages.get(str(name)) for name in names] if isinstance(names, list) else []
        messages = [{"line": line, **_mapping(self.line(line).get("message"))} for line in lines if line]
        return {"messages": [_cut_message(one) for one in messages], "tools": request.get("tools") or [],
                "sampling": request.get("sampling") or {}, "result": record.get("result")}

    @cached_property
    def plan(self) -> list[dict[str, Any]]:
        """The chain as it was planned, a tree of steps; empty where the journal does not tell."""
        try:
            first = next((self.line(n) for n in range(1, min(len(self._lines), 5) + 1)
                          if self.line(n)["kind"] == "Order"), None)
            company = recorded_company(Order.from_record(first), KnownTools()) if first else None
        except (ChatDevError, AttributeError, KeyError, TypeError, ValueError, OSError):
            return []  # a company with tools of somebody's own, or of another version: the events still tell
        return list(_steps(company.chain, company, "")) if company else []

    async def follow(self, since: int) -> AsyncIterator[tuple[str, int, list[str]]]:
        """Events from number `since` on, as they come: `events` with the number of the next one, `void` where all are
        to be asked for again, `problem`, and `beat` now and then."""
        said, beat = "", time.monotonic()
        while True:
            if await asyncio.to_thread(self.refresh) or since > len(self.events):
                since = 0
                yield "void", 0, []
            if len(self.events) > since:
                batch = self.events[since:since + 500]
                since += len(batch)
                beat = time.monotonic()
                yield "events", since, batch
                continue
            if self.problem != said:
                said = self.problem
                yield "problem", since, [json.dumps(said)]
            if time.monotonic() - beat > _BEAT:
                beat = time.monotonic()
                yield "beat", since, []
            await asyncio.sleep(_LOOK)


class _Unreadable(ValueError):
    """A line that is a record, but none that this version reads."""


def _parse(line: bytes, number: int) -> dict[str, Any]:
    record = json.loads(line.decode("utf-8", "surrogatepass"))
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise ValueError("no record")
    if record.get("v") != SCHEMA:
        raise _Unreadable(f"line {number} of the journal is written with version {record.get('v')!r:.20} of its form, "
                          f"and this chatdev reads version {SCHEMA}; look at it with the chatdev that wrote it")
    return record


def _steps(steps: Any, company: CompanyConfig, above: str) -> Iterator[dict[str, Any]]:
    counts: dict[str, int] = {}
    for number, step in enumerate(steps, start=1):
        yield _step(step, number, company, above, counts)


def _step(step: Step, number: int, company: CompanyConfig, above: str, counts: dict[str, int]) -> dict[str, Any]:
    """A step with its place, which leaves out passes and items: all of them are one step of the plan."""
    counts[step.name] = counts.get(step.name, 0) + 1
    place = above if not step.name else "/".join(filter(None, (above, f"{step.name}#{counts[step.name]}")))
    found: dict[str, Any] = {"kind": step.kind, "name": step.name, "place": place, "caption": step.caption,
                             "when": step.when or ""}
    if phase := company.phases.get(step.phase_named or ""):
        titles = [company.roles[role].title for role in (phase.instructor, phase.assistant)
                  if role and role in company.roles]
        found |= {"about": phase.about, "roles": titles, "reads": list(phase.reads), "writes": phase.writes}
    if step.side_by_side:
        found["steps"] = [_step(inner, n, company, f"{place}/branch-{n}", {})
                          for n, inner in enumerate(step.children, start=1)]
    else:
        found["steps"] = list(_steps(step.children, company, place))
    return found


# Records made light.


def light(record: Mapping[str, Any], number: int) -> dict[str, Any] | None:
    """The record as pages get it, with its line's number `n`; None for messages. Long texts are cut: `cut` has their
    paths and lengths."""
    if record["kind"] == "Message":
        return None
    event = {name: value for name, value in record.items() if name not in _UNSENT}
    if record["kind"] == "Activity":
        event |= _activity(record)
    cut: dict[str, int] = {}
    event = {name: _cut(value, name, cut, 0) for name, value in event.items()}
    return {"n": number, **event, **({"cut": cut} if cut else {})}


def _activity(record: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a call; what it was shown, and what came of it, is long and asked for."""
    request, result = _mapping(record.get("request")), _mapping(record.get("result"))
    if "tool" in request:
        values = _mapping(request.get("values"))
        return {"request": {"tool": request["tool"], "arguments": request.get("arguments"), "reads": sorted(values)},
                "result": {name: value for name, value in result.items() if name != "value"}}
    messages = request.get("messages")
    sampling = _mapping(request.get("sampling"))
    return {"request": {"messages": len(messages) if isinstance(messages, list) else 0, "model": sampling.get("model"),
                        "temperature": sampling.get("temperature")},
            "result": {"characters": len(str(result.get("text", ""))), "finish": result.get("finish_reason")}}


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _cut_message(message: dict[str, Any]) -> dict[str, Any]:
    cut: dict[str, int] = {}
    line = message.pop("line")
    return {"n": line, "message": _cut(message, "message", cut, 0), "cut": cut}


def _cut(value: Any, path: str, cut: dict[str, int], depth: int) -> Any:
    if isinstance(value, str):
        if len(value) <= TEXT:
            return value
        cut[path] = len(value)
        return value[:TEXT]
    if isinstance(value, dict | list) and (depth > _DEEP or len(value) > _LIST):
        text = json.dumps(value, ensure_ascii=False, indent=1)
        cut[path] = len(text)
        return text[:TEXT]
    if isinstance(value, dict):
        return {str(key)[:TEXT]: _cut(one, f"{path}.{key}", cut, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_cut(one, f"{path}.{n}", cut, depth + 1) for n, one in enumerate(value)]
    return value


# The versions of a run's software, out of the git history in its folder: files, and what each delivery changed.

_VERSIONS = 1000
_FILES = 2000
_SHOWN = 1 << 20  # bytes of a file that are shown
_COMPARED = 4_000_000  # lines before times lines after, above which two files are not compared line by line
_CONTEXT = 3
_DIFFS = 60  # files of one version that are compared
_ID = re.compile(r"[0-9a-f]{40}")


def versions(folder: Path) -> list[dict[str, Any]]:
    """The versions that differ from the one before, oldest first: id, place of the delivery, what was said of it, and
    seconds since 1970."""
    with _history(folder) as repository:
        if repository is None:
            return []
        commits = list(islice(repository.commits(), _VERSIONS))
    return [_describe(commit) for before, commit in pairwise([None, *reversed(commits)])
            if commit and not (before and before.tree == commit.tree)]


def version(folder: Path, name: str) -> dict[str, Any]:
    """A version: its files with sizes, which of them differ from the version before, and how, line by line."""
    with _history(folder) as repository:
        commit, before = _find(repository, name)
        assert repository is not None
        now, then = repository.files_of(commit.id), repository.files_of(before.id if before else None)
        paths = sorted({*now, *then})[:_FILES]
        rows = [{"path": os.fsdecode(path), "state": _state(then.get(path), now.get(path)),
                 "size": len(repository.content(now[path])) if path in now else 0} for path in paths]
        changed = [path for path in paths if then.get(path) != now.get(path)]
        diffs = [_diff(os.fsdecode(path), _content(repository, then.get(path)), _content(repository, now.get(path)))
                 for path in changed[:_DIFFS]]
    return {**_describe(commit), "files": rows, "diffs": diffs, "left_out": len(changed) - len(diffs)}


def compare_newest(one: Path, other: Path) -> list[dict[str, Any]]:
    """How the newest software of one run differs from that of another, file by file."""
    first, second = _newest_files(one), _newest_files(other)
    return [_diff(path, first.get(path), second.get(path)) for path in sorted({*first, *second})[:_DIFFS]
            if first.get(path) != second.get(path)]


def _newest_files(folder: Path) -> dict[str, bytes]:
    with _history(folder) as repository:
        if repository is None:
            return {}
        return {os.fsdecode(path): repository.content(found) for path, found in
                islice(repository.files().items(), _FILES)}


def file_text(folder: Path, name: str, path: str) -> dict[str, Any]:
    """A file of a version: its text, or that it has none."""
    with _history(folder) as repository:
        commit, _ = _find(repository, name)
        assert repository is not None
        found = repository.files_of(commit.id).get(os.fsencode(path))
        if found is None:
            raise ConfigError(f"version {name[:7]} has no file {path!r:.200}")
        data = repository.content(found)
    if is_binary(data):
        return {"path": path, "size": len(data), "binary": True, "text": ""}
    return {"path": path, "size": len(data), "binary": False, "text": data[:_SHOWN].decode("utf-8", "replace")}


@contextmanager
def _history(folder: Path) -> Iterator[Repository | None]:
    """The repository; None where there is none, or where it is a link."""
    metadata = folder / "software" / ".git"
    if not metadata.is_dir() or metadata.is_symlink() or metadata.parent.is_symlink():
        yield None
        return
    with Repository.open(metadata) as repository:
        yield repository


def _find(repository: Repository | None, name: str) -> tuple[Commit, Commit | None]:
    """The commit of that id, and the one before it. Raises ConfigError."""
    commits = iter(repository.commits()) if repository and _ID.fullmatch(name) else iter(())
    for commit in commits:
        if commit.id.decode("ascii") == name:
            return commit, next(commits, None)
    raise ConfigError(f"the software has no version {name[:50]!r}")


def _describe(commit: Commit) -> dict[str, Any]:
    title, _, rest = commit.message.decode("utf-8", "replace").strip().partition("\n")
    place, colon, about = title.partition(": ")
    return {"id": commit.id.decode("ascii"), "place": place if colon else "", "about": (about or title)[:500],
            "more": rest.strip()[:500], "time": commit.commit_time}


def _state(before: object, now: object) -> str:
    if before == now:
        return "same"
    return "added" if before is None else "deleted" if now is None else "changed"


def _content(repository: Repository, found: FileVersion | None) -> bytes | None:
    return None if found is None else repository.content(found)


def _diff(path: str, before: bytes | None, after: bytes | None) -> dict[str, Any]:
    """How a file differs: hunks of rows, each a sign, the line's numbers before and after, and the line."""
    row: dict[str, Any] = {"path": path, "state": _state(before, after), "hunks": [], "added": 0, "removed": 0}
    sides = (before or b"", after or b"")
    if any(map(is_binary, sides)):
        return {**row, "note": "no text"}
    old, new = (data[:_SHOWN].decode("utf-8", "replace").splitlines() for data in sides)
    if len(old) * len(new) > _COMPARED:
        return {**row, "note": f"too long to be compared line by line: {len(old)} and {len(new)} lines"}
    matcher = difflib.SequenceMatcher(None, old, new)
    row["hunks"] = [list(_rows(group, old, new)) for group in matcher.get_grouped_opcodes(_CONTEXT)]
    signs = [line[0] for hunk in row["hunks"] for line in hunk]
    return {**row, "added": signs.count("+"), "removed": signs.count("-")}


def _rows(group: Any, old: list[str], new: list[str]) -> Iterator[tuple[str, int | None, int | None, str]]:
    for kind, begin, end, to, upto in group:
        if kind == "equal":
            yield from ((" ", begin + n + 1, to + n + 1, line) for n, line in enumerate(old[begin:end]))
        else:
            yield from (("-", begin + n + 1, None, line) for n, line in enumerate(old[begin:end]))
            yield from (("+", None, to + n + 1, line) for n, line in enumerate(new[to:upto]))


def pictures(folder: Path) -> Mapping[str, Path]:
    """The pictures that tools left beside the report, by name."""
    run = folder / "run"
    return {file.name: file for file in sorted(run.glob("*.svg")) + sorted(run.glob("*.png"))
            if file.is_file() and not file.is_symlink()} if not run.is_symlink() else {}
