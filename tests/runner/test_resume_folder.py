"""What happened to the folder of a run between two sessions: changed and lost files, a damaged history, no git."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.durable import GUIDE, PAGE, git, resume, software, stopped_at, uninterrupted, versions
from tests.support.shop import Shop


def test_files_changed_by_hand_are_kept_in_the_history_and_told(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    stopped = stopped_at(workshop, PAGE)
    assert stopped.folder is not None
    (stopped.folder / "software" / "main.py").write_text("print('mine')\n")
    (stopped.folder / "software" / "notes.txt").write_text("do not lose this\n")
    resumed = resume(workshop, stopped.folder)
    resumed.assert_succeeded()
    assert software(resumed.folder) == software(whole.folder)
    (commit,) = git(resumed.folder, "log", "--format=%h", "--grep=^what was in the folder").split()
    assert git(resumed.folder, "show", f"{commit}:notes.txt") == "do not lose this\n"
    assert git(resumed.folder, "show", f"{commit}:main.py") == "print('mine')\n"
    for told in (resumed.out, resumed.report):
        assert f"kept in its git history, commit {commit}" in told


def test_software_that_was_lost_is_written_again(workshop: Shop) -> None:
    whole = uninterrupted(workshop)
    stopped = stopped_at(workshop, PAGE)
    subprocess.run(["rm", "-r", str(stopped.folder) + "/software/main.py", str(stopped.folder) + "/software/.git"],
                   check=True)
    resumed = resume(workshop, stopped.folder)
    resumed.assert_succeeded()
    assert software(resumed.folder) == software(whole.folder)


def test_a_folder_whose_commits_name_no_versions_is_gone_on_with(workshop: Shop,
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    """As chatdev left them before its commits said which version of the run they are."""
    whole = uninterrupted(workshop)
    stopped = stopped_at(workshop, PAGE)
    assert "ChatDev-Version: 1 " in git(stopped.folder, "log", "--format=%B")
    monkeypatch.setenv("FILTER_BRANCH_SQUELCH_WARNING", "1")  # or it waits ten seconds, so that one may think again
    git(stopped.folder, "filter-branch", "--msg-filter", "sed '/^ChatDev-Version:/d'")
    assert "ChatDev-Version" not in git(stopped.folder, "log", "--format=%B")
    for _ in range(2):
        resumed = resume(workshop, stopped.folder)
        resumed.assert_succeeded()
        assert software(resumed.folder) == software(whole.folder)
        assert versions(resumed.folder) == versions(whole.folder)


def leave_a_lock(metadata: Path) -> None:
    for lock in ("index.lock", "HEAD.lock", "refs/heads/main.lock"):
        (metadata / lock).write_bytes(b"")


def leave_it_half_made(metadata: Path) -> None:
    for part in ("HEAD", "config", "info/attributes"):
        (metadata / part).unlink()


@pytest.mark.parametrize("damage", [leave_a_lock, leave_it_half_made])
def test_what_a_killed_git_left_is_mended(workshop: Shop, damage: Callable[[Path], None]) -> None:
    whole = uninterrupted(workshop)
    stopped = stopped_at(workshop, PAGE)
    assert stopped.folder is not None
    damage(stopped.folder / "software" / ".git")
    resumed = resume(workshop, stopped.folder)
    resumed.assert_succeeded()
    assert software(resumed.folder) == software(whole.folder)
    assert versions(resumed.folder)[-1] == versions(whole.folder)[-1]


def test_git_is_not_needed(workshop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = uninterrupted(workshop)
    monkeypatch.setenv("PATH", str(tmp_path))
    stopped = stopped_at(workshop, GUIDE, "--sandbox", "none")
    resumed = resume(workshop, stopped.folder)
    monkeypatch.undo()
    resumed.assert_succeeded()
    assert software(resumed.folder) == software(whole.folder)
    assert versions(resumed.folder) == versions(whole.folder)
