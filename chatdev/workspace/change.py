"""Software that the user hands in: which files are taken from a folder, and what a run changed of them, as a patch in
git's form, and applied. Files that are left out, or that act, are named in notes.

In a git repository those files are taken that git tracks and those that it neither tracks nor ignores, as they lie
there (`git ls-files -co --exclude-standard`); elsewhere all but the folders that tools make.
"""

from __future__ import annotations

import base64
import difflib
import functools
import hashlib
import os
import re
import stat
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from pathlib import Path
from typing import Any

from chatdev.errors import UnsafePath, WorkspaceError
from chatdev.paths import bundled_table, read_plain
from chatdev.workspace.file_tree import (
    SKIPPED_FOLDERS,
    explain_os_errors,
    read_software_file,
    remove_file,
    safe_path,
    write_file,
)
from chatdev.workspace.repository import FileVersion, WorkTree, is_as_kept

_LARGEST_FILE = 10 << 20  # bytes
_CONTEXT = 3  # lines around a change
_WORD = 52  # bytes of a line of a binary patch
_BAR = 40  # signs of the longest bar of a statistic
_ABSENT = b"/dev/null"
_MODE = b"100644"


@dataclass(frozen=True, slots=True)
class Changeset:
    """The files as they were handed in, and as they are now. What may not be written into a folder stays as it was."""

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]

    @property
    def paths(self) -> list[str]:
        """The files that differ."""
        kept = withheld_files({**self.before, **self.after})
        return [path for path in sorted({*self.before, *self.after} - kept.keys())
                if self.before.get(path) != self.after.get(path)]

    @property
    def patch(self) -> bytes:
        """The change in the form of `git diff --binary`."""
        return b"".join(_file_patch(path, self.before.get(path), self.after.get(path)) for path in self.paths)

    @property
    def statistic(self) -> str:
        """The files that differ with the lines that came and went, as `git diff --stat` tells it; empty without any."""
        rows = {path: _count_lines(self.before.get(path, b""), self.after.get(path, b"")) for path in self.paths}
        if not rows:
            return ""
        width, most = max(map(len, rows)), max(1, *map(sum, rows.values()))
        lines = [f"{path:{width}} | {_bar(added, removed, most)}" for path, (added, removed) in rows.items()]
        added, removed = (sum(row[side] for row in rows.values()) for side in (0, 1))
        files = f"{len(rows)} file{'s' * (len(rows) != 1)} changed"
        return "\n".join([*lines, f"{files}, {added} lines added, {removed} removed"])


def apply_change(change: Changeset, folder: Path) -> list[str]:
    """Put the change into `folder`, the user's; the paths. Every file is looked at before any is written.

    Raises WorkspaceError, with nothing changed, where a file is not as it was handed in, or has work in it that is not
    committed.
    """
    contents = _new_contents(change, folder)
    tree = WorkTree.around(folder)
    if tree:
        _refuse_uncommitted(change, folder, tree)
    for path, content in contents.items():
        if content is None:
            remove_file(folder, path)
        else:
            mode = (folder / path).stat().st_mode & 0o777 if path in change.before else None
            write_file(folder, path, content)
            if mode is not None:
                (folder / path).chmod(mode)
    return list(contents)


def branch_change(change: Changeset, folder: Path, name: str, message: str) -> tuple[Path, str]:
    """Commit the change on a new branch of the repository that `folder` is in; neither the folder nor what is checked
    out changes. The repository, and the commit. Raises WorkspaceError as `apply_change` does."""
    tree = WorkTree.around(folder)
    if not tree:
        raise WorkspaceError(f"{folder} is in no git repository, so it has no branches; apply without --branch")
    committed, prefix = tree.committed(), tree.prefix(folder)
    contents = {path: _merge(change, path, tree.content(committed[prefix + path]) if prefix + path in committed
                             else None, f"the newest commit of {tree.root}") for path in change.paths}
    return tree.root, tree.add_branch(name, {prefix + path: data for path, data in contents.items()}, message)


def _new_contents(change: Changeset, folder: Path) -> dict[str, bytes | None]:
    """What each file of the change holds afterwards, None for one that goes."""
    found = {}
    for path in change.paths:
        file = folder / path
        try:
            content = read_plain(file, _LARGEST_FILE) if os.path.lexists(file) else None
        except OSError as error:
            raise WorkspaceError(f"{file} cannot be read: {error.strerror or error}; nothing was changed") from None
        found[path] = _merge(change, path, content, str(folder))
    return found


def _merge(change: Changeset, path: str, content: bytes | None, place: str) -> bytes | None:
    """The file with the change, where it is as it was handed in. What stands in it in place of a secret, or with other
    line ends, stays as it is there."""
    before, after = change.before.get(path), change.after.get(path)
    if content == after:
        return after
    if before is None or content is None or after is None:
        if (before is None) != (content is None) or (content is not None and not _is_same(before, content)):
            raise WorkspaceError(_no_longer(path, place, is_new=before is None))
        return after
    if before == content:
        return after
    if not _is_same(before, content):
        raise WorkspaceError(_no_longer(path, place, is_new=False))
    return _carry_over(before, after, content)


