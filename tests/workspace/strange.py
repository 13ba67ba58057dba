"""What somebody may put into a run folder in the place of a file, and how much memory it takes to look at it."""

from __future__ import annotations

import os
import socket
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from chatdev.errors import ChatDevError
from chatdev.workspace.run_folder import RunFolder, SoftwareFolder

GIANT = 2 << 30
Put = Callable[[Path, Path], None]


def run_folder(folder: Path) -> RunFolder:
    """A run folder with a journal, and a version in its history."""
    found = RunFolder(folder / "Run-20260101000000")
    found.software.mkdir(parents=True)
    found.run.mkdir()
    (found.run / "journal.jsonl").write_text('{"v": 1, "kind": "x", "place": ""}\n')
    history = SoftwareFolder(found.software)
    history.start_history()
    history.write({}, {"main.py": b"1"})
    history.commit("first")
    return found


def link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def hard_link(path: Path, victim: Path) -> None:
    os.link(victim, path)


def pipe(path: Path, _victim: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path, _victim: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def folder(path: Path, _victim: Path) -> None:
    path.mkdir()


def sparse(path: Path, size: int = GIANT) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def of_memory(work: Callable[[], object]) -> int:
    """The most that Python had at once while it worked, in bytes."""
    tracemalloc.start()
    try:
        with pytest.raises(ChatDevError):
            work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
