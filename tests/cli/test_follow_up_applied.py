"""From the user's repository and back, twice: `run --path`, `apply`, a follow-up, `apply` again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer
from tests.support.maintenance import chatdev, newest, script
from tests.support.repositories import PACKAGE, commit, files_in, git

pytestmark = pytest.mark.tool

EDGE = ("import unittest\n\nfrom shapes.area import edge\n\n\nclass EdgeTest(unittest.TestCase):\n"
        "    def test_it(self):\n        self.assertEqual(edge(2, 3), 10)\n")
AREA, WITH_EDGE = ("def area(a, b):\n    return a * b\n",
                   "def area(a, b):\n    return a * b\n\n\ndef edge(a, b):\n    return 2 * (a + b)\n")
ME = ("-c", "user.name=u", "-c", "user.email=u@example.org")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return commit(PACKAGE, tmp_path / "mine")


@pytest.fixture
def first(chat_server: ChatServer, tmp_path: Path, mine: Path) -> Path:
    """The folder of a run that let `area` multiply."""
    script(chat_server, {"plan": "P", "change": f"shapes/area.py\n```python\n{AREA}```"})
    status, printed = chatdev(chat_server, tmp_path, "run", "Let area multiply.", "--path", str(mine), "--company",
                              "maintain")
    assert status == 0, printed
    return newest(tmp_path)


def follow_up(server: ChatServer, tmp_path: Path, first: Path) -> Path:
    """The folder of the run that adds `edge` to what the first one made."""
    script(server, {"plan": "P", "change": f"shapes/area.py\n``` whole\n{WITH_EDGE}```\n\ntests/test_edge.py\n"
                                           f"```python\n{EDGE}```"})
    status, printed = chatdev(server, tmp_path, "resume", str(first), "--task", "Add edge.")
    assert status == 0, printed
    return newest(tmp_path)


def test_a_run_and_its_follow_up_come_home_on_branches(chat_server: ChatServer, tmp_path: Path, mine: Path,
                                                       first: Path) -> None:
    assert chatdev(chat_server, tmp_path, "apply", str(first), "--branch", "chatdev/area")[0] == 0
    git(mine, "merge", "-q", "--ff-only", "chatdev/area")
    second = follow_up(chat_server, tmp_path, first)
    patch = (second / "run" / "change.patch").read_text()
    assert "+def edge" in patch
    assert "-    return a + b" not in patch
    status, printed = chatdev(chat_server, tmp_path, "apply", str(second), "--branch", "chatdev/edge")
    assert status == 0, printed
    assert (mine / "shapes" / "area.py").read_text() == AREA
    git(mine, "merge", "-q", "--ff-only", "chatdev/edge")
    assert files_in(mine) == {path: text.encode() for path, text in
                              {**PACKAGE, "shapes/area.py": WITH_EDGE, "tests/test_edge.py": EDGE}.items()}
    assert git(mine, "log", "--format=%s").splitlines() == ["Add edge.", "Let area multiply.", "first"]


def test_a_follow_up_before_its_first_run_says_which_comes_first(chat_server: ChatServer, tmp_path: Path, mine: Path,
                                                                 first: Path) -> None:
    second = follow_up(chat_server, tmp_path, first)
    status, printed = chatdev(chat_server, tmp_path, "apply", str(second), "--branch", "chatdev/edge")
    assert status == 5, printed
    assert "shapes/area.py" in printed
    assert files_in(mine) == {path: text.encode() for path, text in PACKAGE.items()}
    assert git(mine, "branch").count("\n") == 1


@pytest.mark.parametrize("branch", [(), ("--branch", "chatdev/edge")])
@pytest.mark.parametrize(("is_committed", "text"), [
    (False, "def area(a, b):\n    return b * a\n"), (True, "def area(a, b):\n    return b * a\n"),
    (True, None)])
def test_what_the_user_did_meanwhile_is_not_touched(chat_server: ChatServer, tmp_path: Path, mine: Path, first: Path,
                                                    branch: tuple[str, ...], is_committed: bool,
                                                    text: str | None) -> None:
    assert chatdev(chat_server, tmp_path, "apply", str(first))[0] == 0
    git(mine, "add", "-A")
    git(mine, *ME, "commit", "-qm", "area")
    second = follow_up(chat_server, tmp_path, first)
    file = mine / "shapes" / "area.py"
    file.unlink() if text is None else file.write_text(text)
    if is_committed:
        git(mine, "add", "-A")
        git(mine, *ME, "commit", "-qm", "mine")
    there, refs = files_in(mine), git(mine, "for-each-ref")
    status, printed = chatdev(chat_server, tmp_path, "apply", str(second), *branch)
    if branch and not is_committed:  # the commit is as the change wants it; the folder is left alone
        assert status == 0, printed
    else:
        assert status == 5, printed
        assert "shapes/area.py" in printed
        assert git(mine, "for-each-ref") == refs
    assert files_in(mine) == there


def test_a_follow_up_is_not_applied_twice(chat_server: ChatServer, tmp_path: Path, mine: Path, first: Path) -> None:
    assert chatdev(chat_server, tmp_path, "apply", str(first))[0] == 0
    there = files_in(mine)
    status, printed = chatdev(chat_server, tmp_path, "apply", str(first))
    assert status == 5, printed
    assert files_in(mine) == there
