"""The one record of a run: an append-only file of JSON lines (design §5).

Three kinds of lines share the file: `Message` (a text that requests refer to by hash, so that a dialogue that grows is
not written again with every call), `Activity` (a finished model or tool call with its request and result) and events.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chatdev.errors import JournalError, WorkspaceError
from chatdev.secrets import holds, scrubbed_values

SCHEMA = 1


class Journal:
    """Appends records to `path`; `sync` returns when everything written so far is on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._messages: set[str] = set()
        try:
            self._file = path.open("ab")
        except OSError as error:
            raise WorkspaceError(f"cannot write the journal {path}: {error.strerror}") from error
        self._dirty = False
        self._syncing = asyncio.Lock()

    def append(self, kind: str, place: str, values: Mapping[str, Any]) -> None:
        """Write one record; it is safe from a crash of this process at once, of the machine after `sync`."""
        line = json.dumps({"v": SCHEMA, "kind": kind, "place": place, **values}, ensure_ascii=False, default=str)
        if holds(line):
            line = json.dumps(scrubbed_values(json.loads(line)), ensure_ascii=False)
        try:
            self._file.write(line.encode("utf-8", "surrogatepass") + b"\n")
            self._file.flush()
        except OSError as error:
            raise _write_error(self.path, error) from error
        self._dirty = True

    def message(self, digest: str, message: Mapping[str, Any]) -> None:
        """Write a message once; requests name it by `digest`."""
        if digest not in self._messages:
            self._messages.add(digest)
            self.append("Message", "", {"hash": digest, "message": message})

    async def sync(self) -> None:
        """Wait until the disk has it; calls that come while one is under way share the next."""
        async with self._syncing:
            if self._dirty:
                self._dirty = False
                try:
                    await asyncio.to_thread(os.fsync, self._file.fileno())
                except OSError as error:
                    raise _write_error(self.path, error) from error

    def close(self) -> None:
        """Close; may be called twice. What could not be written was reported by `append`."""
        with contextlib.suppress(OSError):
            self._file.close()


def _write_error(path: Path, error: OSError) -> WorkspaceError:
    mend = "free some space" if error.errno == errno.ENOSPC else "check the folder's permissions"
    return WorkspaceError(f"cannot write the journal {path}: {error.strerror}; {mend} and start again")


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The records in order; a torn last line (a crash while writing) is left out. Raises JournalError for other
    damage."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            yield json.loads(line.decode("utf-8", "surrogatepass"))
        except ValueError as error:
            if number == len(lines):
                return
            raise JournalError(f"{path}, line {number}: not a JSON record; the journal is damaged") from error
