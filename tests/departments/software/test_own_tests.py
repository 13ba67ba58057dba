"""How the tests that software brings with it go, with files of tests among them that cannot be run here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from chatdev.departments.software.guard import baseline, guard, run_repository_tests
from chatdev.departments.software.toolchains.verdict import OwnTests, judge_python_tests, python_tests
from chatdev.packages.imports import own_modules, requirements
from chatdev.sandbox.base import Execution
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict
from tests.support.wheels import PackageIndex, set_pip

CASE = "import unittest\n\n\nclass {0}(unittest.TestCase):\n    def test_it(self):\n        self.assert{1}(True)\n"
FOREIGN = "import made_up_clock\n"
OWN = "from shop import till\n"
PLAIN = "def test_it():\n    assert {}\n"
FIXTURE = ("import pytest\n\n\n@pytest.fixture\ndef door():\n    raise ValueError('log')\n\n\ndef test_it(door):\n"
           "    pass\n")


def judged(files: Mapping[str, str], folder: Path) -> OwnTests | None:
    """As the real runner tells it, without a sandbox."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    software = {path: text.encode() for path, text in files.items()}
    done = subprocess.run([sys.executable, *python_tests(software)], cwd=folder, capture_output=True, text=True,
                          check=False, timeout=100)
    execution = Execution(done.returncode, None, done.stdout, done.stderr, 1.0)
    return judge_python_tests("python", execution, own_modules(software))


@pytest.mark.parametrize(("tests", "passed", "failed", "lacking"), [
    ({"a": PLAIN.format(True), "b": FOREIGN + PLAIN.format(True)}, True, [], ["tests/test_b.py"]),
    ({"a": PLAIN.format(False), "b": FOREIGN + PLAIN.format(True)}, False, ["tests/test_a.py::test_it"],
     ["tests/test_b.py"]),
    ({"a": PLAIN.format(True), "b": OWN + PLAIN.format(True)}, False, ["tests/test_b.py"], []),
    ({"a": PLAIN.format(True), "b": "def (:\n" + PLAIN.format(True)}, False, ["tests/test_b.py"], []),
    ({"a": FIXTURE}, False, ["tests/test_a.py::test_it"], []),
    ({"b": FOREIGN + PLAIN.format(True)}, None, [], ["tests/test_b.py"]),
    ({"a": CASE.format("A", "True"), "b": FOREIGN + CASE.format("B", "True")}, True, [],
     ["test_b (unittest.loader._FailedTest.test_b)"]),
    ({"a": CASE.format("A", "False"), "b": FOREIGN + CASE.format("B", "True")}, False,
     ["test_it (tests.test_a.A.test_it)"], ["test_b (unittest.loader._FailedTest.test_b)"]),
    ({"a": CASE.format("A", "True"), "b": OWN + CASE.format("B", "True")}, False,
     ["test_b (unittest.loader._FailedTest.test_b)"], []),
    ({"b": FOREIGN + CASE.format("B", "True")}, None, [], ["test_b (unittest.loader._FailedTest.test_b)"]),
])
def test_a_file_of_tests_that_cannot_be_imported_spoils_no_other(
        tests: Mapping[str, str], passed: bool | None, failed: list[str], lacking: list[str], tmp_path: Path) -> None:
    files = {f"tests/test_{name}.py": text for name, text in tests.items()}
    found = judged({"shop/__init__.py": "", **files}, tmp_path)
    assert found is not None
    assert (found.passed, [*found.failed], [*found.lacking]) == (passed, failed, lacking), found.said
    assert set(found.lacking.values()) <= {"made_up_clock"}


PYPROJECT = """
[project]
dependencies = ["Click (>=8)", "own @ https://example.org/own.whl"]
[project.optional-dependencies]
docs = ["sphinx[extra]~=7.0 ; python_version > '3.8'"]
[dependency-groups]
tests = ["freezegun", {include-group = "docs"}]
[build-system]
requires = ["hatchling"]
[tool.poetry.group.dev.dependencies]
time_machine = "^2"
responses = {version = "^1", optional = true}
[tool.hatch.envs.default]
extra-dependencies = ["moto"]
"""


