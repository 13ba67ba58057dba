"""`chatdev patch` and `chatdev apply` after a run on a user's repository."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

import chatdev
from chatdev import Company
from chatdev.cli.app import command_line
from tests.support.chat_server import ChatServer, Received

pytestmark = pytest.mark.tool

FILES = {"area.py": "def area(a, b):\n    return a + b\n", "logo.png": "\0\1", "notes.md": "mine\n"}


def git(folder: Path, *words: str, given: str | None = None) -> str:
    return subprocess.run(["git", "-c", "user.name=u", "-c", "user.email=u@example.org", *words], cwd=folder,
                          input=given, capture_output=True, check=True, text=True).stdout


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    for path, text in FILES.items():
        (folder / path).write_text(text)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


@pytest.fixture
def run(chat_server: ChatServer, tmp_path: Path, mine: Path) -> Path:
    """The folder of a run that let `area` multiply and added a file."""
    def answer(request: Received) -> str:
        multiply = "area.py\n```python\ndef area(a, b):\n    return a * b\n```\n\nnew.md\n```markdown\nNew.\n```"
        return multiply if request.headers["X-ChatDev-Activity"] == "change#1/round-1/assistant" else "<SOLUTION>"

    chat_server.route(answer)
    return Company.load("maintain").run("Let area multiply.", model="gpt-4o", base_url=chat_server.url, software=mine,
                                        warehouse=tmp_path / "runs").folder


def command(*words: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(command_line, [*map(str, words)])
    return done.exit_code, done.output


def test_the_patch_is_printed_and_git_takes_it(run: Path, mine: Path) -> None:
    status, printed = command("patch", run)
    assert (status, printed.encode()) == (0, (run / "run" / "change.patch").read_bytes())
    git(mine, "apply", "--check", "-", given=printed)
    assert "2 files changed, 2 lines added, 1 removed" in command("patch", run, "--stat")[1]


def test_the_change_goes_where_the_software_came_from(run: Path, mine: Path) -> None:
    assert command("apply", run) == (0, f"changed 2 files in {mine}: area.py, new.md\n")
    assert git(mine, "status", "--porcelain") == " M area.py\n?? new.md\n"
    assert "return a * b" in (mine / "area.py").read_text()


def test_a_branch_leaves_the_folder_alone(run: Path, mine: Path) -> None:
    status, printed = command("apply", run, "--branch", "chatdev/area")
    assert (status, git(mine, "status", "--porcelain")) == (0, "")
    assert "branch chatdev/area" in printed
    assert git(mine, "log", "-1", "--format=%s", "chatdev/area") == "Let area multiply.\n"
    assert "return a * b" in git(mine, "show", "chatdev/area:area.py")


def test_what_was_changed_meanwhile_is_not_written_over(run: Path, mine: Path) -> None:
    (mine / "area.py").write_text("def area(a, b):\n    return 7\n")
    status, printed = command("apply", run)
    assert (status, (mine / "new.md").exists()) == (5, False)
    assert "the change no longer applies: area.py" in printed


def test_the_change_goes_elsewhere_only_if_told(run: Path, mine: Path, tmp_path: Path) -> None:
    mine.rename(tmp_path / "moved")
    status, printed = command("apply", run)
    assert status == 2
    assert "--to" in printed
    assert command("apply", run, "--to", tmp_path / "moved")[0] == 0


def test_a_record_alone_does_not_say_where_a_change_goes(run: Path, mine: Path, tmp_path: Path) -> None:
    """Whoever hands out a run folder could name any folder of its reader's."""
    other = tmp_path / "other"
    other.mkdir()
    journal = run / "run" / "journal.jsonl"
    journal.write_text(journal.read_text().replace(json.dumps(str(mine)), json.dumps(str(other))))
    status, printed = command("apply", run)
    assert (status, list(other.iterdir())) == (2, [])
    assert "as it was handed in" in printed


def test_a_run_without_software_has_no_patch(chat_server: ChatServer, tmp_path: Path) -> None:
    chat_server.route(lambda _: "main.py\n```python\nprint(1)\n```")
    made = chatdev.run("Print 1.", "single", model="gpt-4o", base_url=chat_server.url, warehouse=tmp_path)
    assert command("patch", made.folder)[0] == 2


def test_the_software_of_a_run_has_what_was_there_before(run: Path) -> None:
    assert "return a + b" in git(run / "software", "show", "before:area.py")
    assert git(run / "software", "diff", "--stat", "before").count("|") == 2
