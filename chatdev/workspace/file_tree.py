"""Reading and writing the files below one folder so that no link leads elsewhere: every step is opened relative to its
parent. What the file system refuses becomes an error that says what to do (`explain_os_errors`).

A `Software` is the files of a software at one moment, as a value. A path that a model may name is relative, inside the
software, harmless on every common file system.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from chatdev.errors import UnsafePath, WorkspaceError
from chatdev.paths import read_plain, refuse_other_kinds
from chatdev.workspace.python_facts import has_main_guard

SKIPPED_FOLDERS = frozenset({".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"})
_LARGEST_FILE = 10 << 20  # bytes
_LARGEST_TREE = 200 << 20  # bytes
_MOST_FILES = 50_000
_MOST_ENTRIES = 200_000  # of all kinds, caches included
_TEMPORARY = re.compile(r"\.(?P<name>.{1,40})\.[0-9a-f]{8}", re.DOTALL)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "the disk quota is used up; free some space",
    errno.EFBIG: "the file is larger than this process may write; raise the limit (ulimit -f)",
    errno.EROFS: "the file system is read-only; choose another folder (--warehouse)",
    errno.EACCES: "permission denied; make the folder writable or choose another one (--warehouse)",
    errno.EPERM: "permission denied; make the folder writable or choose another one (--warehouse)",
    errno.ENOTDIR: "a file or link is where a folder should be; move it away",
    errno.ELOOP: "a symbolic link is in the way; links are not followed, move it away",
    errno.EISDIR: "a folder is where a file should be; move it away",
    errno.ENOTEMPTY: "a folder is where a file should be; move it away",
    errno.EEXIST: "something else is in its place; move it away",
    errno.ENOENT: "it does not exist; check the path",
    errno.EMFILE: "too many open files; raise the limit (ulimit -n)",
    errno.ENAMETOOLONG: "the name is too long; use a shorter one",
}


def write_file(root: Path, path: str, content: bytes) -> None:
    """Write `root/path` whole or not at all; raises WorkspaceError. `path` is a safe relative POSIX path."""
    *parents, name = _parts(path)
    with explain_os_errors("write", root / path), _open_folder(root, parents, make=True) as folder:
        temporary = f".{name[:40]}.{secrets.token_hex(4)}"  # as _TEMPORARY has it
        try:
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=folder)
            with os.fdopen(fd, "wb") as file:
                file.write(content)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)


def _parts(path: str) -> list[str]:
    """The parts of a relative path. Raises UnsafePath when one of them leads out of its folder."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise UnsafePath(f"the path {path[:80]!a} leaves the software folder; use a short relative path such as "
                         "src/main.py")
    return parts


def is_left_of(path: str, content: bytes, files: Mapping[str, bytes]) -> bool:
    """Whether the file `path` is what `write_file` leaves of one of `files` when it is killed."""
    folder, _, name = path.rpartition("/")
    found = _TEMPORARY.fullmatch(name)
    if not found:
        return False
    whole = (other for other in files if other.rpartition("/")[0] == folder)
    return any(other.rpartition("/")[2][:40] == found["name"] and files[other].startswith(content) for other in whole)


def remove_file(root: Path, path: str) -> None:
    """Remove `root/path` and the folders that this leaves empty; a missing file is fine."""
    *parents, name = _parts(path)
    with explain_os_errors("remove", root / path):
        try:
            with _open_folder(root, parents) as folder:
                os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            return
        while parents:
            with _open_folder(root, parents[:-1]) as folder:
                try:
                    os.rmdir(parents.pop(), dir_fd=folder)
                except OSError:  # not empty: it stays, and so do those above it
                    return


def read_tree(root: Path) -> dict[str, bytes]:
    """All regular files below `root` by relative POSIX path, sorted; links, git metadata and caches are left out.

    Raises WorkspaceError for what is too large to be software (10 MiB a file, 200 MiB or 50,000 files in all).
    """
    files: dict[str, bytes] = {}
    total = 0
    with explain_os_errors("read", root):
        for path in sorted(_regular_files(root)):
            content = read_software_file(path)
            files[path.relative_to(root).as_posix()] = content
            total += len(content)
            if total > _LARGEST_TREE:
                raise _too_much(root)
    return dict(sorted(files.items()))


def read_software_file(path: Path) -> bytes:
    """The content of a file, unless it is larger than any of a software is. Raises WorkspaceError and OSError."""
    if path.lstat().st_size > _LARGEST_FILE:
        raise WorkspaceError(f"{path} is larger than {_LARGEST_FILE >> 20} MiB; keep data out of the software")
    return read_plain(path, _LARGEST_FILE)


def files_and_links(root: Path) -> Iterator[Path]:
    """All files and links below `root`, whoever made them; only what belongs to a repository is left out. Raises
    WorkspaceError when they are too many."""
    for entry in _entries(root, lambda name: name.lower() == ".git"):
        if entry.is_symlink() or entry.is_file():
            yield Path(entry.path)


