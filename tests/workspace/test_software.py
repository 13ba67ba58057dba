"""The software on disk: what is written, refused and committed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatdev.errors import UnsafePath, WorkspaceError
from chatdev.workspace.run_folder import SoftwareFolder

_names = st.sampled_from(["a", "b.py", "ü.txt", "c d"])
_files = st.dictionaries(st.lists(_names, min_size=1, max_size=3).map("/".join), st.binary(max_size=20), max_size=6)


def _tree(files: dict[str, bytes]) -> dict[str, bytes]:
    """Only files that can exist together: none is another's folder."""
    return {path: data for path, data in files.items() if not any(other.startswith(path + "/") for other in files)}


def _log(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-c", "safe.directory=*", *arguments], cwd=folder, capture_output=True, text=True,
                          check=True).stdout


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(_files.map(_tree), _files.map(_tree))
def test_any_software_becomes_any_other(tmp_path_factory: pytest.TempPathFactory, before: dict[str, bytes],
                                        after: dict[str, bytes]) -> None:
    folder = SoftwareFolder(tmp_path_factory.mktemp("software"))
    folder.write({}, before)
    assert folder.read() == before
    folder.write(before, after)
    assert folder.read() == after
    assert not [path for path, below, files in os.walk(folder.path) if path != str(folder.path) and not below + files]


def test_only_differences_are_written(tmp_path: Path) -> None:
    folder = SoftwareFolder(tmp_path)
    folder.write({}, {"a.py": b"1", "b.py": b"2"})
    inode = (tmp_path / "a.py").stat().st_ino
    folder.write({"a.py": b"1", "b.py": b"2"}, {"a.py": b"1", "b.py": b"3"})
    assert (tmp_path / "a.py").stat().st_ino == inode
    assert (tmp_path / "b.py").read_bytes() == b"3"


@pytest.mark.parametrize("path", ["../x", "/etc/x", "~/x", "a\0b", ".git/hooks/pre-commit", "a/../../x",
                                  "sub/.GIT/config", "con.txt", "x" * 300, "a//b", "./a", ""])
def test_unsafe_paths_are_refused_before_anything_is_written(tmp_path: Path, path: str) -> None:
    with pytest.raises(UnsafePath):
        SoftwareFolder(tmp_path).write({}, {"good.py": b"1", path: b"2"})
    assert list(tmp_path.iterdir()) == []


def test_links_are_neither_followed_nor_read(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (inside / "way").symlink_to(outside)
    (inside / "file.py").symlink_to(outside / "target.py")
    folder = SoftwareFolder(inside)
    with pytest.raises(WorkspaceError, match="way/x.py.*move it away"):
        folder.write({}, {"way/x.py": b"1"})
    with pytest.raises(WorkspaceError, match="way/x.py"):
        folder.write({"way/x.py": b"1"}, {})
    assert folder.read() == {}
    folder.write({}, {"file.py": b"1"})
    assert not (inside / "file.py").is_symlink()
    assert list(outside.iterdir()) == []


def test_a_folder_in_the_place_of_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "main.py").mkdir()
    with pytest.raises(WorkspaceError, match="main.py: a folder is where a file should be"):
        SoftwareFolder(tmp_path).write({}, {"main.py": b"1"})
    assert [path.name for path in tmp_path.iterdir()] == ["main.py"]


def test_caches_and_git_metadata_are_not_software(tmp_path: Path) -> None:
    folder = SoftwareFolder(tmp_path)
    folder.start_history()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "x.pyc").write_bytes(b"1")
    folder.write({}, {"x.py": b"1"})
    assert folder.read() == {"x.py": b"1"}


def test_what_is_too_large_is_told(tmp_path: Path) -> None:
    with (tmp_path / "big.bin").open("wb") as file:
        file.truncate(11 << 20)
    with pytest.raises(WorkspaceError, match="big.bin is larger than 10 MiB"):
        SoftwareFolder(tmp_path).read()


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot read .*gone: it does not exist"):
        SoftwareFolder(tmp_path / "gone").read()


