"""Preflight checks of the process (working folder, temporary folder, limit of open files) before the first paid
call."""

from __future__ import annotations

import resource
import stat
import sys
import tempfile
from pathlib import Path

from chatdev.errors import ConfigError
from chatdev.paths import working_folder
from chatdev.sandbox.base import ProcessLimits

_LEAST_DESCRIPTORS = 64
"""Files, pipes and connections of a run with programs in a sandbox, with room to spare."""
_SCRATCH = 1 << 16  # bytes: a temporary folder that has no room for these has none for a copy of the software


def check_surroundings() -> None:
    """Raise ConfigError, with what to do, for surroundings in which no run comes to its end."""
    working_folder()
    check_file_names(sys.getfilesystemencoding())
    _check_descriptors()
    _check_temporary_folder()


def check_file_names(encoding: str) -> None:
    """Raise ConfigError for an encoding of file names that has not every character: models write such names."""
    if encoding.replace("-", "").lower() != "utf8":
        raise ConfigError(f"Python writes file names in {encoding} here, and software may have names with other "
                          "characters; set PYTHONUTF8=1 or a locale such as LANG=C.UTF-8")


def _check_descriptors() -> None:
    most, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    check_highest_limit(highest)
    try:
        used = sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:  # no /proc; or there is none left for looking
        used = most if most < _LEAST_DESCRIPTORS else 0
    if most != resource.RLIM_INFINITY and most - used < _LEAST_DESCRIPTORS:
        raise ConfigError(f"this process may open {most} files, and {used} are open; a run takes {_LEAST_DESCRIPTORS} "
                          "more: raise the limit (ulimit -n 1024)")


def check_highest_limit(highest: int) -> None:
    """Raise ConfigError where a program in the sandbox may not open as many files as it is given."""
    needed = ProcessLimits().open_files
    if highest != resource.RLIM_INFINITY and highest < needed:
        raise ConfigError(f"no process may open more than {highest} files here, and programs in the sandbox may open "
                          f"{needed}; raise the hard limit (ulimit -Hn 1024)")


def _check_temporary_folder() -> None:
    try:
        with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
            file = Path(folder) / "scratch"
            file.write_bytes(bytes(_SCRATCH))
            modes = [stat.S_IMODE(path.stat().st_mode) for path in (file, _folder_in(folder))]
    except OSError as error:
        raise ConfigError(f"nothing can be written in a temporary folder ({error.strerror or error}); set TMPDIR to a "
                          "folder with room that you may write in") from None
    if any(mode & needed != needed for mode, needed in zip(modes, (0o600, 0o700), strict=True)):
        raise ConfigError("this process makes files that it may not read or write itself; set a usual umask: umask 022")


def _folder_in(folder: str) -> Path:
    made = Path(folder) / "folder"
    made.mkdir()
    return made
