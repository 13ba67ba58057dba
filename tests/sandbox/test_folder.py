"""Folders that a hostile program left behind, seen by an ordinary user (root may do anything anyway)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from chatdev.sandbox.base import disk_usage, remove_folder
from tests.sandbox.conftest import NOBODY, as_user

_LIMIT = 1 << 30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of an ordinary user."""
    path = tmp_path / "box"
    path.mkdir()
    if os.geteuid() == 0:
        for above in tmp_path.parents:
            if Path(tempfile.gettempdir()) in above.parents:
                above.chmod(0o755)
        os.chown(tmp_path, NOBODY, NOBODY)
        os.chown(path, NOBODY, NOBODY)
    return path


def test_a_folder_of_unreadable_and_unwritable_folders_is_removed(folder: Path) -> None:
    def leave() -> None:
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "b" / "file").write_text("x")
        (folder / "a" / "b").chmod(0)
        (folder / "a").chmod(0o500)
        folder.chmod(0)
        remove_folder(folder)

    as_user(leave)
    assert not folder.exists()


def test_removing_leaves_alone_what_links_lead_to(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.mkdir(mode=0o750)
    (target / "file").write_text("x")
    if os.geteuid() == 0:
        os.chown(target, NOBODY, NOBODY)

    def leave() -> None:
        (folder / "closed").mkdir()
        (folder / "closed" / "link").symlink_to(target)
        (folder / "closed" / "link2").symlink_to(target / "file")
        (folder / "closed").chmod(0o500)
        remove_folder(folder)

    as_user(leave)
    assert not folder.exists()
    assert (target / "file").read_text() == "x"
    assert target.stat().st_mode & 0o777 == 0o750


def test_a_folder_deeper_than_python_follows_is_removed(folder: Path) -> None:
    _dig(folder, 3000)
    remove_folder(folder)
    assert not folder.exists()


def test_what_is_used_is_counted_in_blocks_and_links_are_not_followed(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "a" / "file").write_bytes(b"x" * 100_000)
    (folder / "link").symlink_to("/usr")
    assert 100_000 <= disk_usage(folder, _LIMIT) <= 100_000 + 5 * 4096


def test_an_unreadable_folder_hides_nothing_and_stays_unreadable(folder: Path) -> None:
    def hide() -> None:
        (folder / "closed").mkdir()
        (folder / "closed" / "file").write_bytes(b"x" * 100_000)
        (folder / "closed").chmod(0)
        assert disk_usage(folder, _LIMIT) > 100_000
        assert (folder / "closed").stat().st_mode & 0o777 == 0

    as_user(hide)


def test_counting_stops_at_the_limit_and_in_the_depth(folder: Path) -> None:
    (folder / "file").write_bytes(b"x" * 100_000)
    assert disk_usage(folder, 50_000) > 50_000
    _dig(folder, 100)
    assert disk_usage(folder, _LIMIT) > _LIMIT


def _dig(folder: Path, depth: int) -> None:
    back = os.open(".", os.O_RDONLY)
    os.chdir(folder)
    try:
        for _ in range(depth):
            Path("d").mkdir()
            os.chdir("d")
    finally:
        os.fchdir(back)
        os.close(back)
