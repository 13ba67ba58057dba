"""The history of the software: a repository that git finds sound, whatever is in the folder or happened to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.errors import WorkspaceError
from chatdev.workspace.run_folder import SoftwareFolder

_names = st.sampled_from(["a", "a.b", "ab", "ü.txt", "c d", "run.sh", "x" * 60])
_paths = st.lists(_names, min_size=1, max_size=3).map("/".join)
_software = st.dictionaries(_paths, st.binary(max_size=20), max_size=6).map(
    lambda files: {path: data for path, data in files.items()
                   if not any(other.startswith(f"{path}/") for other in files)})


def git(folder: Path, *arguments: str, **environment: str) -> str:
    """What git says, as its user runs it."""
    return subprocess.run(["git", "-c", "safe.directory=*", *arguments], cwd=folder, capture_output=True, text=True,
                          check=True, errors="surrogateescape", env={**os.environ, **environment}).stdout


def tree_by_git(folder: Path) -> str:
    """The id of the tree that git itself makes of the folder."""
    aside = {"GIT_INDEX_FILE": str(folder / ".git" / "aside")}
    git(folder, "add", "--all", "--force", ".", **aside)
    tree = git(folder, "write-tree", **aside)
    (folder / ".git" / "aside").unlink()
    return tree


@pytest.fixture
def folder(tmp_path: Path) -> SoftwareFolder:
    """A folder with one version in its history."""
    made = SoftwareFolder(tmp_path / "software")
    made.path.mkdir()
    made.start_history()
    made.write({}, {"main.py": b"1", "lib/part.py": b"2"})
    made.commit("first")
    return made


@settings(deadline=None, max_examples=15)
@given(st.lists(_software, min_size=1, max_size=3))
def test_every_version_is_what_git_would_have_committed(tmp_path_factory: pytest.TempPathFactory,
                                                        versions: list[dict[str, bytes]]) -> None:
    folder = SoftwareFolder(tmp_path_factory.mktemp("software"))
    folder.start_history()
    before: dict[str, bytes] = {}
    for number, software in enumerate(versions):
        folder.write(before, software)
        assert folder.commit(f"version {number}", allow_empty=True)
        assert git(folder.path, "rev-parse", "HEAD^{tree}") == tree_by_git(folder.path)
        before = software
    assert git(folder.path, "status", "--porcelain", "--ignored") == ""
    assert git(folder.path, "fsck", "--strict") == ""
    newest_first = [f"version {number}" for number in reversed(range(len(versions)))]
    assert git(folder.path, "log", "--format=%s").splitlines() == folder.versions() == newest_first


def test_what_somebody_put_into_the_folder_is_committed_as_git_would(folder: SoftwareFolder) -> None:
    (folder.path / "link").symlink_to("main.py")
    (folder.path / "nowhere").symlink_to("/nonexistent/place")
    (folder.path / "start.sh").write_text("#!/bin/sh\n")
    (folder.path / "start.sh").chmod(0o755)
    (folder.path / "__pycache__").mkdir()
    (folder.path / "__pycache__" / "main.pyc").write_bytes(b"\0")
    Path(os.fsdecode(bytes(folder.path) + b"/\xff.txt")).write_bytes(b"no text")
    os.mkfifo(folder.path / "pipe")
    history = SoftwareFolder(folder.path)
    assert history.uncommitted_paths() == ["__pycache__/main.pyc", "link", "nowhere", "start.sh", "\udcff.txt"]
    assert history.commit("found")
    assert history.uncommitted_paths() == []
    assert git(folder.path, "rev-parse", "HEAD^{tree}") == tree_by_git(folder.path)
    assert git(folder.path, "fsck", "--strict") == ""


def test_later_versions_keep_what_is_no_software(folder: SoftwareFolder) -> None:
    (folder.path / "link").symlink_to("main.py")
    again = SoftwareFolder(folder.path)
    assert not again.is_half_written({})
    again.commit("found")
    again.write(again.read(), {"main.py": b"2"})
    again.commit("second")
    assert git(folder.path, "rev-parse", "HEAD^{tree}") == tree_by_git(folder.path)
    assert git(folder.path, "ls-files").split() == ["link", "main.py"]


def test_a_repository_within_the_software_is_left_out(folder: SoftwareFolder) -> None:
    git(folder.path, "init", "--quiet", "inner")
    assert SoftwareFolder(folder.path).uncommitted_paths() == []


def packed(folder: Path) -> None:
    git(folder, "gc", "--quiet", "--prune=now")
    git(folder, "pack-refs", "--all")


def on_a_branch(folder: Path) -> None:
    git(folder, "checkout", "--quiet", "-b", "feature/mine")


def detached(folder: Path) -> None:
    git(folder, "checkout", "--quiet", "--detach")


def committed_by_hand(folder: Path) -> None:
    git(folder, "-c", "user.name=x", "-c", "user.email=x", "commit", "--quiet", "--allow-empty", "-m", "first")


@pytest.mark.parametrize("work", [packed, on_a_branch, detached, committed_by_hand])
def test_the_history_goes_on_where_git_has_left_it(folder: SoftwareFolder, work: Callable[[Path], None]) -> None:
    work(folder.path)
    before = git(folder.path, "rev-parse", "HEAD").strip()
    again = SoftwareFolder(folder.path)
    again.start_history()
    assert again.versions()[0] == "first"
    assert again.is_half_written({})
    again.write(again.read(), {"main.py": b"new"})
    commit = again.commit("second")
    assert commit == git(folder.path, "rev-parse", "--short=7", "HEAD").strip()
    assert git(folder.path, "rev-parse", "HEAD~1").strip() == before
    assert git(folder.path, "status", "--porcelain") == ""
    assert git(folder.path, "fsck", "--strict") == ""


def test_what_somebody_who_was_killed_left_is_cleared_away(folder: SoftwareFolder) -> None:
    metadata = folder.path / ".git"
    thing = next((metadata / "objects").glob("??/*"))
    locks = [metadata / "index.lock", metadata / "HEAD.lock", metadata / "refs/heads/main.lock",
             thing.with_name(f"{thing.name}.lock")]
    for lock in locks:
        lock.write_bytes(b"half")
    (metadata / "HEAD").write_bytes(b"")
    folder.start_history()
    assert not any(lock.exists() for lock in locks)
    assert folder.versions() == ["first"]


_WRITER = """
import sys
from pathlib import Path
from chatdev.workspace.run_folder import SoftwareFolder
folder, before = SoftwareFolder(Path(sys.argv[1])), {}
folder.start_history()
known = len(folder.versions())
print("begins", flush=True)
for number in range(known, known + 10_000):
    after = {f"part{number % 3}/main.py": b"%d" % number, "same.py": b"same", **dict(list(before.items())[:4])}
    folder.write(before, after)
    folder.commit(f"version {number}")
    before = after
