"""Software that its user hands in (`--path`, `resume --task`): it is changed, never written anew, and loses no file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import chatdev
from chatdev import Company
from chatdev.cli.app import command_line
from chatdev.workspace.file_tree import Software
from tests.support.chat_server import ChatServer, Received

pytestmark = pytest.mark.tool

SHAPES = {
    "shapes/__init__.py": "from shapes.area import area\n", "shapes/area.py": "def area(a, b):\n    return a + b\n",
    "pyproject.toml": "[project]\nname = 'shapes'\nversion = '1'\n", "docs/index.md": "# Shapes\n",
    "tests/test_area.py": "import unittest\n\nfrom shapes import area\n\n\nclass AreaTest(unittest.TestCase):\n"
                          "    def test_it(self):\n        self.assertEqual(area(2, 3), 6)\n"}
GREETER = {
    "greeter/__init__.py": "", "greeter/__main__.py": "from greeter.core import greet\n\nprint(greet('you'))\n",
    "greeter/core.py": "def greet(name):\n    return f'Hi {name}'\n", "notes.txt": "mine\n"}
NODE = {
    "package.json": '{"name": "sums", "main": "lib/index.js"}\n', "lib/index.js": "exports.add = (a, b) => a - b\n",
    "test/sums.test.js": "const test = require('node:test')\nconst assert = require('node:assert')\n"
                         "const { add } = require('..')\ntest('adds', () => assert.equal(add(1, 2), 3))\n"}
C = {
    "Makefile": "test: check_calc\n\t./check_calc\n\ncheck_calc: calc.c calc.h check_calc.c\n"
                "\tgcc -o check_calc calc.c check_calc.c\n",
    "calc.c": '#include "calc.h"\n\nint add(int a, int b) { return a - b; }\n', "calc.h": "int add(int a, int b);\n",
    "check_calc.c": '#include "calc.h"\n\nint main(void) { return add(1, 2) != 3; }\n'}
SCRIPTS = {
    "upper.py": "import sys\n\nprint(open(sys.argv[1]).read().upper())\n",
    "count.py": "import sys\n\nprint(len(open(sys.argv[1]).read()))\n", "README.md": "Two scripts.\n"}
REPOSITORIES: dict[str, tuple[Mapping[str, str], str, str, str, int]] = {
    "a package without main.py": (SHAPES, "Python", "shapes/area.py",
                                  "```python\ndef area(a, b):\n    return a * b\n```", 0),
    "a package with __main__": (GREETER, "Python", "greeter/core.py",
                                "```python\ndef greet(name):\n    return f'Hello {name}'\n```", 4),
    "a Node module": (NODE, "JavaScript", "lib/index.js", "```js whole\nexports.add = (a, b) => a + b\n```", 0),
    "C with a Makefile": (C, "C", "calc.c",
                          '```c whole\n#include "calc.h"\n\nint add(int a, int b) { return a + b; }\n```', 0),
    "a folder of scripts": (SCRIPTS, "Python", "upper.py",
                            "```python whole\nimport sys\n\nprint(open(sys.argv[1]).read().title())\n```", 4)}
TASK = "Change what is wrong in this command-line application."


def write(files: Mapping[str, str], folder: Path) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def script(server: ChatServer, replies: Mapping[str, Any]) -> None:
    """Answer by place, else by phase; whoever reviews is content."""
    def answer(request: Received) -> Any:
        place, phase = request.headers["X-ChatDev-Activity"], request.headers["X-ChatDev-Phase"]
        return replies.get(place, replies.get(phase, "<SOLUTION>"))

    server.route(answer)


def run(server: ChatServer, tmp_path: Path, *more: str) -> tuple[int, str, Path]:
    """The exit code of a command, what it printed, and the newest run folder."""
    env = {"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": server.url, "CHATDEV_RETRY_SECONDS": "0"}
    done = CliRunner(env=env).invoke(command_line, [*more, "--warehouse", str(tmp_path / "runs"), "--model", "m"])
    folders = sorted((tmp_path / "runs").glob("*"), key=lambda folder: folder.stat().st_mtime)
    return done.exit_code, done.output, folders[-1]


@pytest.mark.parametrize(("files", "language", "path", "block", "status"), REPOSITORIES.values(), ids=REPOSITORIES)
def test_a_repository_keeps_every_file(chat_server: ChatServer, tmp_path: Path, files: Mapping[str, str],
                                       language: str, path: str, block: str, status: int) -> None:
    script(chat_server, {"language_choice": language, "demand_analysis": "Command-line application", "test_plan":
                         "- python main.py", "extension#1/round-1/assistant": f"{path}\n{block}"})
    mine = write(files, tmp_path / "mine")
    exit_code, printed, folder = run(chat_server, tmp_path, "run", TASK, "--path", str(mine))
    software = Software.load(folder / "software")
    assert exit_code == status, printed
    assert set(software) == set(files), printed
    assert [name for name in files if software.text(name) != files[name]] == [path]
    phases = {request.headers["X-ChatDev-Phase"] for request in chat_server.requests}
    assert "extension" in phases
    assert not phases & {"coding", "redraft", "system_test", "manual"}
    report = (folder / "run" / "report.md").read_text()
    assert ("Its own tests pass" in report) == (status == 0)
    assert ("**unjudged**" in report) == (status == 4)
    assert Software.load(mine) == Software({name: text.encode() for name, text in files.items()})


def test_a_change_that_breaks_its_tests_is_no_success(chat_server: ChatServer, tmp_path: Path) -> None:
    right = {**SHAPES, "shapes/area.py": "def area(a, b):\n    return a * b\n"}
    wrong = "shapes/area.py\n```python\ndef area(a, b):\n    return a\n```"
    script(chat_server, {"extension#1/round-1/assistant": wrong, "system_test": "I do not know."})
    exit_code, printed, folder = run(chat_server, tmp_path, "run", TASK, "--path", str(write(right, tmp_path / "mine")))
    assert exit_code == 4, printed  # the change is refused, and the library is as it was
    assert "Its own tests do not pass" in printed
    assert set(Software.load(folder / "software")) == set(right)
    assert Software.load(folder / "software").text("shapes/area.py") == right["shapes/area.py"]


@pytest.mark.parametrize("company", ["chatdev", "single", "pipeline"])
def test_a_program_that_is_there_is_shown_to_who_changes_it(
        chat_server: ChatServer, tmp_path: Path, company: str) -> None:
    more = "notes.md\n```markdown\nMore.\n```"
    script(chat_server, {"requirements": "R", "design": "D", "tasks": "T", "extension": more, "coding": more})
    made = Company.load(company).run(TASK, model="m", base_url=chat_server.url, warehouse=tmp_path,
                                     software=write(GREETER, tmp_path / "mine"))
    assert set(made.software) >= set(GREETER), made.reason
    asked = [request for request in chat_server.requests
             if request.headers["X-ChatDev-Phase"] in ("coding", "extension")]
    assert asked
    assert all("return f'Hi {name}'" in str(request.body["messages"]) for request in asked)


def test_a_file_that_nobody_asked_to_delete_stays_and_is_named(chat_server: ChatServer, tmp_path: Path) -> None:
    script(chat_server, {"extension#1/round-1/assistant": "notes.txt\n```text delete\n```",
                         "extension#1/round-1/assistant/retry-1": "more.txt\n```text\nmore\n```"})
    made = Company.load("chatdev").run(TASK, model="m", base_url=chat_server.url, warehouse=tmp_path,
                                       software=write(GREETER, tmp_path / "mine"))
    assert set(made.software) == {*GREETER, "more.txt"}, made.reason
    told = [str(request.body["messages"]) for request in chat_server.requests
            if request.headers["X-ChatDev-Activity"].startswith("extension#1")]
    assert any("notes.txt: would be gone after this change, and nobody asked for that" in text for text in told)


@pytest.mark.parametrize("task", ["Delete notes.txt from this application.", "Remove all files that are not needed.",
                                  "Entferne die Datei notes.txt."])
def test_a_file_that_the_request_wants_removed_goes(chat_server: ChatServer, tmp_path: Path, task: str) -> None:
    script(chat_server, {"extension#1/round-1/assistant": "notes.txt\n```text delete\n```"})
    made = Company.load("chatdev").run(task, model="m", base_url=chat_server.url, warehouse=tmp_path,
                                       software=write(GREETER, tmp_path / "mine"))
    assert set(made.software) == set(GREETER) - {"notes.txt"}, made.reason


def test_what_a_run_adds_to_is_not_written_anew(chat_server: ChatServer, tmp_path: Path) -> None:
    """Where no repair helps a follow-up, the software stays as it is: `redraft` is for what the run itself has made."""
    broken = "main.py\n```python\nprint(1 / 0)\n```"
    script(chat_server, {"coding": "main.py\n```python\nprint(3)\n```\n\nkept.txt\n```text\nmine\n```",
                         "extension": broken, "system_test": broken, "redraft": "main.py\n```python\nprint(4)\n```"})
    task = "A command-line program: `python main.py` prints `3`."
    first = Company.load("chatdev").run(task, model="m", base_url=chat_server.url, warehouse=tmp_path)
    assert first.success, first.reason
    chat_server.requests.clear()
    added = chatdev.resume(first.folder, task="`python main.py 1` prints `4`.", base_url=chat_server.url)
    assert added.status == "failure"
    assert added.software.text("kept.txt") == "mine\n"
    assert "redraft" not in {request.headers["X-ChatDev-Phase"] for request in chat_server.requests}


def _company(tmp_path: Path) -> Callable[[], Company]:
    """A company of a user's own, which does not know what `given` is and redrafts."""
    (tmp_path / "own").mkdir()
    file = tmp_path / "own" / "company.yaml"
    file.write_text("company: own\nextends: chatdev\nabout: Redrafts.\nchain:\n"
                    "  - {tool: software.examples, writes: promised}\n"
                    "  - {tool: software.modality, writes: modality}\n  - {tool: software.language, writes: language}\n"
                    "  - {phase: redraft, fresh: software, rounds: 1}\n  - {tool: software.use, writes: test}\n"
                    "success: test.passed\n", encoding="utf-8")
    return lambda: Company.load(file)


def test_no_company_writes_given_software_anew(chat_server: ChatServer, tmp_path: Path) -> None:
    script(chat_server, {"redraft": "main.py\n```python\nprint(4)\n```"})
    made = _company(tmp_path)().run("Python: `python main.py` prints `4`.", model="m", base_url=chat_server.url,
                                    warehouse=tmp_path / "runs", software=write(SCRIPTS, tmp_path / "mine"))
    assert set(made.software) == set(SCRIPTS)
    assert chat_server.requests == []
