"""Places of files: where the package's data and the user's lie; and opening files that others may have put there.

Only what really is a file is opened, and only where its name says: a name in a run folder may be a link to a file of
the user's, a pipe that never answers, a device, or one of several names of a file elsewhere. None of them is followed,
waited for or written to.
"""

from __future__ import annotations

import base64
import binascii
import errno
import os
import re
import stat
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from chatdev.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent


def bundled_folder(name: str) -> Path:
    """The folder `company_config` or `srdd`, in an installed package, an editable install or a plain checkout."""
    places = (_PACKAGE / name, _PACKAGE.parent / name)
    for folder in places:
        if folder.is_dir():
            return folder
    raise ConfigError(f"the folder {name!r} that belongs to chatdev is missing; reinstall the package (looked in: "
                      f"{', '.join(map(str, places))})")


def bundled_table(path: Path) -> Any:
    """The value of a YAML file that ships with the package, by the C parser where there is one: in Python it takes ten
    times as long."""
    import yaml

    with path.open("rb") as file:
        return yaml.load(file, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def working_folder() -> Path:
    """The working folder. Raises ConfigError where somebody has removed it."""
    try:
        return Path.cwd()
    except OSError as error:
        raise ConfigError(f"the working folder is not there any more ({error.strerror}); change into one that exists "
                          "(cd)") from None


def expand_home(path: str) -> Path:
    """`path` with the home in the place of `~`; as it is where there is no such home."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - pathlib raises RuntimeError then


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise ConfigError("there is no home folder: HOME is not set, and this user is not in /etc/passwd; set HOME, or "
                          "XDG_CONFIG_HOME, XDG_CACHE_HOME and XDG_DATA_HOME") from None


def cache_dir() -> Path:
    """Where models and vocabularies are kept; `CHATDEV_CACHE` moves it."""
    if override := os.environ.get("CHATDEV_CACHE"):
        return Path(override)
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "chatdev"


def data_dir() -> Path:
    """Where what was learnt is kept from run to run: the user's own, and not made again if it is lost."""
    return Path(os.environ.get("XDG_DATA_HOME") or _home() / ".local" / "share") / "chatdev"


def settings_file() -> Path:
    """The user's own settings (YAML)."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or _home() / ".config") / "chatdev" / "settings.yaml"


def trust_file() -> Path:
    """The companies and `.env` files that the user trusts (JSON), beside the settings."""
    return settings_file().with_name("trust.json")


_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
          stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFDIR: "a folder"}
_WRITING = os.O_WRONLY | os.O_RDWR
_OF_THE_SHELL = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
_DATA = "data:application/octet-stream;"
_DATA_URL = re.compile(rf"{_DATA}name=([^;,]*);base64,([A-Za-z0-9+/=]*)")
MOST_NAMED = 64 << 20
"""Bytes of a file that the user names."""


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of the file `path`. Raises OSError, in words where it is no file or, for writing, has other names
    too."""
    refuse_other_kinds(path)
    try:
        descriptor = os.open(path, flags | _SAFELY, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # it became a link or a pipe just now
            raise _other_kind(path, "a link or a pipe") from error
        raise
    found = os.fstat(descriptor)
    problem = _KINDS.get(stat.S_IFMT(found.st_mode), "")
    if not problem and flags & _WRITING and found.st_nlink > 1:
        problem = f"a file with {found.st_nlink} names (hard links)"
    if problem:
        os.close(descriptor)
        raise _other_kind(path, problem)
    return descriptor


def read_named(path: Path, most: int = MOST_NAMED) -> bytes:
    """The content of a file that the user named, of at most `most` bytes: a link is followed, and a pipe of the shell
    (`/dev/stdin`, `<(…)`) is read to its end. Raises OSError in words for other pipes and devices, which may never end,
    for a larger file, and for what can be no name."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
    with os.fdopen(descriptor, "rb") as file:
        kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
        if kind == stat.S_IFIFO and str(path).startswith(_OF_THE_SHELL):
            os.set_blocking(descriptor, True)
        elif kind != stat.S_IFREG:
            raise OSError(errno.EINVAL, f"it is {_KINDS.get(kind, 'no file')}, where only a file may be", str(path))
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.E2BIG, f"it is larger than {most >> 20} MiB", str(path))
    return content


def read_plain(path: Path, most: int) -> bytes:
    """The content of a file of at most `most` bytes. Raises OSError as `open_plain` does, and for a larger one."""
    with os.fdopen(open_plain(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(size + 1) if size <= most else b""
    if max(size, len(content)) > most:
        raise OSError(errno.E2BIG, f"it is larger than {most >> 20} MiB; move it away", str(path))
    return content


def refuse_other_kinds(path: Path) -> None:
    """Raise OSError when there is something at `path` that is no file, without opening it."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if kind := _KINDS.get(stat.S_IFMT(mode)):
        raise _other_kind(path, kind)


def data_url(name: str, content: bytes) -> str:
    """A file that is no text, as a text."""
    return f"{_DATA}name={quote(name, safe='')};base64,{base64.b64encode(content).decode()}"


def data_of(text: str) -> tuple[str, bytes] | None:
    """The name and the content of a file that `data_url` made a text of; None for another text."""
    found = _DATA_URL.fullmatch(text)
    if found is None:
        return None
    try:
        return unquote(found[1]), base64.b64decode(found[2], validate=True)
    except binascii.Error:
        return None


def _other_kind(path: Path, kind: str) -> OSError:
    return OSError(errno.EMLINK, f"it is {kind}, where only a plain file may be; move it away", str(path))
