"""Files taken from a folder that the user hands in; the others stay there and are named in notes.

In a git repository these are the files that git tracks and those that it neither tracks nor ignores, as they lie there
(`git ls-files -co --exclude-standard`); elsewhere all but the folders that tools make.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev.errors import UnsafePath, WorkspaceError
from chatdev.workspace.file_tree import SKIPPED_FOLDERS, explain_os_errors, read_software_file
from chatdev.workspace.repository import FileVersion
from chatdev.workspace.snapshot import safe_path
from chatdev.workspace.work_tree import WorkTree, is_as_kept

MADE_BY_TOOLS = SKIPPED_FOLDERS | {".hg", ".svn", "CVS", ".venv", "venv", "node_modules", ".tox", ".nox", ".eggs",
                                   ".gradle", ".next", ".cache"}
"""Folders that are left out where no git says what belongs to the software; and those with a file of `_MARKS`."""
_MARKS = ("pyvenv.cfg", "CACHEDIR.TAG")
_LARGEST_FILE, _LARGEST_TREE, _MOST_FILES = 10 << 20, 200 << 20, 50_000
_POINTER = b"version https://git-lfs.github.com/spec/"
_SUBMODULE = 0o160000
_NAMED = 5  # paths of a note
_LINK, _TOO_LARGE, _LFS, _ODD_NAME = ("symbolic links", f"files over {_LARGEST_FILE >> 20} MiB",
                                      "pointers to large files (Git LFS)", "files with names that cannot be everywhere")
_REPOSITORY, _UNREADABLE = "submodules and repositories of their own", "files that cannot be read"


@dataclass(slots=True)
class HandedIn:
    """The files by relative path; `origin` says where they come from, in plain values: the `folder`, and of a git
    repository its `commit` and `branch`."""

    files: dict[str, bytes] = field(default_factory=dict)
    origin: dict[str, Any] = field(default_factory=dict)
    _left: dict[str, dict[str, None]] = field(default_factory=dict)
    _changed: list[str] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        """What was not taken, and what is not committed."""
        found = [f"not taken, and left as they are: {kind} ({_few(paths)})" for kind, paths in self._left.items()]
        if self._changed:
            found.append(f"work that is not committed is part of what was handed in ({_few(self._changed)})")
        binary = [path for path, data in self.files.items() if is_binary(data)]
        if binary:
            found.append(f"kept as they are, and not shown to any model: binary files ({_few(binary)})")
        return found

    def leave(self, kind: str, path: str) -> None:
        """Do not take it."""
        self._left.setdefault(kind, {})[path] = None

    def take(self, path: str, file: Path) -> bytes | None:
        """Take a file, if it can be taken; its content."""
        if (kind := _obstacle(path, file)) is not None:
            self.leave(kind, path)
            return None
        try:
            data = read_software_file(file)
        except OSError:
            self.leave(_UNREADABLE, path)
            return None
        if data.startswith(_POINTER):
            self.leave(_LFS, path)
            return None
        self.files[path] = data
        return data

    def note_change(self, path: str) -> None:
        """It is not as it is committed."""
        self._changed.append(path)


def hand_in(folder: Path) -> HandedIn:
    """Take what is in `folder`. Raises WorkspaceError when that is too much, or no file at all."""
    with explain_os_errors("read", folder):
        tree = WorkTree.around(folder)
        tracked = tree.tracked() if tree else None
        if tree and tracked is not None and _is_part(folder, tree, tracked):
            found = _from_git(folder, tree, tracked)
        else:
            found = _from_folder(folder)
    found.origin["folder"] = str(folder.resolve())
    found.files = dict(sorted(found.files.items()))
    if not found.files:
        raise WorkspaceError(f"{folder} holds no file that can be changed; give the folder of the software")
    return found


def is_binary(data: bytes) -> bool:
    """Whether a file holds something else than UTF-8 text."""
    if b"\0" in data:
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _from_git(folder: Path, tree: WorkTree, tracked: Mapping[str, FileVersion]) -> HandedIn:
    """The files that git lists."""
    prefix, ignored = tree.prefix(folder), tree.ignored()
    found = HandedIn(origin={"commit": (tree.head or b"").decode("ascii"), "branch": tree.branch})
    for path in sorted(path for path in tracked if path.startswith(prefix)):
        _take_tracked(found, tree, path, prefix, tracked[path].mode)
    for path in _walk(tree.root, prefix, lambda path, _: ignored.may_prune_directory(f"{path}/"), found):
        if path not in tracked and not ignored.is_ignored(path):
            found.take(path.removeprefix(prefix), tree.root / path)
    _note_changes(found, prefix, tree.committed_if_cheap() or tracked)
    _refuse_too_much(folder, found)
    return found


def _is_part(folder: Path, tree: WorkTree, tracked: Mapping[str, FileVersion]) -> bool:
    """Whether a folder belongs to the repository around it, and is not ignored there."""
    prefix = tree.prefix(folder)
    return not prefix or any(path.startswith(prefix) for path in tracked) or not tree.ignored().is_ignored(prefix)


def _note_changes(found: HandedIn, prefix: str, committed: Mapping[str, FileVersion]) -> None:
    """Note the files that are not as they are committed."""
    for path, data in found.files.items():
        if not is_as_kept(data, committed.get(prefix + path)):
            found.note_change(path)


def _take_tracked(found: HandedIn, tree: WorkTree, path: str, prefix: str, mode: int) -> None:
    """Take a file that git tracks, if it is there."""
    own = path.removeprefix(prefix)
    if mode == _SUBMODULE:
        found.leave(_REPOSITORY, own)
    elif _reaches(tree.root, path):
        found.take(own, tree.root / path)
    else:
        found.note_change(own)  # it was deleted, or lies behind a link


def _reaches(root: Path, path: str) -> bool:
    """Whether it is there, and no folder on the way to it is a link."""
    parts = path.split("/")
    folders = (root.joinpath(*parts[:level]) for level in range(1, len(parts)))
    return os.path.lexists(root / path) and not any(folder.is_symlink() for folder in folders)


def _from_folder(folder: Path) -> HandedIn:
    """All files but those that tools make."""
    found = HandedIn()
    for path in _walk(folder, "", _is_made_by_tools, found):
        if not path.endswith(".pyc"):
            found.take(path, folder / path)
    _refuse_too_much(folder, found)
    return found


def _is_made_by_tools(path: str, folder: Path) -> bool:
    return path.rpartition("/")[2] in MADE_BY_TOOLS or any(os.path.lexists(folder / mark) for mark in _MARKS)


def _walk(root: Path, prefix: str, is_left_out: Callable[[str, Path], bool], found: HandedIn) -> Iterator[str]:
    """All entries below `root/prefix` but folders, by path from the root. Those of repositories and links are noted."""
    waiting, count = [prefix.rstrip("/")], 0
    while waiting:
        above = waiting.pop()
        with os.scandir(root / above) as entries:
            for entry in entries:
                path = f"{above}/{entry.name}" if above else entry.name
                count += 1
                if count > 4 * _MOST_FILES:
                    raise _too_much(root)
                if not entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git":
                        yield path
                elif entry.name in SKIPPED_FOLDERS or is_left_out(path, Path(entry.path)):
                    continue
                elif os.path.lexists(f"{entry.path}/.git"):
                    found.leave(_REPOSITORY, path[len(prefix):])
                else:
                    waiting.append(path)


def _obstacle(path: str, file: Path) -> str | None:
    """Why a file is not taken."""
    try:
        mode = file.lstat()
        if stat.S_ISLNK(mode.st_mode):
            return _LINK
        if not stat.S_ISREG(mode.st_mode):
            return _UNREADABLE
        if mode.st_size > _LARGEST_FILE:
            return _TOO_LARGE
        return None if safe_path(path) == path else _ODD_NAME
    except OSError:
        return _UNREADABLE
    except UnsafePath:
        return _ODD_NAME


def _refuse_too_much(folder: Path, found: HandedIn) -> None:
    if len(found.files) > _MOST_FILES or sum(map(len, found.files.values())) > _LARGEST_TREE:
        raise _too_much(folder)


def _too_much(folder: Path) -> WorkspaceError:
    return WorkspaceError(f"{folder} holds more than {_LARGEST_TREE >> 20} MiB or {_MOST_FILES} files; give the folder "
                          "of the part that is to change, or let .gitignore leave out what is data")


def _few(paths: Collection[str]) -> str:
    """Some of the paths, and how many more there are."""
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(sorted(paths)[:_NAMED]) + more
