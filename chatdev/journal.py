"""The one record of a run: an append-only file of JSON lines (design §5).

Four kinds of lines share the file: `Order` (what the run is to do, its first line), `Message` (a text that requests
refer to by hash, so that a dialogue that grows is not written again with every call), `Activity` (a finished model or
tool call with its request and result), and events. Each line has `v` (the version of the form), `time` (when it was
written), `kind`, `place`, and what belongs to its kind. The time is for people: nothing is decided by it, and journals
of earlier versions have none.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any

from chatdev.errors import JournalError, WorkspaceError
from chatdev.paths import open_plain
from chatdev.safe_text import holds_secret, scrub_values

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