def _is_same(before: bytes | None, content: bytes) -> bool:
    """Whether a file is as it was handed in, but for secrets and line ends."""
    from chatdev.safe_text import scrub_bytes

    return before is not None and _unix(before) == _unix(scrub_bytes(content))


def _carry_over(before: bytes, after: bytes, content: bytes) -> bytes:
    """The lines of `after` that are new in place of those that they replace in `content`, which has the lines of
    `before` in other words."""
    old, new, there = (data.splitlines(keepends=True) for data in (_unix(before), _unix(after), content))
    if len(old) != len(there):
        return after
    end = b"\r\n" if b"\r\n" in content else b"\n"
    steps = difflib.SequenceMatcher(None, old, new).get_opcodes()
    return b"".join(line if step == "equal" else line.replace(b"\n", end) for step, a, b, c, d in steps
                    for line in (there[a:b] if step == "equal" else new[c:d]))


def _unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _no_longer(path: str, place: str, *, is_new: bool) -> str:
    what = "is there already, and the change would make it" if is_new else "is not as it was handed in to the run"
    return (f"the change no longer applies: {path} in {place} {what}; nothing was changed. Put it back as it was, or "
            "merge by hand: chatdev patch DIR | git apply --3way")


def _refuse_uncommitted(change: Changeset, folder: Path, tree: WorkTree) -> None:
    """Raise WorkspaceError where a file of the change holds what is in no commit."""
    committed, prefix = tree.committed() if tree.head else {}, tree.prefix(folder)
    for path in change.paths:
        file = folder / path
        if path in change.before and os.path.lexists(file) and not is_as_kept(read_plain(file, _LARGEST_FILE),
                                                                              committed.get(prefix + path)):
            raise WorkspaceError(f"{path} in {folder} has work in it that is not committed; commit it, and apply again."
                                 " Nothing was changed")


def _file_patch(path: str, before: bytes | None, after: bytes | None) -> bytes:
    """The part of a patch that is about one file."""
    old, new = _quote(f"a/{path}"), _quote(f"b/{path}")
    head = [b"diff --git " + old + b" " + new]
    if before is None:
        head.append(b"new file mode " + _MODE)
        old = _ABSENT
    if after is None:
        head.append(b"deleted file mode " + _MODE)
        new = _ABSENT
    head.append(b"index " + _full_id(before) + b".." + _full_id(after))
    contents = before or b"", after or b""
    if any(map(is_binary, contents)):
        return b"\n".join([*head, b"GIT binary patch", *_literal(contents[1]), b"", *_literal(contents[0]), b"", b""])
    lines = _hunks(*contents)
    if lines:
        head += [mark + name + (b"\t" if b" " in name else b"") for mark, name in ((b"--- ", old), (b"+++ ", new))]
    return b"\n".join([*head, b""]) + b"".join(lines)


def _hunks(before: bytes, after: bytes) -> list[bytes]:
    """The lines of a unified difference of two texts, without its head."""
    old, new = _lines(before), _lines(after)
    lines = [*difflib.diff_bytes(difflib.unified_diff, old, new, n=_CONTEXT)][2:]
    return [line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines]


def _lines(data: bytes) -> list[bytes]:
    """The lines with their ends; only a line feed ends one."""
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + [line for line in data.split(b"\n")[-1:] if line]


def _literal(data: bytes) -> Iterator[bytes]:
    """A content in the form of a binary patch."""
    yield b"literal %d" % len(data)
    packed = zlib.compress(data)
    for start in range(0, len(packed), _WORD):
        piece = packed[start:start + _WORD]
        size = len(piece)
        yield bytes([size + (64 if size <= 26 else 70)]) + base64.b85encode(piece, pad=True)


def _full_id(data: bytes | None) -> bytes:
    if data is None:
        return b"0" * 40
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest().encode()


def _quote(path: str) -> bytes:
    """A path as git writes it: in quotes where it has characters that would be taken for something else."""
    data = path.encode("utf-8", "surrogateescape")
    if all(32 <= byte < 127 and byte not in b'"\\' for byte in data):
        return data
    return b'"' + b"".join(bytes([byte]) if 32 <= byte < 127 and byte not in b'"\\' else b"\\%03o" % byte
                           for byte in data) + b'"'


def _count_lines(before: bytes, after: bytes) -> tuple[int, int]:
    """The lines that came and went; none of binary files."""
    if is_binary(before) or is_binary(after):
        return 0, 0
    lines = _hunks(before, after)
    return sum(line.startswith(b"+") for line in lines), sum(line.startswith(b"-") for line in lines)


