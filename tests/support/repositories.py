"""Repositories with a test that fails, the change that mends each, and changes that do harm."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class Repository:
    """Files, what is asked for, the one file that has to change, and what a model answers: `right`; `breaks`, which
    breaks a test that passed (or the build); `rewrites`, parts of another file, `spared`, in place of it."""

    files: Mapping[str, str]
    request: str
    path: str
    right: str
    breaks: str
    spared: str
    rewrites: str

    @property
    def replies(self) -> dict[str, str]:
        """What models answer, right and wrong, by what it is."""
        right = f"{self.path}\n{self.right}\n"
        return {
            "right": right,
            "deletes a file": f"{right}\n```\n*** Begin Patch\n*** Delete File: {self.spared}\n*** End Patch\n```",
            "breaks what passed": f"{self.path}\n{self.breaks}\n",
            "a patch whose context fits nowhere":
                f"{self.path}\n```\n<<<<<<< SEARCH\nwhat never stood here\n=======\nanything\n>>>>>>> REPLACE\n```\n",
            "rewrites another file": f"{right}\n{self.spared}\n``` whole\n{self.rewrites}\n```\n"}


REPOSITORIES: dict[str, Repository] = {
    "a package without main.py": Repository(
        PACKAGE, "Let area multiply.", "shapes/area.py", "```python\ndef area(a, b):\n    return a * b\n```",
        "```python\ndef area(a, b):\n    return 6\n```", "pyproject.toml", "[project]\nname = 'areas'"),
    "a layout like Django's": Repository(
        DJANGO_LIKE, "A vote must count up.", "polls/models.py",
        "```python\n<<<<<<< SEARCH\n        self.votes -= 1\n=======\n        self.votes += 1\n>>>>>>> REPLACE\n```",
        "```python\nclass Choice:\n    def __init__(self, votes=0):\n        self.votes = 1\n\n"
        "    def vote(self):\n        self.votes += 1\n        return self.votes\n```",
        "polls/templates/index.html", "<h1>Polls</h1>"),
    "Node": Repository(
        NODE, "add must add.", "lib/index.js", "```js\nexports.add = (a, b) => a + b\n```",
        "```js\nexports.add = () => 3\n```", "package.json", '{"name": "sums", "main": "lib/index.js"}'),
    "C": Repository(
        C, "add must add.", "calc.c",
        '```c whole\n#include "calc.h"\n\nint add(int a, int b) { return a + b; }\n```',
        '```c whole\n#include "calc.h"\n\nint add(int a, int b) { return a + c; }\n```', "calc.h",
        "/* Sums. */\nint add(int, int);"),
    "300,000 lines": Repository(
        LARGE, "compute_777_3 of mod_777 must subtract.", "pkg7/mod_777.py",
        "```python\n<<<<<<< SEARCH\ndef compute_777_3(value):\n    return value + 3\n=======\n"
        "def compute_777_3(value):\n    return value - 3\n>>>>>>> REPLACE\n```",
        "```python\n<<<<<<< SEARCH\ndef compute_777_3(value):\n    return value + 3\n=======\nimport absent_777\n\n"
        "def compute_777_3(value):\n    return absent_777.minus(value, 3)\n>>>>>>> REPLACE\n```",
        "pkg3/mod_300.py", "def compute_300_0(value):\n    return value")}


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


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and ".git" not in path.parts}
