"""The folder of one run: `<Name>-<YYYYmmddHHMMSS>/software` and `…/run`.

Of the software only differences are written, and every version is a commit of the git repository in its folder.
"""

from __future__ import annotations

import itertools
import os
import stat
import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from chatdev.errors import ConfigError, UnsafePath, WorkspaceError
from chatdev.workspace.change import withheld_files
from chatdev.workspace.file_tree import (
    explain_os_errors,
    files_and_links,
    is_left_of,
    read_software_file,
    read_tree,
    remove_file,
    require_folder,
    require_plain_tree,
    safe_path,
    write_file,
)

if TYPE_CHECKING:  # dulwich is imported when it is needed
    from dulwich.objects import ObjectID

    from chatdev.workspace.repository import FileVersion, Repository

_LONGEST_NAME = 60
_LONGEST_WAREHOUSE = 3800  # bytes of its path; the system takes 4095, and git's folders lie deep
_NAMELESS = "software"
_FILE, _PROGRAM, _LINK = 0o100644, 0o100755, 0o120000  # git's modes
_ID = 7  # characters of a commit's short id
_FOREIGN = ("this folder belongs to another user: whatever they change in it while the run is under way becomes part "
            "of the run; copy it to have it for yourself")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where a run keeps its things. `note` says when the wished name had to be changed."""

    path: Path
    note: str | None = None

    @property
    def software(self) -> Path:
        """The software that the company makes (a git repository)."""
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
        if len(os.fsencode(warehouse.absolute())) > _LONGEST_WAREHOUSE:
            raise WorkspaceError(f"the path of the warehouse has more than {_LONGEST_WAREHOUSE} bytes, so those of "
                                 "files in it would be too long; choose another folder (--warehouse)")
        with explain_os_errors("make the warehouse", warehouse):
            warehouse.mkdir(parents=True, exist_ok=True)
        with explain_os_errors("make a run folder in", warehouse):
            folder = cls(_new_folder(warehouse, stem), _name_note(name, safe))
            folder.software.mkdir()
            folder.run.mkdir()
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """The run folder at `path`. Raises ConfigError when it is none, WorkspaceError when it cannot be used."""
        folder = cls(path.resolve())
        if missing := [part.name for part in (folder.software, folder.run) if not part.is_dir()]:
            why = f"it has no {' and no '.join(missing)}/ in it" if folder.path.is_dir() else "there is no such folder"
            raise ConfigError(f"{path} is no run folder: {why}; give a folder of the warehouse, like "
                              "warehouse/Name-20260101120000")
        require_folder(folder.software)
        require_folder(folder.run)
        return folder if folder.path.stat().st_uid == os.geteuid() else replace(folder, note=_FOREIGN)


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


class SoftwareFolder:
    """The folder a run writes its software to. All methods raise WorkspaceError with what to do.

    It remembers what lay in the folder when it was last looked at, and what `write` changed since, so that a commit
    costs what changed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._metadata = path / ".git"
        self.withheld: dict[str, str] = {}
        """Files that were not written since they act when somebody looks at the folder, and why (`change.py`)."""
        self._files: dict[bytes, FileVersion] | None = None  # not looked at yet
        self._tree: ObjectID | None = None  # of these files, once it is known

    def start_history(self) -> None:
        """Make the repository when there is none, and repair what somebody who was killed left of one."""
        from chatdev.workspace.repository import make_repository

        if os.path.lexists(self._metadata):
            require_plain_tree(self._metadata)
        make_repository(self._metadata)

    def versions(self) -> list[str]:
        """The messages of all commits, newest first; none without a repository."""
        if not self._has_history:
            return []
        with self._open() as repository:
            return list(repository.messages())

    def read(self) -> dict[str, bytes]:
        """All files by relative POSIX path, without git metadata, links and caches."""
        return read_tree(self.path)

    def write(self, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
        """Bring the folder from `before` to `after`, touching only files that differ, each whole or not at all.

        Raises UnsafePath, before anything is written, when a path would leave the folder or touch `.git`.
        """
        changed = {path: content for path, content in after.items() if before.get(path) != content}
        deleted = [path for path in before if path not in after]
        _refuse_unsafe((*changed, *deleted))
        for path, why in withheld_files(after).items():
            self.withheld[path] = why
            changed.pop(path, None)
            deleted += [path] if path in before else []
        for path in deleted:  # first: a file may give way to a folder of the same name
            remove_file(self.path, path)
        for path, content in changed.items():
            write_file(self.path, path, content)
        self._remember(changed, deleted)

    def commit(self, message: str, *, allow_empty: bool = False) -> str | None:
        """Commit the folder; the commit's short id, or None when nothing changed or there is no repository."""
        if not self._has_history:
            return None
        with self._open() as repository:
            files = self._look(repository) if self._files is None else self._files
            if self._tree is None:
                self._tree = repository.tree(files)
                repository.stage(files)
            if not allow_empty and self._tree == repository.tree_of(repository.head()):
                return None
            return repository.commit(self._tree, message)[:_ID].decode("ascii")

    def tag_newest(self, name: str) -> None:
        """Give the newest commit a name, unless that is taken or there is no repository."""
        if self._has_history:
            with self._open() as repository:
                repository.tag_head(name)

    def uncommitted_paths(self) -> list[str]:
        """Look at the folder: the paths that are not as in the newest commit; none without a repository."""
        if not self._has_history:
            return []
        with self._open() as repository:
            changed = set(repository.files().items()) ^ set(self._look(repository).items())
        return sorted({os.fsdecode(path) for path, _ in changed})

    def is_half_written(self, software: Mapping[str, bytes]) -> bool:
        """Whether everything that is not committed comes of writing `software`, by somebody who was killed over it."""
        return all(self._comes_of(path, software) for path in self.uncommitted_paths())

    def _comes_of(self, path: str, software: Mapping[str, bytes]) -> bool:
        file = self.path / path
        if not os.path.lexists(file):
            return path not in software
        if file.is_symlink() or not file.is_file():
            return False
        content = read_software_file(file)
        return software.get(path) == content or is_left_of(path, content, software)

    @property
    def _has_history(self) -> bool:
        return self._metadata.is_dir() and not self._metadata.is_symlink()

    def _open(self) -> AbstractContextManager[Repository]:
        from chatdev.workspace.repository import Repository

        return Repository.open(self._metadata)

    def _look(self, repository: Repository) -> Mapping[bytes, FileVersion]:
        """Everything that is in the folder, also what is no software."""
        with explain_os_errors("read", self.path):
            self._files = {os.fsencode(path.relative_to(self.path)): repository.keep(*_content_and_mode(path))
                           for path in files_and_links(self.path)}
        self._tree = None
        return self._files

    def _remember(self, written: Mapping[str, bytes], deleted: Iterable[str]) -> None:
        """What was just done to the folder."""
        if self._files is None or not (written or deleted):
            return
        self._tree = None
        for path in deleted:
            self._files.pop(os.fsencode(path), None)
        with self._open() as repository:
            self._files |= {os.fsencode(path): repository.keep(content, _FILE) for path, content in written.items()}


def _refuse_unsafe(paths: Iterable[str]) -> None:
    for path in paths:
        if (plain := safe_path(path)) != path:
            raise UnsafePath(f"the path {path!r} is not in its plain form {plain!r}")


def _content_and_mode(path: Path) -> tuple[bytes, int]:
    """What git keeps of a file or link, and its mode."""
    if path.is_symlink():
        return os.fsencode(path.readlink()), _LINK
    return read_software_file(path), _PROGRAM if path.stat().st_mode & stat.S_IXUSR else _FILE
