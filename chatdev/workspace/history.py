"""The history of the software: a git repository in its folder, every version a commit."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from chatdev.errors import WorkspaceError
from chatdev.workspace import tree

if TYPE_CHECKING:  # dulwich is imported when it is needed
    from dulwich.objects import ObjectID

    from chatdev.workspace.repository import Entry, Repository

_FILE, _PROGRAM, _LINK = 0o100644, 0o100755, 0o120000  # git's modes
_ID = 7  # characters of a commit's short id


class History:
    """The git repository of one folder.

    It knows the folder as it looked at it last and as it was told of changes since (`stage`), so that a commit costs
    what changed. All methods raise WorkspaceError.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._metadata = folder / ".git"
        self._files: dict[bytes, Entry] | None = None  # not looked at yet
        self._tree: ObjectID | None = None  # of these files, once it is known

    def start(self) -> None:
        """Make the repository when there is none, and mend what somebody who was killed left of one."""
        from chatdev.workspace.repository import make

        if self._metadata.is_symlink() or self._metadata.is_file():
            raise WorkspaceError(f"{self._metadata} leads somewhere else; move it away")
        make(self._metadata)

    def messages(self) -> list[str]:
        """The messages of all commits, newest first; none without a repository."""
        if not self._started:
            return []
        with self._opened() as repository:
            return list(repository.messages())

    def uncommitted(self) -> list[str]:
        """Look at the folder: the paths that are not as in the newest commit; none without a repository."""
        if not self._started:
            return []
        with self._opened() as repository:
            changed = set(repository.files().items()) ^ set(self._look(repository).items())
        return sorted({os.fsdecode(path) for path, _ in changed})

    def stage(self, written: Mapping[str, bytes], deleted: Iterable[str]) -> None:
        """What was just done to the folder."""
        if self._files is None or not (written or deleted):
            return
        self._tree = None
        for path in deleted:
            self._files.pop(os.fsencode(path), None)
        with self._opened() as repository:
            self._files |= {os.fsencode(path): _kept(repository, content) for path, content in written.items()}

    def commit(self, message: str, *, allow_empty: bool = False) -> str | None:
        """Commit everything; the short id, or None without a repository or anything new."""
        if not self._started:
            return None
        with self._opened() as repository:
            files = self._look(repository) if self._files is None else self._files
            if self._tree is None:
                self._tree = repository.tree(files)
                repository.stage(files)
            if not allow_empty and self._tree == repository.tree_of(repository.head()):
                return None
            return repository.commit(self._tree, message)[:_ID].decode("ascii")

    @property
    def _started(self) -> bool:
        return self._metadata.is_dir() and not self._metadata.is_symlink()

    def _opened(self) -> AbstractContextManager[Repository]:
        from chatdev.workspace.repository import Repository

        return Repository.opened(self._metadata)

    def _look(self, repository: Repository) -> Mapping[bytes, Entry]:
        """Everything that is in the folder, also what is no software."""
        self._files = {os.fsencode(path.relative_to(self._folder)): _kept(repository, *_read(path))
                       for path in tree.everything(self._folder)}
        self._tree = None
        return self._files


def _kept(repository: Repository, content: bytes, mode: int = _FILE) -> Entry:
    from chatdev.workspace.repository import Entry

    return Entry(mode, repository.keep(content))


def _read(path: Path) -> tuple[bytes, int]:
    """What git keeps of a file or link, and its mode."""
    if path.is_symlink():
        return os.fsencode(path.readlink()), _LINK
    return path.read_bytes(), _PROGRAM if path.stat().st_mode & stat.S_IXUSR else _FILE
