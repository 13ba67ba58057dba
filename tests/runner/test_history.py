"""The software's history when a session was killed while it wrote: the same commits as if it had not been."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.engine.context import Files, Record
from chatdev.journal import Journal
from chatdev.runner.execute import FolderHistory, Playback
from chatdev.workspace.run_folder import SoftwareFolder

OLD = {"main.py": b"old", "gone.py": b"gone", "same.py": b"same", "lib/part.py": b"old part"}
NEW = {"main.py": b"new", "same.py": b"same", "lib/part.py": b"new part", "lib/more.py": b"more"}
STEPS = (("gone.py", None), ("main.py", b"new"), ("lib/part.py", b"new part"), ("lib/more.py", b"more"))
"""How a session gets from OLD to NEW."""


def killed_after(folder: SoftwareFolder, steps: int, torn: int, *, staged: bool) -> None:
    """OLD is committed; so many steps to NEW are done, and the next has written so many bytes."""
    folder.start_history()
    folder.write({}, OLD)
    folder.commit("old")
    for path, content in STEPS[:steps]:
        if content is None:
            (folder.path / path).unlink()
        else:
            (folder.path / path).write_bytes(content)
    path, content = (*STEPS, ("", None))[steps]
    if content is not None:
        name = Path(path).name
        (folder.path / path).with_name(f".{name}.0a1b2c3d").write_bytes(content[:torn])
    if staged:
        subprocess.run(["git", "-c", "safe.directory=*", "add", "--all"], cwd=folder.path, check=True)


def go_through(folder: SoftwareFolder, versions: Sequence[tuple[Files, str]]) -> FolderHistory:
    """What a session does that has these versions on record."""
    journal = Journal(folder.path.with_name(f"{folder.path.name}.jsonl"), held=True)
    history = FolderHistory(folder, Playback(Record({}), journal, lambda: None))

    async def work() -> None:
        history.start()
        for files, message in versions:
            await history.commit(files, message)

    asyncio.run(work())
    journal.close()
    return history


def gone_on(folder: SoftwareFolder) -> FolderHistory:
    """What the session after `killed_after` does."""
    return go_through(folder, [(OLD, "old"), (NEW, "new")])


def subjects(folder: SoftwareFolder) -> list[str]:
    return [message.splitlines()[0] for message in folder.versions()]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, len(STEPS)), st.integers(0, 9), st.booleans())
def test_a_version_that_was_cut_short_is_written_again_and_committed_once(
        tmp_path_factory: pytest.TempPathFactory, steps: int, torn: int, staged: bool) -> None:
    folder = SoftwareFolder(tmp_path_factory.mktemp("software"))
    killed_after(folder, steps, torn, staged=staged)
    history = gone_on(folder)
    assert subjects(folder) == ["new", "old"]
    assert folder.read() == NEW
    assert history.foreign_commit is None


@pytest.mark.parametrize(("path", "content"), [
    ("main.py", b"mine"), ("notes.txt", b"mine"), (".notes.txt.0a1b2c3d", b"mine"), (".main.py.0a1b2c3d", b"mine"),
    ("lib/more.py", b"mor"), ("same.py", None), ("build/main.pyc", b"mine")])
@pytest.mark.parametrize("steps", [0, 2])
def test_what_somebody_else_did_is_kept_in_a_commit_of_its_own(tmp_path: Path, path: str, content: bytes | None,
                                                               steps: int) -> None:
    folder = SoftwareFolder(tmp_path)
    killed_after(folder, steps, 0, staged=False)
    if content is None:
        (tmp_path / path).unlink()
    else:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    history = gone_on(folder)
    assert subjects(folder) == ["new", "what was in the folder when the run was resumed", "old"]
    assert history.foreign_commit is not None
    assert {path: data for path, data in folder.read().items() if path in NEW} == NEW


def test_a_version_is_known_by_number_and_files_not_by_its_message(tmp_path: Path) -> None:
    folder = SoftwareFolder(tmp_path)
    for versions in ([(OLD, "same"), (NEW, "same")], [(OLD, "same"), (OLD, "same"), (NEW, "same")]):
        go_through(folder, versions)
    numbers = [message.splitlines()[-1].split()[1] for message in folder.versions()]
    assert numbers == ["3", "2", "2", "1"]  # the second session's second version was another one
    assert folder.read() == NEW


def test_a_link_is_somebody_elses(tmp_path: Path) -> None:
    folder = SoftwareFolder(tmp_path)
    killed_after(folder, 1, 0, staged=False)
    (tmp_path / "link").symlink_to("main.py")
    assert gone_on(folder).foreign_commit is not None


def test_a_name_that_is_no_text_is_somebody_elses(tmp_path: Path) -> None:
    folder = SoftwareFolder(tmp_path)
    killed_after(folder, 1, 0, staged=False)
    Path(os.fsdecode(bytes(tmp_path) + b"/\xff.txt")).write_bytes(b"mine")
    assert not folder.is_half_written(NEW)
