"""The software on disk: only differences are written, every delivery is a commit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from chatdev.errors import UnsafePath
from chatdev.workspace import tree
from chatdev.workspace.history import History
from chatdev.workspace.safe_paths import safe_path


class SoftwareFolder:
    """The folder a run writes its software to. All methods raise WorkspaceError with what to do."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._history = History(path)

    def start_history(self) -> None:
        """Make it a git repository."""
        self._history.start()

    def versions(self) -> list[str]:
        """The messages of all commits, newest first; none without a history."""
        return self._history.messages()

    def write(self, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
        """Bring the folder from `before` to `after`, touching only files that differ, each whole or not at all.

        Raises UnsafePath, before anything is written, when a path would leave the folder or touch `.git`.
        """
        changed = [path for path in after if before.get(path) != after[path]]
        deleted = [path for path in before if path not in after]
        if unsafe := [path for path in (*changed, *deleted) if safe_path(path) != path]:
            raise UnsafePath(f"the path {unsafe[0]!r} is not in its plain form {safe_path(unsafe[0])!r}")
        for path in deleted:  # first: a file may give way to a folder of the same name
            tree.remove_file(self.path, path)
        for path in changed:
            tree.write_file(self.path, path, after[path])
        self._history.stage({path: after[path] for path in changed}, deleted)

    def read(self) -> dict[str, bytes]:
        """All files by relative POSIX path, without git metadata, links and caches."""
        return tree.read_tree(self.path)

    def is_half_written(self, software: Mapping[str, bytes]) -> bool:
        """Whether everything that is not committed comes of writing `software`, by somebody who was killed over it."""
        return all(self._comes_of(path, software) for path in self._history.uncommitted())

    def _comes_of(self, path: str, software: Mapping[str, bytes]) -> bool:
        file = self.path / path
        if not os.path.lexists(file):
            return path not in software
        if file.is_symlink() or not file.is_file():
            return False
        content = file.read_bytes()
        return software.get(path) == content or tree.is_left_of(path, content, software)

    def commit(self, message: str, *, allow_empty: bool = False) -> str | None:
        """Commit the folder; the commit's short id, or None when nothing changed or there is no history."""
        return self._history.commit(message, allow_empty=allow_empty)
