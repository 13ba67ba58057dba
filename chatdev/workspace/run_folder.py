"""The folder of one run: `<Name>-<YYYYmmddHHMMSS>/software` and `…/run`."""

from __future__ import annotations

import itertools
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from chatdev.errors import WorkspaceError
from chatdev.workspace.file_tree import explain_os_errors

_LONGEST_NAME = 60
_NAMELESS = "software"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where a run keeps its things. `note` says when the wished name had to be changed."""

    path: Path
    note: str | None = None

    @property
    def software(self) -> Path:
        """What the company makes (a git repository)."""
        return self.path / "software"

    @property
    def run(self) -> Path:
        """The record: journal, company snapshot, report, evidence."""
        return self.path / "run"

    @classmethod
    def create(cls, warehouse: Path, name: str, now: datetime) -> RunFolder:
        """A new folder in `warehouse` (made when missing); runs of one name and second get `-2`, `-3`, …"""
        safe = slug(name)
        stem = f"{safe}-{now:%Y%m%d%H%M%S}"
        with explain_os_errors("make the warehouse", warehouse):
            warehouse.mkdir(parents=True, exist_ok=True)
        with explain_os_errors("make a run folder in", warehouse):
            folder = cls(_new_folder(warehouse, stem), _name_note(name, safe))
            folder.software.mkdir()
            folder.run.mkdir()
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """The run folder at `path`; raises WorkspaceError when it is none."""
        folder = cls(path.resolve())
        if missing := [part.name for part in (folder.software, folder.run) if not part.is_dir()]:
            raise WorkspaceError(f"{path} is no run folder: it has no {' and no '.join(missing)}/ in it; give a folder "
                                 "of the warehouse, like warehouse/Name-20260101120000")
        return folder


def slug(name: str) -> str:
    """`name` as a folder name: letters and digits of any script, `-` and `_`; never empty, at most 60 characters."""
    text = unicodedata.normalize("NFC", name)
    words = "".join(char if _is_allowed(char) else " " for char in text).split()
    return "-".join(words)[:_LONGEST_NAME].strip("-") or _NAMELESS


def _is_allowed(char: str) -> bool:
    return char.isalnum() or char in "-_" or unicodedata.category(char).startswith("M")  # M: vowel signs, accents


def _name_note(name: str, safe: str) -> str | None:
    return None if name in (safe, "") else f"the name {name!r} is written {safe!r} in the warehouse"


def _new_folder(warehouse: Path, stem: str) -> Path:
    for count in itertools.count(1):
        path = warehouse / (stem if count == 1 else f"{stem}-{count}")
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path
    raise AssertionError("unreachable: count never ends")
