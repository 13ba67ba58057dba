"""What is taken of a folder that is handed in: what git lists, and nothing that its repository names is started."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from chatdev.errors import WorkspaceError
from chatdev.workspace.change import hand_in


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-c", "user.name=u", "-c", "user.email=u@example.org", "-c",
                           "protocol.file.allow=always", *words], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode()


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with an ignored folder, and a file that is in it all the same."""
    folder = tmp_path / "mine"
    write(folder, {"main.py": "x\n", "sub/a.py": "a\n", "sub/b.txt": "b\n",
                   ".gitignore": "build/\n*.log\n!keep.log\n",
          "build/made": "m\n", "build/kept": "k\n", "one.log": "l\n", "keep.log": "l\n"})
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "add", "-f", "build/kept")
    git(folder, "commit", "-qm", "first")
    return folder


def listed(folder: Path) -> set[str]:
    return {path for path in git(folder, "ls-files", "-co", "--exclude-standard", "-z").split("\0") if path}


@pytest.mark.tool
def test_what_git_lists_is_taken(repository: Path) -> None:
    write(repository, {"new.py": "n\n", "sub/.gitignore": "*.tmp\n", "sub/x.tmp": "x\n", "deep/er/y.tmp": "y\n"})
    (repository / ".git" / "info" / "exclude").write_text("deep/**/z.py\n")
    write(repository, {"deep/er/z.py": "z\n"})
    assert set(hand_in(repository).files) == listed(repository) == {
        ".gitignore", "main.py", "sub/a.py", "sub/b.txt", "sub/.gitignore", "build/kept", "keep.log", "new.py",
        "deep/er/y.tmp"}


@pytest.mark.tool
def test_a_folder_of_a_repository_and_a_work_tree_are_read_so_too(repository: Path, tmp_path: Path) -> None:
    inside = hand_in(repository / "sub")
    assert set(inside.files) == {"a.py", "b.txt"}
    assert inside.origin["commit"] == git(repository, "rev-parse", "HEAD").strip()
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    other = hand_in(tmp_path / "other")
    assert set(other.files) == listed(tmp_path / "other")
    assert (other.origin["branch"], other.notes) == ("other", [])


@pytest.mark.tool
def test_uncommitted_work_is_taken_and_noted(repository: Path) -> None:
    assert hand_in(repository).notes == []
    write(repository, {"main.py": "changed\n", "sub/a.py": "staged\n"})
    git(repository, "add", "sub/a.py")
    (repository / "sub" / "b.txt").unlink()
    found = hand_in(repository)
    assert found.files["main.py"] == b"changed\n"
    assert "sub/b.txt" not in found.files
    assert found.notes == ["work that is not committed is part of what was handed in (main.py, sub/a.py, sub/b.txt)"]


@pytest.mark.tool
def test_what_is_no_text_of_the_repository_is_named_and_left(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s\n")
    (repository / "out").symlink_to(tmp_path / "secret")
    (repository / "linked").symlink_to(tmp_path, target_is_directory=True)
    (repository / "lib.bin").write_bytes(b"\0\1\2")
    (repository / "huge.txt").write_bytes(b"x" * (11 << 20))
    write(repository, {"video.mp4": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"})
    write(tmp_path / "part", {"p.py": "p\n"})
    git(tmp_path / "part", "init", "-q")
    git(tmp_path / "part", "add", ".")
    git(tmp_path / "part", "commit", "-qm", "p")
    git(repository, "submodule", "add", "-q", str(tmp_path / "part"), "module")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")
    found = hand_in(repository)
    assert set(found.files) == {".gitignore", ".gitmodules", "main.py", "sub/a.py", "sub/b.txt", "build/kept",
                                "keep.log", "lib.bin"}
    notes = "\n".join(found.notes)
    for text in ("symbolic links (linked, out)", "files over 10 MiB (huge.txt)", "(Git LFS) (video.mp4)",
                 "submodules and repositories of their own (module)", "binary files (lib.bin)"):
        assert text in notes
    assert (tmp_path / "secret").read_text() == "s\n"


@pytest.mark.tool
def test_nothing_that_a_repository_names_is_started(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for name, value in (("core.fsmonitor", f"touch {mark}"), ("core.hooksPath", str(tmp_path)),
                        ("core.worktree", "/etc"), ("filter.x.clean", f"touch {mark}"),
                        ("filter.x.smudge", f"touch {mark}"), ("core.excludesFile", "/etc/hosts")):
        git(repository, "config", name, value)
    (repository / ".gitattributes").write_text("* filter=x\n")
    (repository / ".git" / "hooks" / "post-index-change").write_text(f"#!/bin/sh\ntouch {mark}\n")
    assert "main.py" in hand_in(repository).files
    assert not mark.exists()


@pytest.mark.tool
@pytest.mark.parametrize("damage", [b"", b"DIRC\0\0\0\2\0\0\xff\xff", b"DIRC" + b"\xff" * 200, b"no index"])
def test_a_broken_index_hides_nothing(repository: Path, damage: bytes) -> None:
    (repository / ".git" / "index").write_bytes(damage)
    assert {"main.py", "sub/a.py"} <= set(hand_in(repository).files)


def test_patterns_that_would_take_for_ever_are_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".gitignore").write_text("a*" * 30 + "b\n")
    (tmp_path / ("a" * 200)).write_text("x\n")
    assert "a" * 200 in hand_in(tmp_path).files


def test_a_folder_without_git_is_taken_without_what_tools_make(tmp_path: Path) -> None:
    write(tmp_path, {"main.py": "x\n", "node_modules/x.js": "x\n", "my/pyvenv.cfg": "x\n", "my/lib.py": "x\n",
          "cache/CACHEDIR.TAG": "x\n", "cache/y.py": "x\n", "build/z.py": "x\n"})
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "main.pyc").write_bytes(b"\0")
    found = hand_in(tmp_path)
    assert set(found.files) == {"main.py", "build/z.py"}
    assert found.origin == {"folder": str(tmp_path)}


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="holds no file that can be changed"):
        hand_in(tmp_path)


@pytest.mark.tool
def test_twenty_thousand_files_take_seconds(tmp_path: Path) -> None:
    for number in range(20_000):
        folder = tmp_path / f"p{number // 200}"
        folder.mkdir(exist_ok=True)
        (folder / f"m{number}.py").write_text("def f():\n    return 1\n" * 7)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "many")
    begun = time.process_time()
    assert len(hand_in(tmp_path).files) == 20_000
    assert time.process_time() - begun < 20
