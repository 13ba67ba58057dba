"""Run folders with links, pipes, devices and giants in them: nothing is followed, waited for or read into memory."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from chatdev.errors import JournalError, UnsafePath, WorkspaceError
from chatdev.journal import Journal, read_journal
from chatdev.paths import open_plain, read_plain
from chatdev.sandbox.base import remove_folder
from chatdev.workspace.file_tree import read_tree, write_file, write_tree
from chatdev.workspace.run_folder import RunFolder, SoftwareFolder
from tests.workspace.strange import (
    GIANT,
    Put,
    folder,
    hard_link,
    link,
    of_memory,
    pipe,
    run_folder,
    sparse,
    unix_socket,
)

PRECIOUS = b"precious\n"
KINDS = [link, hard_link, pipe, unix_socket, folder]


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the user's, elsewhere."""
    path = tmp_path / "victim"
    path.write_bytes(PRECIOUS)
    return path


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run folder with a journal, and a version in its history."""
    return run_folder(tmp_path)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("put", KINDS)
def test_a_journal_that_is_no_plain_file_is_not_written(run: RunFolder, victim: Path, put: Put) -> None:
    journal = run.run / "journal.jsonl"
    journal.unlink()
    put(journal, victim)
    with pytest.raises(WorkspaceError, match="plain file may be; move it away"):
        Journal(journal)
    assert victim.read_bytes() == PRECIOUS


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("put", [link, pipe, unix_socket, folder])
def test_nor_is_it_read(run: RunFolder, victim: Path, put: Put) -> None:
    journal = run.run / "journal.jsonl"
    journal.unlink()
    put(journal, victim)
    with pytest.raises(JournalError, match="plain file may be; move it away"):
        list(read_journal(journal))


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/tty"])
def test_a_device_is_not_opened(device: str) -> None:
    with pytest.raises(OSError, match="a device"):
        read_plain(Path(device), 10)


def test_what_becomes_a_link_just_now_is_not_followed(tmp_path: Path, victim: Path,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "name").symlink_to(victim)
    monkeypatch.setattr("chatdev.paths.refuse_other_kinds", lambda path: None)
    with pytest.raises(OSError, match="a link or a pipe"):
        open_plain(tmp_path / "name")


@pytest.mark.parametrize("part", ["software", "run"])
def test_a_run_folder_whose_parts_are_links_is_refused(run: RunFolder, tmp_path: Path, part: str) -> None:
    (run.path / part).rename(tmp_path / "aside")
    (run.path / part).symlink_to(tmp_path / "aside")
    with pytest.raises(WorkspaceError, match="is a link; nothing in a run folder is followed"):
        RunFolder.open(run.path)


@pytest.mark.parametrize("work", [
    lambda run: SoftwareFolder(run.software).read(),
    lambda run: SoftwareFolder(run.software).uncommitted_paths(),
    lambda run: SoftwareFolder(run.software).is_half_written({"data.bin": b"x"}),
    lambda run: SoftwareFolder(run.software).commit("found"),
], ids=["read", "look", "half-written", "commit"])
def test_a_giant_in_the_software_is_not_read_into_memory(run: RunFolder, work: Callable[[RunFolder], object]) -> None:
    sparse(run.software / "data.bin")
    assert of_memory(lambda: work(run)) < 1 << 20


@pytest.mark.parametrize("size", [GIANT, 300 << 20])
def test_a_giant_journal_is_not_read_into_memory(run: RunFolder, size: int) -> None:
    sparse(run.run / "journal.jsonl", size)
    assert of_memory(lambda: list(read_journal(run.run / "journal.jsonl"))) < 500 << 20


def test_a_journal_of_many_small_values_is_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    line = b'{"v": 1, "kind": "x", "place": "", "text": "%s"%s}\n'
    path.write_bytes(line % (b"text, [] {}" * (4 << 20), b""))
    assert len(list(read_journal(path))) == 1
    path.write_bytes(line % (b"", b', "a": [' + b"[]," * (12 << 20) + b"0]"))
    with pytest.raises(JournalError, match="holds more values than any run has"):
        list(read_journal(path))


def test_a_folder_that_is_deeper_than_python_goes_is_read(tmp_path: Path) -> None:
    deep = tmp_path / "/".join("d" * 1100)
    subprocess.run(["mkdir", "-p", str(deep)], check=True)
    (deep / "x").write_bytes(b"x")
    assert list(read_tree(tmp_path).values()) == [b"x"]
    remove_folder(tmp_path / "d")


@pytest.mark.parametrize("path", ["../escaped.py", "a/../../escaped.py", "/tmp/chatdev-escaped.py", "a//b.py", "", "."])
def test_no_path_leads_out_of_a_folder_that_is_written(tmp_path: Path, path: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(UnsafePath):
        write_file(inside, path, b"x")
    with pytest.raises(UnsafePath):
        write_tree(inside, {path: b"x"})
    assert not (tmp_path / "escaped.py").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder to somebody else")
def test_a_folder_of_another_user_is_gone_on_with_and_told(run: RunFolder) -> None:
    assert RunFolder.open(run.path).note is None
    os.chown(run.path, 12345, 12345)
    assert "belongs to another user" in (RunFolder.open(run.path).note or "")