"""


@given(st.lists(st.floats(0, 0.05), min_size=3, max_size=3))
@settings(deadline=None, max_examples=5)
def test_whoever_is_killed_leaves_a_sound_history(tmp_path_factory: pytest.TempPathFactory,
                                                  delays: list[float]) -> None:
    folder = tmp_path_factory.mktemp("software")
    versions = 0
    for delay in delays:
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(folder)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout
        assert writer.stdout.readline() == "begins\n"
        time.sleep(delay)
        writer.kill()
        writer.communicate()
        again = SoftwareFolder(folder)
        again.start_history()
        assert again.versions() == [f"version {number}" for number in reversed(range(len(again.versions())))]
        assert len(again.versions()) >= versions
        versions = len(again.versions())
        git(folder, "fsck", "--strict", "--no-dangling")  # fails for what is not sound
    assert again.is_half_written(again.read())


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two software folders of one version: as it was written, and as `git gc` leaves it."""
    folders = [tmp_path_factory.mktemp(name) for name in ("loose", "packed")]
    for path in folders:
        folder = SoftwareFolder(path)
        folder.start_history()
        folder.write({}, {"main.py": b"1", "lib/part.py": b"2"})
        folder.commit("first")
    packed(folders[1])
    return folders


def gone_on(folder: SoftwareFolder) -> str | None:
    """What a session does in a folder, and the error that it ends in."""
    try:
        folder.start_history()
        folder.versions()
        folder.is_half_written({})
        folder.write(folder.read(), {"main.py": b"2"})
        folder.commit("second")
    except WorkspaceError as error:
        return str(error)
    return None


@settings(deadline=None, max_examples=100)
@given(st.data(), st.binary(max_size=40))
def test_damage_is_told_or_does_not_matter(wholes: list[Path], tmp_path_factory: pytest.TempPathFactory,
                                           data: st.DataObject, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("damaged") / "software"
    shutil.copytree(data.draw(st.sampled_from(wholes)), folder)
    metadata = folder / ".git"
    victim = metadata / data.draw(st.sampled_from(sorted(path.relative_to(metadata) for path in metadata.rglob("*")
                                                         if path.is_file())))
    victim.chmod(0o644)
    victim.write_bytes(content)
    told = gone_on(SoftwareFolder(folder))
    assert told is None or "move it away" in told