@pytest.mark.parametrize(("path", "text", "names"), [
    ("pyproject.toml", PYPROJECT, {"click", "sphinx", "freezegun", "time-machine", "responses", "moto"}),
    ("pyproject.toml", "[project\n", set()), ("pyproject.toml", "[project]\ndependencies = 3\n", set()),
    ("pyproject.toml", "a = " + "[" * 5000, set()), ("pyproject.toml", "\xff", set()),
    ("setup.cfg", "[options]\ninstall_requires =\n    attrs>=20\n    # no\n[options.extras_require]\nt = mock\n",
     {"attrs", "mock"}),
    ("pyproject.toml", "a" + ".a" * 90_000 + "=1\n", set()),
    ("setup.cfg", "[options]\nx" + " " * 90_000 + "y\n", set()),
    ("setup.cfg", "nothing\n", set()), ("requirements-dev.txt", "-r requirements.txt\nresponses==0.1\n", {"responses"}),
    ("requirements/tests.in", "mock\n", {"mock"}), ("a/b/requirements.txt", "mock\n", set()),
])
def test_what_software_asks_for_is_read_from_its_lists(path: str, text: str, names: set[str]) -> None:
    assert requirements({path: text.encode("latin-1")}) - {"include-group"} == names


@pytest.mark.tool
def test_what_tests_import_is_installed_where_the_software_asks_for_it(tmp_path: Path,
                                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"shop/__init__.py": "", "tests/test_b.py": FOREIGN + CASE.format("B", "True"),
             "pyproject.toml": "[dependency-groups]\ntests = ['made-up-clock']\n"}
    with PackageIndex() as index:
        set_pip(index.url, monkeypatch)
        index.add("made_up_clock")
        found = run_repository_tests(context(files, tmp_path), context(files, tmp_path).software)
    assert found["Python"].passed, found["Python"].said


def context(files: Mapping[str, str], folder: Path, given: Mapping[str, str] | None = None,
            known: object = None) -> ToolContext:
    software, before = ({path: text.encode() for path, text in one.items()} for one in (files, given or {}))
    (scratch := folder / "scratch").mkdir(exist_ok=True)
    return ToolContext(software, {"given": known}, {"task": "x"}, find_sandbox(), folder, scratch, given=before)


PROGRAM = "#include <stdio.h>\n\nint main(void) {{ puts(\"{}\"); return {}; }}\n"


@pytest.mark.tool
@pytest.mark.parametrize(("makefile", "passed", "builds"), [
    ("all: calc-test\n\ncalc-test: calc.c\n\tgcc -o calc-test calc.c\n", False, False),
    ("all: calc\n\ncalc: calc.c\n\tgcc -o calc calc.c\n", True, True),
    ("all: calc\n\ntest: calc\n\t./calc\n\ncalc: calc.c\n\tgcc -o calc calc.c\n", False, False),
    ("all: calc\n\ntest-data:\n\ttouch data\n\ncalc: calc.c\n\tgcc -o calc calc.c\n", True, True),
    ("unittests: calc\n\t./calc\n\ncalc: calc.c\n\tgcc -o calc calc.c\n", False, False),
])
def test_a_makefile_without_tests_shows_that_all_can_be_built(
        makefile: str, passed: bool, builds: bool, tmp_path: Path) -> None:
    here = context({"Makefile": makefile, "calc.c": PROGRAM.format("hi", 1)}, tmp_path)
    found, *_ = run_repository_tests(here, here.software).values()
    assert (found.passed, found.builds) == (passed, builds), found.said


@pytest.mark.tool
@pytest.mark.parametrize(("after", "passed", "judged", "said"), [
    (PROGRAM.format("ho", 0), True, False, "It can be built (make)."),
    ("int main(void) { return x; }\n", False, True, "It cannot be built any more (make)"),
])
def test_a_repository_without_tests_must_still_be_built(after: str, passed: bool, judged: bool, said: str,
                                                        tmp_path: Path) -> None:
    before = {"Makefile": "all: calc\n\ncalc: calc.c\n\tgcc -o calc calc.c\n", "calc.c": PROGRAM.format("hi", 0)}
    notes = baseline.call(context(before, tmp_path), {})
    assert "no tests that can be run here" in str(notes["notes"])
    verdict = guard.call(context({**before, "calc.c": after}, tmp_path, before, notes), {})
    assert isinstance(verdict, Verdict)
    assert (verdict.passed, verdict.judged) == (passed, judged), verdict.report
    assert said in verdict.report
    assert "No tests of its own were found" in verdict.report
