"""Looking over a folder that somebody else may have filled, before anything in it is used.

Nothing in the record of a run or in the git history of its software may lead elsewhere. chatdev makes no links there:
a folder with one (or with a pipe, a socket, a device) was changed by hand.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from pathlib import Path

from chatdev.errors import WorkspaceError
from chatdev.plain_file import refuse_other_kinds
from chatdev.workspace.file_tree import explain_os_errors

_MOST_ENTRIES = 200_000
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
