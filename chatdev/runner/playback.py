"""From the record to live: a resumed run first repeats what is on record.

`Playback` alone knows whether the run is live. The history of the software asks it, and it releases the journal once.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from difflib import unified_diff
from itertools import zip_longest
from typing import Any

from chatdev.engine.activity import Record
from chatdev.engine.context import Files
from chatdev.errors import RunChanged
from chatdev.journal import Journal
from chatdev.workspace.run_folder import SoftwareFolder

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
