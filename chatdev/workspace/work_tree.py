"""A user's git repository around a folder, read without git: its index, its ignore rules and its newest commit.

Only data is read, by dulwich's formats: no setting of the repository, no hook, filter, attribute or monitor of the file
system that it names has a part in it. Nothing is written but by `add_branch`.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Self

from dulwich.config import StackedConfig
from dulwich.ignore import IgnoreFilter, IgnoreFilterManager, default_user_ignore_filter_path, read_ignore_patterns
from dulwich.index import ConflictedIndexEntry, UnsupportedIndexFormat, commit_tree, read_index_dict
from dulwich.object_store import DiskObjectStore, iter_tree_contents
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.refs import HEADREF, DiskRefsContainer, Ref, check_ref_format

from chatdev.errors import WorkspaceError
from chatdev.plain_file import read_plain
from chatdev.workspace.file_tree import explain_os_errors
from chatdev.workspace.repository import DAMAGES, FileVersion, check_packs, replace_file

_LARGEST_INDEX, _LARGEST_LIST, _LARGEST_OBJECT = 256 << 20, 1 << 20, 64 << 20  # bytes
_SMALL_PACKS = 32 << 20  # bytes of their indexes: about a million objects
_MOST_STARS = 8  # in a pattern: one with more may take for ever
_AUTHOR = b"ChatDev <chatdev@localhost>"
_POINTER = re.compile(rb"gitdir: ([^\0\r\n]+)\s*")
_UNREADABLE = (*DAMAGES, OSError, UnsupportedIndexFormat, EOFError)


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A working tree at `root`: `metadata` has its HEAD and index, `common` its objects and branches."""

    root: Path
    metadata: Path
    common: Path

    @classmethod
    def around(cls, folder: Path) -> Self | None:
        """The one that `folder` is in; None where it is in none."""
        folder = folder.resolve()
        for root in (folder, *folder.parents):
            with suppress(OSError, ValueError):
                metadata = _follow(root / ".git", _POINTER)
                if metadata and (metadata / "HEAD").is_file():
                    common = metadata / "commondir"
                    return cls(root, metadata, (_follow(common, re.compile(rb"([^\0\r\n]+)\s*")) or metadata)
                               if common.is_file() else metadata)
        return None

    def prefix(self, folder: Path) -> str:
        """What the paths of the files below `folder` begin with; empty for the root."""
        inside = folder.resolve().relative_to(self.root).as_posix()
        return "" if inside == "." else f"{inside}/"

    def tracked(self) -> dict[str, FileVersion] | None:
        """What the index holds, by path from the root; None where it cannot be read. Of a conflict it is one side."""
        try:
            index = read_index_dict(BytesIO(read_plain(self.metadata / "index", _LARGEST_INDEX)))
        except FileNotFoundError:
            return {}
        except _UNREADABLE:
            return None
        sides = {path: (entry.this or entry.other or entry.ancestor) if isinstance(entry, ConflictedIndexEntry)
                 else entry for path, entry in index.items()}
        return {os.fsdecode(path): FileVersion(entry.mode, entry.sha) for path, entry in sides.items()
                if entry and not entry.skip_worktree}

    def ignored(self) -> IgnoreFilterManager:
        """The rules of what is left out: `.gitignore` files, `info/exclude` and the user's own list."""
        lists = [self.common / "info" / "exclude"]
        with suppress(*_UNREADABLE):
            lists.insert(0, Path(default_user_ignore_filter_path(StackedConfig.default())).expanduser())
        return _BoundedIgnores(str(self.root), [_ignore_list(path) for path in lists], ignorecase=False)

    @property
    def branch(self) -> str:
        """The branch that is checked out; empty where none is."""
        with suppress(*_UNREADABLE):
            names = [name for name in self._refs.follow(HEADREF)[0] if name.startswith(b"refs/heads/")]
            return names[-1][len(b"refs/heads/"):].decode("utf-8", "replace") if names else ""
        return ""

    @property
    def head(self) -> ObjectID | None:
        """The newest commit; None before the first, and where it cannot be read."""
        with suppress(*_UNREADABLE):
            return self._refs.follow(HEADREF)[1]
        return None

    def committed_if_cheap(self) -> dict[str, FileVersion] | None:
        """`committed`, where the packs are small enough to be looked over first; None where they are not."""
        packs = self.common / "objects" / "pack"
        try:
            if sum(path.stat().st_size for path in packs.glob("*.idx")) > _SMALL_PACKS:
                return None
            check_packs(packs, _LARGEST_OBJECT)
            return self.committed()
        except (*_UNREADABLE, WorkspaceError):
            return None

    def committed(self) -> dict[str, FileVersion]:
        """The files of the newest commit, by path from the root. Raises WorkspaceError."""
        with self._objects() as store:
            tree = _commit_in(store, self._require_head()).tree
            return {os.fsdecode(entry.path): FileVersion(entry.mode, entry.sha)
                    for entry in iter_tree_contents(store, tree)
                    if entry.path is not None and entry.mode is not None and entry.sha is not None}

    def content(self, version: FileVersion) -> bytes:
        """The content of a file in the repository. Raises WorkspaceError."""
        with self._objects() as store:
            found = store[version.id]
            return found.data if isinstance(found, Blob) else b""

    def add_branch(self, name: str, changes: Mapping[str, bytes | None], message: str) -> str:
        """Make the branch `name`: a commit on the newest one with these files, by path from the root, None for one that
        goes. Neither the folder nor what is checked out changes. Its id; raises WorkspaceError."""
        ref = Ref(b"refs/heads/" + name.encode("utf-8", "surrogateescape"))
        if name.startswith("-") or not check_ref_format(ref):
            raise WorkspaceError(f"{name!r} can be no name of a branch; give another one, such as chatdev/change")
        with self._objects() as store:
            if ref in self._refs:
                raise WorkspaceError(f"{self.root} has a branch {name} already; give another name")
            head = self._require_head()
            files = self.committed()
            for path, content in changes.items():
                old = files.pop(path, None)
                if content is not None:
                    blob = Blob.from_string(content)
                    store.add_object(blob)
                    files[path] = FileVersion(old.mode if old else 0o100644, blob.id)
            commit = _make_commit(commit_tree(store, ((os.fsencode(path), one.id, one.mode)
                                                      for path, one in files.items())), head, message)
            store.add_object(commit)
            place = self.common / os.fsdecode(ref)
            place.parent.mkdir(parents=True, exist_ok=True)
            replace_file(place, commit.id + b"\n")
            return commit.id.decode("ascii")

    @property
    def _refs(self) -> DiskRefsContainer:
        return DiskRefsContainer(self.common, self.metadata)

    def _require_head(self) -> ObjectID:
        if head := self.head:
            return head
        raise WorkspaceError(f"{self.root} has no commit that can be read; commit once, or apply the patch by hand: "
                             "chatdev patch DIR | git apply")

    @contextmanager
    def _objects(self) -> Iterator[DiskObjectStore]:
        try:
            with (explain_os_errors("use the git repository", self.common),
                  closing(DiskObjectStore(self.common / "objects", loose_object_size_limit=_LARGEST_OBJECT)) as store):
                yield store
        except (*DAMAGES, struct.error) as error:
            raise WorkspaceError(f"the git repository {self.common} cannot be read ({type(error).__name__}: {error}); "
                                 "apply the patch by hand: chatdev patch DIR | git apply") from error


