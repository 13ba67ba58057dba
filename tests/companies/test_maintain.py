"""The company `maintain` on repositories that the tests make: small changes, guarded by their own tests."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chatdev.cli.app import command_line
from chatdev.config.profiles import profile_for
from chatdev.llm.tokens import count_tokens
from chatdev.workspace.snapshot import Software
from tests.support.chat_server import ChatServer, Received

pytestmark = pytest.mark.tool

TEST = "import unittest\n\nfrom {module} import {name}\n\n\nclass {case}(unittest.TestCase):\n" \
       "    def test_it(self):\n        self.assertEqual({call}, {value})\n\n" \
       "    def test_other(self):\n        self.assertEqual({other}, {other_value})\n"
PACKAGE = {
    "shapes/__init__.py": "from shapes.area import area\n",
    "shapes/area.py": "def area(a, b):\n    return a + b\n",
    "pyproject.toml": "[project]\nname = 'shapes'\nversion = '1'\n",
    "tests/test_area.py": TEST.format(module="shapes", name="area", case="AreaTest", call="area(2, 3)", value=6,
                                      other="area(2, 2)", other_value=4)}
DJANGO_LIKE = {
    "manage.py": "import sys\n\nfrom site_of import settings\n\nif __name__ == '__main__':\n"
                 "    print(settings.APPS, sys.argv)\n",
    "site_of/__init__.py": "", "site_of/settings.py": "APPS = ['polls']\n", "polls/__init__.py": "",
    "polls/templates/index.html": "<p>{{ question }}</p>\n",
    "polls/models.py": "class Choice:\n    def __init__(self, votes=0):\n        self.votes = votes\n\n"
                       "    def vote(self):\n        self.votes -= 1\n        return self.votes\n",
    "polls/tests.py": "", "polls/test_models.py": TEST.format(
        module="polls.models", name="Choice", case="ChoiceTest", call="Choice(1).vote()", value=2,
        other="Choice(3).votes", other_value=3)}
NODE = {
    "package.json": '{"name": "sums", "main": "lib/index.js", "scripts": {"test": "node --test"}}\n',
    "lib/index.js": "exports.add = (a, b) => a - b\n",
    "test/sums.test.js": "const test = require('node:test')\nconst assert = require('node:assert')\n"
                         "const { add } = require('..')\ntest('adds', () => assert.equal(add(1, 2), 3))\n"
                         "test('zero', () => assert.equal(add(0, 0), 0))\n"}
C = {
    "Makefile": "test: check_calc\n\t./check_calc\n\ncheck_calc: calc.c calc.h check_calc.c\n"
                "\tgcc -o check_calc calc.c check_calc.c\n",
    "calc.c": '#include "calc.h"\n\nint add(int a, int b) { return a - b; }\n', "calc.h": "int add(int a, int b);\n",
    "check_calc.c": '#include "calc.h"\n\nint main(void) { return add(1, 2) != 3; }\n'}
LARGE = {f"pkg{n // 100}/mod_{n}.py": "".join(f"def compute_{n}_{k}(value):\n    return value + {k}\n\n"
                                              for k in range(50)) for n in range(2000)} | {
    **{f"pkg{n}/__init__.py": "" for n in range(20)},
    "tests/test_mod_777.py": TEST.format(module="pkg7.mod_777", name="compute_777_3", case="ModTest",
                                         call="compute_777_3(1)", value=-2, other="1", other_value=1)}
REPOSITORIES: dict[str, tuple[Mapping[str, str], str, str, str]] = {
    "a package without main.py": (PACKAGE, "Let area multiply.", "shapes/area.py",
                                  "```python\ndef area(a, b):\n    return a * b\n```"),
    "a layout like Django's": (DJANGO_LIKE, "A vote must count up.", "polls/models.py",
                               "```python\n<<<<<<< SEARCH\n        self.votes -= 1\n=======\n"
                               "        self.votes += 1\n>>>>>>> REPLACE\n```"),
    "Node": (NODE, "add must add.", "lib/index.js", "```js\nexports.add = (a, b) => a + b\n```"),
    "C": (C, "add must add.", "calc.c",
          '```c whole\n#include "calc.h"\n\nint add(int a, int b) { return a + b; }\n```'),
    "300,000 lines": (LARGE, "compute_777_3 of mod_777 must subtract.", "pkg7/mod_777.py",
                      "```python\n<<<<<<< SEARCH\ndef compute_777_3(value):\n    return value + 3\n=======\n"
                      "def compute_777_3(value):\n    return value - 3\n>>>>>>> REPLACE\n```")}


def commit(files: Mapping[str, str | bytes], folder: Path) -> Path:
    """A git repository with these files in one commit."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=u", "-c", "user.email=u@example.org", "commit", "-qm", "first")
    return folder


def git(folder: Path, *words: str, given: bytes | None = None) -> str:
    done = subprocess.run(["git", *words], cwd=folder, input=given, capture_output=True, check=True)
    return done.stdout.decode()


def script(server: ChatServer, replies: Mapping[str, Any]) -> None:
    """Answer by place, else by phase; whoever reviews is content."""
    def answer(request: Received) -> Any:
        place, phase = request.headers["X-ChatDev-Activity"], request.headers["X-ChatDev-Phase"]
        return replies.get(place, "<SOLUTION>" if place.endswith("instructor") else replies.get(phase, "<SOLUTION>"))

    server.route(answer)


def chatdev(server: ChatServer, tmp_path: Path, *words: str, model: str = "gpt-4o") -> tuple[int, str]:
    env = {"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": server.url, "CHATDEV_RETRY_SECONDS": "0"}
    more = ["--warehouse", str(tmp_path / "runs"), "--model", model] if words[0] in ("run", "resume") else []
    done = CliRunner(env=env).invoke(command_line(), [*words, *more])
    return done.exit_code, done.output


def newest(tmp_path: Path) -> Path:
    return max((tmp_path / "runs").glob("*"), key=lambda folder: folder.stat().st_mtime_ns)


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and ".git" not in path.parts}


@pytest.mark.parametrize(("files", "task", "path", "block"), REPOSITORIES.values(), ids=REPOSITORIES)
def test_a_failing_test_passes_and_nothing_else_changes(chat_server: ChatServer, tmp_path: Path,
                                                        files: Mapping[str, str], task: str, path: str,
                                                        block: str) -> None:
    mine = commit(files, tmp_path / "mine")
    script(chat_server, {"plan": f"Change {path}.", "change": f"{path}\n{block}"})
    status, printed = chatdev(chat_server, tmp_path, "run", task, "--path", str(mine), "--company", "maintain")
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
