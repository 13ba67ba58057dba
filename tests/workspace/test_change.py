"""The change of a run as a patch that git takes, and in the user's folder: all or nothing, over nobody's work."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from chatdev.errors import WorkspaceError
from chatdev.safe_text import keep_secret, scrub_bytes
from chatdev.workspace.change import Changeset, apply_change, branch_change

NAMES = ("a.py", "dir/b.txt", "na me.md", "ü.txt", 'q"x.txt', "deep/er/c.bin")
LINES = (b"alpha", b"beta", b"x\r", b"", b"  z", b"tab\tq", b"-- a", b"++ b", b"@@ -1 +1 @@", b"\\ No newline")


def git(folder: Path, *words: str, given: bytes | None = None) -> str:
    done = subprocess.run(["git", "-c", "user.name=u", "-c", "user.email=u@example.org", *words], cwd=folder,
                          input=given, capture_output=True, check=True)
    return done.stdout.decode()


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and ".git" not in path.parts}


def repository(folder: Path, files: Mapping[str, bytes]) -> Path:
    write(folder, files)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def random_content(source: random.Random) -> bytes:
    kind = source.random()
    if kind < 0.15:
        return source.randbytes(source.randrange(1, 3000))
    lines = [source.choice(LINES) for _ in range(source.randrange(0, 40))]
    return b"\n".join(lines) + source.choice([b"\n", b""])


@pytest.mark.tool
@pytest.mark.parametrize("seed", range(40))
def test_git_makes_of_a_patch_what_the_run_made(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    before = {name: random_content(source) for name in NAMES if source.random() < 0.8}
    after = {name: before[name] if name in before and source.random() < 0.3 else random_content(source)
             for name in NAMES if source.random() < 0.8}
    change = Changeset(before, after)
    write(tmp_path, before)
    if change.patch:
        git(tmp_path, "apply", "--whitespace=nowarn", "-", given=change.patch)
    assert files_in(tmp_path) == after
    assert bool(change.statistic) == (before != after)


CHANGE = Changeset({"a.py": b"x = 1\ny = 2\n", "old.txt": b"o\n", "same.md": b"s\n"},
                   {"a.py": b"x = 1\ny = 3\n", "new/n.py": b"n\n", "same.md": b"s\n"})


@pytest.mark.tool
def test_a_change_is_applied_to_what_was_handed_in(tmp_path: Path) -> None:
    mine = repository(tmp_path / "mine", CHANGE.before)
    (mine / "a.py").chmod(0o755)
    git(mine, "commit", "-qam", "mode")
    write(mine, {"other.py": b"work of its user's\n", "same.md": b"more\n"})
    assert apply_change(CHANGE, mine) == ["a.py", "new/n.py", "old.txt"]
    assert files_in(mine) == {**CHANGE.after, "other.py": b"work of its user's\n", "same.md": b"more\n"}
    assert (mine / "a.py").stat().st_mode & 0o100
    assert apply_change(Changeset({"x": b"1"}, {"x": b"2"}), write(tmp_path / "plain", {"x": b"1"})) == ["x"]


@pytest.mark.tool
@pytest.mark.parametrize(("files", "says"), [
    ({"a.py": b"x = 1\ny = 2\nz = 9\n"}, "no longer applies: a.py"),
    ({"new/n.py": b"mine\n"}, "n.py in .* is there already"),
    ({"old.txt": b"changed\n"}, "no longer applies: old.txt")])
def test_a_change_that_does_not_fit_names_the_file(tmp_path: Path, files: Mapping[str, bytes], says: str) -> None:
    mine = repository(tmp_path / "mine", {**CHANGE.before, **files})
    before = files_in(mine)
    with pytest.raises(WorkspaceError, match=says):
        apply_change(CHANGE, mine)
    with pytest.raises(WorkspaceError, match=says):
        branch_change(CHANGE, mine, "chatdev/x", "x")
    assert files_in(mine) == before
    assert "chatdev/x" not in git(mine, "branch", "--list")


@pytest.mark.tool
def test_work_that_is_not_committed_is_not_written_over(tmp_path: Path) -> None:
    mine = repository(tmp_path / "mine", {**CHANGE.before, "a.py": b"x = 0\n"})
    write(mine, {"a.py": CHANGE.before["a.py"]})
    with pytest.raises(WorkspaceError, match=r"a\.py in .* has work in it that is not committed"):
        apply_change(CHANGE, mine)
    git(mine, "commit", "-qam", "mine")
    assert apply_change(CHANGE, mine)


@pytest.mark.tool
def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    mine = repository(tmp_path / "mine", CHANGE.before)
    (mine / "new").symlink_to(tmp_path / "outside", target_is_directory=True)
    with pytest.raises(WorkspaceError):
        apply_change(CHANGE, mine)
    assert not list((tmp_path / "outside").iterdir())


@pytest.mark.tool
def test_a_branch_has_the_change_and_the_folder_is_as_it_was(tmp_path: Path) -> None:
    mine = repository(tmp_path / "mine", {f"sub/{path}": data for path, data in CHANGE.before.items()})
    git(mine, "gc", "-q")
    place, commit = branch_change(CHANGE, mine / "sub", "chatdev/x", "Change it")
    assert place == mine
    assert git(mine, "status", "--porcelain") == ""
    assert git(mine, "rev-parse", "chatdev/x").strip() == commit
    assert git(mine, "rev-parse", "chatdev/x^").strip() == git(mine, "rev-parse", "HEAD").strip()
    git(mine, "fsck", "--strict")
    git(mine, "checkout", "-q", "chatdev/x")
    assert files_in(mine / "sub") == CHANGE.after
    with pytest.raises(WorkspaceError, match="has a branch chatdev/x already"):
        branch_change(CHANGE, mine / "sub", "chatdev/x", "again")
    with pytest.raises(WorkspaceError, match="can be no name of a branch"):
        branch_change(CHANGE, mine / "sub", "../x", "again")


@pytest.mark.tool
def test_secrets_and_line_ends_of_the_user_stay(tmp_path: Path) -> None:
    keep_secret("hunter2-hunter2-hunter2")
    own = b'key = "hunter2-hunter2-hunter2"\r\ny = 2\r\n'
    mine = repository(tmp_path / "mine", {"a.py": own})
    before = scrub_bytes(own)
    assert b"hunter2" not in before
    apply_change(Changeset({"a.py": before}, {"a.py": before.replace(b"y = 2\r\n", b"y = 3\nz = 4\n")}), mine)
    assert (mine / "a.py").read_bytes() == b'key = "hunter2-hunter2-hunter2"\r\ny = 3\r\nz = 4\r\n'


def test_files_that_act_by_being_looked_at_are_no_part_of_it() -> None:
    assert Changeset({}, {".envrc": b"rm\n", "a.py": b"x\n"}).paths == ["a.py"]
