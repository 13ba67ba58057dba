"""Git repositories without git: a run's own, read and written, and the one around a folder of the user's, of which the
index, the ignore rules and the newest commit are read. By dulwich, and only its formats.

Nothing is started for them and no settings are read, so that no hook, filter, attribute, monitor or setting – whether
it comes with the software or is the user's own – has a part in it. Nor does it cost processes. In a user's repository
nothing is written but by `add_branch`.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from dulwich.config import StackedConfig
from dulwich.errors import ChecksumMismatch, FileFormatException, WrongObjectException
from dulwich.ignore import IgnoreFilter, IgnoreFilterManager, default_user_ignore_filter_path, read_ignore_patterns
from dulwich.index import (
    ConflictedIndexEntry,
    SerializedIndexEntry,
    UnsupportedIndexFormat,
    commit_tree,
    read_index_dict,
    write_index,
)
from dulwich.object_store import BaseObjectStore, DiskObjectStore, MaxTreeDepthExceeded, iter_tree_contents
from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.pack import SHA1Writer
from dulwich.refs import HEADREF, DiskRefsContainer, Ref, SymrefLoop, check_ref_format

from chatdev.errors import WorkspaceError
from chatdev.paths import open_plain, read_plain
from chatdev.workspace.file_tree import explain_os_errors

_AUTHOR = b"ChatDev <chatdev@localhost>"
_FOLDERS = ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info")
_HEAD = b"ref: refs/heads/main\n"
_CONFIG = b"""[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
"""
_ATTRIBUTES = b"* -text !eol -ident -filter !working-tree-encoding\n"
"""For those who use git in the folder: files stay as they are, whatever a `.gitattributes` in the software asks for."""
_LOCK = ".lock"
_MOST = 100_000  # files of a version, and versions
_LARGEST_OBJECT = 64 << 20  # bytes; trees and commits are read, no files
DAMAGES = (LookupError, ValueError, TypeError, AssertionError, RuntimeError, struct.error, zlib.error,
            ChecksumMismatch, FileFormatException, WrongObjectException, SymrefLoop, MaxTreeDepthExceeded)
"""What reading bytes that are not as they should be ends in."""


E = TypeVar("E")


def _at_most(entries: Iterable[E]) -> Iterator[E]:
    """The entries of a tree; raises ValueError when they are more than any software has."""
    for count, entry in enumerate(entries):
        if count > _MOST:
            raise ValueError("a tree has too many files")
        yield entry


class FileVersion(NamedTuple):
    """A file of a version: its mode as git has it, and the id of its content."""

    mode: int
    id: ObjectID


class _OwnObjects(DiskObjectStore):
    """The objects that lie in the repository itself."""

    @property
    def alternates(self) -> list[BaseObjectStore]:
        """None: `objects/info/alternates` may name any folder."""
        return []


class Repository:
    """The repository with its data in `metadata` (`.git`), open."""

    def __init__(self, metadata: Path, store: DiskObjectStore) -> None:
        self._metadata = metadata
        self._store = store
        self._refs = DiskRefsContainer(metadata)

    @classmethod
    @contextmanager
    def open(cls, metadata: Path) -> Iterator[Repository]:
        """The repository, to be closed. Raises WorkspaceError for one that is damaged or cannot be written."""
        try:
            with (explain_os_errors("use the git history", metadata),
                  closing(_OwnObjects(metadata / "objects", loose_object_size_limit=_LARGEST_OBJECT)) as store):
                check_packs(metadata / "objects" / "pack", _LARGEST_OBJECT)
                yield cls(metadata, store)
        except DAMAGES as error:
            raise WorkspaceError(f"the git history {metadata} is damaged ({type(error).__name__}: {error}); the files "
                                 "themselves are whole; move it away and go on") from error

    def head(self) -> ObjectID | None:
        """The newest commit; None before the first."""
        return self._refs.follow(HEADREF)[1]

    def files(self) -> dict[bytes, FileVersion]:
        """The newest version, by path."""
        return self.files_of(self.head())

    def files_of(self, commit: ObjectID | None) -> dict[bytes, FileVersion]:
        """The version of a commit, by path; before the first there are none."""
        entries = () if commit is None else iter_tree_contents(self._store, self.tree_of(commit))
        return {entry.path: FileVersion(entry.mode, entry.sha) for entry in _at_most(entries)
                if entry.path is not None and entry.mode is not None and entry.sha is not None}

    def messages(self) -> Iterator[str]:
        """The messages of all commits, newest first."""
        return (commit.message.decode("utf-8", "replace").strip() for commit in self.commits())

    def commits(self) -> Iterator[Commit]:
        """All commits, newest first."""
        newer, seen, said = self.head(), set[ObjectID](), 0
        while newer is not None:
            if newer in seen or len(seen) > _MOST:
                raise ValueError(f"the commits before {newer!r} have no end")
            seen.add(newer)
            commit = self._commit(newer)
            said += len(commit.message)
            if said > _LARGEST_OBJECT:
                raise ValueError("the messages of all commits are too long")
            yield commit
            newer = next(iter(commit.parents), None)

    def content(self, version: FileVersion) -> bytes:
        """The content of a file of a version."""
        found = self._store[version.id]
        if not isinstance(found, Blob):
            raise WrongObjectException(version.id, "blob")
        return found.data

    def tree_of(self, commit: ObjectID | None) -> ObjectID:
        """The tree of a commit; before the first it is empty."""
        return Tree().id if commit is None else self._commit(commit).tree

    def keep(self, content: bytes, mode: int) -> FileVersion:
        """Keep the content of a file."""
        blob = Blob.from_string(content)
        self._store.add_object(blob)
        return FileVersion(mode, blob.id)

    def tree(self, files: Mapping[bytes, FileVersion]) -> ObjectID:
        """The id of a version's tree, which is kept."""
        return commit_tree(self._store, ((path, entry.id, entry.mode) for path, entry in files.items()))

    def stage(self, files: Mapping[bytes, FileVersion]) -> None:
        """Let `git status` compare the folder with these files."""
        index = BytesIO()
        writer = SHA1Writer(index)
        write_index(writer, [SerializedIndexEntry(path, 0, 0, 0, 0, files[path].mode, 0, 0, 0, files[path].id, 0, 0)
                             for path in sorted(files)])
        writer.write_sha()
        replace_file(self._metadata / "index", index.getvalue())

    def commit(self, tree: ObjectID, message: str) -> ObjectID:
        """A new commit on the newest one; its id."""
        names, head = self._refs.follow(HEADREF)
        now = datetime.now().astimezone()
        offset = now.utcoffset() or timedelta()
        commit = Commit()
        commit.tree, commit.parents = tree, [head] if head else []
        commit.author = commit.committer = _AUTHOR
        commit.author_time = commit.commit_time = int(now.timestamp())
        commit.author_timezone = commit.commit_timezone = int(offset.total_seconds())
        commit.message = message.encode("utf-8", "replace") + b"\n"
        self._store.add_object(commit)
        self._point(names[-1], commit.id)
        return commit.id

    def tag_head(self, name: str) -> None:
        """Give the newest commit a name, unless the name is taken."""
        path, head = self._metadata / "refs" / "tags" / name, self.head()
        if head and not path.exists():
            replace_file(path, head + b"\n")

    def _commit(self, commit: ObjectID) -> Commit:
        found = self._store[commit]
        if not isinstance(found, Commit):
            raise WrongObjectException(commit, "commit")
        return found

    def _point(self, name: Ref, commit: ObjectID) -> None:
        if name != HEADREF and not (name.startswith(b"refs/") and check_ref_format(name)):
            raise ValueError(f"HEAD leads to {name!r}")
        path = self._metadata / name.decode("utf-8", "surrogateescape")
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, commit + b"\n")