_SCRIPT = """
import sys
from pathlib import Path
from chatdev.errors import WorkspaceError
from chatdev.workspace.run_folder import SoftwareFolder
folder = SoftwareFolder(Path(sys.argv[1]))
try:
    folder.write({}, {"small.py": b"1"})
    folder.write({}, {"big.txt": bytes(1 << 20)})
except WorkspaceError as error:
    print(error, sorted(path.name for path in Path(sys.argv[1]).iterdir()))
"""


@pytest.mark.tool
@pytest.mark.parametrize(("mount", "text"), [
    (["--size", "65536", "--tmpfs"], "the disk is full; free some space ['small.py']"),
    (["--ro-bind", "/"], "the file system is read-only; choose another folder (--warehouse) []"),
])
def test_a_full_or_read_only_disk_is_told_and_nothing_half_stays(tmp_path: Path, mount: list[str], text: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    arguments = [*mount, "/"] if "--ro-bind" in mount else ["--dev-bind", "/", "/", *mount, str(disk)]
    done = subprocess.run(["bwrap", *arguments, sys.executable, "-B", "-c", _SCRIPT, str(disk)], capture_output=True,
                          text=True, check=True, cwd=Path(__file__).parents[2])
    assert f"cannot write {disk}" in done.stdout
    assert done.stdout.rstrip().endswith(text)


@pytest.mark.tool
def test_every_commit_is_in_the_history(tmp_path: Path) -> None:
    folder = SoftwareFolder(tmp_path)
    folder.start_history()
    folder.start_history()
    folder.write({}, {"main.py": b"1"})
    first = folder.commit("coding")
    assert folder.commit("nothing new") is None
    assert folder.commit("end of phase", allow_empty=True) not in (None, first)
    folder.write({"main.py": b"1"}, {"other.py": b"2"})
    folder.commit("second 'delivery'; $(id)\n\nwith a body")
    assert _log(tmp_path, "log", "--format=%s|%an|%ae").splitlines() == [
        "second 'delivery'; $(id)|ChatDev|chatdev@localhost", "end of phase|ChatDev|chatdev@localhost",
        "coding|ChatDev|chatdev@localhost"]
    assert _log(tmp_path, "show", "--stat", "--format=", "HEAD").count("| ") == 2
    assert _log(tmp_path, "status", "--short") == ""


@pytest.mark.tool
def test_a_relative_folder_has_a_history_too(here: Path) -> None:
    folder = SoftwareFolder(Path("warehouse") / "software")
    folder.path.mkdir(parents=True)
    folder.write({}, {"main.py": b"print(1)\n"})
    folder.start_history()
    assert folder.commit("first")
    assert _log(here / "warehouse" / "software", "ls-files") == "main.py\n"


def test_the_users_hooks_and_settings_do_not_reach_the_history(tmp_path: Path,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    settings_file = tmp_path / "gitconfig"
    settings_file.write_text(f"[core]\nhooksPath={hooks}\n[commit]\ngpgSign=true\n[user]\nname=Somebody\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings_file))
    (tmp_path / "software").mkdir()
    folder = SoftwareFolder(tmp_path / "software")
    folder.start_history()
    folder.write({}, {"main.py": b"1", ".gitignore": b"*.py\n", ".gitattributes": b"* filter=x\n"})
    assert folder.commit("coding")
    assert not (tmp_path / "ran").exists()
    assert _log(folder.path, "ls-files").split() == [".gitattributes", ".gitignore", "main.py"]


def test_without_a_history_everything_works_but_it(tmp_path: Path) -> None:
    folder = SoftwareFolder(tmp_path)
    folder.write({}, {"main.py": b"1"})
    assert folder.commit("coding") is None
    assert folder.versions() == []
    assert folder.is_half_written({})


def test_a_git_file_planted_in_the_folder_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "software").mkdir()
    (tmp_path / "software" / ".git").symlink_to(tmp_path / "elsewhere")
    folder = SoftwareFolder(tmp_path / "software")
    with pytest.raises(WorkspaceError, match=".git"):
        folder.start_history()
    assert list((tmp_path / "elsewhere").iterdir()) == []
