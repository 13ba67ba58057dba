"""The folder of a job: handed over to the user that its program runs as, measured, taken back and removed, whatever the
program did to it."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from chatdev.errors import SandboxError

SPARE_USERS = range(65000, 65534)
"""User id reserved in Debian's policy and therefore unused; inside the 65536 ids of a container."""
_DEEPEST = 64  # levels; what hides deeper counts as too much
_LEAST = 4096  # bytes of an entry, so that empty files count, too
_BLOCK = 512  # bytes, the unit of st_blocks
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def spare_user() -> int:
    """The user that a program of root's runs as: any of `SPARE_USERS`, so that the processes of two programs count
    apart."""
    return random.choice(SPARE_USERS)


def hand_over(folder: Path, user: int) -> None:
    """Give the throwaway copy to the user the program will run as."""
    if _give(folder, user, user):
        return
    done = subprocess.run(["chown", "-hR", f"{user}:{user}", "--", str(folder)], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SandboxError(f"cannot hand {folder} over to the program: {done.stderr.decode(errors='replace').strip()}")


def disk_usage(folder: Path, limit: int) -> int:
    """Bytes that everything below `folder` takes on the disk; any number above `limit` once it is more.

    Links are not followed, and a folder that may not be read is read all the same where it is ours.
    """
    try:
        descriptor = os.open(folder, _FOLDER & ~os.O_NOFOLLOW)
    except OSError:
        return 0
    try:
        return _usage(descriptor, limit, 0)
    finally:
        os.close(descriptor)


def remove_folder(folder: Path) -> None:
    """Remove `folder` with all that is in it: unreadable folders, any depth, links (not what they lead to).

    shutil.rmtree gives up on folders that may not be written and on very deep ones, and what cleans up behind
    tempfile.TemporaryDirectory in Python 3.11 follows links.
    """
    with contextlib.suppress(OSError, RecursionError):  # the usual one, without a process
        shutil.rmtree(folder)
        return
    for command in (("/bin/rm", "-rf"), ("/bin/chmod", "-R", "u+rwx"), ("/bin/rm", "-rf")):
        subprocess.run([*command, "--", str(folder)], capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if not os.path.lexists(folder):
            return


def take_back(folder: Path) -> None:
    """Make `folder` with all that is in it ours again, where a sandbox handed it over to a program's user (as root);
    that ends the rights of set-user-id files, too. Raises OSError."""
    if os.geteuid() == 0 and not _give(folder, os.geteuid(), os.getegid()):
        subprocess.run(["chown", "-hR", f"{os.geteuid()}:{os.getegid()}", "--", str(folder)], capture_output=True,
                       check=False, stdin=subprocess.DEVNULL)


def _give(folder: Path, user: int, group: int) -> bool:
    """Whether the usual folder was given away without a process: one that is not deeper than Python follows."""
    try:
        for path, folders, files, descriptor in os.fwalk(folder, onerror=_raise):
            if path.count(os.sep) > _DEEPEST:
                return False
            os.chown(descriptor, user, group)
            for name in (*folders, *files):
                os.chown(name, user, group, dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return False
    return True


def _raise(error: OSError) -> None:
    raise error


def _usage(folder: int, limit: int, depth: int) -> int:
    if depth > _DEEPEST:
        return limit + 1
    total = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # it has gone meanwhile
                found = entry.stat(follow_symlinks=False)
                total += max(_LEAST, found.st_blocks * _BLOCK)
                if stat.S_ISDIR(found.st_mode):
                    total += _usage_below(folder, entry.name, limit - total, depth)
            if total > limit:
                break
    return total


def _usage_below(folder: int, name: str, limit: int, depth: int) -> int:
    with _open_folder(folder, name) as below:
        return _usage(below, limit, depth + 1)


@contextlib.contextmanager
def _open_folder(folder: int, name: str) -> Iterator[int]:
    """A descriptor of the folder `name` in `folder`, which is readable meanwhile if it is ours."""
    try:
        descriptor = os.open(name, _FOLDER, dir_fd=folder)
    except PermissionError:
        with _open_unreadable(folder, name) as itself:
            yield itself
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _open_unreadable(folder: int, name: str) -> Iterator[int]:
    """The same for an unreadable folder. By way of a descriptor, because the program may swap the folder for a link to
    something of the user's just then."""
    path_only = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    itself = Path(f"/proc/self/fd/{path_only}")
    mode = stat.S_IMODE(os.fstat(path_only).st_mode)
    try:
        itself.chmod(mode | stat.S_IRWXU)
        descriptor = os.open(itself, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
            itself.chmod(mode)
    finally:
        os.close(path_only)