def make_repository(metadata: Path) -> None:
    """Make the repository when there is none, repair one that is half made, and clear away what somebody who was killed
    over it left. Raises WorkspaceError."""
    with explain_os_errors("write", metadata):
        for folder in _FOLDERS:
            (metadata / folder).mkdir(parents=True, exist_ok=True)
        for lock in metadata.rglob(f"*{_LOCK}"):
            lock.unlink(missing_ok=True)  # no other process works here: the run's journal is locked
        for name, content in (("HEAD", _HEAD), ("config", _CONFIG)):
            if not (metadata / name).is_file() or not (metadata / name).read_bytes().strip():
                replace_file(metadata / name, content)
        replace_file(metadata / "info" / "attributes", _ATTRIBUTES)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(f"{path.name}{_LOCK}")
    temporary.unlink(missing_ok=True)
    with temporary.open("xb") as file:  # one that is new: no link is written through
        file.write(content)
    temporary.replace(path)


# Git's packs, looked over before anything is unpacked: how large objects say they are, and made of what.

_BY_OFFSET, _BY_NAME = 6, 7
"""Objects that are made of another one: of one before it in the pack, or of any one by its name (which git writes into
packs for the network only, and which may go round)."""
_HEADER = 1024  # bytes in which the beginning of an object fits, with the tables that it is packed by
_NUMBERS = 32  # bytes in which two numbers fit
_LARGEST_INDEX = 64 << 20  # bytes
_INDEX = b"\xfftOc\0\0\0\2"
_FANOUT, _NAME, _CHECKSUM, _OFFSET = 256 * 4, 20, 4, 4  # bytes of the parts of an index
_FAR = 0x80000000
_SHARED_INDEX = "multi-pack-index"


