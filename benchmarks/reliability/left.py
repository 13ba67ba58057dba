"""What a run leaves behind, and how that of two runs differs - times aside, nothing may."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from chatdev.journal import read_journal

JOURNAL = Path("run", "journal.jsonl")

_TIMING = ("time", "seconds", "replayed", "name", "folder")
"""Fields that tell one session, or one folder, from another."""
_NO_EVENTS = ("Order", "Message", "Activity", "RunResumed")
_OF_RESUME = "a path on record is not followed"
"""What only a session that goes on notes."""
_BRANCH = re.compile(r".*parallel#\d+/branch-\d+")


@dataclass(frozen=True, slots=True)
class Left:
    """What there is after a run."""

    software: Mapping[str, bytes]
    """Every file below `software/` but git's own: temporary ones and links too."""
    history: tuple[str, ...]
    """The commits, oldest first: the fingerprint of all files, and the message."""
    uncommitted: str
    activities: Mapping[str, Any]
    """Digest, request and result by place."""
    messages: frozenset[str]
    events: Mapping[str, list[dict[str, Any]]]
    """The newest session's, in order; those of a parallel branch by themselves, for branches keep no order."""
    company: str

    @classmethod
    def of(cls, folder: Path) -> Left:
        """What the run in the folder left. Raises ValueError when an activity is in the journal twice."""
        records = list(read_journal(folder / JOURNAL))
        software = folder / "software"
        return cls(
            {path.relative_to(software).as_posix(): path.read_bytes() for path in sorted(software.rglob("*"))
             if path.is_file() and ".git" not in path.relative_to(software).parts},
            tuple(_git(software, "log", "--reverse", "-z", "--format=%T %B").split("\0")[:-1]),
            _git(software, "status", "--porcelain", "--ignored"),
            _activities(records), frozenset(r["hash"] for r in records if r["kind"] == "Message"),
            _events(records), (folder / "run" / "company.yaml").read_text(encoding="utf-8"))

    def differences(self, other: Left, but: Collection[str] = ()) -> list[str]:
        """What of the other is not as here, in words, but for some parts; nothing when they are the same."""
        found = []
        for part in (field for field in fields(self) if field.name not in but):
            mine, theirs = getattr(self, part.name), getattr(other, part.name)
            if mine != theirs:
                found.append(f"{part.name}: {_first_difference(mine, theirs)}")
        return found


def places(folder: Path) -> list[str]:
    """The activities in the run's journal, in order; none when there is no journal yet."""
    journal = folder / JOURNAL
    return [r["place"] for r in read_journal(journal) if r["kind"] == "Activity"] if journal.exists() else []


def _activities(records: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for record in records:
        if record["kind"] == "Activity":
            if record["place"] in found:
                raise ValueError(f"{record['place']} is in the journal twice")
            found[record["place"]] = [record["digest"], record["request"], _timeless(record["result"])]
    return found


def _events(records: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    start = max(n for n, record in enumerate(records) if record["kind"] == "RunStarted")
    found: dict[str, list[dict[str, Any]]] = {}
    for record in records[start:]:
        if record["kind"] not in _NO_EVENTS and _OF_RESUME not in record.get("text", ""):
            branch = _BRANCH.match(record["place"])
            found.setdefault(branch[0] if branch else "", []).append(_timeless(record))
    return found


def _timeless(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in _TIMING}


def _first_difference(mine: Any, theirs: Any) -> str:
    """The first place where two mappings, sets or sequences differ."""
    if isinstance(mine, Mapping):
        key = next(k for k in (*mine, *theirs) if k not in mine or k not in theirs or mine[k] != theirs[k])
        if isinstance(mine.get(key), list) and isinstance(theirs.get(key), list):
            return f"{key}: {_first_difference(mine[key], theirs[key])}"
        return f"{key}: {mine.get(key)!r} became {theirs.get(key)!r}"[:500]
    if isinstance(mine, frozenset):
        return f"{len(mine - theirs)} are missing and {len(theirs - mine)} too many"
    if isinstance(mine, str):
        return f"{mine!r} became {theirs!r}"[:500]
    number = next((n for n, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b),
                  min(len(mine), len(theirs)))
    return f"number {number} of {len(mine)}: {mine[number:number + 2]!r} became {theirs[number:number + 2]!r}"[:500]


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-c", "safe.directory=*", *arguments], cwd=folder, check=True, capture_output=True,
                          text=True).stdout