def _bar(added: int, removed: int, most: int) -> str:
    if not (added or removed):
        return "binary"
    scale = min(1.0, _BAR / most)
    return f"{added + removed} {'+' * max(round(added * scale), bool(added))}" \
           f"{'-' * max(round(removed * scale), bool(removed))}"


# Files that act without anybody starting them (`acting_files.yaml` lists them, each with its reason).

_LIST = Path(__file__).with_name("acting_files.yaml")
_HEAD = "head"
_REMEMBERED = 1 << 14  # paths; each version of a software has nearly the same
_REPOSITORIES = ({"objects", "refs"}, {"commondir"})
"""What makes a folder a repository beside `HEAD`; `commondir` names another folder that has the rest."""


@dataclass(frozen=True, slots=True)
class ActingName:
    """A pattern of paths that act when they are looked at, and who acts."""

    pattern: re.Pattern[str]
    why: str


@functools.lru_cache(maxsize=_REMEMBERED)
def reason_to_withhold(path: str) -> str | None:
    """Reason why the file `path` acts when somebody only opens its folder; None if it does not."""
    folded = "/".join(_fold(part) for part in path.split("/"))
    if not _any_name().search(folded):
        return None
    return next((name.why for name in acting_names() if name.pattern.search(folded)), None)


def bare_repositories(paths: Iterable[str]) -> dict[str, list[str]]:
    """The folders that git takes for repositories, whatever is in their files, each with paths that make it one."""
    return {folder: [paths[0] for paths in makers.values()] for folder, makers in _repositories(paths).items()}


def withheld_files(paths: Iterable[str]) -> dict[str, str]:
    """Those of the paths that must not be written into a folder, and why not: without them nothing in it acts."""
    paths = list(paths)
    found = {path: why for path in paths if (why := reason_to_withhold(path))}
    for makers in _repositories(paths).values():
        found |= dict.fromkeys(makers[_HEAD], "it makes its folder a git repository, whose settings start programs")
    return found


def _repositories(paths: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """The folders that git takes for repositories: by the folded name of what makes it one, `HEAD` first, all paths
    that are spelled so or lie in it. A file system may hold several spellings beside each other.

    git looks for `.git`, and for a folder that is like one: with `HEAD`, `objects` and `refs`. Its `config` may name
    programs, which any command of git in this folder or below it starts.
    """
    folded = {path: [*map(_fold, path.split("/"))] for path in paths}
    found = {}
    inside = _names_inside(folded) if any(_HEAD in parts for parts in folded.values()) else {}
    for folder, names in inside.items():
        if _HEAD in names and (kind := next((kind for kind in _REPOSITORIES if kind <= names.keys()), None)):
            found[folder] = {name: names[name] for name in (_HEAD, *sorted(kind))}
    return found


def _names_inside(folded: Mapping[str, Sequence[str]]) -> Mapping[str, Mapping[str, list[str]]]:
    """By folder, the names in it, each with the paths that have it."""
    inside: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path, parts in folded.items():
        for level, part in enumerate(parts):
            inside["/".join(parts[:level])][part].append(path)
    return inside


@functools.cache
def acting_names() -> tuple[ActingName, ...]:
    """The list."""
    return tuple(ActingName(_compile(pattern), entry["why"]) for entry in listed_files()["refused"]
                 for pattern in entry["names"])


@functools.cache
def _any_name() -> re.Pattern[str]:
    """All names at once: most files have none of them."""
    return re.compile("|".join(name.pattern.pattern for name in acting_names()))


def listed_files() -> Any:
    """What `acting_files.yaml` holds."""
    return bundled_table(_LIST)


def _compile(pattern: str) -> re.Pattern[str]:
    """A pattern as an expression to search for in a folded path."""
    whole = re.sub(r"\\[zZ]$", "", translate(pattern.rstrip("/")))
    return re.compile(rf"(?:^|/){whole}{'(?:/|$)' if pattern.endswith('/') else '$'}")


def _fold(part: str) -> str:
    """One part of a path as file systems may take it: without regard to case, Unicode form, invisible characters, and
    blanks and dots at the end."""
    if part.isascii():
        return part.lower().rstrip(". ")
    seen = "".join(char for char in unicodedata.normalize("NFKC", part) if unicodedata.category(char) != "Cf")
    return seen.casefold().rstrip(". ")


# Files taken from a folder that the user hands in; the others stay there and are named in notes.

MADE_BY_TOOLS = SKIPPED_FOLDERS | {".hg", ".svn", "CVS", ".venv", "venv", "node_modules", ".tox", ".nox", ".eggs",
                                   ".gradle", ".next", ".cache"}
"""Folders that are left out where no git says what belongs to the software; and those with a file of `_MARKS`."""
_MARKS = ("pyvenv.cfg", "CACHEDIR.TAG")
_LARGEST_TREE, _MOST_FILES = 200 << 20, 50_000
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