def check_packs(folder: Path, largest: int) -> None:
    """Raise ValueError when an object in the packs in `folder` is larger than `largest`, or cannot be from `git gc`."""
    if os.path.lexists(folder / _SHARED_INDEX):
        raise ValueError(f"it has a {_SHARED_INDEX}, which chatdev does not read; remove {folder / _SHARED_INDEX}")
    for index in sorted(folder.glob("*.idx")):
        pack = index.with_suffix(".pack")
        if pack.exists() and pack.stat().st_size:
            with (os.fdopen(open_plain(pack), "rb") as file,
                  mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data):
                checked: set[int] = set()
                for offset in _offsets(read_plain(index, _LARGEST_INDEX)):
                    _check_object(data, offset, largest, checked)


def _offsets(index: bytes) -> Iterator[int]:
    """Where the objects of a pack begin. Raises ValueError for an index that is not of the present form."""
    if not index.startswith(_INDEX):
        raise ValueError("the index of a pack has another form than that of `git gc`")
    begin = len(_INDEX) + _FANOUT
    (count,) = struct.unpack_from(">L", index, begin - 4)
    begin += count * (_NAME + _CHECKSUM)
    for (offset,) in struct.iter_unpack(">L", index[begin:begin + count * _OFFSET]):
        if offset & _FAR:
            raise ValueError("a pack is larger than that of any run")
        yield offset


def _check_object(data: mmap.mmap, offset: int, largest: int, checked: set[int]) -> None:
    """Check the object that begins there and those that it is made of; each is looked at once."""
    while offset not in checked:
        checked.add(offset)
        header = data[offset:offset + _HEADER]
        kind, size, at = _read_header(header)
        if kind == _BY_NAME:
            raise ValueError("an object of a pack is made of one that is named")
        if kind == _BY_OFFSET:
            distance, at = _read_distance(header, at)
            if not 0 < distance < offset:
                raise ValueError("an object of a pack is not made of one before it")
            size = max(size, _size_of_result(header[at:]))
        if size > largest:
            raise ValueError(f"an object of a pack has {size} bytes")
        if kind != _BY_OFFSET:
            return
        offset -= distance


def _read_header(header: bytes) -> tuple[int, int, int]:
    """The kind of an object, its size, and where its data begin."""
    size, at = header[0] & 15, 1
    if header[0] & 0x80:
        rest, at = _read_number(header, at)
        size |= rest << 4
    return header[0] >> 4 & 7, size, at


def _read_distance(data: bytes, at: int) -> tuple[int, int]:
    """How far before an object that one begins which it is made of."""
    value = data[at] & 0x7f
    while data[at] & 0x80:
        at += 1
        value = (value + 1 << 7) + (data[at] & 0x7f)
    return value, at + 1


def _size_of_result(packed: bytes) -> int:
    """How large what a difference makes says it is: the second number in it."""
    start = zlib.decompressobj().decompress(packed, _NUMBERS)
    return _read_number(start, _read_number(start, 0)[1])[0]


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at `at`, seven bits a byte, the lowest first; and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


# A user's git repository around a folder, read without git: its index, its ignore rules and its newest commit.

_LARGEST_USERS_INDEX, _LARGEST_LIST = 256 << 20, 1 << 20  # bytes
_SMALL_PACKS = 32 << 20  # bytes of their indexes: about a million objects
_MOST_STARS = 8  # in a pattern: one with more may take for ever

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
            index = read_index_dict(BytesIO(read_plain(self.metadata / "index", _LARGEST_USERS_INDEX)))
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
