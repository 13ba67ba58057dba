"""Turning the file system's refusals into errors that say what to do."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from chatdev.errors import WorkspaceError

_MENDS = {
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


@contextlib.contextmanager
def explained(doing: str, path: Path | str) -> Iterator[None]:
    """Raise WorkspaceError "cannot DOING PATH: REASON; MEND" for any OSError of the body."""
    try:
        yield
    except OSError as error:
        mend = _MENDS.get(error.errno or 0) or str(error.strerror or error)
        raise WorkspaceError(f"cannot {doing} {path}: {mend}") from error