def _entries(root: Path, left_out: Callable[[str], bool]) -> Iterator[os.DirEntry[str]]:
    """Everything below `root` but folders, and what is in those that are left out; however deep it is, and as long as
    it is not too much."""
    waiting, count = [str(root)], 0
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                if count > _MOST_ENTRIES:
                    raise _too_much(root)
                if not entry.is_dir(follow_symlinks=False):
                    yield entry
                elif not left_out(entry.name):
                    waiting.append(entry.path)


def _too_much(root: Path) -> WorkspaceError:
    return WorkspaceError(f"{root} holds more than {_LARGEST_TREE >> 20} MiB or {_MOST_FILES} files; give the folder "
                          "of the software only")


def write_tree(root: Path, files: Mapping[str, bytes]) -> None:
    """Write all `files` below `root`."""
    for path, content in files.items():
        write_file(root, path, content)


def _regular_files(folder: Path) -> Iterator[Path]:
    count = 0
    for entry in _entries(folder, SKIPPED_FOLDERS.__contains__):
        if entry.is_file(follow_symlinks=False) and not entry.name.endswith(".pyc"):
            count += 1
            if count > _MOST_FILES:
                raise _too_much(folder)
            yield Path(entry.path)


@contextlib.contextmanager
def _open_folder(root: Path, parents: list[str], *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder `root/parents`, opened step by step so that no link is followed on the way."""
    folder = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for part in parents:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


@contextlib.contextmanager
def explain_os_errors(doing: str, path: Path | str) -> Iterator[None]:
    """Raise WorkspaceError "cannot DOING PATH: REASON; WHAT TO DO" for any OSError of the body."""
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0) or str(error.strerror or error)
        raise WorkspaceError(f"cannot {doing} {path}: {remedy}") from error


# Looking over a folder that somebody else may have filled, before anything in it is used.

_LARGEST_ENTRY = 16 << 20  # bytes: far more than an object or a list of refs has
_LARGEST_PACK = 2 << 30  # bytes; packs are mapped, not read
_PACKS = ("objects", "pack")


def require_folder(path: Path) -> None:
    """Raise WorkspaceError when `path` is a link, or anything else but a folder."""
    with explain_os_errors("use", path):
        mode = path.lstat().st_mode
    if not stat.S_ISDIR(mode):
        what = "leads somewhere else: it is a link" if stat.S_ISLNK(mode) else "is no folder"
        raise WorkspaceError(f"{path} {what}; nothing in a run folder is followed, move it away")


def require_plain_files(folder: Path, names: Collection[str]) -> None:
    """Raise WorkspaceError when one of these names in `folder` is anything but a file or missing."""
    for name in names:
        with explain_os_errors("use", folder / name):
            refuse_other_kinds(folder / name)


def require_plain_tree(root: Path) -> None:
    """Raise WorkspaceError when anything below `root`, a repository's data, is a link or no file, or is larger than it
    can be."""
    require_folder(root)
    waiting, count = [root], 0
    with explain_os_errors("use", root):
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    path = Path(entry.path)
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
                        continue
                    refuse_other_kinds(path)
                    most = _LARGEST_PACK if path.relative_to(root).parts[:2] == _PACKS else _LARGEST_ENTRY
                    if count > _MOST_ENTRIES or entry.stat(follow_symlinks=False).st_size > most:
                        raise WorkspaceError(f"the git history {root} is larger than that of any run (see {path}); "
                                             "move it away and go on")


class Software(Mapping[str, bytes]):
    """Files by relative POSIX path, sorted, never changing; equal when the contents are.

    >>> software = Software({"main.py": b"print(1)\\n"})
    >>> software.files, software.lines, software.main
    (('main.py',), 1, 'main.py')
    """

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self._files = MappingProxyType(dict(sorted((files or {}).items())))

    @classmethod
    def load(cls, folder: Path | str) -> Software:
        """The software in `folder` (without git metadata, links and caches); raises WorkspaceError."""
        return cls(read_tree(Path(folder)))

    def __getitem__(self, path: str) -> bytes:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __hash__(self) -> int:
        return hash(tuple(self._files.items()))

    def __repr__(self) -> str:
        return f"Software({', '.join(self._files) or 'empty'})"

    @property
    def files(self) -> tuple[str, ...]:
        """The paths, sorted."""
        return tuple(self._files)

    @property
    def lines(self) -> int:
        """Lines of all text files together."""
        return sum(len(content.splitlines()) for content in self._files.values() if b"\0" not in content)

    @property
    def main(self) -> str | None:
        """The file that starts it, as far as one can tell (see `find_entry`)."""
        return find_entry(self).path

    def text(self, path: str) -> str:
        """One file as text; bytes that are no UTF-8 are replaced."""
        return self._files[path].decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """The file to start, or None with the `candidates` among which nothing decides."""

    path: str | None
    candidates: tuple[str, ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """Arguments after the interpreter on the command line; empty without a program to start."""
        if self.path is None:
            return ()
        path = PurePosixPath(self.path)
        if path.name == "__main__.py" and path.parent.name:
            return ("-m", ".".join(path.parent.parts))
        return (self.path,)


def find_entry(files: Mapping[str, bytes]) -> EntryPoint:
    """main.py (the one nearest to the root), else a `__main__.py`, else the only file with a main guard, else the
    only file; tests and set-up scripts do not count."""
    programs = _program_files(files)
    names = {PurePosixPath(path).name: path for path in reversed(programs)}
    if path := names.get("main.py") or names.get("__main__.py"):
        return EntryPoint(path)
    with_guard = [path for path in programs if has_main_guard(files[path])]
    candidates = with_guard or [path for path in programs if PurePosixPath(path).name != "__init__.py"]
    return EntryPoint(candidates[0]) if len(candidates) == 1 else EntryPoint(None, tuple(candidates))


def _program_files(files: Mapping[str, bytes]) -> list[str]:
    """The Python files that are neither tests nor set-up scripts, those nearest to the root first."""
    found = (path for path in files if path.endswith(".py") and not is_test(path))
    return sorted(found, key=lambda path: (path.count("/"), path))


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests or the packaging rather than to the program."""
    pure = PurePosixPath(path)
    return (pure.name.startswith("test_") or pure.stem.endswith("_test") or pure.name in ("conftest.py", "setup.py")
            or any(part in ("test", "tests") for part in pure.parts[:-1]))


MAX_COMPONENT = 255  # bytes of UTF-8, the limit of ext4, APFS and NTFS
MAX_PATH = 1024  # bytes of UTF-8
MAX_LEVELS = 16

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, invisible marks, lone surrogates, line separators
_REFUSED = '<>:"|?*'  # not allowed on Windows; a colon also names drives and alternate data streams
_LIKE_SLASHES = set("/\\\u2044\u2215\u29f5\u29f8\u29f9\u2571\u2572")  # after NFKC, which turns others into real ones
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
_ELSEWHERE = (
    (re.compile(r"^/|^[A-Za-z]:"), "is absolute"),
    (re.compile(r"^(?:\./+)*~"), "points to a home folder"),
    (re.compile(r"/$"), "names a folder"),
)
_GIT = re.compile(r"\.git|git~[0-9]+")


def safe_path(name: str) -> str:
    r"""`name` as a relative POSIX path (`a\b.py` and `./a//b.py` become `a/b.py`).

    Raises UnsafePath when it could leave the software folder, touch git metadata or exist on no common file system.
    """
    _check_characters(name)
    path = name.replace("\\", "/")
    for pattern, why in _ELSEWHERE:
        if pattern.search(path):
            raise _unsafe(name, why)
    components = [component for component in path.split("/") if component not in ("", ".")]
    if not components:
        raise _unsafe(name, "is empty")
    for component in components:
        _check_component(name, component)
    path = "/".join(components)
    if len(components) > MAX_LEVELS:
        raise _unsafe(name, f"has {len(components)} levels, allowed are {MAX_LEVELS}")
    if len(path.encode()) > MAX_PATH:
        raise _unsafe(name, f"is longer than {MAX_PATH} bytes")
    return path


def _check_characters(name: str) -> None:
    hidden = next((char for char in name if unicodedata.category(char) in _HIDDEN), None)
    if hidden is not None:
        raise _unsafe(name, f"contains the invisible character U+{ord(hidden):04X}")


def _check_component(name: str, component: str) -> None:
    """Raise UnsafePath when one component of `name` is refused."""
    plain = unicodedata.normalize("NFKC", component).casefold().rstrip(". ")
    refused = " ".join(sorted(set(component) & set(_REFUSED)))
    faults = (
        (component == "..", "leaves the software folder by '..'"),
        (_GIT.fullmatch(plain), "touches git metadata"),
        (component != component.strip() or component.endswith("."),
         "has a part that begins or ends with a blank or ends with a dot"),
        (component.startswith("-"), "has a part that begins like an option, with '-'"),
        (not plain or set(plain) & _LIKE_SLASHES, "has a part that looks like several"),
        (refused, f"contains {refused}"),
        (_DEVICE.fullmatch(component.split(".")[0].rstrip()), "is a device name on Windows"),
        (len(component.encode()) > MAX_COMPONENT, f"has a part longer than {MAX_COMPONENT} bytes"),
    )
    if why := next((why for found, why in faults if found), None):
        raise _unsafe(name, why)


def _unsafe(name: str, why: str) -> UnsafePath:
    shown = ascii(name if len(name) <= 80 else name[:60] + "…" + name[-19:])
    return UnsafePath(f"the path {shown} {why}; use a short relative path such as src/main.py")


def collisions(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of different paths that cannot exist together everywhere.

    Either both are the same name where case (or the Unicode form) does not count, or the first is a file where the
    second needs a folder.
    """
    files: dict[str, str] = {}
    found = []
    for path in sorted(set(paths)):
        twin = files.setdefault(_fold(path), path)
        if twin != path:
            found.append((twin, path))
    for folded, path in files.items():
        parts = folded.split("/")
        parents = ("/".join(parts[:level]) for level in range(1, len(parts)))
        found += [(files[parent], path) for parent in parents if parent in files]
    return found


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
