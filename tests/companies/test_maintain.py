"""The company `maintain` on repositories that the tests make: small changes, guarded by their own tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatdev.config.profiles import profile_for
from chatdev.llm.base import count_tokens
from chatdev.workspace.file_tree import Software
from tests.support.chat_server import ChatServer
from tests.support.maintenance import chatdev, newest, script
from tests.support.repositories import PACKAGE, REPOSITORIES, TEST, Repository, commit, files_in, git

pytestmark = pytest.mark.tool


@pytest.mark.parametrize("repository", REPOSITORIES.values(), ids=REPOSITORIES)
def test_a_failing_test_passes_and_nothing_else_changes(chat_server: ChatServer, tmp_path: Path,
                                                        repository: Repository) -> None:
    files, path = repository.files, repository.path
    mine = commit(files, tmp_path / "mine")
    script(chat_server, {"plan": f"Change {path}.", "change": repository.replies["right"]})
    status, printed = chatdev(chat_server, tmp_path, "run", repository.request, "--path", str(mine), "--company",
                              "maintain")
    assert status == 0, printed
    run = newest(tmp_path)
    made = Software.load(run / "software")
    assert [name for name in files if made.text(name) != files[name]] == [path]
    assert set(made) == set(files)
    assert files_in(mine) == {name: text.encode() for name, text in files.items()}
    context = profile_for("gpt-4o").context or 0
    for request in chat_server.requests:
        assert count_tokens(json.dumps(request.body["messages"])) <= context / 4
    assert len(chat_server.requests) <= 4
    assert "1 file changed" in printed
    assert "chatdev apply" in (run / "run" / "report.md").read_text()
    git(mine, "apply", given=(run / "run" / "change.patch").read_bytes())
    assert files_in(mine) == dict(made)


def test_a_change_that_breaks_a_test_is_refused(chat_server: ChatServer, tmp_path: Path) -> None:
    mine = commit({**PACKAGE, "shapes/area.py": "def area(a, b):\n    return a * b\n"}, tmp_path / "mine")
    script(chat_server, {"plan": "P", "change": "shapes/area.py\n```python\ndef area(a, b):\n    return a - b\n```"})
    status, printed = chatdev(chat_server, tmp_path, "run", "Make area faster.", "--path", str(mine), "--company",
                              "maintain")
    assert status == 4, printed
    assert "did not before the change" in printed
    assert not (newest(tmp_path) / "run" / "change.patch").exists()


def test_a_change_without_evidence_is_unjudged(chat_server: ChatServer, tmp_path: Path) -> None:
    mine = commit({**PACKAGE, "shapes/area.py": "def area(a, b):\n    return a * b\n"}, tmp_path / "mine")
    script(chat_server, {"plan": "P", "change": "shapes/area.py\n```python\ndef area(a, b):\n    return b * a\n```"})
    status, printed = chatdev(chat_server, tmp_path, "run", "Swap the factors.", "--path", str(mine), "--company",
                              "maintain")
    assert status == 4, printed
    assert "Nothing shows yet that the change does what is asked" in printed


def test_a_new_test_that_fails_without_the_change_is_evidence(chat_server: ChatServer, tmp_path: Path) -> None:
    mine = commit({**PACKAGE, "shapes/area.py": "def area(a, b):\n    return a * b\n"}, tmp_path / "mine")
    test = TEST.format(module="shapes.area", name="area, edge", case="EdgeTest", call="edge(2, 3)", value=10,
                       other="area(1, 1)", other_value=1)
    change = ("shapes/area.py\n```python\ndef area(a, b):\n    return a * b\n\n\ndef edge(a, b):\n"
              f"    return 2 * (a + b)\n```\n\ntests/test_edge.py\n```python\n{test}```")
    script(chat_server, {"plan": "P", "change": change})
    status, printed = chatdev(chat_server, tmp_path, "run", "Add edge.", "--path", str(mine), "--company", "maintain")
    assert status == 0, printed


def test_a_test_that_is_bent_to_the_change_is_no_evidence(chat_server: ChatServer, tmp_path: Path) -> None:
    right = {**PACKAGE, "shapes/area.py": "def area(a, b):\n    return a * b\n"}
    mine = commit(right, tmp_path / "mine")
    bent = right["tests/test_area.py"].replace("6", "5")
    change = ("shapes/area.py\n```python\ndef area(a, b):\n    return a + b\n```\n\n"
              f"tests/test_area.py\n```python\n{bent}```")
    script(chat_server, {"plan": "P", "change": change})
    status, printed = chatdev(chat_server, tmp_path, "run", "Make area nicer.", "--path", str(mine), "--company",
                              "maintain")
    assert status == 4, printed
    assert "alters tests that were there" in printed


@pytest.mark.parametrize(("plan", "path", "text", "status"), [
    ("P", "pyproject.toml", "[project]\nname = 'areas'", 4),
    ("Rename the project in pyproject.toml.", "pyproject.toml", "[project]\nname = 'areas'", 0),
    ("P", "pyproject.toml", PACKAGE["pyproject.toml"] + "license = 'MIT'", 0),  # nothing that was there is lost
    ("P", "README.md", "# Shapes\nTwo shapes.\nThey multiply.", 0),
    ("Mend pyproject.py.", "pyproject.toml", "[project]\nname = 'areas'", 4),
    ("P", "README.md", "# Areas\nNone.", 4)])
def test_what_nobody_named_is_not_rewritten(chat_server: ChatServer, tmp_path: Path, plan: str, path: str, text: str,
                                            status: int) -> None:
    mine = commit({**PACKAGE, "README.md": "# Shapes\nTwo shapes.\nThey add.\n"}, tmp_path / "mine")
    right = "shapes/area.py\n```python\ndef area(a, b):\n    return a * b\n```"
    script(chat_server, {"plan": plan, "change": f"{right}\n\n{path}\n``` whole\n{text}\n```"})
    found, printed = chatdev(chat_server, tmp_path, "run", "Let area multiply.", "--path", str(mine), "--company",
                             "maintain")
    assert found == status, printed
    assert ("everything that was tried is the same without that" in printed) is (status == 4)


def test_a_file_that_nobody_named_may_be_needed(chat_server: ChatServer, tmp_path: Path) -> None:
    files = {**PACKAGE, "shapes/area.py": "from shapes.signs import sign\n\n\ndef area(a, b):\n    return sign(a, b)\n",
             "shapes/signs.py": "def sign(a, b):\n    return a + b\n"}
    mine = commit(files, tmp_path / "mine")
    script(chat_server, {"plan": "P", "change": "shapes/signs.py\n```python\ndef sign(a, b):\n    return a * b\n```"})
    status, printed = chatdev(chat_server, tmp_path, "run", "Let area multiply.", "--path", str(mine), "--company",
                              "maintain")
    assert status == 0, printed


def test_a_follow_up_goes_by_the_same_rules(chat_server: ChatServer, tmp_path: Path) -> None:
    mine = commit(PACKAGE, tmp_path / "mine")
    right = "shapes/area.py\n```python\ndef area(a, b):\n    return a * b\n```"
    script(chat_server, {"plan": "P", "change": right})
    assert chatdev(chat_server, tmp_path, "run", "Mend area.", "--path", str(mine), "--company", "maintain")[0] == 0
    first = newest(tmp_path)
    script(chat_server, {"plan": "P", "change": "shapes/area.py\n```python\ndef area(a, b):\n    return b\n```"})
    status, printed = chatdev(chat_server, tmp_path, "resume", str(first), "--task", "Simplify it.")
    assert status == 4, printed
    assert Software.load(newest(tmp_path) / "software") == Software.load(first / "software")


def test_the_company_needs_software(chat_server: ChatServer, tmp_path: Path) -> None:
    status, printed = chatdev(chat_server, tmp_path, "run", "Change it.", "--company", "maintain")
    assert status == 2
    assert "--path FOLDER" in printed
    assert chat_server.requests == []


@pytest.mark.parametrize(("body", "says"), [
    ("import time\ntime.sleep(600)", "60 seconds"),
    ("import socket\nsocket.create_connection(('192.0.2.1', 80), 2)", "T"),
    ("import pathlib\n[p.unlink() for p in pathlib.Path('shapes').iterdir() if p.is_file()]", "")])
def test_tests_that_misbehave_do_no_harm(chat_server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                         body: str, says: str) -> None:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    odd = f"import unittest\n\n\nclass OddTest(unittest.TestCase):\n    def test_odd(self):\n{lines}"
    monkeypatch.setattr("chatdev.departments.software.toolchains.python.TEST_SECONDS", 3.0)
    mine = commit({**PACKAGE, "tests/test_zz.py": odd}, tmp_path / "mine")
    script(chat_server, {"plan": "P", "change": "shapes/area.py\n```python\ndef area(a, b):\n    return a * b\n```"})
    status, printed = chatdev(chat_server, tmp_path, "run", "Mend area.", "--path", str(mine), "--company", "maintain")
    assert status == (4 if "sleep" in body else 0), printed
    assert says in printed
    assert set(Software.load(newest(tmp_path) / "software")) == {*PACKAGE, "tests/test_zz.py"}
    assert files_in(mine).keys() == {*PACKAGE, "tests/test_zz.py"}