def blob_id(content: bytes) -> ObjectID:
    """The id that git knows a content by."""
    return Blob.from_string(content).id


def is_as_kept(content: bytes, version: FileVersion | None) -> bool:
    """Whether a file holds what git keeps of it, also where the checkout has written its line ends as Windows does."""
    return version is not None and version.id in (blob_id(content), blob_id(content.replace(b"\r\n", b"\n")))


class _BoundedIgnores(IgnoreFilterManager):
    """Reads only plain `.gitignore` files of a common size."""

    def _load_path(self, path: str) -> IgnoreFilter | None:
        if path not in self._path_filters:
            self._path_filters[path] = _ignore_list(Path(self._top_path) / path / ".gitignore")
        return self._path_filters[path]


def _ignore_list(path: Path) -> IgnoreFilter:
    """The patterns of a file; none where there is no such file."""
    try:
        text = read_plain(path, _LARGEST_LIST)
    except OSError:
        text = b""
    patterns = (pattern for pattern in read_ignore_patterns(BytesIO(text)) if pattern.count(b"*") <= _MOST_STARS)
    return IgnoreFilter(patterns)


def _follow(path: Path, form: re.Pattern[bytes]) -> Path | None:
    """The folder at `path`, or the one that a file there names."""
    if path.is_dir():
        return path
    found = form.fullmatch(read_plain(path, _LARGEST_LIST)) if path.is_file() else None
    return (path.parent / os.fsdecode(found[1])).resolve() if found else None


def _commit_in(store: DiskObjectStore, name: ObjectID) -> Commit:
    found = store[name]
    if not isinstance(found, Commit):
        raise ValueError(f"{name!r} is no commit")
    return found


def _make_commit(tree: ObjectID, parent: ObjectID, message: str) -> Commit:
    now = datetime.now().astimezone()
    commit = Commit()
    commit.tree, commit.parents = tree, [parent]
    commit.author = commit.committer = _AUTHOR
    commit.author_time = commit.commit_time = int(now.timestamp())
    commit.author_timezone = commit.commit_timezone = int((now.utcoffset() or timedelta()).total_seconds())
    commit.message = message.encode("utf-8", "replace") + b"\n"
    return commit
